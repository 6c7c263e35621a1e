"""JSON schemas as Gemini understands them (providers 6.3.1, transform G; F23).

Keywords that the API does not know move into the description, where the model reads them; calls and answers
are checked against the original schema anyway.
"""

from collections.abc import Mapping

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.portable import with_hints
from jp_lsp.providers.references import without_references
from jp_lsp.providers.schema import plain_schema, without_all_of
from jp_lsp.providers.untrusted import as_list, as_object, as_text
from jp_lsp.tools.definition import ToolDefinition

_KEPT = frozenset(
    {
        *("type", "title", "description", "default", "enum", "required", "propertyOrdering"),
        *("minItems", "maxItems", "minimum", "maximum", "additionalProperties", "$ref"),
    }
)
_MAPS = frozenset({"properties", "$defs", "definitions"})
_SCHEMAS = frozenset({"items", "additionalProperties"})
_LISTS: Mapping[str, str] = {"anyOf": "anyOf", "oneOf": "anyOf", "prefixItems": "prefixItems"}
_FORMATS = frozenset({"date-time", "date", "time", "int32", "int64", "float", "double"})


def answer_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Rewrite the schema of an answer. The model writes the properties in the order that it names."""
    return _rewritten(without_references(schema), orders=True)


def tool_schema(tool: ToolDefinition) -> dict[str, JsonValue]:
    """Describe a tool's arguments; parameters that a server of tools described are rewritten."""
    schema = plain_schema(tool)
    if any(parameter.schema for parameter in tool.parameters.values()):
        schema = _rewritten(without_references(schema), orders=False)
    if not schema["required"]:
        del schema["required"]
    return {**schema, "additionalProperties": False}


def _rewritten(schema: JsonObject, *, orders: bool) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    hints: dict[str, JsonValue] = {}
    for name, value in without_all_of(schema).items():
        if name == "const":
            result["enum"] = [value]
        elif name in _MAPS and isinstance(value, dict):
            children = as_object(value).items()
            result[name] = {key: _rewritten(as_object(child), orders=orders) for key, child in children}
        elif name in _SCHEMAS and isinstance(value, dict):
            result[name] = _rewritten(as_object(value), orders=orders)
        elif name in _LISTS and isinstance(value, list):
            branches = [_rewritten(as_object(child), orders=orders) for child in as_list(value)]
            result[_LISTS[name]] = [*as_list(result.get(_LISTS[name])), *branches]
        elif name in _KEPT or (name == "format" and as_text(value) in _FORMATS):
            result[name] = value
        elif not name.startswith(("$", "x-")):
            hints[name] = value
    properties = as_object(result.get("properties"))
    if orders and len(properties) > 1 and "anyOf" not in result:
        result.setdefault("propertyOrdering", list(properties))
    return with_hints(result, hints)
