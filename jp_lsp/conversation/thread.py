"""What one cycle shows the provider: system prompt, sections, attachments, events."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of system text; `tag` and `title` decide how it is framed (config-and-tools 7.2)."""

    content: str
    tag: str | None = None
    title: str | None = None
    position: int = 0


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
