"""Changing a value in the text of a JSON or JSON5 file (see `edit`)."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from jp_lsp.config.edit import HALF, Edit, Splice
from jp_lsp.config.edit_flow import Dialect, Node, flow_splices, unit
from jp_lsp.config.flow_scan import json_grammar, scan_value
from jp_lsp.config.parse import is_only_comments
from jp_lsp.conversation.json_value import JsonValue

_LONGEST_LINE = 80
_WORD = re.compile(r"[A-Za-z_$][\w$]*\Z")


def splices(text: str, edit: Edit) -> Sequence[Splice]:
    """Find what to replace in a text that is valid.

    Raises:
        EditError: there is no such place.
    """
    root = _root(text)
    step = unit(text)
    is_bare = any(text[member.start] not in "\"'" for member in root.members)

    def value(data: JsonValue, indent: str) -> str:
        return write_json(data, indent, step)

    def member(names: tuple[str, ...], data: JsonValue, indent: str) -> str:
        for name in reversed(names[1:]):
            data = {name: data}
        key = names[0] if is_bare and _WORD.match(names[0]) else _dumped(names[0])
        return f"{key}: {write_json(data, indent, step)}"

    if root.end == 0:
        start = len(text.rstrip())
        before = "" if not start else "\n"
        blank = Dialect(member, value)
        inner = "".join(each.text for each in flow_splices("{}", Node(0, 2, "table"), edit, edit.path, blank))
        return [Splice(start, len(text), f"{before}{{{inner}}}\n")]
    return list(flow_splices(text, root, edit, edit.path, Dialect(member, value)))


def _root(text: str) -> Node:
    """Find the table that the file is; an empty one of no size where there is nothing but comments."""
    if is_only_comments(text):
        return Node(0, 0, "table")
    return scan_value(text, 0, json_grammar(_names))


def _names(key: str) -> tuple[str, ...]:
    if key[:1] not in {'"', "'"}:
        return (key,)
    with suppress(ValueError):
        return (cast("str", json.loads(key)),)  # half a surrogate pair in it is no matter
    import pyjson5  # knows both kinds of quotes

    return (cast("str", pyjson5.decode(key)),)


def write_json(data: JsonValue, indent: str, step: str) -> str:
    """Write a value for a line with this indentation; what is short stays on it."""
    one_line = _dumped(data)
    if len(one_line) <= _LONGEST_LINE or not isinstance(data, (Mapping, list, tuple)):
        return one_line
    inner = indent + step
    if isinstance(data, Mapping):
        lines = [f"{_dumped(name)}: {write_json(each, inner, step)}" for name, each in data.items()]
        return "{\n" + ",\n".join(f"{inner}{line}" for line in lines) + f"\n{indent}}}"
    lines = [write_json(each, inner, step) for each in data]
    return "[\n" + ",\n".join(f"{inner}{line}" for line in lines) + f"\n{indent}]"


def _dumped(data: JsonValue) -> str:
    """Write a value on one line; half a surrogate pair, which no file can hold, as an escape."""
    return HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False))
