"""Tools as JSON schema, in the three ways that vendors want them (providers 1.8).

*plain*: the parameters as they are. *strict*: everything required, what was optional may be null, nothing
else allowed; the vendor then guarantees the shape. *loose*: strict's repairs without its demands.
"""

from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue, type_name
from jp_lsp.providers.portable import portable
from jp_lsp.providers.untrusted import as_list, as_object, as_text, pick
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.schema import parameter_schema, required_names

_OUTSIDE_OF_ANY_OF = ("description", "title", "default", "examples")
_DEFINITIONS = ("$defs", "definitions")
_NULL: JsonObject = {"type": "null"}


def plain_schema(tool: ToolDefinition) -> dict[str, JsonValue]:
    """Describe the arguments as an object with the parameters as they were configured."""
    return {
        "type": "object",
        "properties": {name: parameter_schema(parameter) for name, parameter in tool.parameters.items()},
        "required": required_names(tool.parameters),
        **_definitions(tool),
    }


def strict_schema(tool: ToolDefinition) -> dict[str, JsonValue]:
    """Describe the arguments so that the vendor can enforce them; optional ones become nullable."""
    definitions = portable(_definitions(tool))
    properties: dict[str, JsonValue] = {}
    for name, parameter in tool.parameters.items():
        schema = _for_strangers(parameter)
        properties[name] = _strict(
            schema if parameter.required else nullable(schema), definitions, frozenset()
        )
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": list(tool.parameters),
        **_strict(definitions, definitions, frozenset()),
    }


def loose_schema(tool: ToolDefinition) -> dict[str, JsonValue]:
    """Describe the arguments for a vendor that enforces nothing."""
    return {
        "type": "object",
        "properties": {name: _for_strangers(parameter) for name, parameter in tool.parameters.items()},
        "additionalProperties": True,
        "required": required_names(tool.parameters),
        **portable(_definitions(tool)),
    }


def tool_description(tool: ToolDefinition) -> str | None:
    """Give the text that the model reads about a tool."""
    return tool.summary or tool.description


def _for_strangers(parameter: Parameter) -> dict[str, JsonValue]:
    """Describe a parameter for a vendor that refuses much of what a server of tools may write."""
    schema = parameter_schema(parameter)
    return without_arrays_in_enum(schema if parameter.schema is None else portable(schema))


