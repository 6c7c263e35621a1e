"""What a provider says while it streams (query pipeline 2.1, providers 1.3).

A well-behaved stream: one index is one logical event of one kind, each index is flushed when complete,
and exactly one `Finished` or `StreamFailure` comes last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.turn.failure import StreamFailure


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text; an empty one is legal and opens its index (a signature may come alone)."""

    index: int
    kind: Literal["message", "reasoning", "structured"]
    text: str
    metadata: Mapping[str, JsonValue] = field(default_factory=lambda: NO_METADATA)


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """Id and name of a call, either of which may still be empty."""

    index: int
    id: str
    name: str
    metadata: Mapping[str, JsonValue] = field(default_factory=lambda: NO_METADATA)


@dataclass(frozen=True, slots=True)
class ToolCallArguments:
    """A fragment of the JSON text of a call's arguments."""

    index: int
    text: str


Part: TypeAlias = TextPart | ToolCallStart | ToolCallArguments


@dataclass(frozen=True, slots=True)
class Flush:
    """The event at this index is complete."""

    index: int
    metadata: Mapping[str, JsonValue] = field(default_factory=lambda: NO_METADATA)


@dataclass(frozen=True, slots=True)
class MetadataPatch:
    """Remove the metadata key `key` from every event that holds exactly `value` under it."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Repairs to the stored stream that the provider asks for (query pipeline 6.4)."""

    patches: tuple[MetadataPatch, ...]


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """The vendor is still there."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The model was done."""


@dataclass(frozen=True, slots=True)
class MaxTokens:
    """The model's output limit was reached."""


@dataclass(frozen=True, slots=True)
class RetryRequested:
    """The provider asks for a rebuilt request after its patches."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The vendor declined to answer."""

    category: str | None = None
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class OtherReason:
    """A finish word that we do not know."""

    value: JsonValue


FinishReason: TypeAlias = Completed | MaxTokens | RetryRequested | Refused | OtherReason


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of the response."""

    reason: FinishReason


StreamEvent: TypeAlias = Part | Flush | Patch | KeepAlive | Finished | StreamFailure


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response, as far as the vendor told; never stored in a conversation."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
