"""All that is known of one conversation, with what must be read for it (conversation format 7.8, `show`)."""

from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts, Upkeep


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a conversation. Turns of compactions count from 0."""

    turns: int
    events: int
    last_event_at: Timestamp | None
    compactions: tuple[Compaction, ...]
    is_unfinished: bool
    model: ModelId | None
    attachments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """A conversation; `content` is absent where it cannot be read, and `unreadable` says why."""

    facts: ConversationFacts
    content: Content | None
    unreadable: str | None
    draft: str | None
    folder: str | None


async def describe(
    conversation: ConversationId, around: Callable[[], Surroundings], upkeep: Upkeep
) -> Description:
    """Describe a conversation, live or archived; changes and locks nothing.

    Raises:
        Refusal: there is none.
    """
    facts = await upkeep.facts(conversation)
    content, unreadable = None, None
    try:
        stream = (await around().store.copy(conversation)).stream
        content = _content(stream, around())
    except Refusal as refusal:
        if refusal.error.code == "conversation_not_found":
            raise
        unreadable = refusal.error.message
    draft, folder = await upkeep.draft(conversation), await upkeep.folder(conversation)
    return Description(facts, content, unreadable, draft, folder)


def _content(stream: ConversationStream, around: Surroundings) -> Content:
    events = [entry.content for entry in stream.entries if isinstance(entry.content, ConversationEvent)]
    model, attachments = _settings(stream, around)
    return Content(
        stream.turn_count,
        len(events),
        events[-1].timestamp if events else None,
        tuple(entry.content for entry in stream.entries if isinstance(entry.content, Compaction)),
        incomplete_turn(stream) is not None,
        model,
        attachments,
    )


def _settings(stream: ConversationStream, around: Surroundings) -> tuple[ModelId | None, tuple[str, ...]]:
    """Settings that are not valid are no reason to show nothing of a conversation."""
    try:
        settings = around.settings.resolve((), stream)
    except Refusal:
        return None, ()
    return settings.model, tuple(entry.text for entry in settings.attachments)
