"""From a merged tree to a complete one: defaults fill what no layer set (config-and-tools 1.9, end).

Defaults are no layer: a list that a layer set, even to nothing, stays as it is. Unlike the reference,
which leaves zeros there, the documented defaults also hold inside entries of maps, list items and optional
tables that exist (trap 15).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never, cast

from jp_lsp.config.free_json import plain_json
from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind
from jp_lsp.config.value import ABSENT, MergedList, MergedMap, Partial, Value, entries_of
from jp_lsp.conversation.json_value import JsonValue


def complete_table(table: Table, partial: Partial) -> Partial:
    """Fill the gaps of a tree; keys come in the schema's order."""
    filled: dict[str, Value] = {}
    for name, key in table.keys.items():
        value = partial.get(name, key.default)
        if value is not ABSENT:
            filled[name] = complete(key.kind, value)
    return filled


def complete(kind: Kind, value: Value) -> Value:
    """Fill the gaps inside one value."""
    match kind:
        case Leaf() | Text():
            return value
        case FreeJson():
            return plain_json(cast("JsonValue", value)) if kind.deep else value
        case Table():
            return complete_table(kind, entries_of(value))
        case Variant():
            return complete_table(kind.table, value) if isinstance(value, Mapping) else value
        case MapOf():
            entries = {
                name: complete(entry_kind(kind, name), entry) for name, entry in entries_of(value).items()
            }
            for name, special in kind.special.items():
                if name not in entries:
                    entries = {name: complete(special, {}), **entries}
            return replace(value, entries=entries) if isinstance(value, MergedMap) else entries
        case ListOf():
            assert isinstance(value, MergedList)
            return replace(value, items=tuple(complete(kind.item, item) for item in value.items))
        case _:
            assert_never(kind)


def final(kind: Kind, value: Value) -> Value:
    """Mark a value, and all below, as taking the place of what lower layers hold.

    The settings of a conversation are complete, so its lists must not be added to those of the files that
    they once came from.
    """
    match kind:
        case Leaf() | FreeJson():
            return value
        case Text():
            return replace(value, position="replace", separator="none", discard=False)  # type: ignore[type-var]
        case Table():
            return final_table(kind, entries_of(value))
        case Variant():
            return final_table(kind.table, value) if isinstance(value, Mapping) else value
        case MapOf():
            entries = {
                name: final(entry_kind(kind, name), entry) for name, entry in entries_of(value).items()
            }
            return MergedMap(entries) if isinstance(value, MergedMap) else entries
        case ListOf():
            assert isinstance(value, MergedList)
            # An explicit "no deduplication" ends with the fold (1.9 B).
            items = tuple(final(kind.item, item) for item in value.items)
            return MergedList(items, "replace", value.dedup or None)
        case _:
            assert_never(kind)


def final_table(table: Table, partial: Partial) -> Partial:
    """Mark a whole tree as final."""
    return {name: final(table.keys[name].kind, value) for name, value in partial.items()}
