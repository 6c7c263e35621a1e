"""Tells the model of answers that were never finished, so that it does not take them for complete.

The files keep an interrupted answer as far as it had come. Shown without a word, a model takes it for what it
meant to say, or repeats what it was in the middle of (complaint T03). So in what a provider is shown, the
request that follows such a turn begins with a sentence about it. The sentence is never stored, and it is the
same in every later request, so that vendors' caches of the history stay valid.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from jp_lsp.conversation.event import ChatRequest, MessageResponse, StructuredResponse
from jp_lsp.conversation.projection import Projected, is_provider_visible

INTERRUPTED_KEY = "interrupted"
"""The metadata key of an event that was stored unfinished because the user interrupted it; its value is true."""

NOTE = "[The previous answer was interrupted before it was finished.]"
"""It names nobody: where a turn just has no answer, the files do not say who or what was in the way."""


def with_notes(items: Sequence[Projected]) -> list[Projected]:
    """Begin each first request behind an unfinished turn with the note.

    Args:
        items: what a reader sees, in order, turn by turn; turn starts may be among it.
    """
    noted: list[Projected] = []
    was_unfinished = False
    for _, group in groupby(items, key=lambda item: (item.first_turn, item.last_turn)):
        turn = list(group)
        noted += _with_note(turn) if was_unfinished else turn
        visible = [item for item in turn if is_provider_visible(item.event)]
        if visible:
            was_unfinished = _is_unfinished(visible[-1])
    return noted


def _is_unfinished(last: Projected) -> bool:
    """A turn is over when it ends with an answer, and the answer is whole."""
    is_answer = isinstance(last.event.kind, MessageResponse | StructuredResponse)
    return not is_answer or last.event.metadata.get(INTERRUPTED_KEY) is True


def _with_note(turn: Sequence[Projected]) -> list[Projected]:
    noted = list(turn)
    for position, item in enumerate(turn):
        if isinstance(item.event.kind, ChatRequest):
            request = replace(item.event.kind, content=f"{NOTE}\n\n{item.event.kind.content}")
            noted[position] = replace(item, event=replace(item.event, kind=request))
            break
    return noted
