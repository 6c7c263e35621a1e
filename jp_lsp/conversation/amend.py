"""Changes what was said, at a person's wish: another text for a request, or a turn that goes.

All other entries keep their text to the character. A compaction that reaches to a removed turn, or behind it,
goes with it, because its numbers and its summary no longer fit (conversation format 6.3, trap 51).
"""

from collections.abc import Sequence

from jp_lsp.conversation import entry as entry_text
from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.turns import numbered


class AmendError(ValueError):
    """A change is not possible; the text is for the user."""


def counted(count: int, noun: str) -> str:
    """Say how many there are of something, such as `1 turn` or `2 turns`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def set_request(stream: ConversationStream, turn: int, text: str) -> None:
    """Give another text to the request of a turn, counted from 0; the first one where a turn has several.

    Raises:
        AmendError: there is no such turn, it has no request, or the text is blank.
    """
    _require(stream, turn)
    if not text.strip():
        raise AmendError("a request needs a text; remove the turn instead")
    entries = list(stream.entries)
    for position, (number, entry) in enumerate(numbered(entries)):
        if number == turn and entry.event is not None and isinstance(entry.event.kind, ChatRequest):
            entries[position] = entry_text.with_request(entry, text)
            break
    else:
        raise AmendError(f"turn {turn + 1} has no request")
    _replace(stream, entries)


def remove_turn(stream: ConversationStream, turn: int) -> None:
    """Remove a turn, counted from 0. What holds for the whole conversation, such as settings, stays.

    Raises:
        AmendError: there is no such turn.
    """
    _require(stream, turn)
    _replace(
        stream,
        [
            entry
            for number, entry in numbered(stream.entries)
            if not (entry.event is not None and number == turn)
            and not (isinstance(entry.content, Compaction) and entry.content.to_turn >= turn)
        ],
    )


def _require(stream: ConversationStream, turn: int) -> None:
    if not 0 <= turn < stream.turn_count:
        raise AmendError(
            f"the conversation has {counted(stream.turn_count, 'turn')}, so there is no turn {turn + 1}"
        )


def _replace(stream: ConversationStream, entries: Sequence[Entry]) -> None:
    """A stream that stays the same is not touched, and so not saved."""
    if [entry.text for entry in entries] != [entry.text for entry in stream.entries]:
        stream.replace(entries)
