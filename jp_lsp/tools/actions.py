"""Everything the tool calls of a cycle can ask for; the turn passes it on to the driver."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.memory import Memory, Scope
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.tools.spec import AssistantTarget, ToolSpec


@dataclass(frozen=True, slots=True)
class StoreEvents:
    """Append these to the stream and save (P3)."""

    events: tuple[ConversationEvent, ...]


@dataclass(frozen=True, slots=True)
class AmendCall:
    """Add metadata to the stored request of a call."""

    call: CallId
    metadata: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class AskUser:
    """Put a question."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class CloseQuestion:
    """A question needs no answer any more."""

    decision: DecisionId
    how: Literal["answered", "superseded", "withdrawn"]


@dataclass(frozen=True, slots=True)
class RunPass:
    """Run the tool, from scratch, with these arguments and answers.

    `is_allowed` tells whether the user, and not only a setting, let it run.
    """

    call: CallId
    pass_number: int
    spec: ToolSpec
    arguments: JsonObject
    answers: Mapping[str, JsonValue]
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class CancelPass:
    """End what runs for this call; `PassEnded` follows when it has ended."""

    call: CallId


@dataclass(frozen=True, slots=True)
class FormatArguments:
    """Let the formatter command write the arguments for display."""

    call: CallId
    spec: ToolSpec
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class AskAssistant:
    """Let a model answer a question of a tool, in the background."""

    call: CallId
    pass_number: int
    tool: str
    question: ToolQuestion
    target: AssistantTarget


@dataclass(frozen=True, slots=True)
class ShowCall:
    """Show a call with the arguments that it will run with; `rendered` is what a formatter wrote."""

    call: CallId
    spec: ToolSpec | None
    name: str
    arguments: JsonObject
    is_edited: bool = False
    rendered: str | None = None


@dataclass(frozen=True, slots=True)
class ShowRawArguments:
    """Show the arguments as JSON, because the user asked to see them."""

    call: CallId
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ShowResult:
    """Show the response of a call; `file` has all of it."""

    call: CallId
    content: str
    is_error: bool
    decision: str | None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a decision of the user beyond the turn."""

    memory: Memory
    scope: Scope


ToolAction: TypeAlias = (
    StoreEvents
    | AmendCall
    | AskUser
    | CloseQuestion
    | RunPass
    | CancelPass
    | FormatArguments
    | AskAssistant
    | ShowCall
    | ShowRawArguments
    | ShowResult
    | Remember
)
