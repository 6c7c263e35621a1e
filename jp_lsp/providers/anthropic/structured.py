"""JSON schemas as Anthropic accepts them (providers 6.1.5, transform T).

What the vendor does not know is not lost: it moves into the description, where the model reads it, and the
answer is checked against the original schema anyway.
"""

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.portable import with_hints
from jp_lsp.providers.schema import types_of
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text

_KEPT = ("type", "title", "description", "enum", "const", "default")
_NESTED_LISTS = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
_DEFINITIONS = ("$defs", "definitions")
_FORMATS = frozenset(
    {
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    }
)


def transform(schema: JsonObject) -> dict[str, JsonValue]:
    """Rewrite a schema, at every level."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    types = types_of(schema)
    is_object = "object" in types or "properties" in schema
    result: dict[str, JsonValue] = {}
    hints: dict[str, JsonValue] = {}
    for name, value in schema.items():
        if name in _KEPT:
            result[name] = value
        elif name in _DEFINITIONS or (name == "properties" and is_object):
            result[name] = {key: transform(as_object(child)) for key, child in as_object(value).items()}
        elif name in _NESTED_LISTS:
            branches = [transform(as_object(child)) for child in as_list(value)]
            result[_NESTED_LISTS[name]] = [*as_list(result.get(_NESTED_LISTS[name])), *branches]
        elif name == "required" and is_object:
            result[name] = value
        elif name == "items" and isinstance(value, dict):
            result[name] = transform(as_object(value))
        elif (name == "minItems" and as_count(value) in {0, 1}) or (
            name == "format" and as_text(value) in _FORMATS
        ):
            result[name] = value
        elif name != "additionalProperties" or not is_object:
            hints[name] = value
    if is_object:
        result["additionalProperties"] = False
    return with_hints(result, hints)
