"""Assignments such as `assistant.model.id=fast`, made to a tree (config-and-tools 1.6).

A key is split at its dots as the tree is walked, so that the schema says what each part means. Setting a
list replaces all that lies below, other than a list in a file, which adds to it (trap 5).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never, cast

from jp_lsp.config.free_json import merge_json
from jp_lsp.config.kind import (
    FreeJson,
    Kind,
    Leaf,
    ListOf,
    MapOf,
    Misfit,
    Table,
    Text,
    Variant,
    entry_kind,
    find_key,
    shown,
)
from jp_lsp.config.layer import Change
from jp_lsp.config.merge import distinct, merge_lists, merge_texts
from jp_lsp.config.problem import Report, dotted, nearest
from jp_lsp.config.read import is_list, read_member
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import (
    ABSENT,
    EMPTY,
    NO_JSON,
    MaybeValue,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Path,
    Value,
    entries_of,
    index_of,
)
from jp_lsp.conversation.json_value import JsonValue

FORMS = "`<key>=<value>`, `<key>:=<json>`, `<key>+=<value>`, `<key>:+=<json>`"


class AssignmentError(Exception):
    """An assignment that cannot be made; `key` is the full key, the text has the kinds of 1.6."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key}: {text}" if key else text)
        self.key = key
        self.text = text


@dataclass(frozen=True, slots=True)
class _Operation:
    """What to do at the end of the key."""

    value: JsonValue
    is_json: bool
    merges: bool

    def with_value(self, value: JsonValue) -> "_Operation":
        """Give the operation for a member of a JSON object."""
        return _Operation(value, is_json=True, merges=self.merges)


def assign_change(tree: Partial, change: Change) -> Partial:
    """Make an assignment; the tree given stays as it is.

    Raises:
        AssignmentError: there is no such key, or the value does not fit; nothing is assigned.
    """
    return assign_path(tree, tuple(change.key.split(".")) if change.key else (), change)


def assign_path(tree: Partial, path: Sequence[str], change: Change) -> Partial:
    """Make an assignment to a key that is split already, as names from the environment are.

    Raises:
        AssignmentError: as above.
    """
    operation = _Operation(change.value, change.is_json, change.merges)
    return entries_of(_assign(SCHEMA, tree, tuple(path), operation, ()))


