"""Which id each entry of a loaded file gets (conversation format 3.12).

An id that the file gives is kept, whatever it looks like. Of several equal ones the first keeps it and
the later ones get new ids; a reference to such an id is ambiguous, so those are remembered.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jp_lsp.conversation.ids import EventId


@dataclass(frozen=True, slots=True)
class Settled:
    """An id for each entry, in order, and the ids that the file had more than once."""

    ids: tuple[EventId, ...]
    ambiguous: frozenset[EventId]


def settle(declared: Iterable[str | None], mint: Callable[[], EventId]) -> Settled:
    """Give every entry an id of its own; all ids of the file are taken before a new one is drawn."""
    wanted = tuple(declared)
    taken = {EventId(name) for name in wanted if name is not None}
    seen: set[str] = set()
    ambiguous: set[EventId] = set()
    ids: list[EventId] = []
    for name in wanted:
        if name is not None and name not in seen:
            seen.add(name)
            ids.append(EventId(name))
            continue
        if name is not None:
            ambiguous.add(EventId(name))
        while (fresh := mint()) in taken:
            pass
        taken.add(fresh)
        ids.append(fresh)
    return Settled(tuple(ids), frozenset(ambiguous))
