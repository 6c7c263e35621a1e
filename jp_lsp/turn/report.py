"""What a query will answer with, collected while it runs."""

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.outcome import FailureReport, Notice, Outcome, QueryResult, TurnSummary
from jp_lsp.turn.record import TurnRecord
from jp_lsp.turn.stream_event import Usage


class QueryReport:
    """Collects turns, notices and tokens.

    `unasked` is the text of the query until it is stored, `kept` another one that found no place elsewhere.
    """

    def __init__(self) -> None:
        self.conversation: ConversationId | None = None
        self.turns: list[TurnSummary] = []
        self.notices: list[Notice] = []
        self.usage: Usage | None = None
        self.unasked: str | None = None
        self.kept: str | None = None
        self.failure: FailureReport | None = None
        self.was_cancelled = False
        self.explanation: Explanation | None = None

    @property
    def draft(self) -> str | None:
        """What the user wrote and is not part of the conversation."""
        return self.unasked if self.kept is None else self.kept

    def add_usage(self, more: Usage) -> None:
        """Count the tokens of one more response."""
        total = self.usage or Usage()
        self.usage = Usage(
            _add(total.input_tokens, more.input_tokens),
            _add(total.output_tokens, more.output_tokens),
            _add(total.cached_tokens, more.cached_tokens),
            _add(total.reasoning_tokens, more.reasoning_tokens),
        )

    def result(
        self,
        outcome: Outcome,
        turn: TurnRecord | None,
        schema: JsonObject | None,
        *,
        is_persisted: bool,
        recovery_uri: str | None = None,
    ) -> QueryResult:
        """Give the answer; text and value are those of the last turn."""
        return QueryResult(
            conversation=self.conversation,
            outcome=outcome,
            turns=tuple(self.turns),
            text=turn.text() if turn else "",
            structured=turn.structured(schema) if turn else None,
            usage=self.usage,
            draft=self.draft,
            failure=self.failure,
            notices=tuple(self.notices),
            is_persisted=is_persisted,
            recovery_uri=recovery_uri,
            was_cancelled=self.was_cancelled,
            explanation=self.explanation,
        )


def _add(left: int | None, right: int | None) -> int | None:
    return None if left is None and right is None else (left or 0) + (right or 0)
