"""Schemas that a server of tools wrote, in the words that every vendor understands (F23, providers trap 60).

A vendor refuses a whole request for one keyword that it does not know. What is not common goes into the
description, where the model reads it, and calls are checked against the original schema anyway.
"""

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.untrusted import as_list, as_object, as_text, compact_json

_KEPT = frozenset(
    {
        *("type", "title", "description", "enum", "const", "default", "required", "additionalProperties"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems", "pattern", "$ref"),
    }
)
_MAPS = frozenset({"properties", "$defs", "definitions"})
_LISTS = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
)
_MAX_HINTS_SIZE = 1000


def portable(schema: JsonObject) -> dict[str, JsonValue]:
    """Rewrite a schema, at every level."""
    result: dict[str, JsonValue] = {}
    hints: dict[str, JsonValue] = {}
    for name, value in schema.items():
        if name in _MAPS:
            result[name] = {key: portable(as_object(child)) for key, child in as_object(value).items()}
        elif name in _LISTS:
            branches = [portable(as_object(child)) for child in as_list(value)]
            result[_LISTS[name]] = [*as_list(result.get(_LISTS[name])), *branches]
        elif name == "items" and isinstance(value, dict):
            result[name] = portable(as_object(value))
        elif name in _KEPT or (name == "format" and as_text(value) in _FORMATS):
            result[name] = value
        elif not name.startswith(("$", "x-")):
            hints[name] = value
    return with_hints(result, hints)


def with_hints(schema: JsonObject, hints: JsonObject) -> dict[str, JsonValue]:
    """Put keywords that a vendor does not know into the description of a schema."""
    if not hints:
        return dict(schema)
    listed = ", ".join(f"{name}: {_written(value)}" for name, value in hints.items())[:_MAX_HINTS_SIZE]
    described = as_text(schema.get("description"))
    return {**schema, "description": f"{described}\n\n{{{listed}}}" if described else f"{{{listed}}}"}


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else compact_json(value)
