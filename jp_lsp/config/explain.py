"""Where a value comes from: every layer's say, what won, and what is hidden (config-and-tools 1.12).

The sources are folded once more while the one key is watched. For a list each item has an origin of its
own, since several layers add to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jp_lsp.config.complete import complete
from jp_lsp.config.fold import Order, fold, layer_partial
from jp_lsp.config.kind import FreeJson, Kind, ListOf, MapOf, Table, Text, Variant, entry_kind, find_key
from jp_lsp.config.layer import Change, Layer, Origin, Source
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.problem import dotted, nearest
from jp_lsp.config.resolve import resolve
from jp_lsp.config.schema import SCHEMA, leaf_keys
from jp_lsp.config.trace import narrowed, settings_of
from jp_lsp.config.value import (
    ABSENT,
    MaybeValue,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Path,
    Position,
    Value,
    entries_of,
    existing_path,
    same,
    value_at,
    without_manner,
)
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.refusal import Refusal
from jp_lsp.turn.explanation import Place, ValueOrigin

State = Literal["wins", "adds", "shadowed", "not set", "not found", "skipped"]

DEFAULTS = Origin("defaults", "the program's defaults")


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one source says about the key; `value` is in the form of stored files, `None` where it is silent.

    `wins` decides the value alone, `adds` has a part in it, `shadowed` has none.
    """

    origin: Origin
    state: State
    value: JsonValue = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list and where it is from; a duplicate is there once more before it (trap 3)."""

    value: JsonValue
    origin: Origin
    is_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of a key and how it came to be.

    Contributions are in order, lowest first; `order` names the layers. `without_conversation` is what the
    other layers would give, where a conversation has the last word (trap 10).
    """

    key: str
    value: JsonValue
    origin: Origin
    contributions: tuple[Contribution, ...]
    order: Order
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    without_conversation: JsonValue = None

    @property
    def shadowed(self) -> tuple[Contribution, ...]:
        """What sources say in vain."""
        return tuple(each for each in self.contributions if each.state == "shadowed")


def explain(key: str, sources: Sequence[Source], order: Order) -> Explanation:
    """Explain a dotted key; `sources` are in order, lowest first.

    Raises:
        Refusal: there is no such key.
    """
    resolved = resolve(sources).tree
    path = _find_path(key, sources, resolved)
    whole = next((path[:index] for index, segment in enumerate(path) if isinstance(segment, int)), path)
    explanation = explain_path(whole, sources, order, resolved)
    if whole == path:
        return replace(explanation, key=dotted(path))
    item = explanation.items[int(path[len(whole)])]
    value = _shown(kind_at(path) or FreeJson(), value_at(resolved, path))
    return replace(explanation, key=dotted(path), value=value, origin=item.origin, items=(item,))


def explain_all(sources: Sequence[Source], order: Order) -> Iterator[Explanation]:
    """Explain every key that some source sets, in the schema's order; the entries of maps one by one."""
    resolved = resolve(sources).tree
    for path in _paths_set(SCHEMA, fold(sources).tree, ()):
        yield explain_path(path, _about(path[:2], sources), order, resolved)


def _about(path: Path, sources: Sequence[Source]) -> Sequence[Source]:
    """Leave out what layers say elsewhere, which would be folded in vain for each key; a change may matter anywhere."""
    return [
        each
        for source in sources
        for each in ((source,) if isinstance(source, Change) else narrowed((source,), path))
    ]


def _paths_set(table: Table, tree: Partial, path: Path) -> Iterator[Path]:
    for name, key in table.keys.items():
        if name not in tree:
            continue
        here = (*path, name)
        match key.kind:
            case Table():
                yield from _paths_set(key.kind, entries_of(tree[name]), here)
            case MapOf():
                yield from ((*here, entry) for entry in entries_of(tree[name]))
            case _:
                yield here


def explain_path(path: Path, sources: Sequence[Source], order: Order, resolved: Partial) -> Explanation:
    """Explain a key that is known to exist, by its path; `resolved` is what the sources come to."""
    kind = kind_at(path) or FreeJson()
    sayings = _listen(kind, path, sources)
    contributions = [_contribution(kind, saying) for saying in sayings]
    heard = [saying for saying in sayings if saying.state in _HEARD]
    origin = heard[-1].origin if heard else DEFAULTS
    value = value_at(resolved, path)
    elsewhere = _without_conversation(kind, path, sources, origin)
    notes = [
        *_lost_replacements(kind, path, sources),
        *_alias_note(kind, path, sources, value),
        *(_ways_to_apply(contributions) if elsewhere != _shown(kind, value) else ()),
    ]
    return Explanation(
        dotted(path),
        _shown(kind, value),
        origin,
        tuple(contributions),
        order,
        _items(kind, value, heard),
        tuple(notes),
        elsewhere,
    )


