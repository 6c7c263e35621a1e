"""The chunks of a turn: what a client sees while it runs, and when it is shown again (query pipeline 5.1).

A chunk is the `value` of a `$/progress` on the caller's `partialResultToken`, or the params of `jp/chunk`.
`seq` counts from 1 within a query, without gaps. There are three classes:

- *durable* chunks are the transcript. Their `md`, put together in the order of `seq`, is the whole text in
  Markdown; what a `retract` names is left out.
- *ephemeral* chunks show a state. A later chunk with the same `slot` replaces the earlier one, `clear` removes
  it, and the end of the turn removes them all.
- *control* chunks say what to do.

`type` is never `begin`, `report` or `end`, and no chunk has a key `kind`, because clients that know nothing
of chunks would take such a value for the progress of some work.
Free-form JSON, such as a tool's arguments, travels as a string inside a chunk: some clients' libraries
rename or drop keys that they do not know.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, RootModel
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, ProgressToken, WireModel
from jp_lsp.protocol.model import Usage
from jp_lsp.protocol.notice import NoticeLevel
from jp_lsp.protocol.prompt import PromptAction, PromptKind
from jp_lsp.protocol.tool import ToolSource
from jp_lsp.protocol.turn import Outcome, Phase

CHUNK_VERSION: Literal[1] = 1

Region = TypeAliasType("Region", Literal["reasoning", "message"])
"""Whether a text is what the model thought or what it said. Tool calls made while thinking belong to it."""

Block = TypeAliasType(
    "Block",
    Literal["paragraph", "heading", "list_item", "html", "table", "rule", "code_indented", "other"],
)
"""Which Markdown block a text belongs to."""


class Envelope(WireModel):
    """What every chunk has."""

    v: Literal[1] = CHUNK_VERSION
    """The version of the chunks."""
    seq: int
    """Its number within the query, from 1, without gaps."""
    turn: ProgressToken
    """The token of the query."""
    conversation: str | None = None
    """Left out while it is not yet known."""
    cycle: int
    """Which response of the turn it belongs to, from 1; 0 before the first."""


class Durable(Envelope):
    """A part of the transcript."""

    chunk_class: Annotated[Literal["durable"], Field(alias="class")] = "durable"
    md: str
    """Markdown to append to the transcript."""


class Ephemeral(Envelope):
    """A state that is shown until it is replaced or removed."""

    chunk_class: Annotated[Literal["ephemeral"], Field(alias="class")] = "ephemeral"
    slot: str
    """Where it is shown; a later chunk with the same slot replaces this one."""
    clear: Literal[True] | None = None
    """Remove what the slot shows; the other fields are then left out."""


class Control(Envelope):
    """Something to do."""

    chunk_class: Annotated[Literal["control"], Field(alias="class")] = "control"


class TurnBeginChunk(Control):
    """A turn begins."""

    type: Literal["turn_begin"] = "turn_begin"
    turn_index: int
    """Its number in the conversation, counted from 1."""
    reply_to: int | None = None
    """The number of the turn that it replies to, in the same query."""
    reasoning_background: str | None = None
    """The colour that the user wants behind reasoning, as written in the settings."""


class RoleChunk(Durable):
    """Who speaks from here on."""

    type: Literal["role"] = "role"
    role: Literal["user", "assistant"]
    label: str
    """The name to show."""
    model: str | None = None
    """The id of the assistant's model."""
    detail: str | None = None
    """The turn's number and age, when an old conversation is shown."""


class TextChunk(Durable):
    """Text outside of a code fence."""

    type: Literal["text"] = "text"
    region: Region
    block: Block
    part: Literal["whole", "first", "more", "last"]
    """Whether this is the whole block or a part of it."""
    indent: int
    """How many columns the block is indented."""


class CodeChunk(Durable):
    """A line of a code fence, its opening or its closing."""

    type: Literal["code"] = "code"
    region: Region
    part: Literal["open", "line", "close"]
    language: str | None = None
    """As the fence names it."""
    indent: int


class StructuredChunk(Durable):
    """A piece of a value that was asked for with a schema, in a fence of its own."""

    type: Literal["structured"] = "structured"
    part: Literal["open", "more", "close"]


class ToolCallChunk(Durable):
    """The model calls a tool."""

    type: Literal["tool_call"] = "tool_call"
    call_id: str
    name: str
    source: ToolSource
    server: str | None = None
    """The MCP server that has the tool."""
    arguments: str
    """All of the arguments, as JSON text; `md` may show less."""
    edited: bool | None = None
    """Whether the user changed the arguments."""
    region: Region | None = None


