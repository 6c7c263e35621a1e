"""One tool call: where it stands, and what is known of it."""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.outcome import Failed, Succeeded, ToolQuestion
from jp_lsp.tools.spec import ResultMode, RunMode, ToolSpec


class CallPhase(Enum):
    """The states of query pipeline 3.1; the value is the word that clients see."""

    PENDING = "pending"
    """Known, and waiting for its moment."""
    AWAITING_RUN_MODE = "awaiting_run_mode"
    """The user is asked whether it may run, or would be if anybody were there."""
    RUNNING = "running"
    """A pass is under way."""
    AWAITING_TOOL_INPUT = "awaiting_tool_input"
    """The user is asked something by the tool."""
    AWAITING_INQUIRY = "awaiting_inquiry"
    """A model is asked something by the tool."""
    AWAITING_RESULT_MODE = "awaiting_result_mode"
    """The user is asked whether the model may see the result."""
    COMPLETED = "completed"
    """Answered."""
    CANCELLED = "cancelled"
    """Answered in its place, because the user stopped it."""

    @property
    def is_over(self) -> bool:
        """Whether the call has its response."""
        return self in {CallPhase.COMPLETED, CallPhase.CANCELLED}


# What an open question of a call is about: its answer is read accordingly.


@dataclass(frozen=True, slots=True)
class AskRun:
    """May it run?"""


@dataclass(frozen=True, slots=True)
class AskRunScope:
    """For how long should `permission` be remembered?"""

    permission: str


@dataclass(frozen=True, slots=True)
class AskSkipReason:
    """Why not?"""


@dataclass(frozen=True, slots=True)
class AskArguments:
    """What should it run with?"""


@dataclass(frozen=True, slots=True)
class AskRunMode:
    """How should calls of this tool be treated?"""


@dataclass(frozen=True, slots=True)
class AskRunModeScope:
    """For how long?"""

    mode: RunMode


@dataclass(frozen=True, slots=True)
class AskResultMode:
    """How should results of this tool be treated?"""


@dataclass(frozen=True, slots=True)
class AskResultModeScope:
    """For how long?"""

    mode: ResultMode


@dataclass(frozen=True, slots=True)
class AskQuestion:
    """The tool's own question."""

    question: ToolQuestion


@dataclass(frozen=True, slots=True)
class AskAnswerScope:
    """For how long should the answer be remembered?"""

    question: ToolQuestion
    answer: JsonValue


@dataclass(frozen=True, slots=True)
class AskResult:
    """May the model see the result?"""


@dataclass(frozen=True, slots=True)
class AskEditedResult:
    """What should the model see?"""


Topic: TypeAlias = (
    AskRun
    | AskRunScope
    | AskSkipReason
    | AskArguments
    | AskRunMode
    | AskRunModeScope
    | AskResultMode
    | AskResultModeScope
    | AskQuestion
    | AskAnswerScope
    | AskResult
    | AskEditedResult
)


@dataclass(slots=True)
class Call:
    """Everything about one call.

    `arguments` are what it runs with: coerced, completed, perhaps edited. `pass_number` counts executions
    from 1 and tells a late result from a current one. `inquiry` is the recorded question that is open.
    """

    event: ConversationEvent
    request: ToolCallRequest
    spec: ToolSpec | None
    arguments: JsonObject
    phase: CallPhase = CallPhase.PENDING
    decision: str | None = None
    is_approved: bool = False
    is_edited: bool = False
    is_shown: bool = False
    is_formatting: bool = False
    is_restarting: bool = False
    is_deferred: bool = False
    may_have_run: bool = False
    answers: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    pass_number: int = 0
    question: ToolQuestion | None = None
    inquiry: InquiryId | None = None
    outcome: Succeeded | Failed | None = None

    @property
    def id(self) -> CallId:
        """Its id, unique within the cycle."""
        return self.request.id

    @property
    def name(self) -> str:
        """The name of its tool."""
        return self.request.name
