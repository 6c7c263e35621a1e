"""TOML with the place of everything, also while it is being written and therefore broken.

The values are those that the parser of the standard library gives, one by one; only where they stand is found out
here. A statement that makes no sense costs no more than its own line: what comes after it is read again.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import ClassVar

from jp_lsp.config.value import ABSENT, Absent, Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.document import (
    MAX_DEPTH,
    MAX_SIZE,
    Document,
    Entry,
    KeyPlace,
    Name,
    Node,
    Place,
    in_quotes,
)
from jp_lsp.language.place import place_in_entry
from jp_lsp.language.positions import Span

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BEGUN_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*")
_PART = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?')
_PLAIN_TEXT = re.compile(r'"([^"\\\x00-\x1f\x7f]*)"')
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_BLANK = re.compile(r"[ \t]*")
_FILLER = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_REST_OF_LINE = re.compile(r"[^\n]*\n?")
_SIMPLE_HEADER = re.compile(r"\[([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){0,20})\]")
_SIMPLE_ASSIGNMENT = re.compile(
    r'([A-Za-z0-9_-]+)[ \t]*=[ \t]*("[^"\\\x00-\x1f\x7f]*"|true|false)(?=[ \t]*(?:\#|\r?\n|\Z))'
)
_SIMPLE_END = re.compile(r"\r?\n(?=[A-Za-z0-9_\[-])")
"""What nearly every line of a file is; each is read at once, which is several times quicker."""

_WORDS: Mapping[str, JsonValue] = {"true": True, "false": False}
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
class TomlDocument(Document):
    """A TOML text that was read."""

    extension: ClassVar[str] = "toml"

    def places_at(self, offset: int) -> tuple[Place, ...]:
        """Say what a cursor stands in, see `Document`."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        before = self.text[line_start:offset]
        if before.lstrip().startswith("#"):
            return ()
        table: Path = ()
        for entry in self.entries:
            if entry.start > offset:
                break
            if offset <= entry.end and (place := place_in_entry(self.text, entry, offset)) is not None:
                return (place,)
            if entry.is_header:
                table = entry.path
        if not before.strip():
            return (KeyPlace(table, "", Span(offset, offset)),)
        if _BEGUN_HEADER.fullmatch(before):
            return (KeyPlace((), "", Span(offset, offset), is_header=True, is_list="[[" in before),)
        return ()

    def write_key(self, name: str, place: KeyPlace, *, is_table: bool) -> str:
        """Write a key for a place; a table is more likely to be gone into than to be given a value."""
        there = self.text[place.span.start : place.span.end]
        is_bare = _BARE.fullmatch(name) is not None and not there.startswith(('"', "'"))
        written = name if is_bare else in_quotes(name, there)
        return written if is_table or place.is_header or place.is_assigned else f"{written} = "

    def write_text(self, value: str, written: str) -> str:
        """Write a text in the quotes that are there."""
        return in_quotes(value, written)


def read_toml(text: str) -> TomlDocument:
    """Read a text; never fails."""
    if len(text) > MAX_SIZE:
        return TomlDocument(text, ())
    return TomlDocument(text, tuple(_Reader(text).statements()))


@dataclass(slots=True)
class _Reader:
    text: str
    counts: dict[Path, int] = field(default_factory=lambda: {})

    def statements(self) -> Iterator[Entry]:
        start = self._skip(_FILLER, 0)
        table: Path = ()
        while start < len(self.text):
            if self.text[start] == "[":
                entry, position = self._header(start)
                table = entry.path if entry is not None else table
            else:
                entry, position = self._assignment(start, table, 0, ends="\n")
                position = max(position, start)
            if entry is not None:
                yield entry
            following = _SIMPLE_END.match(self.text, position)
            start = self._skip(_FILLER, self._next_line(position)) if following is None else following.end()

    def _header(self, start: int) -> tuple[Entry | None, int]:
        if (simple := _SIMPLE_HEADER.match(self.text, start)) is not None:
            return self._simple_header(simple), simple.end()
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
        return Entry(names, (), path, start, end, is_header=True), end

    def _simple_header(self, header: re.Match[str]) -> Entry:
        texts = header[1].split(".")
        names: list[Name] = []
        position = header.start(1)
        for text in texts:
            names.append(Name(text, position, position + len(text)))
            position += len(text) + 1
        path = self._absolute(texts) if self.counts else tuple(texts)
        return Entry(tuple(names), (), path, header.start(), header.end(), is_header=True)

    def _absolute(self, names: list[str]) -> Path:
        """Put the index of the last element behind each name of a list of tables."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _assignment(self, start: int, base: Path, depth: int, *, ends: str) -> tuple[Entry | None, int]:
        if (simple := _SIMPLE_ASSIGNMENT.match(self.text, start)) is not None:
            return _simple_entry(simple, base), simple.end()
        names, end = self._names(start)
        if not names:
            return None, end
        path: Path = (*base, *(name.text for name in names))
        if not self.text.startswith("=", end):
            return Entry(names, base, path, start, names[-1].end), end
        sign = end
        value_start = self._skip(_BLANK, sign + 1)
        value = self._value(value_start, path, depth) if self._has_value(value_start, ends) else None
        end = value.end if value is not None else value_start
        return Entry(names, base, path, start, end, sign=sign, value=value), end

    def _has_value(self, start: int, ends: str) -> bool:
        return start < len(self.text) and self.text[start] not in f"\r\n#{ends}"

    def _value(self, start: int, path: Path, depth: int) -> Node | None:
        if depth > MAX_DEPTH:
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
                return Node("scalar", start, token.end(), _scalar(token[0]))

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
            position = item.end
        if self.text.startswith("]", position):
            return Node("list", start, position + 1, items=tuple(items))
        # What follows on other lines is more likely the rest of the file than of this list.
        end = min(self._line_end(start), position)
        return Node("list", start, end, items=tuple(item for item in items if item.end <= end))

    def _begins_statement(self, item: Node) -> bool:
        """Tell a key behind a list that was not closed yet from an item of it."""
        return item.kind == "scalar" and self.text.startswith("=", self._skip(_BLANK, item.end))

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
        return Node("table", start, position + is_closed, entries=tuple(entries))

    def _names(self, start: int) -> tuple[tuple[Name, ...], int]:
        """Read a dotted key; gives where it and the blanks behind it end. A dot at its end makes an empty name."""
        names: list[Name] = []
        position = self._skip(_BLANK, start)
        while True:
            part = _PART.match(self.text, position) if len(names) < MAX_DEPTH else None
            if part is None:
                if names:
                    names.append(Name("", position, position))
                return tuple(names), position
            names.append(Name(_unquoted(part[0]), position, part.end()))
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


def _simple_entry(found: re.Match[str], base: Path) -> Entry:
    start, end = found.span()
    name, word = found[1], found[2]
    value = Node("scalar", end - len(word), end, word[1:-1] if word[0] == '"' else _WORDS[word])
    names = (Name(name, start, start + len(name)),)
    sign = found.string.index("=", start + len(name))
    return Entry(names, base, (*base, name), start, end, sign=sign, value=value)


def _scalar(token: str) -> "JsonValue | Absent":
    if (plain_text := _PLAIN_TEXT.fullmatch(token)) is not None:
        return plain_text[1]  # nearly all there is in a file; the parser would take most of the time
    if token in _WORDS:
        return _WORDS[token]
    if _INTEGER.fullmatch(token) is not None:
        return int(token)
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
