"""How a model is asked to sum up turns of a conversation, and how its answer is read (conversation format 7.10).

Pure functions. It is shown the turns as they were said, without any compaction, so that a summary is never one
of a summary.
"""

from collections.abc import Sequence
from dataclasses import replace

from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import Thread, ThreadEvent, build_thread
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turns import numbered
from jp_lsp.ports.compaction import SummaryWish

_REQUEST = "Sum up this conversation."

_OUR_INSTRUCTIONS = (
    "- Keep what whoever goes on with the conversation needs: what was wanted, what was decided and why, what was "
    "done, and what is still open.\n"
    "- Keep names of files, commands, identifiers and numbers exactly as they are.\n"
    "- Keep errors that were met with what mended them.\n"
    "- Leave out greetings, detours that led nowhere, and results of tools that nothing came of."
)

_FORM = (
    "The last message asks for a summary of the conversation that precedes it. The summary takes the conversation's "
    "place, so it must be much shorter and stand for itself.\n\n"
    "{instructions}\n"
    "- Write plain text in the language of the conversation, and nothing but the summary.\n"
    "- Do not answer what the conversation asks, and do not mention the request for a summary."
)


def summary_thread(
    stream: ConversationStream, first: int, last: int, wish: SummaryWish, now: Timestamp
) -> Thread:
    """Give what the model is shown: the turns from `first` to `last`, and the request for their summary.

    Args:
        stream: the conversation.
        first: the first turn, from 0.
        last: the last turn, included.
        wish: what the summary must hold.
        now: when it is asked for.
    """
    content = _FORM.format(instructions=wish.instructions or _OUR_INSTRUCTIONS)
    if wish.context:
        content += f"\n\nAbout this summary: {wish.context}"
    section = Section(tag="instruction", title="Summary", content=content)
    thread = build_thread(_only(stream, first, last), sections=(section,))
    request = ThreadEvent(ConversationEvent(now, ChatRequest(_REQUEST)), None)
    return replace(thread, events=(*thread.events, request), schema=None)


def read_summary(events: Sequence[ConversationEvent]) -> str | None:
    """Give the text of the answer; `None` if there is none."""
    texts = [event.kind.text for event in events if isinstance(event.kind, MessageResponse)]
    return "\n\n".join(text.strip() for text in texts if text.strip()) or None


def _only(stream: ConversationStream, first: int, last: int) -> ConversationStream:
    """Keep the turns, and what holds for the whole conversation but for its compactions."""
    copy = stream.copy()
    copy.replace(
        [
            entry
            for turn, entry in numbered(stream.entries)
            if (entry.event is None and not isinstance(entry.content, Compaction))
            or (entry.event is not None and first <= turn <= last)
        ]
    )
    return copy
