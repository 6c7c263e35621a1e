"""Which turns of a stored conversation are looked at: as they were said, or as compactions leave them for models.

Turns keep the numbers that they have in the stream as it is stored, in every view (F35).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.amend import counted
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.projection import projected_turns
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.turns import split
from jp_lsp.protocol.conversation import TurnRange
from jp_lsp.server.wire_error import invalid_params


@dataclass(frozen=True, slots=True)
class ViewedTurn:
    """A turn, or a summary of several.

    Attributes:
        index: its number in the stream, from 0.
        last_index: that of the last turn that it stands for.
        start: where its first event stands among the stored entries.
        events: what is to be seen of it.
    """

    index: int
    last_index: int
    start: int
    events: Sequence[ConversationEvent]


def viewed_turns(
    stream: ConversationStream, wanted: TurnRange | None, method: str, *, is_compacted: bool
) -> list[ViewedTurn]:
    """Give the turns that are wanted; a summary is, if one of its turns is.

    Raises:
        WireError: one of them is not there; names the method.
    """
    stored = split(stream.entries)
    first, last = _range(len(stored), wanted, method)
    if not is_compacted:
        return [
            ViewedTurn(turn.index, turn.index, turn.start, turn.events) for turn in stored[first - 1 : last]
        ]
    return [
        ViewedTurn(turn.first_turn, turn.last_turn, stored[turn.first_turn].start, turn.events)
        for turn in projected_turns(stream.entries)
        if turn.first_turn < last and first - 1 <= turn.last_turn
    ]


def _range(count: int, wanted: TurnRange | None, method: str) -> tuple[int, int]:
    if wanted is None:
        return 1, count
    if wanted.last is not None:
        return max(count - wanted.last + 1, 1), count
    first, last = wanted.from_turn or 1, wanted.to_turn or count
    if first > count or last > count:
        has = f"the conversation has {counted(count, 'turn')}"
        raise invalid_params(method, [f"turns: {has}, so there is no turn {max(first, last)}"])
    return first, last
