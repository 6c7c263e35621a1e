"""Everything a turn can ask for (query pipeline 1.3). The driver has one function for each."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.tools.actions import AskAssistant, CancelPass, FormatArguments, Remember, RunPass
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import AttemptId, SavePoint
from jp_lsp.turn.outcome import QueryResult
from jp_lsp.turn.shown import Shown


@dataclass(frozen=True, slots=True)
class Prepare:
    """Find the conversation, lock it, resolve settings, check the provider."""


@dataclass(frozen=True, slots=True)
class CancelPreparation:
    """Stop preparing and give the lock back."""


@dataclass(frozen=True, slots=True)
class Publish:
    """Show this to whoever watches."""

    shown: Shown


@dataclass(frozen=True, slots=True)
class Ask:
    """Put this decision to the user; its answer comes back as an input."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The decision is closed; an answer that still comes means nothing."""

    decision: DecisionId
    how: Literal["answered", "superseded", "withdrawn"]


@dataclass(frozen=True, slots=True)
class RequestCycle:
    """Build the thread from the stream and send it.

    `correction` stands behind the stream, and `hint` at the user's last words, in the outgoing copy only.
    """

    attempt: AttemptId
    tool_choice: ToolChoice
    hint: str | None = None
    correction: tuple[ConversationEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class CloseStream:
    """Nothing more of this attempt is wanted; close its connection at once."""

    attempt: AttemptId


@dataclass(frozen=True, slots=True)
class PauseReading:
    """The turn holds enough undelivered items; stop reading so that TCP pushes back."""

    attempt: AttemptId


@dataclass(frozen=True, slots=True)
class ResumeReading:
    """Read on."""

    attempt: AttemptId


@dataclass(frozen=True, slots=True)
class Wait:
    """Report `TimerElapsed` after `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CancelWait:
    """The wait is cut short; no `TimerElapsed` may follow."""


@dataclass(frozen=True, slots=True)
class Save:
    """Make the stream as it is now durable, and report it. Saves of one turn happen in order.

    A failed P7 is tried again by the driver before it reports (query pipeline 1.4, Finishing).
    """

    point: SavePoint


@dataclass(frozen=True, slots=True)
class DiscardConversation:
    """The conversation was made for this query and nothing came of it: remove it."""


@dataclass(frozen=True, slots=True)
class KeepDraft:
    """Keep a text that the user wrote and that did not become part of the conversation."""

    text: str


@dataclass(frozen=True, slots=True)
class ClearDraft:
    """The query is stored; an older draft of it is not needed."""


ToolWork: TypeAlias = RunPass | CancelPass | FormatArguments | AskAssistant | Remember
"""What tool calls ask of the driver, passed on as it is."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The query is over; answer it and let everything go."""

    result: QueryResult


@dataclass(frozen=True, slots=True)
class Refuse:
    """The query never became a turn; answer it with an error."""

    error: QueryError
    draft: str | None


Action: TypeAlias = (
    Prepare
    | CancelPreparation
    | Publish
    | Ask
    | Withdraw
    | RequestCycle
    | CloseStream
    | PauseReading
    | ResumeReading
    | Wait
    | CancelWait
    | Save
    | DiscardConversation
    | KeepDraft
    | ClearDraft
    | ToolWork
    | Finish
    | Refuse
)
