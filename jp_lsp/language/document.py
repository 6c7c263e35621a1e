"""A configuration text with the place of everything in it, whatever its format.

The features (completion, hover, findings, outline) know a text only as a `Document`: entries with their paths,
values and spans, the places that an offset may mean, and how a key or a text is written. TOML, YAML and JSON each
fill it in a file of their own. All of them read what is being written and therefore broken: a piece that makes no
sense costs as little as possible of what is around it. Whether the whole is valid is not decided here.

A text is read anew after each change, and a large one has ten thousand names and values: those are not frozen, since
that takes longer than all the rest of reading. Nobody changes them.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from jp_lsp.config.value import ABSENT, Absent, Path
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.positions import Span

MAX_SIZE = 500_000
"""Characters; a longer text has no places."""

MAX_DEPTH = 60
"""Levels of values within values; what lies deeper has no places."""


@dataclass(slots=True)
class Name:
    """One part of a key."""

    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)


@dataclass(slots=True)
class Node:
    """A value. `scalar` is `ABSENT` for a list or table, and for what is no value."""

    kind: Literal["scalar", "list", "table"]
    start: int
    end: int
    scalar: "JsonValue | Absent" = ABSENT
    items: "tuple[Node, ...]" = ()
    entries: "tuple[Entry, ...]" = ()

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)


@dataclass(slots=True)
class Entry:
    """A key with its value, or the header of a table.

    `base` is the table that the names count from, `path` where they lead. `sign` is the offset of what stands
    between key and value (`=` or `:`); without it and without being a header the key is still being written.
    """

    names: tuple[Name, ...]
    base: Path
    path: Path
    start: int
    end: int
    is_header: bool = False
    sign: int | None = None
    value: Node | None = None

    @property
    def span(self) -> Span:
        """Where key and value stand."""
        return Span(self.start, self.end)

    @property
    def name_span(self) -> Span:
        """Where the last part of the key stands."""
        return self.names[-1].span


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """The name of a key, perhaps empty.

    `table` is the path of the table that the name is looked up in; `span` is the name as it stands there.
    `is_header` says that only a table can be named, `is_list` that it is one of a list of tables, `is_assigned` that
    a value follows.
    """

    table: Path
    name: str
    span: Span
    is_header: bool = False
    is_assigned: bool = False
    is_list: bool = False

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


@dataclass(frozen=True, slots=True)
class Document(ABC):
    """A text that was read.

    Attributes:
        text: all of it.
        entries: what is in it, in the order of the text.
        missing_commas: where a comma has to stand and does not, in formats that need them.
    """

    text: str
    entries: tuple[Entry, ...]
    missing_commas: tuple[int, ...] = ()

    extension: ClassVar[str]
    """Of files in this format, without the dot."""

    @abstractmethod
    def places_at(self, offset: int) -> Sequence[Place]:
        """Say what a cursor stands in or at the end of.

        What is half written can mean two things, such as a word that may become a key or be a value; the more
        likely one comes first. Nothing is given where no key or value can stand, as in a comment.
        """

    @abstractmethod
    def write_key(self, name: str, place: KeyPlace, *, is_table: bool) -> str:
        """Write a key for a place, up to where its value begins."""

    @abstractmethod
    def write_text(self, value: str, written: str) -> str:
        """Write a text in the place of what is `written` there."""

    def walk(self) -> Iterator[Entry]:
        """Give every entry, those inside of values too, each before what is in it."""
        for entry in self.entries:
            yield entry
            if entry.value is not None:
                yield from _inside(entry.value)

    def values(self) -> JsonValue:
        """Give all values that make sense as one tree; of several for one key the first counts."""
        root: dict[str, JsonValue] = {}
        for entry in self.entries:
            if entry.is_header:
                _put(root, entry.path, None, is_table=True)
            elif entry.value is not None and (value := plain(entry.value)) is not ABSENT:
                _put(root, entry.path, value)
        return root


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
                    _put(root, inner, value)
            return root


def in_quotes(value: str, written: str) -> str:
    """Write a text in the kind of quotes that are there already, which editors compare proposals with."""
    if written.startswith("'") and value.isprintable() and not set(value) & {"'", "\\"}:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def _inside(node: Node) -> Iterator[Entry]:
    for item in node.items:
        yield from _inside(item)
    for entry in node.entries:
        yield entry
        if entry.value is not None:
            yield from _inside(entry.value)


def _put(root: dict[str, JsonValue], path: Path, value: JsonValue, *, is_table: bool = False) -> None:
    """Put a value where a path leads; one that is in the way stays."""
    here: JsonValue = root
    for index, segment in enumerate(path):
        is_last = index == len(path) - 1
        following = None if is_last else path[index + 1]
        fresh: JsonValue = value if is_last and not is_table else [] if isinstance(following, int) else {}
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
