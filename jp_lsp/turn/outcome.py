"""How a turn, and a query, ended (query pipeline 1.10)."""

from dataclasses import dataclass
from enum import StrEnum

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Usage


class Outcome(StrEnum):
    """The words of the wire; `replied` stands only in the list of turns."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"
    STOPPED = "stopped"
    ABORTED = "aborted"
    INTERRUPTED = "interrupted"
    KILLED = "killed"
    FAILED = "failed"
    REPLIED = "replied"
    WAITING_FOR_INPUT = "waiting_for_input"
    EMPTY_QUERY = "empty_query"
    CANCELLED_BEFORE_START = "cancelled_before_start"


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """One turn of the chain: its number in the conversation, from 1, and its range of stored entries."""

    index: int
    outcome: Outcome
    cycles: int
    events_from: int
    events_to: int


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A fatal failure as the user is told of it, with how many attempts were made."""

    failure: StreamFailure
    attempts: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence to the user beside the transcript. `code` is stable, `text` is for people."""

    level: str
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class StructuredResult:
    """The value of a structured turn and whether it fits the schema that was asked for."""

    data: JsonValue
    is_valid: bool
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The truth about a query that started; chunks are only its preview."""

    conversation: ConversationId | None
    outcome: Outcome
    turns: tuple[TurnSummary, ...] = ()
    text: str = ""
    structured: StructuredResult | None = None
    usage: Usage | None = None
    draft: str | None = None
    failure: FailureReport | None = None
    notices: tuple[Notice, ...] = ()
    is_persisted: bool = False
    recovery_uri: str | None = None
    was_cancelled: bool = False
    explanation: Explanation | None = None
