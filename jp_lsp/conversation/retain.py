"""Removes turns from a stream (conversation format 6.3, 7.3, 7.4).

Only events go. Changes of settings, overlays and entries that we do not know hold for the whole conversation
and stay where they stand, so that the effective configuration is the same before and after.
"""

from collections.abc import Sequence

from jp_lsp.conversation.compaction_ranges import TurnPlaces
from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.event import ChatRequest, ConversationEvent, TurnStart
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turns import numbered


def take_back(stream: ConversationStream, turn: int) -> None:
    """Remove a turn, counted from 0, and all that follow it, so that it can be asked anew.

    Compactions of earlier turns stay. One that reached into the removed turns ends before them, for the new
    turn that takes their number must be seen by the model.
    """
    places = TurnPlaces(stream)
    stream.replace(
        [entry for number, entry in numbered(stream.entries) if entry.event is None or number < turn]
    )
    places.shift_compactions(stream)


def keep_last(stream: ConversationStream, count: int) -> None:
    """Remove all but the last `count` turns; as other programs do, count turn starts (6.1)."""
    keep_ends(stream, 0, count)


def keep_ends(stream: ConversationStream, first: int, last: int) -> None:
    """Remove all but the `first` and the `last` turns, which are counted as turn starts (6.1).

    A compaction goes if it reaches to the first turn that goes, or behind it: its numbers, and what it sums
    up, no longer fit (trap 51).
    """
    starts = [at for at, entry in enumerate(stream.entries) if _is_turn_start(entry.event)]
    if first + last >= len(starts) + (first == 0):
        return
    begin = starts[first] if first else 0
    end = starts[-last] if last else len(stream)
    _remove(stream, [at for at in range(begin, end) if stream.entries[at].event is not None])


def keep_between(stream: ConversationStream, since: Timestamp | None, until: Timestamp | None) -> None:
    """Remove the events from before `since`, and those from `until` on.

    Compactions go as in `keep_ends`.
    """
    _remove(
        stream,
        [
            at
            for at, entry in enumerate(stream.entries)
            if entry.event is not None
            and not (
                (since is None or since <= entry.event.timestamp)
                and (until is None or entry.event.timestamp < until)
            )
        ],
    )


def _remove(stream: ConversationStream, gone: Sequence[int]) -> None:
    """Remove the events at these positions, and the compactions that reach to the first turn that loses one."""
    if not gone:
        return
    turns = [turn for turn, _ in numbered(stream.entries)]
    earliest, removed = turns[gone[0]], set(gone)
    stream.replace(
        [
            entry
            for at, entry in enumerate(stream.entries)
            if at not in removed
            and not (isinstance(entry.content, Compaction) and entry.content.to_turn >= earliest)
        ]
    )


def request_of(stream: ConversationStream, turn: int) -> ChatRequest | None:
    """Give what the user asked in a turn, counted from 0; the first request where a turn has several."""
    return next(
        (
            entry.event.kind
            for number, entry in numbered(stream.entries)
            if number == turn and entry.event is not None and isinstance(entry.event.kind, ChatRequest)
        ),
        None,
    )


def _is_turn_start(event: ConversationEvent | None) -> bool:
    return event is not None and isinstance(event.kind, TurnStart)
