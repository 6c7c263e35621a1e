"""From what a server says of a tool, and what the user changed of it, to what the model is told (5.4).

The server's own schema goes through as it is: references, nested properties, formats and bounds included
(traps 29 and 61). A member that the user set replaces the server's, and only that member. Two things are
mended, because a vendor would refuse every request with them in it: a reference that leads nowhere is left
out, and one that leads elsewhere than to the definitions is replaced by what it means.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import unquote

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.schema import parameter_schema

SERVER_TEXT = "{{description}}"
"""Where the user's text has this, the server's own stands."""

_SENTENCE_END = re.compile(r"\.(?=\n)|\.(?= +[A-Z])")
_DEFINITIONS = ("$defs", "definitions")
_TO_DEFINITIONS = tuple(f"#/{name}/" for name in _DEFINITIONS)
_MAX_DEPTH = 12


def define_tool(configured: ToolDefinition, description: str | None, schema: JsonObject) -> ToolDefinition:
    """Merge what the user configured with what the server says.

    Args:
        configured: the configured entry. A member that the user left out is `None` or empty, and parameters
            are those that the user changes something of.
        description: the server's text about the tool.
        schema: the server's schema of the arguments.
    """
    schema = _mended(schema)
    required = set(_names(schema.get("required")))
    parameters = {
        name: _merge(_object(node), configured.parameters.get(name), name in required, schema)
        for name, node in _object(schema.get("properties")).items()
    }
    checked = {
        **schema,
        "type": "object",
        "properties": {name: parameter.schema for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.required],
    }
    summary, details = _texts(configured.summary, configured.description, description)
    return replace(
        configured, parameters=parameters, summary=summary, description=details, schema=checked
    )


def split_text(text: str | None) -> tuple[str | None, str | None]:
    """Split a server's text into what is always told and the rest, told on demand.

    The cut is behind the first sentence: a full stop before a line end, or before blanks and a capital
    letter. Without one it is behind the first line.
    """
    text = (text or "").strip()
    if not text:
        return None, None
    found = _SENTENCE_END.search(text)
    cut = found.end() if found is not None else text.find("\n")
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
        if changes.type is not None and changes.type != told.get("type"):
            # Whatever described the other type makes no sense beside the new one.
            told = {name: value for name, value in told.items() if name in {"description", "title"}}
            told["type"] = changes.type if isinstance(changes.type, str) else list(changes.type)
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
            told["description"] = _filled_in(changes.description, _text(node.get("description")))
        is_required = is_required or changes.required
    read = _read(told, root, _MAX_DEPTH)
    summary, details = split_text(_text(told.get("description")))
    if changes is not None and changes.summary:
        # A summary of the user's is for `describe_tools` only; the model is told the whole text.
        summary = _filled_in(changes.summary, _text(node.get("description")))
        details = _text(told.get("description"))
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
    required = set(_names(node.get("required")))
    properties = _object(node.get("properties")) if depth else {}
    return Parameter(
        type=None if not types else types[0] if len(types) == 1 else types,
        default=node.get("default"),
        enum=_list(node.get("enum")),
        items=_read(_object(items), root, depth - 1) if depth and isinstance(items, Mapping) else None,
        properties={
            name: replace(_read(_object(child), root, depth - 1), required=name in required)
            for name, child in properties.items()
        },
    )


def _types(node: JsonObject, root: JsonObject, depth: int) -> Iterable[str]:
    """Give the types that a schema names, in itself or in its alternatives; none means any."""
    declared = node.get("type")
    if isinstance(declared, str):
        return [declared]
    if declared is not None:
        return _names(declared)
    for key in ("anyOf", "oneOf"):
        branches = [_followed(_object(branch), root) for branch in _list(node.get(key))] if depth else []
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
        node = {**_object(_resolve(reference, root)), **own}
    return node


# ------------------------------------------------------------------------- mending references


@dataclass(frozen=True, slots=True)
class _Mending:
    """What is known while a schema is mended; `open` are the references that are being replaced."""

    root: JsonObject
    open: frozenset[str] = frozenset()


def _mended(schema: JsonObject) -> JsonObject:
    return _object(_mend(schema, _Mending(schema)))


def _mend(value: JsonValue, mending: _Mending) -> JsonValue:
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str) and not _is_fine(reference, mending.root):
            own = {name: child for name, child in value.items() if name != "$ref"}
            target = None if reference in mending.open else _resolve(reference, mending.root)
            inner = _Mending(mending.root, mending.open | {reference})
            return _mend({**_object(target), **own}, inner)
        return {name: _mend(child, mending) for name, child in value.items()}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [_mend(child, mending) for child in value]


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


def _object(value: JsonValue) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _names(value: JsonValue) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
