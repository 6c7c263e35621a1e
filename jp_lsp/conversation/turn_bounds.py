"""Where compacted turns begin and end, as a person or a rule says it (conversation format 7.10).

A bound is counted, named or timed; what it comes to depends on the stream, and on the time for some. Turns are
numbered from 0 here, but for those that a person names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turns import split


@dataclass(frozen=True, slots=True)
class KeptTurns:
    """So many turns stay, at the beginning or at the end."""

    count: int


@dataclass(frozen=True, slots=True)
class KeptTime:
    """The turns of the first so many nanoseconds stay, or those of the last."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class AtTurn:
    """This turn is the first, or the last: counted from 1, or from the end if negative; -1 is the last turn."""

    number: int


@dataclass(frozen=True, slots=True)
class Recently:
    """Begin with the first turn of the last so many nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class BehindLast:
    """Begin behind the last turn that a compaction covers."""


Bound: TypeAlias = KeptTurns | KeptTime | AtTurn | Recently | BehindLast


def first_turn(stream: ConversationStream, bound: Bound, now: Timestamp) -> int:
    """Give the turn that a bound lets the range begin with; one past the end where nothing is left."""
    count = stream.turn_count
    match bound:
        case KeptTurns(kept):
            return kept
        case AtTurn(number):
            return _position(number, count)
        case KeptTime(nanoseconds):
            times = _beginnings(stream)
            return _count_until(times, times[0] + nanoseconds) if times else 0
        case Recently(nanoseconds):
            return _count_until(_beginnings(stream), now.nanoseconds - nanoseconds)
        case BehindLast():
            return max((each.to_turn for each in compactions_of(stream)), default=-1) + 1
        case _:
            assert_never(bound)


def last_turn(stream: ConversationStream, bound: Bound, now: Timestamp) -> int:
    """Give the turn that a bound lets the range end with; -1 where nothing is left."""
    count = stream.turn_count
    match bound:
        case KeptTurns(kept):
            return count - 1 - kept
        case AtTurn(number):
            return _position(number, count)
        case KeptTime(nanoseconds) | Recently(nanoseconds):
            return _count_until(_beginnings(stream), now.nanoseconds - nanoseconds) - 1
        case BehindLast():  # says where to begin, and nothing about the end
            return count - 1
        case _:
            assert_never(bound)


def compactions_of(stream: ConversationStream) -> list[Compaction]:
    """Give the compactions in the order in which they are stored."""
    return [entry.content for entry in stream.entries if isinstance(entry.content, Compaction)]


def _position(number: int, count: int) -> int:
    return number - 1 if number > 0 else max(count + number, 0)


def _beginnings(stream: ConversationStream) -> list[int]:
    return [turn.events[0].timestamp.nanoseconds for turn in split(stream.entries)]


def _count_until(times: Sequence[int], moment: int) -> int:
    """Count the turns that lead up to the last one that had begun by a moment; times need not be in order."""
    return max((index + 1 for index, time in enumerate(times) if time <= moment), default=0)
