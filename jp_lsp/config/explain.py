"""Explains where a value comes from (config-and-tools 1.12).

For a list each item has an origin of its own, since several layers add to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from jp_lsp.config.complete import complete
from jp_lsp.config.explanation import DEFAULTS, HEARD, Contribution, Explanation, Item
from jp_lsp.config.fold import Order, fold, layer_partial
from jp_lsp.config.hearing import Saying, listen, own_position
from jp_lsp.config.key_paths import find_path, kind_at
from jp_lsp.config.kind import FreeJson, Kind, ListOf, MapOf, Table, Text
from jp_lsp.config.layer import Change, Layer, Origin, Source
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.problem import dotted
from jp_lsp.config.resolve import resolve
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.trace import narrowed
from jp_lsp.config.value import (
    ABSENT,
    MaybeValue,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Path,
    Value,
    entries_of,
    same,
    value_at,
    without_manner,
)
from jp_lsp.config.write import write
from jp_lsp.conversation.json_value import JsonValue


def explain(key: str, sources: Sequence[Source], order: Order) -> Explanation:
    """Explain a dotted key; `sources` are in order, lowest first.

    Raises:
        Refusal: there is no such key.
    """
    resolved = resolve(sources).tree
    path = find_path(key, sources, resolved)
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
    sayings = listen(kind, path, sources)
    contributions = [_contribution(kind, saying) for saying in sayings]
    heard = [saying for saying in sayings if saying.state in HEARD]
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


def _contribution(kind: Kind, saying: Saying) -> Contribution:
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


def _items(kind: Kind, value: MaybeValue, heard: Sequence[Saying]) -> tuple[Item, ...]:
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
            or own_position(kind, value_at(layer_partial(source), path)) == "replace"
        ):
            continue
        for step in source.steps:
            value = value_at(step.partial, path)
            if value is not ABSENT and own_position(kind, value) == "replace":
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
    last = [each for each in contributions if each.state in HEARD][-1:]
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