class ToolResultChunk(Durable):
    """A tool call is answered."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str
    ok: bool
    """False when the model is told of an error."""
    decision: str | None = None
    """Why the tool did not run, or ran without a question."""
    truncated: bool
    """Whether `md` shows less than there is."""
    lines: int
    """How many lines the whole result has."""
    bytes: int
    """The size of the whole result."""
    uri: str | None = None
    """A file with the whole result."""
    region: Region | None = None


class NoticeChunk(Envelope):
    """A sentence to the user; durable when it changes what the transcript means, else ephemeral."""

    type: Literal["notice"] = "notice"
    chunk_class: Annotated[Literal["durable", "ephemeral"], Field(alias="class")]
    md: str | None = None
    """What to append to the transcript, when it is durable."""
    slot: str | None = None
    """Where it is shown, when it is ephemeral."""
    clear: Literal[True] | None = None
    """Remove what the slot shows; the other fields are then left out."""
    level: NoticeLevel | None = None
    code: str | None = None
    text: str | None = None
    region_index: int | None = None
    """Which reasoning of the turn a summary is of, counted from 1."""


class StatusChunk(Ephemeral):
    """Where the turn stands."""

    type: Literal["status"] = "status"
    phase: Phase | None = None
    detail: str | None = None
    elapsed_ms: int | None = None


class ReasoningIndicatorChunk(Ephemeral):
    """The model is thinking, and its thoughts are not shown."""

    type: Literal["reasoning_indicator"] = "reasoning_indicator"
    mode: Literal["progress", "static", "timer"] | None = None
    ticks: int | None = None
    elapsed_ms: int | None = None


class ToolPreparingChunk(Ephemeral):
    """The model is still writing the arguments of a call."""

    type: Literal["tool_preparing"] = "tool_preparing"
    name: str | None = None
    elapsed_ms: int | None = None
    message: str | None = None
    percentage: int | None = None


class ToolProgressChunk(Ephemeral):
    """A tool is running."""

    type: Literal["tool_progress"] = "tool_progress"
    name: str | None = None
    elapsed_ms: int | None = None
    message: str | None = None
    percentage: int | None = None


class RetryChunk(Ephemeral):
    """A request failed and is made again after a wait."""

    type: Literal["retry"] = "retry"
    attempt: int | None = None
    max: int | None = None
    cause: str | None = None
    delay_ms: int | None = None


class PreviewChunk(Ephemeral):
    """Text that is still held back, because a menu is open before its block is complete."""

    type: Literal["preview"] = "preview"
    md: str | None = None


class RetractChunk(Control):
    """Durable chunks from `fromSeq` on, and before this one, leave the transcript."""

    type: Literal["retract"] = "retract"
    from_seq: int
    reason: Literal["abort", "refused", "empty", "restart"]


class PromptOpenChunk(Control):
    """A question waits for an answer; `jp/answer` can give it."""

    type: Literal["prompt_open"] = "prompt_open"
    decision_id: str
    prompt_kind: PromptKind
    call_id: str | None = None
    actions: Array[PromptAction] = ()


class PromptClosedChunk(Control):
    """A question needs no answer any more."""

    type: Literal["prompt_closed"] = "prompt_closed"
    decision_id: str
    how: Literal["answered", "superseded", "withdrawn"]


class TurnEndChunk(Control):
    """A turn is over."""

    type: Literal["turn_end"] = "turn_end"
    outcome: Outcome
    persisted: bool
    usage: Usage | None = None


Chunk = TypeAliasType(
    "Chunk",
    Annotated[
        TurnBeginChunk
        | RoleChunk
        | TextChunk
        | CodeChunk
        | StructuredChunk
        | ToolCallChunk
        | ToolResultChunk
        | NoticeChunk
        | StatusChunk
        | ReasoningIndicatorChunk
        | ToolPreparingChunk
        | ToolProgressChunk
        | RetryChunk
        | PreviewChunk
        | RetractChunk
        | PromptOpenChunk
        | PromptClosedChunk
        | TurnEndChunk,
        Field(discriminator="type"),
    ],
)
"""Any chunk; `type` says which."""


class ChunkNotification(RootModel[Chunk]):
    """A chunk for a client that passed no `partialResultToken`."""

    model_config = ConfigDict(frozen=True, defer_build=True)
