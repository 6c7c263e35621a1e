"""Adds and removes compactions, which make projections shorter and never change what was said (7.10).

Turns are counted from 0 here, but for those of a wish, which a person counts from 1, and from the end with
negative numbers.
"""

from dataclasses import dataclass

from jp_lsp.conversation.amend import AmendError
from jp_lsp.conversation.directive import Compaction, OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class TurnsWanted:
    """Which turns are meant; every restriction counts.

    `first` and `last` count from 1, or from the end if negative: -1 is the last turn. With `is_after_last` the
    turns begin behind the last one that a compaction covers.
    """

    first: int | None = None
    last: int | None = None
    keep_first: int = 0
    keep_last: int = 0
    is_after_last: bool = False


@dataclass(frozen=True, slots=True)
class Policies:
    """What a compaction does to its turns; at least one of them."""

    summary: str | None = None
    reasoning: StripReasoning | None = None
    tool_calls: StripToolCalls | OmitToolCalls | None = None


def compactions_of(stream: ConversationStream) -> list[Compaction]:
    """Give the compactions in the order in which they are stored."""
    return [entry.content for entry in stream.entries if isinstance(entry.content, Compaction)]


def compact(
    stream: ConversationStream, turns: TurnsWanted, policies: Policies, now: Timestamp
) -> Compaction | None:
    """Append a compaction and give it; `None`, and no change, where no turns are left to compact.

    Raises:
        AmendError: there is no policy, or the summary is blank.
    """
    if policies == Policies():
        raise AmendError("say what to leave out: `summary`, `reasoning` or `toolCalls`")
    if policies.summary is not None and not policies.summary.strip():
        raise AmendError("the summary is empty")
    found = resolve(stream, turns)
    if found is None:
        return None
    first, last = found if policies.summary is None else widened(stream, *found)
    compaction = Compaction(now, first, last, policies.summary, policies.reasoning, policies.tool_calls)
    stream.append_compaction(compaction)
    return compaction


def resolve(stream: ConversationStream, wanted: TurnsWanted) -> tuple[int, int] | None:
    """Give the first and the last turn that are meant, both included; `None` where none is."""
    count = stream.turn_count
    first = _position(wanted.first, count, 0)
    if wanted.is_after_last:
        covered = max((each.to_turn for each in compactions_of(stream)), default=-1)
        first = max(first, covered + 1)
    first = max(first, wanted.keep_first)
    last = min(_position(wanted.last, count, count - 1), count - 1 - wanted.keep_last)
    return (first, last) if first <= last else None


def widened(stream: ConversationStream, first: int, last: int) -> tuple[int, int]:
    """Take in every summary that the turns touch, and what those touch: a summary is never summed up in part."""
    summaries = [each for each in compactions_of(stream) if each.summary is not None]
    end = stream.turn_count - 1
    while True:
        touched = [
            (each.from_turn, min(each.to_turn, end))
            for each in summaries
            if each.from_turn <= min(last, each.to_turn) and first <= min(each.to_turn, end)
        ]
        grown = min([first, *(each for each, _ in touched)]), max([last, *(each for _, each in touched)])
        if grown == (first, last):
            return grown
        first, last = grown


def remove_compactions(stream: ConversationStream, number: int | None) -> None:
    """Remove all compactions, or the one with this number, counted from 1 in the order of the stream.

    Raises:
        AmendError: there is no such compaction.
    """
    positions = [
        position for position, entry in enumerate(stream.entries) if isinstance(entry.content, Compaction)
    ]
    if number is not None:
        if not 1 <= number <= len(positions):
            raise AmendError(
                f"the conversation has {len(positions)} compactions, so there is no compaction {number}"
            )
        positions = [positions[number - 1]]
    if positions:
        gone = set(positions)
        stream.replace([entry for at, entry in enumerate(stream.entries) if at not in gone])


def _position(number: int | None, count: int, default: int) -> int:
    if number is None:
        return default
    return number - 1 if number > 0 else max(count + number, 0)
