"""A tree in the exact encodings of a conversation's files (config-and-tools 1.8).

Texts that were merged come out flat, mergeable lists as a table with their strategy, models as provider
and name; absent keys and empty tables are left out, except where the format wants them.
"""

from collections.abc import Mapping
from typing import assert_never, cast

from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind
from jp_lsp.config.value import MergedList, MergedMap, MergedText, Partial, Value, entries_of
from jp_lsp.conversation.json_value import JsonObject, JsonValue


def write_table(table: Table, partial: Partial) -> JsonObject:
    """Write a tree, complete or not, in the schema's order."""
    written: dict[str, JsonValue] = {}
    for name, key in table.keys.items():
        if name not in partial or not key.stored:
            continue
        value = write(key.kind, partial[name])
        if value == {} and not key.keeps_empty:
            continue
        written[name] = value
    return written


def write(kind: Kind, value: Value) -> JsonValue:
    """Write one value."""
    match kind:
        case Leaf() | FreeJson():
            return cast("JsonValue", value)
        case Text():
            assert isinstance(value, MergedText)
            return value.text
        case Table():
            return write_table(kind, entries_of(value))
        case Variant():
            stored = value if kind.stored is None else kind.stored(value)
            return (
                write_table(kind.table, stored) if isinstance(stored, Mapping) else cast("JsonValue", stored)
            )
        case MapOf():
            entries = {
                name: write(entry_kind(kind, name), entry) for name, entry in entries_of(value).items()
            }
            strategy = value.strategy if isinstance(value, MergedMap) else None
            if kind.annotated and {"value", "strategy"} <= entries.keys():
                strategy = strategy or "deep_merge"  # else it would be read as an annotation
            return entries if strategy is None else {"value": entries, "strategy": strategy}
        case ListOf():
            assert isinstance(value, MergedList)
            return _write_list(kind, value)
        case _:
            assert_never(kind)


def _write_list(kind: ListOf, value: MergedList) -> JsonValue:
    items = [write(kind.item, item) for item in value.items]
    # Only mergeable lists may say how to merge: readers take a table in place of another list for an error.
    if kind.rule != "mergeable" or (value.position is None and value.dedup is None):
        return items
    annotation: dict[str, JsonValue] = {"value": items, "strategy": value.position or "append"}
    if value.dedup is not None:
        annotation["dedup"] = value.dedup
    annotation["discard_when_merged"] = value.discard
    return annotation
