"""The kinds of keys: what a value may look like, as data.

A `Kind` says nothing about reading, merging or writing; each of those is one module that takes kinds
apart (`read`, `merge`, `assign`, `complete`, `write`, `delta`). The schema is a tree of these values, so
one table decides everything that can be done with a key (config-and-tools 10.1).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.config.value import ABSENT, MaybeValue, Value
from jp_lsp.conversation.json_value import JsonValue


class Misfit(Exception):
    """A value is not what its key takes; `expected` completes "expected ..."."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {shown(value)}")
        self.expected = expected


def has_only(raw: Mapping[str, object], *names: str) -> bool:
    """Tell whether a table has just these keys."""
    return set(raw) == set(names)


def one_of(words: Iterable[str]) -> str:
    """List words in a message."""
    return "one of " + ", ".join(f"`{word}`" for word in words)


def shown(value: object) -> str:
    """Show a value in a message, cut where it is long."""
    text = f"`{value}`" if isinstance(value, str) else _as_json(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."


def _as_json(value: object) -> str:
    match value:
        case True:
            return "true"
        case False:
            return "false"
        case None:
            return "null"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return f"{value}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is taken as a whole.

    `read` turns what a file holds into the normal form, `from_text` does so for the text of an
    assignment, `from_json` for its JSON where that is stricter than a file. All raise `Misfit`.
    `words` are the values of a fixed set, for messages and completion.
    """

    expected: str
    read: Callable[[JsonValue], Value]
    from_text: Callable[[str], Value]
    from_json: Callable[[JsonValue], Value] | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table.

    A key without `default` stays absent; a table that is always there has the default `{}`. `spellings`
    are other names that are accepted. Keys that are not `assignable` come from files alone; those not
    `stored` never reach a conversation's files, nor do empty tables unless `keeps_empty`.
    """

    kind: "Kind"
    doc: str
    default: MaybeValue = ABSENT
    required: bool = False
    spellings: tuple[str, ...] = ()
    assignable: bool = True
    stored: bool = True
    keeps_empty: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A fixed set of keys, merged key by key.

    Keys not in the set are errors, are ignored, or are collected in the free map `other`. `shorthand`
    names the key that a bare text stands for.
    """

    keys: Mapping[str, Key]
    unknown: Literal["error", "ignore", "collect"] = "error"
    shorthand: str | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """Entries of one kind under free names, merged entry by entry; `special` names have their own kind.

    `annotated` maps may say how to merge. Assigning the whole map clears it first where `clears`; nothing
    below the map can be assigned where it is `whole`.
    """

    entry: "Kind"
    special: Mapping[str, "Kind"]
    annotated: bool = False
    clears: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list. `mergeable` ones may say how to merge; `first` is decided by the lowest layer that has it."""

    item: "Kind"
    rule: Literal["append", "replace", "mergeable", "first"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text that layers can add to."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Either a `scalar`, whose normal form may be a table, or a `table`.

    Two tables are merged, anything else replaces. Assigning one field starts from nothing where `fresh`.
    `stored` gives the form for a conversation's files.
    """

    scalar: Leaf
    table: Table
    fresh: bool = False
    stored: Callable[[Value], Value] | None = None


@dataclass(frozen=True, slots=True)
class FreeJson:
    """Any JSON, null included; objects are merged where `deep`, else replaced."""

    deep: bool = True


Kind: TypeAlias = Leaf | Table | MapOf | ListOf | Text | Variant | FreeJson


def map_of(entry: Kind, *, annotated: bool = False, clears: bool = True, whole: bool = False) -> MapOf:
    """Make a map without special names."""
    return MapOf(entry, {}, annotated, clears, whole)


def entry_kind(kind: MapOf, name: str) -> Kind:
    """Give the kind of the entry `name`."""
    return kind.special.get(name, kind.entry)


def find_key(table: Table, name: str) -> tuple[str, Key] | None:
    """Find a key by its name or another spelling; gives its proper name too."""
    if (key := table.keys.get(name)) is not None:
        return name, key
    for proper, key in table.keys.items():
        if name in key.spellings:
            return proper, key
    return None
