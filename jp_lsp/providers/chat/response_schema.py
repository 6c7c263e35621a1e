"""JSON schemas for vendors that hold a model to few keywords (providers 6.6).

What is not known there moves into the description, where the model reads it, and the answer is checked against
the original schema anyway.
"""

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.portable import with_hints
from jp_lsp.providers.schema import types_of
from jp_lsp.providers.untrusted import as_list, as_object

_KEPT = frozenset(
    {
        *("type", "title", "description", "const", "enum", "default", "$ref"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
)
_MAPS = frozenset({"properties", "$defs", "definitions"})


def closed_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Rewrite a schema at every level; objects have all of their properties and no others."""
    result: dict[str, JsonValue] = {}
    hints: dict[str, JsonValue] = {}
    is_object = "object" in types_of(schema) or "properties" in schema
    for name, value in schema.items():
        if name in _KEPT:
            result[name] = value
        elif name in _MAPS:
            result[name] = {key: closed_schema(as_object(child)) for key, child in as_object(value).items()}
        elif name == "anyOf":
            result[name] = [closed_schema(as_object(child)) for child in as_list(value)]
        elif name == "items" and isinstance(value, dict):
            result[name] = closed_schema(as_object(value))
        elif not (is_object and name in {"required", "additionalProperties"}) and name != "$schema":
            hints[name] = value
    if is_object:
        result["required"] = list(as_object(result.get("properties")))
        result["additionalProperties"] = False
    return with_hints(result, hints)
