"""The facts a conversation is made of.

A `ConversationEvent` is one thing that was said or done, with the time it was complete. Events never
change. How they are written to disk is the business of `entry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class TurnStart:
    """Opens a turn."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the user said."""

    content: str
    schema: JsonObject | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class MessageResponse:
    """Answer text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningResponse:
    """Thinking; its text may be empty when only the vendor's metadata matters."""

    text: str


@dataclass(frozen=True, slots=True)
class StructuredResponse:
    """A value that was asked for with a schema."""

    data: JsonValue


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """The model's wish to run a tool."""

    id: CallId
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ToolCallResponse:
    """Our one answer to a call."""

    id: CallId
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class InquirySource:
    """Who asks: a tool by its name, the assistant, the user, or something else by its name."""

    kind: Literal["tool", "assistant", "user", "other"]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SelectOption:
    """One choice of a select question."""

    value: JsonValue
    description: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerType:
    """What a question accepts; `options` belong to `select`."""

    kind: Literal["boolean", "text", "select", "secret"]
    options: tuple[SelectOption, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is stored."""

    text: str
    answer_type: AnswerType
    default: JsonValue = None


@dataclass(frozen=True, slots=True)
class InquiryRequest:
    """A question that somebody must answer while a tool runs."""

    id: InquiryId
    source: InquirySource
    question: Question


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer, which may be null."""

    answer: JsonValue


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Nobody answered; the reason is one of the words in conversation format 3.6 or a newer one."""

    reason: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """The answer was a secret and is not stored."""


@dataclass(frozen=True, slots=True)
class InquiryResponse:
    """How a question ended."""

    id: InquiryId
    outcome: Answered | Cancelled | Redacted


ChatResponse: TypeAlias = MessageResponse | ReasoningResponse | StructuredResponse
EventKind: TypeAlias = (
    TurnStart
    | ChatRequest
    | ChatResponse
    | ToolCallRequest
    | ToolCallResponse
    | InquiryRequest
    | InquiryResponse
)
ProviderVisible: TypeAlias = ChatRequest | ChatResponse | ToolCallRequest | ToolCallResponse

NO_METADATA: Mapping[str, JsonValue] = {}


@dataclass(frozen=True, slots=True)
class ConversationEvent:
    """A stored fact: when it was complete, what it is, and what its maker attached to it."""

    timestamp: Timestamp
    kind: EventKind
    metadata: Mapping[str, JsonValue] = field(default_factory=lambda: NO_METADATA)
