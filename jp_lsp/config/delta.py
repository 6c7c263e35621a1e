"""The change from one complete configuration to another, as a conversation stores it (config-and-tools 1.8).

A delta holds what changed. A list holds only its new items where adding them gives the right list, else
the whole list with `replace`. What a delta cannot say, such as that a value is gone, is `lost`: only newer
conversation files, which have `unsets`, can keep it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from jp_lsp.config.complete import final_table
from jp_lsp.config.kind import FreeJson, Kind, Leaf, ListOf, MapOf, Table, Text, Variant, entry_kind
from jp_lsp.config.merge import merge, merge_lists, merge_tables
from jp_lsp.config.resolve import complete_configuration, order_items
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.stored import StoredSettings, clear
from jp_lsp.config.value import (
    ABSENT,
    MaybeValue,
    MergedList,
    MergedMap,
    Partial,
    Path,
    Value,
    entries_of,
    same,
    value_at,
    with_value,
)
from jp_lsp.config.write import write_table
from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.json_value import JsonObject

_NEVER_WRITTEN = frozenset({"inherit", "extends"})


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What to store: settings to merge after the values of `unsets` were taken away.

    `lost` are dotted keys whose change could not be put into words; it holds for one query only.
    """

    delta: JsonObject
    unsets: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def to_record(self) -> ConfigDelta | None:
        """Give what a conversation is to record; nothing where it has no words for any of it."""
        return ConfigDelta(self.delta, self.unsets) if self.delta or self.unsets else None


def compute_change(stored: StoredSettings, wanted: Partial) -> SettingsChange:
    """Compute the change that turns what a conversation has into what is wanted.

    Args:
        stored: what the conversation keeps.
        wanted: a complete configuration.
    """
    wanted = final_table(SCHEMA, wanted)
    difference = _Difference()
    delta = entries_of(difference.of(SCHEMA, _completed(stored.tree), wanted, ()))
    unsets: list[str] = []
    if stored.newer_format:
        for path in difference.lost:
            unsets.append(_plain(path))
            value = value_at(wanted, path)
            if value is not ABSENT:
                delta = with_value(delta, path, value)
    cleared = stored.tree
    for key in unsets:
        cleared = clear(cleared, key)
    # Folding once more tells what a reader will see, whatever the rules above missed.
    result = _completed(merge_tables(SCHEMA, cleared, delta))
    lost = tuple(_plain(path) for path in changed_paths(SCHEMA, result, wanted))
    return SettingsChange(write_table(SCHEMA, delta), tuple(unsets), lost)


def _completed(stored: Partial) -> Partial:
    """Complete what a conversation has, so that it compares with a complete configuration."""
    complete, _ = complete_configuration(stored)
    return final_table(SCHEMA, complete)


def _plain(path: Path) -> str:
    return ".".join(str(segment) for segment in path)


@dataclass(slots=True)
class _Difference:
    """Finds what changed; `lost` collects what a delta alone cannot say."""

    lost: list[Path] = field(default_factory=lambda: [])

    def of(self, kind: Kind, old: MaybeValue, new: MaybeValue, path: Path) -> MaybeValue:
        """Give what to merge over `old` for `new`; `ABSENT` where nothing must be, or nothing can."""
        if same(old, new):
            return ABSENT
        if new is ABSENT:
            self.lost.append(path)
            return ABSENT
        if old is ABSENT:
            return new
        match kind:
            case Leaf() | Text():
                return new
            case FreeJson():
                if not same(merge(kind, old, new), new):
                    self.lost.append(path)
                return new
            case Table():
                return self._of_table(kind, entries_of(old), entries_of(new), path)
            case Variant():
                return self._of_variant(kind, old, new, path)
            case MapOf():
                return self._of_map(kind, old, new, path)
            case ListOf():
                assert isinstance(old, MergedList)
                assert isinstance(new, MergedList)
                return self._of_list(kind, old, new, path)
            case _:
                assert_never(kind)

    def _of_table(self, kind: Table, old: Partial, new: Partial, path: Path) -> MaybeValue:
        members: dict[str, Value] = {}
        for name, key in kind.keys.items():
            if not key.stored or (not path and name in _NEVER_WRITTEN):
                continue
            member = self.of(key.kind, old.get(name, ABSENT), new.get(name, ABSENT), (*path, name))
            if member is not ABSENT:
                members[name] = member
        return members or ABSENT

    def _of_variant(self, kind: Variant, old: Value, new: Value, path: Path) -> MaybeValue:
        """Write a union whole, so that a reader sees its shape."""
        if not same(merge(kind, old, new), new):
            self.lost.append(path)
        return new

    def _of_map(self, kind: MapOf, old: Value, new: Value, path: Path) -> MaybeValue:
        before, after = entries_of(old), entries_of(new)
        if kind.annotated and before.keys() - after.keys():
            return MergedMap(after, "replace")
        entries: dict[str, Value] = {}
        for name in (*before, *(name for name in after if name not in before)):
            here = (*path, name)
            entry = self.of(entry_kind(kind, name), before.get(name, ABSENT), after.get(name, ABSENT), here)
            if entry is not ABSENT:
                entries[name] = entry
        if not entries:
            return ABSENT
        return MergedMap(entries) if kind.annotated else entries

    def _of_list(self, kind: ListOf, old: MergedList, new: MergedList, path: Path) -> MaybeValue:
        if kind.rule == "replace":
            return MergedList(new.items, "replace")
        added = MergedList(
            tuple(item for item in new.items if not any(same(item, known) for known in old.items))
        )
        grown = order_items(path, merge_lists(old, added))
        if same(grown.items, new.items) and grown.dedup == new.dedup:
            return added
        if kind.rule == "mergeable":
            # Deduplication is inherited unless it is switched off.
            dedup = False if new.dedup is None and old.dedup else new.dedup
            return MergedList(new.items, "replace", dedup)
        self.lost.append(path)
        return added if added.items else ABSENT


def changed_paths(kind: Kind, old: MaybeValue, new: MaybeValue, path: Path = ()) -> Iterator[Path]:
    """Give the way to each value that differs; entries that only one side has count as one value."""
    if same(old, new):
        return
    is_inner = old is not ABSENT and new is not ABSENT
    match kind:
        case Table() if is_inner:
            before, after = entries_of(old), entries_of(new)
            for name, key in kind.keys.items():
                if key.stored and (path or name not in _NEVER_WRITTEN):
                    here = (*path, name)
                    yield from changed_paths(
                        key.kind, before.get(name, ABSENT), after.get(name, ABSENT), here
                    )
        case MapOf() if is_inner:
            before, after = entries_of(old), entries_of(new)
            for name in (*before, *(name for name in after if name not in before)):
                here = (*path, name)
                inner = entry_kind(kind, name)
                yield from changed_paths(inner, before.get(name, ABSENT), after.get(name, ABSENT), here)
        case _:
            yield path
