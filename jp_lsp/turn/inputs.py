"""Everything that can happen to a turn (query pipeline 1.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NewType, TypeAlias

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.tools.outcome import ToolOutcome
from jp_lsp.tools.spec import ToolSpec
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.stream_event import StreamEvent, Usage

AttemptId = NewType("AttemptId", int)
"""Numbers the requests of a query from 1, so that what an old one still says is recognised."""

SavePoint = Literal["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8"]


@dataclass(frozen=True, slots=True)
class Start:
    """A query was accepted; its text comes back as a draft when nothing comes of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """The user was asked for the text of a query that came without one, and wrote this."""

    text: str


@dataclass(frozen=True, slots=True)
class NothingToAsk:
    """There is no text to ask, and none came of it when the user could be asked for one."""


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """What preparation found: the conversation, its stream (from now on the turn's own), the request.

    `config_delta` is recorded before the turn when the resolved settings differ from the conversation's.
    `tools` are those that are offered, `memory` what the user decided about them before. A resumed turn
    goes on where the stream ends: the calls that wait are decided on, and no request is added.

    `replaces` is a turn, counted from 1, that is taken back with all behind it as the turn begins. With an
    `explanation` no turn begins: that is all that was asked for.
    """

    conversation: ConversationId
    stream: ConversationStream
    request: ChatRequest
    options: TurnOptions
    is_new: bool = False
    config_delta: ConfigDelta | None = None
    tool_choice: ToolChoice = "auto"
    tools: Mapping[str, ToolSpec] = field(default_factory=lambda: {})
    memory: ToolMemory | None = None
    is_resumed: bool = False
    replaces: int | None = None
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Preparation is done; the turn may begin."""

    turn: PreparedTurn


@dataclass(frozen=True, slots=True)
class PrepareFailed:
    """The turn cannot begin."""

    error: QueryError


@dataclass(frozen=True, slots=True)
class Saved:
    """The save asked for at this point is durable."""

    point: SavePoint


@dataclass(frozen=True, slots=True)
class SaveFailed:
    """The save was not possible; `recovery_uri` is set once a recovery copy exists instead."""

    point: SavePoint
    message: str
    recovery_uri: str | None = None


@dataclass(frozen=True, slots=True)
class FromProvider:
    """The provider said something in this attempt. A `StreamFailure` covers refused calls too."""

    attempt: AttemptId
    event: StreamEvent


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The provider's iterator is exhausted; without a `Finished` before it, that is a lost stream."""

    attempt: AttemptId


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one attempt."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Pressed:
    """The user wants to steer. With an `action` the choice is made already, perhaps with its text."""

    action: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The client cancelled the request: always Stop, without a menu."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Somebody chose a button, wrote a text, or both."""

    decision: DecisionId
    choice: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Dismissed:
    """The question was closed without an answer."""

    decision: DecisionId


@dataclass(frozen=True, slots=True)
class AskFailed:
    """The question could not be put to anybody."""

    decision: DecisionId
    message: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A pass of a tool ended by itself."""

    call: CallId
    pass_number: int
    outcome: ToolOutcome


@dataclass(frozen=True, slots=True)
class ToolCrashed:
    """Our own code broke while it ran a tool."""

    call: CallId
    pass_number: int
    message: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """What ran for a call has ended because the turn wanted it to."""

    call: CallId


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A tool told how far it is."""

    call: CallId
    message: str | None
    percentage: int | None


@dataclass(frozen=True, slots=True)
class ArgumentsFormatted:
    """A formatter command wrote the arguments of a call; with a `problem` it failed."""

    call: CallId
    text: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class InquiryAnswered:
    """A model answered a question of a tool; with a `problem` it failed."""

    call: CallId
    pass_number: int
    answer: JsonValue
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class TimerElapsed:
    """The wait that was asked for is over."""


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """The server ends; wind up and keep what came."""


@dataclass(frozen=True, slots=True)
class ClientGone:
    """Nobody listens any more; wind up and keep what came."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """Something in the driver broke that should not; the turn ends as failed, with its content."""

    message: str
    trace: str


Input: TypeAlias = (
    Start
    | Written
    | NothingToAsk
    | Prepared
    | PrepareFailed
    | Saved
    | SaveFailed
    | FromProvider
    | StreamEnded
    | UsageReported
    | Pressed
    | CancelRequested
    | Answered
    | Dismissed
    | AskFailed
    | ToolFinished
    | ToolCrashed
    | ToolEnded
    | ToolProgressed
    | ArgumentsFormatted
    | InquiryAnswered
    | TimerElapsed
    | ShutdownRequested
    | ClientGone
    | Crashed
)


@dataclass(frozen=True, slots=True)
class Instant:
    """When an input arrived: `nanoseconds` of wall time for events, `monotonic` seconds for counting."""

    nanoseconds: int
    monotonic: float
