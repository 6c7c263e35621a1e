"""How a higher layer meets a lower one, for every kind of value (config-and-tools 1.9).

Pure: both sides stay as they are. `skips_known` leaves out what a list or text already has; it is used
for named files and for whatever is put over a conversation, where adding once more is never meant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never, cast

from jp_lsp.config.complete import complete
from jp_lsp.config.free_json import merge_json
from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind
from jp_lsp.config.value import (
    SEPARATORS,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Value,
    entries_of,
    same,
)
from jp_lsp.conversation.json_value import JsonValue

Entries: TypeAlias = Mapping[str, Value]


def merge_tables(table: Table, lower: Partial, higher: Partial, *, skips_known: bool = False) -> Partial:
    """Merge two trees key by key."""
    merged = dict(lower)
    for name, value in higher.items():
        kind = table.keys[name].kind
        merged[name] = merge(kind, lower[name], value, skips_known=skips_known) if name in lower else value
    return merged


def merge(kind: Kind, lower: Value, higher: Value, *, skips_known: bool = False) -> Value:
    """Merge two values of one key, both in normal form."""
    match kind:
        case Leaf():
            return higher
        case Table():
            return merge_tables(kind, entries_of(lower), entries_of(higher), skips_known=skips_known)
        case Variant():
            if isinstance(lower, Mapping) and isinstance(higher, Mapping):
                return merge_tables(kind.table, lower, higher, skips_known=skips_known)
            return higher
        case MapOf():
            return _merge_maps(kind, lower, higher, skips_known=skips_known)
        case ListOf():
            if kind.rule == "first":
                return lower
            assert isinstance(lower, MergedList)
            assert isinstance(higher, MergedList)
            if skips_known and higher.position != "replace" and _dedup(lower, higher) is not False:
                higher = _new_items(kind.item, lower, higher)
            return merge_lists(lower, higher)
        case Text():
            assert isinstance(lower, MergedText)
            assert isinstance(higher, MergedText)
            return merge_texts(lower, higher, skips_known=skips_known)
        case FreeJson():
            return merge_json(cast("JsonValue", lower), cast("JsonValue", higher)) if kind.deep else higher
        case _:
            assert_never(kind)


def merge_lists(lower: MergedList, higher: MergedList) -> MergedList:
    """Merge lists; the result keeps the manner of `higher`, and deduplication once somebody asked for it."""
    dedup = _dedup(lower, higher)
    below = () if lower.discard else lower.items
    match higher.position:
        case "replace":
            items = higher.items
        case "prepend":
            items = higher.items + below
        case "append" | None:
            items = below + higher.items
        case _:
            assert_never(higher.position)
    return MergedList(distinct(items) if dedup else items, higher.position, dedup, higher.discard)


def _dedup(lower: MergedList, higher: MergedList) -> bool | None:
    return lower.dedup if higher.dedup is None else higher.dedup


def _new_items(kind: Kind, lower: MergedList, higher: MergedList) -> MergedList:
    """Leave out items that are there already; a stored item has its defaults filled in, so both are here."""
    known = [complete(kind, item) for item in lower.items]
    return replace(
        higher, items=tuple(item for item in higher.items if not _holds(known, complete(kind, item)))
    )


def merge_texts(lower: MergedText, higher: MergedText, *, skips_known: bool = False) -> MergedText:
    """Merge texts; the result keeps the manner of `higher`."""
    if lower.discard:
        return higher
    text = _joined(lower.text, higher, skips_known=skips_known)
    return MergedText(text, higher.position, higher.separator, higher.discard)


def _joined(below: str, higher: MergedText, *, skips_known: bool) -> str:
    separator = SEPARATORS[higher.separator]
    match higher.position:
        case "replace":
            return higher.text
        case "append":
            is_known = skips_known and (below == higher.text or separator + higher.text in below)
            return below if is_known else below + separator + higher.text
        case "prepend":
            is_known = skips_known and (below == higher.text or higher.text + separator in below)
            return below if is_known else higher.text + separator + below
        case _:
            assert_never(higher.position)


def _merge_maps(kind: MapOf, lower: Value, higher: Value, *, skips_known: bool) -> Value:
    if not isinstance(higher, MergedMap):
        return _merge_entries(kind, entries_of(lower), entries_of(higher), skips_known=skips_known)
    below: Entries = {} if isinstance(lower, MergedMap) and lower.discard else entries_of(lower)
    match higher.strategy:
        case "deep_merge" | None:
            entries = _merge_entries(kind, below, higher.entries, skips_known=skips_known)
        case "merge":
            entries = {**below, **higher.entries}
        case "keep":
            entries = {
                **below,
                **{name: entry for name, entry in higher.entries.items() if name not in below},
            }
        case "replace":
            entries = higher.entries
        case _:
            assert_never(higher.strategy)
    return MergedMap(entries, higher.strategy, higher.discard)


def _merge_entries(kind: MapOf, lower: Entries, higher: Entries, *, skips_known: bool) -> Entries:
    merged = dict(lower)
    for name, entry in higher.items():
        if name in lower:
            merged[name] = merge(entry_kind(kind, name), lower[name], entry, skips_known=skips_known)
        else:
            merged[name] = entry
    return merged


def distinct(items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Keep the first of equal items."""
    kept: list[Value] = []
    for item in items:
        if not _holds(kept, item):
            kept.append(item)
    return tuple(kept)


def _holds(items: Sequence[Value], wanted: Value) -> bool:
    return any(same(item, wanted) for item in items)
