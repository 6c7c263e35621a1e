"""The environment layer: `JP_CFG_ASSISTANT_NAME=Pixel` (config-and-tools 1.7).

A variable's name is a key in capitals with `_` for each dot. Since names of keys have `_` in them too,
names are matched against the schema, and for entries of maps against the entries that exist.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from jp_lsp.config.assign import AssignmentError, assign_path, parse_json
from jp_lsp.config.keys_tools import TOOL_DEFAULTS_ENTRY
from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind
from jp_lsp.config.layer import Change, Layer, Origin, Step
from jp_lsp.config.problem import Problem, dotted, nearest
from jp_lsp.config.schema import SCHEMA, leaf_keys
from jp_lsp.config.value import (
    ABSENT,
    EMPTY,
    MaybeValue,
    MergedList,
    Partial,
    Path,
    entries_of,
    value_at,
    with_value,
)

PREFIX = "JP_CFG_"
_OTHER_PREFIX = "JP_"


@dataclass(frozen=True, slots=True)
class EnvironmentLayer:
    """The layer, with one step for each variable, and what is wrong with them."""

    layer: Layer
    problems: tuple[Problem, ...] = ()


def read_environment(environ: Mapping[str, str], existing: Partial) -> EnvironmentLayer:
    """Read all variables; `existing` is what files hold, for the names of tools and other entries.

    Every variable is a step of its own, so that it can be named as an origin. As in the reference, they
    are put together first and then merged, so a list adds to what the files have (trap 8).
    """
    steps: list[Step] = []
    problems: list[Problem] = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or not _is_text(name) or not _is_text(environ[name]):
            continue
        origin = Origin("environment", name)
        path = find_path(name[len(PREFIX) :], existing)
        if path is None:
            problems.append(Problem("", _unknown(name), origin))
            continue
        try:
            change = _change(environ[name], origin, dotted(path))
            partial = assign_path(EMPTY, path, change)
            if not change.merges:
                steps = [_without_list(step, path) for step in steps]
            steps.append(Step(origin, partial))
        except AssignmentError as error:
            problems.append(Problem(error.key, error.text, origin))
    layer = Layer(Origin("environment", "environment"), tuple(steps), "set" if steps else "not found")
    return EnvironmentLayer(layer, (*problems, *_misnamed(environ)))


def _without_list(step: Step, path: Path) -> Step:
    """Take away what a variable such as `JP_CFG_EDITOR` says of a list that one of its own sets, and does not add to."""
    if not isinstance(value_at(step.partial, path), MergedList):
        return step
    return Step(step.origin, with_value(step.partial, path, ABSENT))


def find_path(words: str, existing: MaybeValue = ABSENT) -> tuple[str, ...] | None:
    """Find the key that `ASSISTANT_MODEL_ID` means; `None` if there is none."""
    return next(_paths(SCHEMA, words.lower(), existing), None)


def _paths(kind: Kind, words: str, existing: MaybeValue) -> Iterator[tuple[str, ...]]:
    """Give the ways on which all words can be used up, most likely first."""
    match kind:
        case Table():
            known = {
                spelling: key.kind
                for name, key in kind.keys.items()
                if key.assignable
                for spelling in (name, *key.spellings)
            }
            yield from _members(known, words, existing)
            if kind.unknown == "collect" and words:
                yield (words,)
        case Variant():
            yield from _paths(kind.table, words, existing)
        case MapOf():
            if kind.whole:
                return
            entries = {name: entry_kind(kind, name) for name in (*kind.special, *entries_of(existing))}
            yield from _members(entries, words, existing)
            first, _, rest = words.partition("_")
            if first and not rest:
                yield (first,)
            elif first:
                yield from ((first, *path) for path in _paths(entry_kind(kind, first), rest, ABSENT))
        case ListOf():
            index, _, rest = words.partition("_")
            if index.isdecimal():
                yield from ((index, *path) for path in (_paths(kind.item, rest, ABSENT) if rest else ((),)))
        case FreeJson():
            yield (words,)
        case Leaf() | Text():
            return
        case _:
            assert_never(kind)


def _members(known: Mapping[str, Kind], words: str, existing: MaybeValue) -> Iterator[tuple[str, ...]]:
    """Try the members whose name the words begin with, longest first."""
    for name in sorted(known, key=len, reverse=True):
        spelled = _spelled(name)
        if not spelled:
            continue
        if words == spelled:
            yield (name,)
        elif words.startswith(f"{spelled}_"):
            below = entries_of(existing).get(name, ABSENT)
            yield from ((name, *path) for path in _paths(known[name], words[len(spelled) + 1 :], below))


def _spelled(name: str) -> str:
    """Spell a name as a variable can: `fs-read.v2` as `fs_read_v2`. The entry `*` of all tools keeps its name."""
    if name == TOOL_DEFAULTS_ENTRY:
        return name
    return "".join(mark if mark.isalnum() else "_" for mark in name.lower()).strip("_")


def _change(value: str, origin: Origin, key: str) -> Change:
    """Read the marks in front of a value: `:` for JSON, `+` to add; a backslash before either keeps it."""
    is_json = merges = False
    for _ in range(2):
        if value.startswith(":") and not is_json:
            value, is_json = value[1:], True
        elif value.startswith("+") and not merges:
            value, merges = value[1:], True
        else:
            break
    if value.startswith(("\\:", "\\+")) and not is_json:
        value = value[1:]
    return Change(origin, key, parse_json(key, value) if is_json else value, is_json, merges)


def _is_text(value: str) -> bool:
    """Tell whether the bytes behind a name or value were text; others are left alone."""
    return not any("\udc80" <= mark <= "\udcff" for mark in value)


def _unknown(name: str) -> str:
    meant = nearest(name, (variable_name(path) for path, key in leaf_keys() if key.assignable))
    return "unknown key" if meant is None else f"unknown key; did you mean `{meant}`?"


def variable_name(path: Iterable[str | int]) -> str:
    """Give the variable of a key."""
    return PREFIX + "_".join(_spelled(str(segment)) for segment in path if _spelled(str(segment))).upper()


def _misnamed(environ: Mapping[str, str]) -> Iterator[Problem]:
    """Notice variables such as `JP_ASSISTANT_NAME`, which are not read (trap 7)."""
    for name in sorted(environ):
        if name.startswith(_OTHER_PREFIX) and not name.startswith(PREFIX):
            path = find_path(name[len(_OTHER_PREFIX) :])
            if path is not None and len(path) > 1:
                text = f"is not read; to set `{dotted(path)}` call it `{PREFIX}{name[len(_OTHER_PREFIX) :]}`"
                yield Problem("", text, Origin("environment", name), "hint")
