"""How a higher layer meets a lower one, for every kind of value (config-and-tools 1.9).

Pure: both sides stay as they are. `skips_known` leaves out what a list or text already has; it is used
for named files and for whatever is put over a conversation, where adding once more is never meant.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never, cast

from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind, has_only
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

_ARRAY_STRATEGIES = ("append", "prepend", "replace")

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
            return merge_lists(lower, higher, skips_known=skips_known)
        case Text():
            assert isinstance(lower, MergedText)
            assert isinstance(higher, MergedText)
            return merge_texts(lower, higher, skips_known=skips_known)
        case FreeJson():
            return merge_json(cast("JsonValue", lower), cast("JsonValue", higher)) if kind.deep else higher
        case _:
            assert_never(kind)


def merge_lists(lower: MergedList, higher: MergedList, *, skips_known: bool = False) -> MergedList:
    """Merge lists; the result keeps the manner of `higher`, and deduplication once somebody asked for it."""
    dedup = lower.dedup if higher.dedup is None else higher.dedup
    below = () if lower.discard else lower.items
    new = higher.items
    if skips_known and dedup is not False and higher.position != "replace":
        new = tuple(item for item in new if not _holds(below, item))
    match higher.position:
        case "replace":
            items = new
        case "prepend":
            items = new + below
        case "append" | None:
            items = below + new
        case _:
            assert_never(higher.position)
    return MergedList(_distinct(items) if dedup else items, higher.position, dedup, higher.discard)


def merge_texts(lower: MergedText, higher: MergedText, *, skips_known: bool = False) -> MergedText:
    """Merge texts; the result keeps the manner of `higher`."""
    if lower.text is None or lower.discard:
        return higher
    text = _joined(lower.text, higher, skips_known=skips_known)
    return MergedText(text, higher.position, higher.separator, higher.discard)


def _joined(below: str, higher: MergedText, *, skips_known: bool) -> str:
    if higher.text is None:
        return below
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


def merge_json(lower: JsonValue, higher: JsonValue) -> JsonValue:
    """Merge free JSON: objects deeply, arrays by their annotation, anything else replaces (1.9 D)."""
    below = _annotated(lower)[0] if is_annotated(lower) else lower
    if is_annotated(higher):
        items, strategy = _annotated(higher)
        if not isinstance(below, list) or strategy == "replace":
            return items
        return [*below, *items] if strategy == "append" else [*items, *below]
    if isinstance(below, Mapping) and isinstance(higher, Mapping):
        merged = dict(below)
        for name, member in higher.items():
            merged[name] = merge_json(merged[name], member) if name in merged else member
        return merged
    return higher


def plain_json(value: JsonValue) -> JsonValue:
    """Take all annotations of arrays away, at any depth (trap 13)."""
    if is_annotated(value):
        value = _annotated(value)[0]
    if isinstance(value, Mapping):
        return {name: plain_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain_json(item) for item in value]
    return value


def is_annotated(value: JsonValue) -> bool:
    """Tell whether a value is an array that says how to merge."""
    return (
        isinstance(value, Mapping)
        and has_only(value, "value", "strategy")
        and isinstance(value["value"], list)
        and value["strategy"] in _ARRAY_STRATEGIES
    )


def _annotated(value: JsonValue) -> tuple[list[JsonValue], str]:
    annotation = cast("Mapping[str, JsonValue]", value)
    return cast("list[JsonValue]", annotation["value"]), cast("str", annotation["strategy"])


def _distinct(items: tuple[Value, ...]) -> tuple[Value, ...]:
    kept: list[Value] = []
    for item in items:
        if not _holds(kept, item):
            kept.append(item)
    return tuple(kept)


def _holds(items: Sequence[Value], wanted: Value) -> bool:
    return any(same(item, wanted) for item in items)
