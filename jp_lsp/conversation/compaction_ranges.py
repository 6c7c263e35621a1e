"""Keeps compactions over the turns that they were made for, when turns before or among them go, or others come.

A compaction names turns by their numbers. Whoever removes turns lets the ranges follow, or a summary would
hide whatever turn takes a removed one's number. Whoever begins a turn, or takes one up again, lets no range reach to it.
"""

from collections.abc import Mapping

from jp_lsp.conversation import entry as entry_text
from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import EventId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.turns import numbered


def end_before(stream: ConversationStream, turn: int) -> None:
    """Let no compaction reach a turn, counted from 0, that begins or goes on now; one with nothing left goes.

    A range may end behind the last turn, and then covers whatever is there (trap 47). It was made for the turns that
    were there then: without this a model would not be shown what the user asks, nor what its tools answer.
    """
    kept: list[Entry] = []
    has_changed = False
    for entry in stream.entries:
        compaction = entry.content
        if not isinstance(compaction, Compaction) or compaction.to_turn < turn:
            kept.append(entry)
            continue
        has_changed = True
        if compaction.from_turn < turn:
            kept.append(entry_text.with_turns(entry, compaction.from_turn, turn - 1))
    if has_changed:
        stream.replace(kept)


class TurnPlaces:
    """Which turn each entry of a stream belonged to, before something is removed."""

    def __init__(self, stream: ConversationStream) -> None:
        turns = [turn for turn, _ in numbered(stream.entries)]
        self._places: Mapping[EventId, int] = {
            entry.id: turn for turn, entry in zip(turns, stream.entries, strict=True)
        }
        self._turn_count = max(turns, default=-1) + 1

    def shift_compactions(self, stream: ConversationStream) -> None:
        """Let compactions cover the turns that they covered, where the turns have new numbers now.

        A compaction that covered nothing but turns that are gone is gone with them; otherwise it would cover
        whatever turn comes next. Positions past the end, which are legal, keep their distance to it.
        """
        moved: dict[int, int] = {}
        for turn, entry in numbered(stream.entries):
            if entry.id in self._places and isinstance(entry.content, ConversationEvent):
                moved.setdefault(self._places[entry.id], turn)
        if moved == {turn: turn for turn in range(self._turn_count)}:
            return
        past_end = stream.turn_count - self._turn_count
        entries: list[Entry] = []
        for entry in stream.entries:
            if not isinstance(entry.content, Compaction):
                entries.append(entry)
                continue
            to_turn = entry.content.to_turn
            covered = range(entry.content.from_turn, min(to_turn, self._turn_count - 1) + 1)
            kept = [moved[turn] for turn in covered if turn in moved]
            if not covered:
                entries.append(entry)
            elif kept:
                stop = to_turn + past_end if to_turn >= self._turn_count else kept[-1]
                entries.append(entry_text.with_turns(entry, kept[0], stop))
        stream.replace(entries)
