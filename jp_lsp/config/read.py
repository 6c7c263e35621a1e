"""What a file or a stored configuration holds, brought into normal form.

A value that does not fit its key is reported and left out; everything around it is still read. Whether a
report stops a query is for the caller: a workspace's file must be right, while the stored settings of an
old conversation are taken as far as they can be understood (config-and-tools 1.1, 1.8).
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, assert_never

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
    one_of,
)
from jp_lsp.config.merge import distinct
from jp_lsp.config.problem import Report, nearest
from jp_lsp.config.value import (
    ABSENT,
    Absent,
    MapStrategy,
    MaybeValue,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Position,
    Separator,
    Value,
    entries_of,
)
from jp_lsp.conversation.json_value import JsonValue

POSITIONS: Mapping[str, Position] = {"append": "append", "prepend": "prepend", "replace": "replace"}
_SEPARATORS: Mapping[str, Separator] = {
    "none": "none",
    "space": "space",
    "line": "line",
    "paragraph": "paragraph",
}
_STRATEGIES: Mapping[str, MapStrategy] = {
    "deep_merge": "deep_merge",
    "merge": "merge",
    "keep": "keep",
    "replace": "replace",
}
_DEDUP: Mapping[JsonValue, bool | None] = {True: True, False: False, "inherit": None}
_OTHER = "other"
_Word = TypeVar("_Word", bound=str)


def read_table(table: Table, raw: Mapping[str, JsonValue], report: Report) -> Partial:
    """Read a whole tree; what is wrong goes into the report."""
    values: dict[str, Value] = {}
    extras: dict[str, Value] = {}
    for name, member in raw.items():
        found = find_key(table, name)
        if found is None:
            if table.unknown == "collect":
                extras[name] = member
                _warn_of_near_miss(table, name, report)
            elif table.unknown == "ignore":
                _warn_of_near_miss(table, name, report)
            else:
                report.at(name).add(unknown_key(table, name))
            continue
        proper, key = found
        value = read_member(key.kind, member, report.at(name))
        if value is not ABSENT:
            values[proper] = value
    if extras:
        values[_OTHER] = {**extras, **entries_of(values.get(_OTHER, ABSENT))}
    return values


def read_member(kind: Kind, raw: JsonValue, report: Report) -> MaybeValue:
    """Read one value; `ABSENT` where it is null (which means "no change") or does not fit."""
    if raw is None and not isinstance(kind, FreeJson):
        return ABSENT
    try:
        return _read(kind, raw, report)
    except Misfit as misfit:
        report.add(str(misfit))
        return ABSENT


def unknown_key(table: Table, name: str) -> str:
    """Say that a table has no such key, and which one was probably meant."""
    meant = nearest(name, table.keys)
    if meant is not None:
        return f"unknown key; did you mean `{meant}`?"
    known = ", ".join(f"`{key}`" for key in table.keys)
    return f"unknown key; known here: {known}"


def _read(kind: Kind, raw: JsonValue, report: Report) -> MaybeValue:
    match kind:
        case Leaf():
            return kind.read(raw)
        case FreeJson():
            return raw
        case Text():
            return _read_text(raw, report)
        case ListOf():
            return _read_list(kind, raw, report)
        case MapOf():
            return _read_map(kind, raw, report)
        case Table():
            if not isinstance(raw, Mapping):
                if kind.shorthand is not None and isinstance(raw, str):
                    return read_table(kind, {kind.shorthand: raw}, report)
                raise Misfit("a table", raw)
            return read_table(kind, raw, report)
        case Variant():
            if isinstance(raw, Mapping):
                return read_table(kind.table, raw, report)
            return kind.scalar.read(raw)
        case _:
            assert_never(kind)


def _read_text(raw: JsonValue, report: Report) -> MaybeValue:
    if isinstance(raw, str):
        return MergedText(raw)
    if not isinstance(raw, Mapping):
        raise Misfit("text, or a table with `value` and `strategy`", raw)
    _refuse_others(raw, ("value", "strategy", "separator", "discard_when_merged"), report)
    value = raw.get("value")
    if value is None:
        return ABSENT  # a manner of merging alone says nothing, and takes nothing away
    if not isinstance(value, str):
        return _misfit("text as `value`", value, report.at("value"))
    # Without a strategy the documented one is used; the reference lost the text (trap 11).
    return MergedText(
        value,
        _word(raw, "strategy", POSITIONS, report) or "append",
        _word(raw, "separator", _SEPARATORS, report) or "none",
        _flag(raw, "discard_when_merged", report),
    )


def _read_list(kind: ListOf, raw: JsonValue, report: Report) -> MaybeValue:
    if is_list(raw):
        position: Position | None = "replace" if kind.rule == "replace" else None
        return MergedList(_read_items(kind.item, raw, report), position)
    if kind.rule != "mergeable" or not isinstance(raw, Mapping):
        raise Misfit(
            "a list" if kind.rule != "mergeable" else "a list, or a table with `value` and `strategy`", raw
        )
    _refuse_others(raw, ("value", "strategy", "dedup", "discard_when_merged"), report)
    value = raw.get("value", ())
    if not is_list(value):
        return _misfit("a list as `value`", value, report.at("value"))
    dedup = raw.get("dedup", "inherit")
    if not isinstance(dedup, (bool, str)) or dedup not in _DEDUP:
        report.at("dedup").add(str(Misfit("true, false or `inherit`", dedup)))
        dedup = "inherit"
    items = _read_items(kind.item, value, report.at("value"))
    return MergedList(
        distinct(items) if _DEDUP[dedup] else items,
        _word(raw, "strategy", POSITIONS, report),
        _DEDUP[dedup],
        _flag(raw, "discard_when_merged", report),
    )


def is_list(raw: JsonValue) -> bool:
    """Tell whether a value is a JSON array; text is a sequence too, but none."""
    return isinstance(raw, (list, tuple))


def _read_items(kind: Kind, raw: JsonValue, report: Report) -> tuple[Value, ...]:
    assert isinstance(raw, Sequence)
    read = (read_member(kind, item, report.at(index)) for index, item in enumerate(raw))
    return tuple(item for item in read if item is not ABSENT)


def _read_map(kind: MapOf, raw: JsonValue, report: Report) -> MaybeValue:
    if not isinstance(raw, Mapping):
        raise Misfit("a table", raw)
    # A map that merely has an entry named `value` is a plain map (1.9 C).
    if kind.annotated and {"value", "strategy"} <= raw.keys():
        _refuse_others(raw, ("value", "strategy", "discard_when_merged"), report)
        value = raw["value"]
        if not isinstance(value, Mapping):
            return _misfit("a table as `value`", value, report.at("value"))
        return MergedMap(
            _read_entries(kind, value, report.at("value")),
            _word(raw, "strategy", _STRATEGIES, report),
            _flag(raw, "discard_when_merged", report),
        )
    entries = _read_entries(kind, raw, report)
    return MergedMap(entries) if kind.annotated else entries


def _read_entries(kind: MapOf, raw: Mapping[str, JsonValue], report: Report) -> Mapping[str, Value]:
    entries: dict[str, Value] = {}
    for name, member in raw.items():
        value = read_member(entry_kind(kind, name), member, report.at(name))
        if value is not ABSENT:
            entries[name] = value
    return entries


def _misfit(expected: str, value: JsonValue, report: Report) -> Absent:
    report.add(str(Misfit(expected, value)))
    return ABSENT


def _refuse_others(raw: Mapping[str, JsonValue], known: tuple[str, ...], report: Report) -> None:
    for name in raw.keys() - set(known):
        report.at(name).add(f"unknown key; known here: {', '.join(f'`{key}`' for key in known)}")


def _word(
    raw: Mapping[str, JsonValue], name: str, words: Mapping[str, _Word], report: Report
) -> _Word | None:
    given = raw.get(name)
    if given is None:
        return None
    if not isinstance(given, str) or given not in words:
        report.at(name).add(str(Misfit(one_of(words), given)))
        return None
    return words[given]


def _flag(raw: Mapping[str, JsonValue], name: str, report: Report) -> bool:
    given = raw.get(name)
    if given is not None and not isinstance(given, bool):
        report.at(name).add(str(Misfit("true or false", given)))
    return given is True


def _warn_of_near_miss(table: Table, name: str, report: Report) -> None:
    if (meant := nearest(name, table.keys)) is None:
        return
    fate = "is ignored" if table.unknown == "ignore" else "is sent to the provider as it is"
    report.at(name).add(f"is not a known key and {fate}; did you mean `{meant}`?", "warning")