def parse_json(key: str, text: str) -> JsonValue:
    """Read the JSON of an assignment.

    Raises:
        AssignmentError: it is none.
    """
    try:
        return cast("JsonValue", json.loads(text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise AssignmentError(key, f"parse error: {shown(text)} is not JSON ({error})") from error


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is not a value")


def _assign(kind: Kind, current: MaybeValue, path: Path, operation: _Operation, at: Path) -> MaybeValue:
    """Give the new value of one place; `at` is the way to it, `path` what is left of the key."""
    if not path and operation.is_json and operation.value is None and not isinstance(kind, FreeJson) and at:
        return ABSENT
    match kind:
        case Leaf():
            return _assign_leaf(kind, path, operation, at)
        case Text():
            return _assign_text(current, path, operation, at)
        case ListOf():
            return _assign_list(kind, current, path, operation, at)
        case Table():
            return _assign_table(kind, current, path, operation, at)
        case MapOf():
            return _assign_map(kind, current, path, operation, at)
        case Variant():
            return _assign_variant(kind, current, path, operation, at)
        case FreeJson():
            return _assign_json(current, path, operation, at)
        case _:
            assert_never(kind)


def _assign_leaf(kind: Leaf, path: Path, operation: _Operation, at: Path) -> Value:
    if path:
        raise _unknown((*at, *path), f"`{dotted(at)}` is a value without parts")
    try:
        if not operation.is_json:
            return kind.from_text(cast("str", operation.value))
        return (kind.from_json or kind.read)(operation.value)
    except Misfit as misfit:
        raise _type_error(at, misfit) from misfit


def _assign_text(current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    if path:
        raise _unknown((*at, *path), f"only the whole of `{dotted(at)}` can be assigned")
    new = _read(Text(), operation.value, at)
    assert isinstance(new, MergedText)
    if operation.merges and new.position == "replace":
        new = replace(new, position="append")
    return merge_texts(current, new) if isinstance(current, MergedText) else new


def _assign_list(kind: ListOf, current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    held = current if isinstance(current, MergedList) else MergedList()
    if path:
        index = _index(path[0], len(held.items), at)
        item = _assign(kind.item, held.items[index], path[1:], operation, (*at, index))
        kept = (item,) if item is not ABSENT else ()
        return replace(held, items=(*held.items[:index], *kept, *held.items[index + 1 :]))
    if operation.is_json and isinstance(operation.value, Mapping) and kind.rule == "mergeable":
        annotated = _read(kind, operation.value, at)
        assert isinstance(annotated, MergedList)
        return merge_lists(held, annotated)
    items = _items(kind.item, operation, at)
    if operation.merges:
        items = (*held.items, *items)
    # What a layer has said about doubles holds until another one says otherwise, whatever is set (1.9 B).
    items = distinct(items) if held.dedup else items
    if operation.merges:
        return replace(held, items=items)
    return MergedList(items, "replace" if kind.rule == "replace" else None, held.dedup)


def _items(kind: Kind, operation: _Operation, at: Path) -> tuple[Value, ...]:
    value = operation.value
    if isinstance(value, str):
        texts = [text for part in value.split(",") if (text := part.strip())]
        each = (
            _assign(kind, ABSENT, (), _Operation(text, is_json=False, merges=False), at) for text in texts
        )
    elif is_list(value):
        members = cast("Sequence[JsonValue]", value)
        each = (_read(kind, member, (*at, index)) for index, member in enumerate(members))
    else:
        raise _type_error(at, Misfit("a list, or text", value))
    return tuple(item for item in each if item is not ABSENT)


def _index(segment: str | int, length: int, at: Path) -> int:
    index = index_of(str(segment))
    if index is None:
        raise _unknown((*at, segment), f"`{dotted(at)}` is a list; its items have numbers from 0")
    if index >= length:
        raise AssignmentError(dotted((*at, segment)), f"unknown index {segment}; the list has {length} items")
    return index


def _assign_table(kind: Table, current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    held = entries_of(current)
    if path:
        name, rest = str(path[0]), path[1:]
        found = find_key(kind, name)
        if found is None and kind.unknown == "collect":
            found, rest = find_key(kind, "other"), path
        if found is None or not found[1].assignable:
            raise _unknown_key(kind, name, at)
        proper, key = found
        return _put(held, proper, _assign(key.kind, held.get(proper, ABSENT), rest, operation, (*at, proper)))
    if not operation.is_json and kind.shorthand is not None:
        return _assign_table(kind, {}, (kind.shorthand,), operation, at)
    for name, member in _object(operation, at).items():
        held = entries_of(_assign_table(kind, held, (name,), operation.with_value(member), at))
    return held


def _assign_map(kind: MapOf, current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    held = entries_of(current)
    if path:
        if kind.whole:
            raise _unknown(
                (*at, *path), f"`{dotted(at)}` is assigned as a whole, as JSON: `{dotted(at)}:={{...}}`"
            )
        name = str(path[0])
        entry = _assign(entry_kind(kind, name), held.get(name, ABSENT), path[1:], operation, (*at, name))
        return _rewrap(current, _put(held, name, entry))
    if kind.annotated and operation.is_json and isinstance(operation.value, Mapping):
        read = _read(kind, operation.value, at)
        if isinstance(read, MergedMap) and read.strategy is not None:
            return read
    if (kind.clears or kind.whole) and not operation.merges:
        held = EMPTY
    for name, member in _object(operation, at).items():
        entry = _assign(
            entry_kind(kind, name), held.get(name, ABSENT), (), operation.with_value(member), (*at, name)
        )
        held = _put(held, name, entry)
    # Replacing a map must also hold against the layers below it.
    if kind.annotated and not operation.merges:
        return MergedMap(held)
    return _rewrap(current, held) if kind.annotated else held


def _rewrap(current: MaybeValue, entries: Mapping[str, Value]) -> Value:
    return replace(current, entries=entries) if isinstance(current, MergedMap) else entries


def _assign_variant(kind: Variant, current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    is_object = operation.is_json and isinstance(operation.value, Mapping)
    if not path and not is_object:
        return _assign_leaf(kind.scalar, (), operation, at)
    held = EMPTY if kind.fresh or not isinstance(current, Mapping) else current
    return _assign_table(kind.table, held, path, operation, at)


def _assign_json(current: MaybeValue, path: Path, operation: _Operation, at: Path) -> Value:
    held = None if current is ABSENT else cast("JsonValue", current)
    if not path:
        return (
            merge_json(held, operation.value)
            if operation.merges and current is not ABSENT
            else operation.value
        )
    members = held if isinstance(held, Mapping) else NO_JSON
    name = str(path[0])
    below: MaybeValue = members.get(name, ABSENT)
    return {**members, name: _assign_json(below, path[1:], operation, (*at, name))}


def _put(held: Mapping[str, Value], name: str, value: MaybeValue) -> Mapping[str, Value]:
    if value is ABSENT:
        return {key: member for key, member in held.items() if key != name}
    return {**held, name: value}


def _object(operation: _Operation, at: Path) -> Mapping[str, JsonValue]:
    if not operation.is_json or not isinstance(operation.value, Mapping):
        raise _type_error(at, Misfit("a JSON object", operation.value))
    return operation.value


def _read(kind: Kind, raw: JsonValue, at: Path) -> Value:
    """Read a JSON value as a file's; anything wrong in it is an error."""
    report = Report(path=at)
    value = read_member(kind, raw, report)
    for finding in report.findings:
        if finding.severity == "error":
            raise AssignmentError(dotted(finding.path), _kind_of(finding.text))
    if value is ABSENT:
        raise _type_error(at, Misfit("a value", raw))
    return value


def _kind_of(text: str) -> str:
    return text if text.startswith("unknown key") else f"type error: {text}"


def _type_error(at: Path, misfit: Misfit) -> AssignmentError:
    return AssignmentError(dotted(at), f"type error: {misfit}")


def _unknown(path: Path, why: str) -> AssignmentError:
    return AssignmentError(dotted(path), f"unknown key: {why}")


def _unknown_key(kind: Table, name: str, at: Path) -> AssignmentError:
    known = [key for key, described in kind.keys.items() if described.assignable]
    listed = ", ".join(f"`{dotted((*at, key))}`" for key in known)
    meant = nearest(name, known)
    hint = "" if meant is None else f"; did you mean `{dotted((*at, meant))}`?"
    return AssignmentError(dotted((*at, name)), f"unknown key{hint or f'; known here: {listed}'}")
