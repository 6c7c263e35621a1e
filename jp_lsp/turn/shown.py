"""What a turn wants its watchers to see; the frontend renders it.

These values say what happened, never how it looks: whether reasoning is visible, where a separator
stands and how text is cut into chunks is decided by `render`.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.tools.spec import ToolSource
from jp_lsp.turn.outcome import Notice, Outcome
from jp_lsp.turn.stream_event import Part, Usage

RetractReason = Literal["abort", "refused", "empty", "restart"]


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A turn opened with the user's request. `index` counts from 1; `reply_to` is the turn that was replied to."""

    index: int
    request: str
    reply_to: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptBegan:
    """A request goes out. A cycle keeps its number over its attempts."""

    cycle: int
    attempt: int


@dataclass(frozen=True, slots=True)
class PartArrived:
    """A part that the event builder accepted."""

    part: Part


@dataclass(frozen=True, slots=True)
class ReasoningSummed:
    """What the model thought, in short; `region` says in which stretch of reasoning of the turn, counted from 1."""

    region: int
    text: str


@dataclass(frozen=True, slots=True)
class EventStored:
    """An event was appended to the stream: closes a structured value."""

    event: ConversationEvent


@dataclass(frozen=True, slots=True)
class CallShown:
    """A call with the arguments that it will run with; `rendered` is what a formatter wrote."""

    call: CallId
    name: str
    arguments: JsonObject
    source: ToolSource | None
    is_edited: bool = False
    rendered: str | None = None


@dataclass(frozen=True, slots=True)
class RawArgumentsShown:
    """The arguments of a call, which the user asked to see as JSON."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ResultShown:
    """The response of a call; `decision` is how it came to be, where the user or a setting decided.

    `file` is the absolute path of a file that has all of it.
    """

    call: CallId
    content: str
    is_error: bool
    decision: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class ToolRunning:
    """A tool is under way, and perhaps told how far."""

    call: CallId
    name: str
    message: str | None = None
    percentage: int | None = None


@dataclass(frozen=True, slots=True)
class Paused:
    """A menu opens: what the view still holds back should be previewed."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The menu closed and the stream goes on."""


@dataclass(frozen=True, slots=True)
class Retracted:
    """Everything shown since the begin of the cycle, the attempt or the structured value is void.

    An abort of the first cycle takes the whole turn back, its request included.
    """

    since: Literal["turn", "cycle", "attempt", "structured"]
    reason: RetractReason


@dataclass(frozen=True, slots=True)
class Status:
    """Where the turn stands, replaced by the next one; an empty detail clears it."""

    phase: str
    detail: str


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A wait before the next attempt."""

    attempt: int
    max_attempts: int
    cause: str
    delay: float


@dataclass(frozen=True, slots=True)
class NoticeGiven:
    """A notice; a durable one changes the meaning of the transcript and stays in it."""

    notice: Notice
    is_durable: bool


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over."""

    outcome: Outcome
    is_persisted: bool
    usage: Usage | None = None


Shown: TypeAlias = (
    TurnBegan
    | AttemptBegan
    | PartArrived
    | ReasoningSummed
    | EventStored
    | CallShown
    | RawArgumentsShown
    | ResultShown
    | ToolRunning
    | Paused
    | Resumed
    | Retracted
    | Status
    | RetryScheduled
    | NoticeGiven
    | TurnEnded
)