@dataclass(slots=True)
class _Saying:
    """What a source has at the key. `position` says how it meets what lies below."""

    origin: Origin
    state: State
    value: MaybeValue = ABSENT
    position: Position = "replace"
    reason: str | None = None


_HEARD = frozenset({"wins", "adds"})


def _listen(kind: Kind, path: Path, sources: Sequence[Source]) -> list[_Saying]:
    """Ask every source; then decide, from the top, whose word counts."""
    before: MaybeValue = ABSENT
    groups: list[list[_Saying]] = []

    def watch(source: Source, tree: Partial) -> None:
        nonlocal before
        after = value_at(tree, path)
        groups.append(_ask(kind, path, source, before, after))
        before = after

    fold(sources, watch)
    is_decided = False
    for source, group in zip(reversed(sources), reversed(groups), strict=True):
        if not any(saying.state == "adds" for saying in group):
            continue
        if is_decided:
            for saying in group:
                saying.state = "shadowed"
        else:
            _silence_below(group)
            is_decided = _position_of(kind, path, source, group) == "replace"
    sayings = [saying for group in groups for saying in group]
    heard = [saying for saying in sayings if saying.state in _HEARD]
    if isinstance(kind, ListOf) and kind.rule == "first":
        for saying in heard[1:]:
            saying.state = "shadowed"
        heard = heard[:1]
    if len(heard) == 1:
        heard[0].state = "wins"
    return sayings


def _ask(kind: Kind, path: Path, source: Source, before: MaybeValue, after: MaybeValue) -> list[_Saying]:
    if isinstance(source, Change):
        return [_ask_change(kind, path, source, before, after)]
    if source.state != "set":
        return [_Saying(source.origin, source.state, reason=source.reason)]
    said = [
        _Saying(step.place_of(path), "adds", value, _own_position(kind, value))
        for step in source.steps
        if (value := value_at(step.partial, path)) is not ABSENT
    ]
    return said or [_Saying(source.origin, "not set")]


def _ask_change(kind: Kind, path: Path, change: Change, before: MaybeValue, after: MaybeValue) -> _Saying:
    own = next((value for value, _ in settings_of((change,), path)), ABSENT)
    if own is not ABSENT:
        is_part = change.key.startswith(f"{dotted(path)}.")  # the rest of the table or map is not its own
        is_adding = is_part or (change.merges and _own_position(kind, own) == "append")
        return _Saying(change.origin, "adds", own, "append" if is_adding else "replace")
    if same(before, after):
        return _Saying(change.origin, "not set")
    if after is ABSENT:
        return _Saying(change.origin, "adds", reason="takes the value away")
    return _Saying(change.origin, "adds", position="append", reason="changes a part of it")


def _own_position(kind: Kind, value: MaybeValue) -> Position:
    match kind, value:
        case (ListOf(), MergedList(position=position)):
            return position or "append"
        case (Text(), MergedText(position=position)):
            return position
        case (Table() | MapOf(), _):
            return "append"
        case (FreeJson() | Variant(), Mapping()):
            return "append"
        case _:
            return "replace"


def _silence_below(group: list[_Saying]) -> None:
    """Within a layer, what replaces silences the files before it."""
    for index in range(len(group) - 1, 0, -1):
        if group[index].position == "replace":
            for saying in group[:index]:
                saying.state = "shadowed"
            return


def _position_of(kind: Kind, path: Path, source: Source, group: list[_Saying]) -> Position:
    """Say how a whole layer meets what lies below: as its last file does (trap 16)."""
    if isinstance(source, Layer):
        return _own_position(kind, value_at(layer_partial(source), path))
    return group[-1].position


def _contribution(kind: Kind, saying: _Saying) -> Contribution:
    value = None if saying.value is ABSENT else write(kind, saying.value)
    return Contribution(saying.origin, saying.state, value, saying.reason or _strategy(saying.value))


def _strategy(value: MaybeValue) -> str | None:
    """Name how a value says that it is merged, where it says so; that of a text shows nowhere else."""
    match value:
        case MergedText(position="append" | "prepend" as strategy):
            return f"strategy `{strategy}`"
        case MergedList(position="append" | "prepend" | "replace" as strategy):
            return f"strategy `{strategy}`"
        case MergedMap(strategy=str() as strategy):
            return f"strategy `{strategy}`"
        case _:
            return None


