"""What one cycle shows the provider: system prompt, sections, attachments, events.

A thread is made anew for each request, on a copy: the stored stream is neither repaired nor shortened here,
and neither a hint for the model nor the note about an interruption reaches it (query pipeline 6.3, 6.6).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, TurnStart
from jp_lsp.conversation.interruption import with_notes
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.pairing import paired
from jp_lsp.conversation.projection import is_provider_visible, project
from jp_lsp.conversation.provider_history import ProviderHistory
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.section import Section, system_parts
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp

__all__ = [
    "Attachment",
    "BinaryAttachment",
    "Section",
    "TextAttachment",
    "Thread",
    "ThreadEvent",
    "build_thread",
]


@dataclass(frozen=True, slots=True)
class TextAttachment:
    """Readable content from outside, with where it came from."""

    source: str
    text: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class BinaryAttachment:
    """Bytes from outside, such as an image or a PDF."""

    source: str
    data: bytes
    media_type: str
    description: str | None = None


Attachment = TextAttachment | BinaryAttachment


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """A provider-visible event and the id of the provider that was configured when it was made."""

    event: ConversationEvent
    provider: str | None


@dataclass(frozen=True, slots=True)
class Thread:
    """The input of one provider request.

    `system_parts` are finished texts in order: the system prompt, then one for each rendered section.
    `schema` is the one of the current turn, if it asked for structured output.
    `created_at` is when the conversation was made; vendors key caches on it.
    """

    system_parts: Sequence[str]
    attachments: Sequence[Attachment]
    events: Sequence[ThreadEvent]
    schema: JsonObject | None
    created_at: Timestamp


def build_thread(
    stream: ConversationStream,
    *,
    system_prompt: str | None = None,
    sections: Sequence[Section] = (),
    attachments: Sequence[Attachment] = (),
    hint: str | None = None,
    appended: Sequence[ConversationEvent] = (),
) -> Thread:
    """Give what a provider is shown of `stream`, repaired, projected and in the order that providers want.

    `sections` are those of the configuration, instructions included, and the one about tools where there are some.
    `appended` are events that exist only here. `hint` is added to the last request of the user.
    """
    copy = stream.copy()
    sanitize(copy)
    providers = ProviderHistory(copy)
    events = [
        ThreadEvent(item.event, providers.at(item.position))
        for item in with_notes(paired(project(copy.entries)))
        if is_provider_visible(item.event)
    ]
    events += (ThreadEvent(event, providers.at(len(copy))) for event in appended)
    return Thread(
        system_parts=system_parts(system_prompt, sections),
        attachments=tuple(attachments),
        events=tuple(events if hint is None else _with_hint(events, hint)),
        schema=_active_schema(copy.events()),
        created_at=stream.created_at,
    )


def _active_schema(events: Sequence[ConversationEvent]) -> JsonObject | None:
    """Give the schema of the first request of the last turn; later requests of that turn do not clear it."""
    schema: JsonObject | None = None
    for event in reversed(events):
        if isinstance(event.kind, TurnStart):
            break
        if isinstance(event.kind, ChatRequest):
            schema = event.kind.schema
    return schema


def _with_hint(events: Sequence[ThreadEvent], hint: str) -> list[ThreadEvent]:
    hinted = list(events)
    for position in reversed(range(len(hinted))):
        event = hinted[position].event
        if isinstance(event.kind, ChatRequest):
            content = f"{event.kind.content}\n\n{hint}"
            hinted[position] = replace(
                hinted[position], event=replace(event, kind=replace(event.kind, content=content))
            )
            break
    return hinted
