"""Who has a say about a key, and whose word counts.

The sources are folded once more while the one key is watched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.config.explanation import HEARD, State
from jp_lsp.config.fold import fold, layer_partial
from jp_lsp.config.kind import FreeJson, Kind, ListOf, MapOf, Table, Text, Variant
from jp_lsp.config.layer import Change, Layer, Origin, Source
from jp_lsp.config.problem import dotted
from jp_lsp.config.trace import settings_of
from jp_lsp.config.value import (
    ABSENT,
    MaybeValue,
    MergedList,
    MergedMap,
    MergedText,
    Partial,
    Path,
    Position,
    same,
    value_at,
)


@dataclass(slots=True)
class Saying:
    """What a source has at the key. `position` says how it meets what lies below."""

    origin: Origin
    state: State
    value: MaybeValue = ABSENT
    position: Position = "replace"
    reason: str | None = None


def listen(kind: Kind, path: Path, sources: Sequence[Source]) -> list[Saying]:
    """Ask every source, and decide, from the top, whose word counts; all of them are given, lowest first."""
    before: MaybeValue = ABSENT
    groups: list[list[Saying]] = []

    def watch(source: Source, tree: Partial) -> None:
        nonlocal before
        after = value_at(tree, path)
        groups.append(_ask(kind, path, source, before, after))
        before = after

    fold(sources, watch)
    is_decided = is_heard = False
    for source, group in zip(reversed(sources), reversed(groups), strict=True):
        if not any(saying.state == "adds" for saying in group):
            continue
        is_decided = is_decided or (is_heard and _gives_way(group[-1]))
        is_heard = True
        if is_decided:
            for saying in group:
                saying.state = "shadowed"
        else:
            _silence_below(group)
            is_decided = _position_of(kind, path, source, group) == "replace"
    sayings = [saying for group in groups for saying in group]
    heard = [saying for saying in sayings if saying.state in HEARD]
    if isinstance(kind, ListOf) and kind.rule == "first":
        for saying in heard[1:]:
            saying.state = "shadowed"
        heard = heard[:1]
    if len(heard) == 1:
        heard[0].state = "wins"
    return sayings


def own_position(kind: Kind, value: MaybeValue) -> Position:
    """Say how a value meets what lies below it, as far as it says so itself."""
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


def _ask(kind: Kind, path: Path, source: Source, before: MaybeValue, after: MaybeValue) -> list[Saying]:
    if isinstance(source, Change):
        return [_ask_change(kind, path, source, before, after)]
    if source.state != "set":
        return [Saying(source.origin, source.state, reason=source.reason)]
    said = [
        Saying(step.place_of(path), "adds", value, own_position(kind, value))
        for step in source.steps
        if (value := value_at(step.partial, path)) is not ABSENT
    ]
    return said or [Saying(source.origin, "not set")]


def _ask_change(kind: Kind, path: Path, change: Change, before: MaybeValue, after: MaybeValue) -> Saying:
    own = next((value for value, _ in settings_of((change,), path)), ABSENT)
    if own is not ABSENT:
        is_part = change.key.startswith(f"{dotted(path)}.")  # the rest of the table or map is not its own
        is_adding = is_part or (change.merges and own_position(kind, own) == "append")
        return Saying(change.origin, "adds", own, "append" if is_adding else "replace")
    if same(before, after):
        return Saying(change.origin, "not set")
    if after is ABSENT:
        return Saying(change.origin, "adds", reason="takes the value away")
    return Saying(change.origin, "adds", position="append", reason="changes a part of it")


def _silence_below(group: list[Saying]) -> None:
    """Within a layer, what replaces silences the files before it, and so does any word over what gives way."""
    for index in range(len(group) - 1, 0, -1):
        if group[index].position == "replace" or _gives_way(group[index - 1]):
            for saying in group[:index]:
                saying.state = "shadowed"
            return


def _gives_way(saying: Saying) -> bool:
    """Tell whether a value is dropped as soon as another one is merged over it; that of a layer is its last file's."""
    return isinstance(saying.value, (MergedText, MergedList, MergedMap)) and saying.value.discard


def _position_of(kind: Kind, path: Path, source: Source, group: list[Saying]) -> Position:
    """Say how a whole layer meets what lies below: as its last file does (trap 16)."""
    if isinstance(source, Layer):
        return own_position(kind, value_at(layer_partial(source), path))
    return group[-1].position
