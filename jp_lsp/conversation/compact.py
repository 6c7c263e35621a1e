"""Adds and removes compactions, which make projections shorter and never change what was said (7.10).

Turns are counted from 0 here. A compaction is added by a rule: which turns, and what is left out of them.
"""

from dataclasses import dataclass

from jp_lsp.conversation.amend import AmendError, counted
from jp_lsp.conversation.directive import Compaction, OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turn_bounds import Bound, compactions_of, first_turn, last_turn


@dataclass(frozen=True, slots=True)
class TurnsWanted:
    """Which turns are meant: all of them, within every bound."""

    first: tuple[Bound, ...] = ()
    last: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Policies:
    """What a compaction does to its turns; at least one of them."""

    summary: str | None = None
    reasoning: StripReasoning | None = None
    tool_calls: StripToolCalls | OmitToolCalls | None = None


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
    found = resolve(stream, turns, now, is_summary=policies.summary is not None)
    if found is None:
        return None
    first, last = found
    compaction = Compaction(now, first, last, policies.summary, policies.reasoning, policies.tool_calls)
    stream.append_compaction(compaction)
    return compaction


def resolve(
    stream: ConversationStream, wanted: TurnsWanted, now: Timestamp, *, is_summary: bool
) -> tuple[int, int] | None:
    """Give the first and the last turn that are meant, both included; `None` where none is.

    The turns of a summary are `widened`.
    """
    first = max((first_turn(stream, bound, now) for bound in wanted.first), default=0)
    end = stream.turn_count - 1
    last = min([end, *(last_turn(stream, bound, now) for bound in wanted.last)])
    if first > last:
        return None
    return widened(stream, first, last) if is_summary else (first, last)


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
            count = counted(len(positions), "compaction")
            raise AmendError(f"the conversation has {count}, so there is no compaction {number}")
        positions = [positions[number - 1]]
    if positions:
        gone = set(positions)
        stream.replace([entry for at, entry in enumerate(stream.entries) if at not in gone])
