"""A TOML text with the place of everything in it, also while it is being written and therefore broken.

The values are those that the parser of the standard library gives, one by one; only where they stand is found out
here. A statement that makes no sense costs no more than its own line: what comes after it is read again. Whether
the whole is valid is not decided here.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import lru_cache
from typing import Literal

from jp_lsp.config.value import ABSENT, Absent, Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.positions import Span

MAX_SIZE = 1_000_000
"""Characters; a longer text has no places."""

_MAX_DEPTH = 60
_PART = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?')
_PLAIN_TEXT = re.compile(r'"([^"\\\x00-\x1f\x7f]*)"')
_BLANK = re.compile(r"[ \t]*")
_FILLER = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[^\n]*\n?")
_SCALAR = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"""[^\n]*|"(?:[^"\\\n]|\\.)*"?'
    r"|'''[^\n]*|'[^'\n]*'?"
    r"|\d{4}-\d\d-\d\d[ Tt]\d\d:[0-9:.+Zz-]+"
    r"|[^\s,\[\]{}#\"'=]+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Name:
    """One part of a dotted key."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Node:
    """A value. `scalar` is `ABSENT` for a list or table, and for what is no value."""

    kind: Literal["scalar", "list", "table"]
    span: Span
    scalar: "JsonValue | Absent" = ABSENT
    items: "tuple[Node, ...]" = ()
    entries: "tuple[Entry, ...]" = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value, or the header of a table.

    `base` is the table that the names count from, `path` where they lead. `equals` is the offset of the `=`; without
    it and without being a header the key is still being written.
    """

    names: tuple[Name, ...]
    base: Path
    path: Path
    span: Span
    is_header: bool = False
    equals: int | None = None
    value: Node | None = None

    @property
    def name_span(self) -> Span:
        """Where the last part of the key stands."""
        return self.names[-1].span


@dataclass(frozen=True, slots=True)
class Document:
    """A text that was read."""

    text: str
    entries: tuple[Entry, ...]

    def walk(self) -> Iterator[Entry]:
        """Give every entry, those inside of values too, each before what is in it."""
        for entry in self.entries:
            yield entry
            if entry.value is not None:
                yield from _inside(entry.value)

    def find(self, path: Path) -> Entry | None:
        """Find the entry that sets a path, or the header of it."""
        return next((entry for entry in self.walk() if entry.path == path), None)

    def values(self) -> JsonValue:
        """Give all values that make sense as one tree; of several for one key the first counts."""
        root: dict[str, JsonValue] = {}
        for entry in self.entries:
            if entry.is_header:
                _place(root, entry.path, None)
            elif entry.value is not None and (value := plain(entry.value)) is not ABSENT:
                _place(root, entry.path, value)
        return root


@lru_cache(maxsize=8)
def read_toml(text: str) -> Document:
    """Read a text; never fails."""
    if len(text) > MAX_SIZE:
        return Document(text, ())
    return Document(text, tuple(_Reader(text).statements()))


def plain(node: Node) -> "JsonValue | Absent":
    """Give a value as JSON; `ABSENT` if it is none."""
    match node.kind:
        case "scalar":
            return node.scalar
        case "list":
            return [item for each in node.items if (item := plain(each)) is not ABSENT]
        case "table":
            root: dict[str, JsonValue] = {}
            for entry in node.entries:
                inner = entry.path[len(entry.base) :]
                if entry.value is not None and (value := plain(entry.value)) is not ABSENT:
                    _place(root, inner, value)
            return root


def _inside(node: Node) -> Iterator[Entry]:
    for item in node.items:
        yield from _inside(item)
    for entry in node.entries:
        yield entry
        if entry.value is not None:
            yield from _inside(entry.value)


def _place(root: dict[str, JsonValue], path: Path, value: JsonValue) -> None:
    """Put a value where a path leads, `None` for a table; one that is in the way stays."""
    here: JsonValue = root
    for index, segment in enumerate(path):
        is_last = index == len(path) - 1
        following = None if is_last else path[index + 1]
        fresh: JsonValue = (
            value if is_last and value is not None else [] if isinstance(following, int) else {}
        )
        if isinstance(segment, int):
            if not isinstance(here, list):
                return
            if segment >= len(here):
                here.append(fresh)
                segment = len(here) - 1
            here = here[segment]
        else:
            if not isinstance(here, dict):
                return
            here = here.setdefault(segment, fresh)


