"""What stands at a cursor in a configuration file: a name of a key, or a value, and where it belongs."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from jp_lsp.config.value import Path
from jp_lsp.language.positions import Span
from jp_lsp.language.toml_document import Document, Entry, Node

_BEGUN_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*")


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """The name of a key, perhaps empty.

    `table` is the path of the table that the name is looked up in; `span` is the name as it stands there.
    `is_assigned` says that a value follows.
    """

    table: Path
    name: str
    span: Span
    is_header: bool = False
    is_assigned: bool = False

    @property
    def path(self) -> Path:
        """What the name leads to."""
        return (*self.table, self.name)


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A value, perhaps one that is still missing; `node` is what stands there."""

    path: Path
    span: Span
    node: Node | None = None


Place: TypeAlias = KeyPlace | ValuePlace


def place_at(document: Document, offset: int) -> Place | None:
    """Say what the cursor stands in or at the end of; `None` for nothing that belongs to a key."""
    line_start = document.text.rfind("\n", 0, offset) + 1
    before = document.text[line_start:offset]
    if before.lstrip().startswith("#"):
        return None
    table: Path = ()
    for entry in document.entries:
        if entry.span.start > offset:
            break
        if (place := _in_entry(document.text, entry, offset)) is not None:
            return place
        if entry.is_header:
            table = entry.path
    if not before.strip():
        return KeyPlace(table, "", Span(offset, offset))
    if _BEGUN_HEADER.fullmatch(before):
        return KeyPlace((), "", Span(offset, offset), is_header=True)
    return None


def _in_entry(text: str, entry: Entry, offset: int) -> Place | None:
    end = len(entry.base)
    for name in entry.names:
        if name.span.holds(offset):
            is_assigned = entry.equals is not None
            return KeyPlace(entry.path[:end], name.text, name.span, entry.is_header, is_assigned)
        end += 1
        while end < len(entry.path) and isinstance(entry.path[end], int):
            end += 1
    if entry.equals is None or offset <= entry.equals:
        return None
    if entry.value is None:
        is_near = not text[entry.equals + 1 : offset].strip(" \t")
        return ValuePlace(entry.path, Span(offset, offset)) if is_near else None
    if offset < entry.value.span.start:
        return ValuePlace(entry.path, entry.value.span, entry.value)
    return _in_value(text, entry.value, entry.path, offset) if entry.value.span.holds(offset) else None


def _in_value(text: str, node: Node, path: Path, offset: int) -> Place | None:
    if node.kind == "scalar":
        return ValuePlace(path, _until_cursor(text, node.span, offset), node)
    if offset == node.span.start or (offset == node.span.end and text[offset - 1] in "]}"):
        return ValuePlace(path, node.span, node)
    for index, item in enumerate(node.items):
        if item.span.holds(offset):
            return _in_value(text, item, (*path, index), offset)
    for entry in node.entries:
        if entry.span.holds(offset) and (place := _in_entry(text, entry, offset)) is not None:
            return place
    if node.kind == "table":
        return KeyPlace(path, "", Span(offset, offset))
    index = sum(item.span.end <= offset for item in node.items)
    return ValuePlace((*path, index), Span(offset, offset))


def _until_cursor(text: str, span: Span, offset: int) -> Span:
    """Give a value; of a string that is not closed yet, only what stands before the cursor."""
    opening = text[span.start]
    is_closed = opening not in "\"'" or (span.end - span.start > 1 and text[span.end - 1] == opening)
    return span if is_closed else Span(span.start, max(offset, span.start))