def _definitions(tool: ToolDefinition) -> dict[str, JsonValue]:
    """Give what the schemas of a server's parameters refer to."""
    return pick(tool.schema or {}, _DEFINITIONS)


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """List the types that a schema names, whether it names one or several."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    return tuple(name for item in as_list(declared) if (name := as_text(item)))


def without_arrays_in_enum(schema: JsonObject) -> dict[str, JsonValue]:
    """Move arrays out of an `enum`, where several vendors refuse them, into the enum of the items."""
    result = dict(schema)
    if items := as_object(result.get("items")):
        result["items"] = without_arrays_in_enum(items)
    if properties := as_object(result.get("properties")):
        result["properties"] = {
            name: without_arrays_in_enum(as_object(child)) for name, child in properties.items()
        }
    values = as_list(result.get("enum"))
    if "array" not in types_of(result) or not any(isinstance(value, list) for value in values):
        return result
    members = [member for value in values if isinstance(value, list) for member in _flatten(value)]
    others = [value for value in values if not isinstance(value, list)]
    if others:
        result["enum"] = others
    else:
        del result["enum"]
    items = dict(as_object(result.get("items"))) or _inferred_items(members)
    known = list(as_list(items.get("enum")))
    items["enum"] = known + [member for i, member in enumerate(members) if member not in known + members[:i]]
    result["items"] = items
    return result


def _flatten(values: Sequence[JsonValue]) -> list[JsonValue]:
    flat: list[JsonValue] = []
    for value in values:
        flat.extend(_flatten(value) if isinstance(value, list) else [value])
    return flat


def _inferred_items(members: Sequence[JsonValue]) -> dict[str, JsonValue]:
    names = list(dict.fromkeys(type_name(member) for member in members))
    return {"type": names[0]} if len(names) == 1 else {"type": names} if names else {}


def nullable(schema: JsonObject) -> dict[str, JsonValue]:
    """Let a value also be null, so that a model can leave out what strict mode makes required."""
    types = types_of(schema)
    if "null" in types:
        return dict(schema)
    if not types and "anyOf" in schema:
        return {**schema, "anyOf": [*as_list(schema["anyOf"]), _NULL]}
    # A reference needs it too: an object that must hold another of its kind could never end.
    if "array" in types or "object" in types or (not types and "$ref" in schema):
        inside = {name: value for name, value in schema.items() if name not in _OUTSIDE_OF_ANY_OF}
        return {**pick(schema, _OUTSIDE_OF_ANY_OF), "anyOf": [inside, _NULL]}
    if not types:
        return dict(schema)
    result = {**schema, "type": [*types, "null"]}
    # Without null among its values an enum would forbid what the type now allows.
    if (values := as_list(schema.get("enum"))) and None not in values:
        result["enum"] = [*values, None]
    return result


def strict_transform(schema: JsonObject) -> dict[str, JsonValue]:
    """Close every object of a schema and require all of its properties (providers 1.8, strict transform)."""
    return _strict(schema, schema, frozenset())


def _strict(schema: JsonObject, root: JsonObject, open_references: frozenset[str]) -> dict[str, JsonValue]:
    node = dict(schema)
    reference = as_text(node.get("$ref"))
    if reference and len(node) > 1:
        target = local_definition(reference, root)
        if reference in open_references:
            return {"$ref": reference}  # it refers to itself: further inlining would never end
        if target is not None:
            del node["$ref"]
            return _strict({**target, **node}, root, open_references | {reference})

    def inner(value: JsonValue) -> JsonValue:
        return _strict(as_object(value), root, open_references) if isinstance(value, dict) else value

    for name in _DEFINITIONS:
        if name in node:
            node[name] = {key: inner(value) for key, value in as_object(node[name]).items()}
    _flatten_all_of(node)
    if "object" in types_of(node) or "properties" in node:
        properties = as_object(node.get("properties"))
        required = as_list(node.get("required"))
        node["properties"] = {
            name: inner(value if name in required else nullable(as_object(value)))
            for name, value in properties.items()
        }
        node["additionalProperties"] = False
        node["required"] = list(properties)
    if "items" in node:
        node["items"] = inner(node["items"])
    if "anyOf" in node:
        node["anyOf"] = [inner(value) for value in as_list(node["anyOf"])]
    if node.get("default", False) is None:
        del node["default"]
    return node


def without_all_of(schema: JsonObject) -> dict[str, JsonValue]:
    """Merge the parts of an `allOf` into the schema itself; what the schema says already wins."""
    node = dict(schema)
    _flatten_all_of(node)
    return node


def _flatten_all_of(node: dict[str, JsonValue]) -> None:
    for part in as_list(node.pop("allOf", None)):
        for name, value in as_object(part).items():
            if name == "properties":
                known_properties = as_object(node.get(name))
                node[name] = {
                    **known_properties,
                    **{k: v for k, v in as_object(value).items() if k not in known_properties},
                }
            elif name == "required":
                known = as_list(node.get(name))
                node[name] = [*known, *(item for item in as_list(value) if item not in known)]
            else:
                node.setdefault(name, value)


def local_definition(reference: str, root: JsonObject) -> JsonObject | None:
    """Follow a local JSON pointer; nothing when it leads nowhere."""
    if not reference.startswith("#/"):
        return None
    value: JsonValue = root
    for step in reference[2:].split("/"):
        value = as_object(value).get(step.replace("~1", "/").replace("~0", "~"))
    return value if isinstance(value, dict) else None
