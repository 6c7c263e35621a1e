"""From what a server says of a tool, and what the user changed of it, to what the model is told (5.4).

The server's own schema goes through as it is: references, nested properties, formats and bounds included
(traps 29 and 61). A member that the user set replaces the server's, and only that member. Two things are
mended, because a vendor would refuse every request with them in it: a reference that leads nowhere is left
out, and one that leads elsewhere than to the definitions is replaced by what it means.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import unquote

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.schema import parameter_schema
from jp_lsp.toolsets.mcp.shape import as_list, as_names, as_object, as_text

SERVER_TEXT = "{{description}}"
"""Where the user's text has this, the server's own stands."""

_STOP = re.compile(r"\.(?=\n| +(\S))")
_DEFINITIONS = ("$defs", "definitions")
_TO_DEFINITIONS = tuple(f"#/{name}/" for name in _DEFINITIONS)
_MAX_READ_DEPTH = 12
_MAX_MENDED_DEPTH = 100
_MAX_REPLACED = 1000


def define_tool(configured: ToolDefinition, description: str | None, schema: JsonObject) -> ToolDefinition:
    """Merge what the user configured with what the server says.

    Args:
        configured: the configured entry. A member that the user left out is `None` or empty, and parameters
            are those that the user changes something of.
        description: the server's text about the tool.
        schema: the server's schema of the arguments.
    """
    schema = _mended(schema)
    properties, required = _members(_followed(schema, schema), schema)
    parameters = {
        name: _merge(node, configured.parameters.get(name), name in required, schema)
        for name, node in properties.items()
    }
    checked = {
        **schema,
        "type": "object",
        "properties": {name: parameter.schema for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.required],
    }
    summary, details = _texts(configured.summary, configured.description, description)
    return replace(configured, parameters=parameters, summary=summary, description=details, schema=checked)


def _members(schema: JsonObject, root: JsonObject) -> tuple[dict[str, JsonObject], set[str]]:
    """Give the properties of an object and those that it must have; parts and alternatives of it count too."""
    properties = {name: as_object(node) for name, node in as_object(schema.get("properties")).items()}
    required = set(as_names(schema.get("required")))
    for key in ("allOf", "anyOf", "oneOf"):
        for part in as_list(schema.get(key)):
            followed = _followed(as_object(part), root)
            for name, node in as_object(followed.get("properties")).items():
                properties.setdefault(name, as_object(node))
            if key == "allOf":
                required.update(as_names(followed.get("required")))
    return properties, required


def split_text(text: str | None) -> tuple[str | None, str | None]:
    """Split a server's text into what is always told and the rest, told on demand.

    The cut is behind the first sentence: a full stop before a line end, or before blanks and a capital
    letter. Without one it is behind the first line.
    """
    text = (text or "").strip()
    if not text:
        return None, None
    ends = [stop.end() for stop in _STOP.finditer(text) if stop[1] is None or stop[1].isupper()]
    cut = ends[0] if ends else text.find("\n")
    if cut < 0:
        return text, None
    return text[:cut].strip(), text[cut:].strip() or None


def _texts(
    summary: str | None, description: str | None, server_text: str | None
) -> tuple[str | None, str | None]:
    """Give summary and description; what the user wrote goes before the server's (trap 30)."""
    if summary or description:
        return _filled_in(summary, server_text), _filled_in(description, server_text)
    return split_text(server_text)


def _filled_in(text: str | None, server_text: str | None) -> str | None:
    return text.replace(SERVER_TEXT, server_text or "") if text else None


def _merge(node: JsonObject, changes: Parameter | None, is_required: bool, root: JsonObject) -> Parameter:
    """Merge one parameter; `schema` of the result is what the model is told."""
    told = dict(node)
    if changes is not None:
        wanted = changes.type if changes.type is None or isinstance(changes.type, str) else list(changes.type)
        if wanted is not None and wanted != told.get("type"):
            # Whatever described the other type makes no sense beside the new one.
            told = {name: value for name, value in told.items() if name in {"description", "title"}}
            told["type"] = wanted
        if changes.default is not None:
            told["default"] = changes.default
        if changes.enum:
            told["enum"] = list(changes.enum)
        if changes.items is not None:
            told["items"] = parameter_schema(changes.items)
        if changes.properties:
            told.pop("required", None)
            told.update(_nested(changes))
        if changes.description:
            told["description"] = _filled_in(changes.description, as_text(node.get("description")))
        is_required = is_required or changes.required
    read = _read(told, root, _MAX_READ_DEPTH)
    summary, details = split_text(as_text(told.get("description")))
    if changes is not None and changes.summary:
        # A summary of the user's is for `describe_tools` only; the model is told the whole text.
        summary = _filled_in(changes.summary, as_text(node.get("description")))
        details = as_text(told.get("description"))
    return replace(
        read,
        required=is_required,
        summary=summary,
        description=details,
        examples=changes.examples if changes is not None else None,
        schema=told,
    )