def _items(kind: Kind, value: MaybeValue, heard: Sequence[_Saying]) -> tuple[Item, ...]:
    """Find the origin of each item: of equal ones, the lowest source has the first."""
    if not isinstance(kind, ListOf) or not isinstance(value, MergedList):
        return ()
    pool = [
        (complete(kind.item, item), saying.origin)
        for saying in heard
        if isinstance(saying.value, MergedList)
        for item in saying.value.items
    ]
    items: list[Item] = []
    seen: list[Value] = []
    for item in value.items:
        index = next((at for at, (known, _) in enumerate(pool) if same(known, item)), None)
        origin = DEFAULTS if index is None else pool.pop(index)[1]
        items.append(Item(write(kind.item, item), origin, any(same(known, item) for known in seen)))
        seen.append(item)
    return tuple(items)


def _lost_replacements(kind: Kind, path: Path, sources: Sequence[Source]) -> Iterator[str]:
    """Notice a `replace` that a later file of its own layer undoes (trap 16)."""
    if not isinstance(kind, (ListOf, Text)):
        return
    for source in sources:
        if (
            not isinstance(source, Layer)
            or _own_position(kind, value_at(layer_partial(source), path)) == "replace"
        ):
            continue
        for step in source.steps:
            value = value_at(step.partial, path)
            if value is not ABSENT and _own_position(kind, value) == "replace":
                yield (
                    f"`replace` in {step.place_of(path)} reaches only files of its own layer, because a later "
                    "one of them adds something"
                )


def _alias_note(kind: Kind, path: Path, sources: Sequence[Source], value: MaybeValue) -> Iterator[str]:
    named = value_at(fold(sources).tree, path)
    if kind is MODEL_ID and isinstance(named, str) and isinstance(value, Mapping):
        yield f"`{named}` is an alias of `{value['provider']}/{value['name']}`"


def _without_conversation(kind: Kind, path: Path, sources: Sequence[Source], origin: Origin) -> JsonValue:
    if origin.kind != "conversation":
        return None
    others = [source for source in sources if source.kind != "conversation"]
    return _shown(kind, value_at(resolve(others).tree, path))


def _ways_to_apply(contributions: Sequence[Contribution]) -> Iterator[str]:
    """Say how a file's value reaches a conversation that hides it (trap 10)."""
    last = [each for each in contributions if each.state in _HEARD][-1:]
    files = [
        each.origin for each in contributions if each.state == "shadowed" and each.origin.path is not None
    ]
    if files and last and last[0].origin.kind == "conversation":
        yield (
            f"the conversation keeps what it has stored; a query with `--cfg {files[-1].path}` applies "
            f"{files[-1]} to it"
        )


def _shown(kind: Kind, value: MaybeValue) -> JsonValue:
    """Give a result; how its parts were merged no longer matters."""
    return None if value is ABSENT else write(kind, without_manner(value))


def value_origin(explanation: Explanation) -> ValueOrigin:
    """Give the short form: the value, and every place that has a part in it."""
    heard = [each.origin for each in explanation.contributions if each.state in _HEARD]
    places = tuple(Place(origin.kind, origin.name, origin.line) for origin in heard)
    return ValueOrigin(explanation.key, explanation.value, places)


def kind_at(path: Path) -> Kind | None:
    """Give the kind of value that a path leads to; `None` where there is no such key."""
    kind: Kind = SCHEMA
    for segment in path:
        table = kind.table if isinstance(kind, Variant) else kind
        match table:
            case Table() if (found := find_key(table, str(segment))) is not None:
                kind = found[1].kind
            case MapOf():
                kind = entry_kind(table, str(segment))
            case ListOf() if isinstance(segment, int):
                kind = table.item
            case FreeJson():
                kind = table
            case _:
                return None
    return kind


def _find_path(key: str, sources: Sequence[Source], resolved: Partial) -> Path:
    """Split a key by what there is: names of tools and other entries may have dots in them."""
    trees = [resolved, *(layer_partial(source) for source in sources if isinstance(source, Layer))]
    for tree in trees:
        if (path := existing_path(tree, key)) is not None:
            return path
    path = tuple(key.split("."))
    if key and kind_at(path) is not None:
        return path
    meant = nearest(key, (dotted(known) for known, _ in leaf_keys()))
    hint = "" if meant is None else f"; did you mean `{meant}`?"
    raise Refusal("invalid_params", f"`{key}`: unknown key{hint}", origin=key)
