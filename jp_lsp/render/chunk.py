"""What a client is told while a turn runs: chunks, one class for each row of query pipeline 5.1.

A chunk has only its own fields; number, turn, conversation and cycle are the business of whoever sends it.
Durable chunks are the transcript: their `md`, put together, is the whole text. Ephemeral ones show a state
in a `slot` until another one replaces it, `is_clear` removes it, or the turn ends. Control chunks say what
to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from jp_lsp.render.block_event import BlockKind

Class = Literal["durable", "ephemeral", "control"]
TextPart = Literal["whole", "first", "more", "last"]
CodePart = Literal["open", "line", "close"]
RegionKind = Literal["reasoning", "message"]
StructuredPart = Literal["open", "more", "close"]
ToolSource = Literal["local", "mcp", "builtin"]
IndicatorMode = Literal["progress", "static", "timer"]
RetractReason = Literal["abort", "refused", "empty", "restart"]
ClosedHow = Literal["answered", "superseded", "withdrawn"]


@dataclass(frozen=True, slots=True)
class TurnBegin:
    """A turn begins. `index` counts from 1; `reply_to` is the previous turn of the chain."""

    type: ClassVar[str] = "turn_begin"
    chunk_class: ClassVar[Class] = "control"
    index: int
    reply_to: int | None = None
    reasoning_background: str | None = None


@dataclass(frozen=True, slots=True)
class Role:
    """Who speaks from here on. `detail` has number and age of a turn that is shown again."""

    type: ClassVar[str] = "role"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    role: Literal["user", "assistant"]
    label: str
    model: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Text outside of fences; `indent` is in columns."""

    type: ClassVar[str] = "text"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    region: RegionKind
    block: BlockKind
    part: TextPart
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """The opening of a fence, a line in it, or its end."""

    type: ClassVar[str] = "code"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    region: RegionKind
    part: CodePart
    language: str | None = None
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Structured:
    """A piece of a value that was asked for with a schema, in a fence of its own."""

    type: ClassVar[str] = "structured"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    part: StructuredPart


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool. `arguments` is JSON text and has all of them; `md` may show less."""

    type: ClassVar[str] = "tool_call"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    call_id: str
    name: str
    arguments: str
    source: ToolSource = "local"
    server: str | None = None
    is_edited: bool = False
    region: RegionKind | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A call is answered. `line_count` and `size` (bytes) are of the whole result."""

    type: ClassVar[str] = "tool_result"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    call_id: str
    name: str
    is_ok: bool
    is_truncated: bool
    line_count: int
    size: int
    decision: str | None = None
    uri: str | None = None
    region: RegionKind | None = None


@dataclass(frozen=True, slots=True)
class DurableNotice:
    """A sentence to the user that changes what the transcript means."""

    type: ClassVar[str] = "notice"
    chunk_class: ClassVar[Class] = "durable"
    md: str
    level: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence to the user beside the transcript. A summary names its reasoning region, from 1."""

    type: ClassVar[str] = "notice"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: str
    level: str = "info"
    code: str = ""
    text: str = ""
    region_index: int | None = None
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """Where the turn stands."""

    type: ClassVar[str] = "status"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: ClassVar[str] = "status"
    phase: str = ""
    detail: str = ""
    elapsed_ms: int = 0
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningIndicator:
    """The model thinks, and its thoughts are not shown."""

    type: ClassVar[str] = "reasoning_indicator"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: ClassVar[str] = "reasoning"
    mode: IndicatorMode = "static"
    ticks: int = 0
    elapsed_ms: int = 0
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class ToolPreparing:
    """The model is still writing the arguments of a call. The slot is `tool:` and the call's id."""

    type: ClassVar[str] = "tool_preparing"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: str
    name: str = ""
    elapsed_ms: int = 0
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool is running. The slot is `tool:` and the call's id."""

    type: ClassVar[str] = "tool_progress"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: str
    name: str = ""
    elapsed_ms: int = 0
    message: str | None = None
    percentage: int | None = None
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """A request failed and is made again after `delay_ms`."""

    type: ClassVar[str] = "retry"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: ClassVar[str] = "retry"
    attempt: int = 0
    max_attempts: int = 0
    cause: str = ""
    delay_ms: int = 0
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """The text that is still held back, while a menu is open. It is what a flush would append."""

    type: ClassVar[str] = "preview"
    chunk_class: ClassVar[Class] = "ephemeral"
    slot: ClassVar[str] = "preview"
    md: str = ""
    is_clear: bool = False


@dataclass(frozen=True, slots=True)
class Retract:
    """Durable chunks from number `from_seq` on, up to this one, leave the transcript."""

    type: ClassVar[str] = "retract"
    chunk_class: ClassVar[Class] = "control"
    from_seq: int
    reason: RetractReason


@dataclass(frozen=True, slots=True)
class PromptAction:
    """A button of a question."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class PromptOpen:
    """A question waits for an answer."""

    type: ClassVar[str] = "prompt_open"
    chunk_class: ClassVar[Class] = "control"
    decision_id: str
    prompt_kind: str
    call_id: str | None = None
    actions: Sequence[PromptAction] = ()


@dataclass(frozen=True, slots=True)
class PromptClosed:
    """A question needs no answer any more."""

    type: ClassVar[str] = "prompt_closed"
    chunk_class: ClassVar[Class] = "control"
    decision_id: str
    how: ClosedHow


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of a turn, as far as the vendor told."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn is over; this also removes what all slots show."""

    type: ClassVar[str] = "turn_end"
    chunk_class: ClassVar[Class] = "control"
    outcome: str
    is_persisted: bool
    usage: TokenUsage | None = None


Durable: TypeAlias = Role | Text | Code | Structured | ToolCall | ToolResult | DurableNotice
Ephemeral: TypeAlias = Notice | Status | ReasoningIndicator | ToolPreparing | ToolProgress | Retry | Preview
Control: TypeAlias = TurnBegin | Retract | PromptOpen | PromptClosed | TurnEnd
Chunk: TypeAlias = Durable | Ephemeral | Control
DURABLE = (Role, Text, Code, Structured, ToolCall, ToolResult, DurableNotice)
EPHEMERAL = (Notice, Status, ReasoningIndicator, ToolPreparing, ToolProgress, Retry, Preview)
"""The classes, for `isinstance`."""