@dataclass(slots=True)
class _Reader:
    text: str
    counts: dict[Path, int] = field(default_factory=lambda: {})

    def statements(self) -> Iterator[Entry]:
        position = 0
        table: Path = ()
        while position < len(self.text):
            start = self._skip(_FILLER, position)
            if start >= len(self.text):
                return
            if self.text[start] == "[":
                entry, position = self._header(start)
                table = entry.path if entry is not None else table
            else:
                entry, position = self._assignment(start, table, 0, ends="\n")
                position = max(position, start)
            if entry is not None:
                yield entry
            position = self._next_line(position)

    def _header(self, start: int) -> tuple[Entry | None, int]:
        is_list = self.text.startswith("[[", start)
        names, end = self._names(start + (2 if is_list else 1))
        if not names:
            return None, end
        texts = [name.text for name in names]
        if is_list:
            above = self._absolute(texts[:-1])
            index = self.counts[*above, texts[-1]] = self.counts.get((*above, texts[-1]), -1) + 1
            path: Path = (*above, texts[-1], index)
        else:
            path = self._absolute(texts)
        closing = self.text.startswith("]]" if is_list else "]", end)
        end += (2 if is_list else 1) if closing else 0
        return Entry(names, (), path, Span(start, end), is_header=True), end

    def _absolute(self, names: list[str]) -> Path:
        """Put the index of the last element behind each name of a list of tables."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _assignment(self, start: int, base: Path, depth: int, *, ends: str) -> tuple[Entry | None, int]:
        names, end = self._names(start)
        if not names:
            return None, end
        path: Path = (*base, *(name.text for name in names))
        if not self.text.startswith("=", end):
            return Entry(names, base, path, Span(start, names[-1].span.end)), end
        equals = end
        value_start = self._skip(_BLANK, equals + 1)
        value = self._value(value_start, path, depth) if self._has_value(value_start, ends) else None
        end = value.span.end if value is not None else value_start
        return Entry(names, base, path, Span(start, end), equals=equals, value=value), end

    def _has_value(self, start: int, ends: str) -> bool:
        return start < len(self.text) and self.text[start] not in f"\r\n#{ends}"

    def _value(self, start: int, path: Path, depth: int) -> Node | None:
        if depth > _MAX_DEPTH:
            return None
        match self.text[start]:
            case "[":
                return self._list(start, path, depth)
            case "{":
                return self._table(start, path, depth)
            case _:
                token = _SCALAR.match(self.text, start)
                if token is None:
                    return None
                return Node("scalar", Span(start, token.end()), _scalar(token[0]))

    def _list(self, start: int, path: Path, depth: int) -> Node:
        items: list[Node] = []
        position = start + 1
        while True:
            position = self._skip(_FILLER, position)
            if position >= len(self.text) or self.text[position] == "]":
                break
            if self.text[position] == ",":
                position += 1
                continue
            item = self._value(position, (*path, len(items)), depth + 1)
            if item is None or self._begins_statement(item):
                break
            items.append(item)
            position = item.span.end
        if self.text.startswith("]", position):
            return Node("list", Span(start, position + 1), items=tuple(items))
        # What follows on other lines is more likely the rest of the file than of this list.
        end = min(self._line_end(start), position)
        return Node("list", Span(start, end), items=tuple(item for item in items if item.span.end <= end))

    def _begins_statement(self, item: Node) -> bool:
        """Tell a key behind a list that was not closed yet from an item of it."""
        return item.kind == "scalar" and self.text.startswith("=", self._skip(_BLANK, item.span.end))

    def _table(self, start: int, path: Path, depth: int) -> Node:
        entries: list[Entry] = []
        position = start + 1
        while True:
            position = self._skip(_BLANK, position)
            if position >= len(self.text) or self.text[position] in "}\r\n":
                break
            if self.text[position] == ",":
                position += 1
                continue
            entry, end = self._assignment(position, path, depth + 1, ends=",}")
            if entry is None or end <= position:
                break
            entries.append(entry)
            position = end
        is_closed = self.text.startswith("}", position)
        return Node("table", Span(start, position + is_closed), entries=tuple(entries))

    def _names(self, start: int) -> tuple[tuple[Name, ...], int]:
        """Read a dotted key; gives where it and the blanks behind it end. A dot at its end makes an empty name."""
        names: list[Name] = []
        position = self._skip(_BLANK, start)
        while True:
            part = _PART.match(self.text, position)
            if part is None:
                if names:
                    names.append(Name("", Span(position, position)))
                return tuple(names), position
            names.append(Name(_unquoted(part[0]), Span(position, part.end())))
            position = self._skip(_BLANK, part.end())
            if not self.text.startswith(".", position):
                return tuple(names), position
            position = self._skip(_BLANK, position + 1)

    def _skip(self, pattern: re.Pattern[str], position: int) -> int:
        found = pattern.match(self.text, position)
        return position if found is None else found.end()

    def _line_end(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _next_line(self, position: int) -> int:
        return self._skip(_REST_OF_LINE, position)


def _scalar(token: str) -> "JsonValue | Absent":
    if (plain_text := _PLAIN_TEXT.fullmatch(token)) is not None:
        return plain_text[1]  # nearly all there is in a file; the parser would take most of the time
    try:
        value = tomllib.loads(f"value = {token}")["value"]
    except ValueError:
        return ABSENT
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return value if isinstance(value, (str, bool, int, float)) else ABSENT


def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    scalar = _scalar(part)
    return scalar if isinstance(scalar, str) else part.strip("\"'")
