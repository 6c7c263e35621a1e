"""The values that a configuration tree is made of before it is complete.

A tree is plain data: text, numbers, lists and tables, in one normal form for each kind of key, whatever
spelling a file used. What has no value is simply not there. Only three values carry more than data,
because they say how they want to be merged: `MergedText`, `MergedList` and `MergedMap`. Nothing here is
ever changed; every step of loading makes new values (config-and-tools 1.9, 10.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal, TypeAlias

from jp_lsp.conversation.json_value import JsonValue

Position = Literal["append", "prepend", "replace"]
Separator = Literal["none", "space", "line", "paragraph"]
MapStrategy = Literal["deep_merge", "merge", "keep", "replace"]

SEPARATORS: Mapping[Separator, str] = {"none": "", "space": " ", "line": "\n", "paragraph": "\n\n"}


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT
"""No value; `None` is a value, of free JSON only."""


@dataclass(frozen=True, slots=True)
class MergedText:
    """Text that says where it goes; a bare string replaces. `discard` marks a text that gives way to any other one."""

    text: str
    position: Position = "replace"
    separator: Separator = "none"
    discard: bool = False


@dataclass(frozen=True, slots=True)
class MergedList:
    """A list that says where its items go; a bare one, with `position` unset, appends.

    `dedup` unset takes over what lower layers said. `discard` marks a list that gives way to any other.
    """

    items: "tuple[Value, ...]" = ()
    position: Position | None = None
    dedup: bool | None = None
    discard: bool = False


@dataclass(frozen=True, slots=True)
class MergedMap:
    """A map that says how its entries meet those below; without `strategy` they are merged deeply."""

    entries: "Mapping[str, Value]" = field(default_factory=lambda: {})
    strategy: MapStrategy | None = None
    discard: bool = False


Merged: TypeAlias = MergedText | MergedList | MergedMap
Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | Merged | None"
MaybeValue: TypeAlias = "Value | Absent"
"""A value, or none."""

Partial: TypeAlias = Mapping[str, Value]
"""A tree in which any key may be missing."""

Segment: TypeAlias = str | int
Path: TypeAlias = tuple[Segment, ...]
"""The way to a value: names of keys and entries, and indices of list items."""

EMPTY: Partial = {}
NO_JSON: Mapping[str, JsonValue] = {}


def entries_of(value: MaybeValue) -> Mapping[str, Value]:
    """Give the members of a table or map; nothing where the value is something else or not there."""
    if isinstance(value, MergedMap):
        return value.entries
    return value if isinstance(value, Mapping) else EMPTY


def value_at(tree: MaybeValue, path: Path) -> MaybeValue:
    """Look a value up; `ABSENT` when the way ends before."""
    for segment in path:
        if isinstance(segment, int):
            items = tree.items if isinstance(tree, MergedList) else ()
            tree = items[segment] if segment < len(items) else ABSENT
        else:
            tree = entries_of(tree).get(segment, ABSENT)
    return tree


def with_value(tree: Partial, path: Path, value: MaybeValue) -> Partial:
    """Give a tree in which `path`, made of names, holds `value`; tables on the way are made."""
    name = path[0]
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name of a key")
    inner = value
    if len(path) > 1:
        held = tree.get(name, ABSENT)
        inner = with_value(entries_of(held), path[1:], value)
        if isinstance(held, MergedMap):
            inner = replace(held, entries=inner)
    if inner is ABSENT:
        return {key: member for key, member in tree.items() if key != name}
    return {**tree, name: inner}


def without_manner(value: Value) -> Value:
    """Give a value whose lists and maps no longer say how they want to be merged: for people, when all is merged."""
    match value:
        case MergedList():
            return MergedList(tuple(map(without_manner, value.items)))
        case MergedMap() | Mapping():
            return {name: without_manner(entry) for name, entry in entries_of(value).items()}
        case _:
            return value


def existing_path(tree: MaybeValue, key: str) -> Path | None:
    """Split a dotted key into the names that lead to a value of `tree`; names may have dots themselves."""
    names = key.split(".")
    if isinstance(tree, MergedList):
        index = index_of(names[0])
        if index is None or index >= len(tree.items):
            return None
        return _joined(index, tree.items[index], names[1:])
    members = entries_of(tree)
    for end in range(len(names), 0, -1):
        name = ".".join(names[:end])
        if name in members and (path := _joined(name, members[name], names[end:])) is not None:
            return path
    return None


def index_of(name: str) -> int | None:
    """Read the index of an item as a key has it."""
    return int(name) if len(name) < 10 and name.isascii() and name.isdecimal() else None


def _joined(segment: Segment, member: Value, rest: list[str]) -> Path | None:
    if not rest:
        return (segment,)
    path = existing_path(member, ".".join(rest))
    return None if path is None else (segment, *path)


def same(left: MaybeValue, right: MaybeValue) -> bool:
    """Compare as JSON does: unlike Python, true is not 1 and 1 is not 1.0."""
    if left != right:
        return False
    match left, right:
        case (bool(), _) | (_, bool()) | (float(), _) | (_, float()):
            return type(left) is type(right)
        case MergedList(items=mine), MergedList(items=theirs):
            return all(map(same, mine, theirs))
        case MergedMap(entries=mine), MergedMap(entries=theirs):
            return same(mine, theirs)
        case Mapping(), Mapping():
            return all(same(member, right[name]) for name, member in left.items())
        case list() | tuple(), list() | tuple():
            return all(map(same, left, right))
        case _:
            return True
