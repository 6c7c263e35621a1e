"""The stream seen as turns (conversation format 6.1).

A turn start opens a turn. Events before the first turn start form a turn of their own, as old streams
have them. Entries that are no events belong to the turn that is open at their place. Numbers count from
0; a person reads and writes them from 1.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ConversationEvent, EventKind, TurnStart


class TurnCounter:
    """Numbers turns while events go by, in order."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def feed(self, kind: EventKind) -> int:
        """Take the next event and give the number of its turn."""
        if isinstance(kind, TurnStart) or self.count == 0:
            self.count += 1
        return self.count - 1


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its number, where its events stand among the entries, and the events.

    `start` is the position of its first event and `stop` is one past its last.
    """

    index: int
    start: int
    stop: int
    events: tuple[ConversationEvent, ...]


def numbered(entries: Iterable[Entry]) -> Iterator[tuple[int, Entry]]:
    """Give each entry with the number of its turn; entries before the first event belong to turn 0."""
    counter = TurnCounter()
    for entry in entries:
        if isinstance(entry.content, ConversationEvent):
            counter.feed(entry.content.kind)
        yield max(counter.count - 1, 0), entry


def split(entries: Iterable[Entry]) -> list[Turn]:
    """Give all turns in order."""
    turns: list[Turn] = []
    events: list[ConversationEvent] = []
    counter = TurnCounter()
    start = stop = 0
    for position, entry in enumerate(entries):
        if not isinstance(entry.content, ConversationEvent):
            continue
        if counter.feed(entry.content.kind) != len(turns):
            turns.append(Turn(len(turns), start, stop, tuple(events)))
            events = []
        if not events:
            start = position
        events.append(entry.content)
        stop = position + 1
    if events:
        turns.append(Turn(len(turns), start, stop, tuple(events)))
    return turns