def _nested(changes: Parameter) -> JsonObject:
    """Give `properties`, and `required` when there is any, as the user configured them."""
    schema = parameter_schema(changes)
    return {name: schema[name] for name in ("properties", "required") if name in schema}


# ------------------------------------------------------------------------- understanding a schema


def _read(node: JsonObject, root: JsonObject, depth: int) -> Parameter:
    """Read of a schema what we understand: enough to make sense of arguments that came as text."""
    node = _followed(node, root)
    types = tuple(dict.fromkeys(_types(node, root, depth)))
    items = node.get("items")
    required = set(as_names(node.get("required")))
    properties = as_object(node.get("properties") if depth else None)
    return Parameter(
        type=None if not types else types[0] if len(types) == 1 else types,
        default=node.get("default"),
        enum=as_list(node.get("enum")),
        items=_read(as_object(items), root, depth - 1) if depth and isinstance(items, Mapping) else None,
        properties={
            name: replace(_read(as_object(child), root, depth - 1), required=name in required)
            for name, child in properties.items()
        },
    )


def _types(node: JsonObject, root: JsonObject, depth: int) -> Iterable[str]:
    """Give the types that a schema names, in itself or in its alternatives; none means any."""
    declared = node.get("type")
    if isinstance(declared, str):
        return [declared]
    if declared is not None:
        return as_names(declared)
    for key in ("anyOf", "oneOf"):
        branches = [_followed(as_object(branch), root) for branch in as_list(node.get(key))] if depth else []
        named = [list(_types(branch, root, depth - 1)) for branch in branches]
        # A branch without a type takes anything, and so does the whole.
        if named and all(named):
            return [name for names in named for name in names]
    return []


def _followed(node: JsonObject, root: JsonObject) -> JsonObject:
    """Follow a reference, and those behind it; the node's own members win."""
    seen: set[str] = set()
    while isinstance(reference := node.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        own = {name: value for name, value in node.items() if name != "$ref"}
        node = {**as_object(_resolve(reference, root)), **own}
    return node


# ------------------------------------------------------------------------- mending references


def _mended(schema: JsonObject) -> JsonObject:
    return as_object(_Mending(schema).mend(schema, frozenset(), 0))


class _Mending:
    """Walks a schema once; what a hostile one makes it replace is bounded in number and depth."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = _MAX_REPLACED

    def mend(self, value: JsonValue, being_replaced: frozenset[str], depth: int) -> JsonValue:
        """Give a value without references that a vendor cannot follow."""
        if depth > _MAX_MENDED_DEPTH:
            return {}
        if isinstance(value, Mapping):
            reference = value.get("$ref")
            if isinstance(reference, str) and not _is_fine(reference, self._root):
                self._left -= 1
                own = {name: child for name, child in value.items() if name != "$ref"}
                is_open = reference in being_replaced or self._left < 0
                target = None if is_open else _resolve(reference, self._root)
                value, being_replaced = {**as_object(target), **own}, being_replaced | {reference}
                return self.mend(value, being_replaced, depth + 1)
            return {name: self.mend(child, being_replaced, depth + 1) for name, child in value.items()}
        if isinstance(value, str) or not isinstance(value, Sequence):
            return value
        return [self.mend(child, being_replaced, depth + 1) for child in value]


def _is_fine(reference: str, root: JsonObject) -> bool:
    return reference.startswith(_TO_DEFINITIONS) and isinstance(_resolve(reference, root), Mapping)


def _resolve(reference: str, root: JsonObject) -> JsonValue:
    """Follow a JSON pointer within the schema; nothing when it leads nowhere or elsewhere."""
    if not reference.startswith("#"):
        return None
    value: JsonValue = root
    for step in reference[1:].split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value
