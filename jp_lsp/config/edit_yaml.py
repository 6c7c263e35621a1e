"""Changing a value in the text of a YAML file (see `edit`).

The parser's events tell where everything stands, anchors and aliases too. What is in brackets is changed as
in other formats (`edit_flow`); in the block style a new key gets lines of its own behind those of its table.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import yaml

from jp_lsp.config.edit import AppendItems, Edit, EditError, RemoveValue, SetValue, Splice
from jp_lsp.config.edit_flow import Dialect, Member, Node, flow_splices, unit
from jp_lsp.config.value import Path
from jp_lsp.conversation.json_value import JsonValue

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_UNSAFE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MISSING = "there is no such place in the file"


@dataclass(frozen=True, slots=True)
class _Block:
    """A value in the block style, or a scalar or alias; `end` is that of its content, without blanks behind it."""

    start: int
    end: int
    kind: Literal["table", "list", "scalar", "alias"]
    members: "tuple[tuple[str, int, _Block | Node], ...]" = ()
    items: "tuple[_Block | Node, ...]" = ()


_Found = _Block | Node


def splices(text: str, edit: Edit) -> Sequence[Splice]:
    """Find what to replace in a text that is valid.

    Raises:
        EditError: there is no such place.
    """
    return list(_Editor(text).splices(edit))


class _Editor:
    def __init__(self, text: str) -> None:
        self._text = text
        self._step = unit(text)
        self._dialect = Dialect(
            lambda names, value, indent: f"{_key(names[0])}: {_flow(_nested(names[1:], value))}",
            lambda value, indent: _flow(value),
        )

    def splices(self, edit: Edit) -> Iterator[Splice]:
        root = _Reader(self._text).root()
        if root is None or root.kind == "scalar":
            yield self._first(edit)
        else:
            yield from self._below(root, edit, edit.path)

    def _first(self, edit: Edit) -> Splice:
        """Write into a file that holds nothing yet."""
        if not isinstance(edit, SetValue):
            raise EditError(_MISSING)
        lines = "\n".join(self._lines("", edit.path, edit.value))
        start = "" if not self._text or self._text.endswith("\n") else "\n"
        return Splice(len(self._text), len(self._text), f"{start}{lines}\n")

    def _below(self, node: _Found, edit: Edit, path: Path) -> Iterator[Splice]:
        if isinstance(node, Node):
            yield from flow_splices(self._text, node, edit, path, self._dialect)
            return
        if node.kind == "alias":
            raise EditError("this value is an alias of another one (`*name`): edit the file by hand")
        child = _child(node, path[0])
        is_end = len(path) == 1
        if child is None:
            if not isinstance(edit, SetValue) or node.kind != "table":
                raise EditError(_MISSING)
            yield self._added(node, path, edit.value)
        elif is_end and isinstance(edit, RemoveValue):
            yield self._removed(node, path[0])
        elif is_end and isinstance(edit, SetValue):
            yield self._replaced(node, child, edit.value)
        elif is_end and isinstance(edit, AppendItems) and isinstance(child, _Block):
            yield self._appended(child, edit.items)
        elif not is_end and child.kind == "scalar" and isinstance(edit, SetValue):
            yield self._replaced(node, child, _nested(path[1:], edit.value))
        else:
            yield from self._below(child, edit, path[1:])

    def _added(self, table: _Block, path: Path, value: JsonValue) -> Splice:
        indent = " " * self._column(table.members[0][1])
        lines = "".join(f"\n{line}" for line in self._lines(indent, path, value))
        end = self._line_end(table.end)
        return Splice(end, end, lines)

    def _appended(self, node: _Block, items: Sequence[JsonValue]) -> Splice:
        if node.kind != "list":
            raise EditError("there is no such list in the file")
        indent = " " * self._column(node.start)
        lines = "".join(f"\n{indent}- {self._item(indent, item)}" for item in items)
        end = self._line_end(node.end)
        return Splice(end, end, lines)

    def _replaced(self, parent: _Block, child: _Found, value: JsonValue) -> Splice:
        blank = "" if self._text[child.start - 1] in " \t\n" else " "
        if isinstance(child, _Block) and child.kind == "list" and isinstance(value, (list, tuple)) and value:
            indent = " " * self._column(child.start)
            lines = f"\n{indent}".join(f"- {self._item(indent, item)}" for item in value)
            return Splice(child.start, child.end, f"{blank}{lines}")
        return Splice(child.start, child.end, f"{blank}{self._deeper(parent, child)}{_flow(value)}")

    def _removed(self, parent: _Block, segment: str | int) -> Splice:
        places: list[tuple[str | int, int, int]] = [
            (name, start, node.end) for name, start, node in parent.members
        ]
        for index, item in enumerate(parent.items):
            places.append((index, self._text.rfind("-", 0, item.start), item.end))
        at = max(index for index, (name, _, _) in enumerate(places) if name == segment)
        _, start, end = places[at]
        if len(places) == 1:
            empty = "{}" if parent.kind == "table" else "[]"
            return Splice(parent.start, parent.end, f"{self._outer(parent)}{empty}")
        line = self._text.rfind("\n", 0, start) + 1
        if self._text[line:start].strip():  # the first key of a table that is an item of a list
            return Splice(start, places[at + 1][1] if at + 1 < len(places) else end, "")
        return Splice(line, self._next_line(end), "")

    def _lines(self, indent: str, path: Path, value: JsonValue) -> Iterator[str]:
        """Write a key with its value, and the keys on the way to it, as lines."""
        for name in path[:-1]:
            yield f"{indent}{_key(str(name))}:"
            indent += self._step
        yield f"{indent}{_key(str(path[-1]))}: {_flow(value)}"

    def _item(self, indent: str, item: JsonValue) -> str:
        if isinstance(item, Mapping) and item:
            return f"\n{indent}  ".join(f"{_key(name)}: {_flow(member)}" for name, member in item.items())
        return _flow(item)

    def _deeper(self, parent: _Block, child: _Found) -> str:
        """Give the blanks that a list lacks, which may stand no deeper than its key, for another value."""
        is_on_own_line = not self._text[self._line_start(child.start) : child.start].strip()
        is_deep = self._column(child.start) > self._column(parent.start)
        return "" if is_deep or not is_on_own_line else self._step

    def _outer(self, node: _Block) -> str:
        is_on_own_line = not self._text[self._line_start(node.start) : node.start].strip()
        return self._step if is_on_own_line and node.kind == "list" else ""

    def _line_start(self, position: int) -> int:
        return self._text.rfind("\n", 0, position) + 1

    def _line_end(self, position: int) -> int:
        end = self._next_line(position)
        return position + len(self._text[position:end].rstrip("\r\n"))

    def _next_line(self, position: int) -> int:
        found = self._text.find("\n", position)
        return len(self._text) if found < 0 else found + 1

    def _column(self, position: int) -> int:
        return position - self._line_start(position)


def _child(node: _Block, segment: str | int) -> _Found | None:
    """Find a member or an item; of a key that is there twice the last one counts."""
    if isinstance(segment, int):
        return node.items[segment] if segment < len(node.items) else None
    return next((child for name, _, child in reversed(node.members) if name == segment), None)


class _Reader:
    """Makes nodes of the parser's events."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._events = yaml.parse(text, Loader=yaml.SafeLoader)

    def root(self) -> _Found | None:
        """Give the document's value; `None` where there is no document."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                return self._node(next(self._events))
        return None

    def _node(self, event: yaml.Event) -> _Found:
        start = _offset(event.start_mark)
        match event:
            case yaml.AliasEvent():
                return _Block(start, _offset(event.end_mark), "alias")
            case yaml.ScalarEvent():
                end = _offset(event.end_mark)
                if event.style in {"|", ">"}:
                    end = start + len(self._text[start:end].rstrip())
                return _Block(start, end, "scalar")
            case yaml.MappingStartEvent():
                return self._mapping(start, is_flow=event.flow_style is True)
            case yaml.SequenceStartEvent():
                return self._sequence(start, is_flow=event.flow_style is True)
            case _:
                raise EditError(_MISSING)

    def _mapping(self, start: int, *, is_flow: bool) -> _Found:
        members: list[tuple[str, int, _Found]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event)
            name = event.value if isinstance(event, yaml.ScalarEvent) else self._text[key.start : key.end]
            members.append((name, key.start, self._node(next(self._events))))
        if is_flow:
            flow = tuple(Member((name,), begin, _as_flow(node)) for name, begin, node in members)
            return Node(start, _offset(event.end_mark), "table", flow)
        return _Block(start, members[-1][2].end if members else start, "table", tuple(members))

    def _sequence(self, start: int, *, is_flow: bool) -> _Found:
        items: list[_Found] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event))
        if is_flow:
            return Node(start, _offset(event.end_mark), "list", (), tuple(map(_as_flow, items)))
        return _Block(start, items[-1].end if items else start, "list", (), tuple(items))


def _offset(mark: object) -> int:
    """Give the place of a mark, which events of a text always have."""
    index = getattr(mark, "index", 0)
    assert isinstance(index, int)
    return index


def _as_flow(node: _Found) -> Node:
    return node if isinstance(node, Node) else Node(node.start, node.end, "scalar")


# ------------------------------------------------------------------------------------------------ spelling


def _nested(names: Path, value: JsonValue) -> JsonValue:
    for name in reversed(names):
        value = {str(name): value}
    return value


def _key(name: str) -> str:
    return name if _is_plain(name) else _quoted(name)


def _flow(value: JsonValue) -> str:
    """Write a value in one line."""
    match value:
        case str():
            return value if _is_plain(value) else _quoted(value)
        case Mapping():
            members = [f"{_key(name)}: {_flow(member)}" for name, member in value.items()]
            return "{ " + ", ".join(members) + " }" if members else "{}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case _:
            return json.dumps(value)


def _is_plain(text: str) -> bool:
    return _PLAIN.match(text) is not None and text.lower() not in _WORDS


def _quoted(text: str) -> str:
    return _UNSAFE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
