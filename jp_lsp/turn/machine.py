"""The ground of the turn's state machine: its data, and how a turn begins, is stored, and ends.

The machine is built in three storeys, each in a file of its own, each using only what stands below it:
`machine` (this one), `streaming` (requests and what the provider says), `coordinator` (the inputs, and
what the user wants). Section numbers are those of the query pipeline specification.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, ToolCallRequest, TurnStart
from jp_lsp.conversation.interruption import INTERRUPTED_KEY
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.turn import actions, shown
from jp_lsp.turn.actions import Action
from jp_lsp.turn.cycle import ResilientCycle
from jp_lsp.turn.failure import NOTICE_WORDS, StreamFailure
from jp_lsp.turn.inputs import (
    Instant,
    PreparedTurn,
    SavePoint,
)
from jp_lsp.turn.interrupt import (
    PressCounter,
    PressReport,
)
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.outcome import FailureReport, Notice, Outcome, TurnSummary
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.record import TurnRecord
from jp_lsp.turn.report import QueryReport
from jp_lsp.turn.response import Response
from jp_lsp.turn.responses import not_run


class IllegalState(Exception):
    """The machine was asked for something that its phase does not have; a bug of ours."""


class TurnMachine:
    """Data and basic moves of one query.

    Args:
        token: names the query; decision ids begin with it.
        jitter: gives the seconds to add to a computed retry delay.
    """

    def __init__(self, token: str, jitter: Callable[[], float] = lambda: 0.0) -> None:
        self.phase: Phase = Phase.IDLE
        self._now = Instant(0, 0.0)
        self.last_press: PressReport = PressReport("none", Phase.IDLE)
        self.open_decisions: dict[DecisionId, Decision] = {}
        self._token = token
        self._jitter = jitter
        self._out: list[Action] = []
        self._options: TurnOptions = TurnOptions()
        self._report = QueryReport()
        self._presses = PressCounter(self._options.interrupt.cooldown)
        # the turn
        self._prepared: PreparedTurn | None = None
        self._request = ChatRequest("")
        self._turn: TurnRecord | None = None
        self._turn_index: int = 0
        self._rollback_start: int = 0
        self._ending: Outcome = Outcome.COMPLETED
        self._pending_reply: str | None = None
        # its current cycle and attempt
        self._cycle_number: int = 0
        self._cycle = ResilientCycle(self._options.retry, jitter)
        self._attempt_count: int = 0
        self._response: Response | None = None
        self._tool_choice: ToolChoice = "auto"
        self._hint: str | None = None
        # what a phase waits for
        self._unsaved_partials: int = 0
        self._is_send_due: bool = False
        self._is_gap_saved: bool = False
        # questions and where they lead back to
        self._decision_count: int = 0
        self._menu: DecisionId | None = None
        self._question: DecisionId | None = None
        self._interrupted_phase: Phase = Phase.STREAMING
        self._replying_from: Phase = Phase.INTERRUPTED_STREAM
        self._reply_came_from_menu: bool = False

    def _open_turn(self, stream: ConversationStream, request: ChatRequest, reply_to: int | None) -> None:
        """Put marker and request into the stream in one step, and store them (P1)."""
        self._turn_index = stream.turn_count + 1
        self._request = request
        self._turn = TurnRecord(stream, len(stream))
        self._turn.append(ConversationEvent(self._at, TurnStart()))
        self._turn.append(ConversationEvent(self._at, request))
        self._cycle_number = 0
        self._report.failure = None
        self._is_gap_saved = False
        self.phase = Phase.OPENING
        self._show(shown.TurnBegan(self._turn_index, request.content, reply_to))
        self._do(actions.Save("P1"))

    def _store(self, events: Iterable[ConversationEvent]) -> None:
        for event in events:
            self._record.append(event)
            self._show(shown.EventStored(event))

    def _keep_partial(self, response: Response, *, is_interrupted: bool = False) -> None:
        """Store the unfinished text of a response; an unfinished structured value is void."""
        if response.builder.has_open_structured:
            self._show(shown.Retracted("structured", "restart"))
        events = response.builder.commit_partial(self._at)
        if is_interrupted and events and not isinstance(events[-1].kind, ToolCallRequest):
            events[-1] = _marked_interrupted(events[-1])
        self._store(events)

    def _stop(self, outcome: Outcome) -> None:
        """End the turn and keep what was shown."""
        if self._response is not None and self._response.is_open:
            self._response.drop_held()
            self._keep_partial(self._response, is_interrupted=True)
        self._finish(outcome)

    def _abort(self) -> None:
        """Take the cycle back, in the first cycle the whole turn with its request (D6)."""
        record, is_first = self._record, self._cycle_number <= 1
        if self._response is not None:
            self._response.builder.clear()
        self._let_go()
        record.stream.truncate(record.start if is_first else record.checkpoint)
        self._show(shown.Retracted("turn" if is_first else "cycle", "abort"))
        self._ending = Outcome.ABORTED
        self.phase = Phase.FINISHING
        if not is_first:
            self._do(actions.Save("P7"))
            return
        is_first_turn = not self._report.turns
        if is_first_turn:
            record.stream.truncate(self._rollback_start)
        if is_first_turn and self._is_new:
            self._do(actions.DiscardConversation())
            self._keep_draft(self._request.content)
            self._turn_over(is_persisted=False)
        else:
            self._keep_draft(self._request.content)
            self._do(actions.Save("P7"))

    def _fail(self, failure: StreamFailure, attempts: int | None = None) -> None:
        attempts = self._cycle.attempts if attempts is None else attempts
        self._report.failure = FailureReport(failure, attempts)
        tries = f" after {attempts} attempts" if attempts > 1 else ""
        self._notice("error", "failed", f"{NOTICE_WORDS[failure.kind]}{tries}: {failure.message}")
        self._finish(Outcome.FAILED)

    def _finish(self, outcome: Outcome, point: SavePoint = "P7") -> None:
        """Answer what is still open and make everything durable."""
        self._let_go()
        self._store(
            ConversationEvent(self._at, not_run(call.kind))
            for call in self._record.unanswered_calls()
            if isinstance(call.kind, ToolCallRequest)
        )
        self._ending = outcome
        self.phase = Phase.FINISHING if point == "P7" else Phase.CLOSING
        self._do(actions.Save(point))

    def _let_go(self) -> None:
        """Close what belongs to the phase: questions, the wait, the stream."""
        self._close_decisions("withdrawn")
        self._cancel_wait()
        if self._response is not None and self._response.is_open:
            self._response.is_open = False
            self._do(actions.CloseStream(self._response.attempt))

    def _cancel_wait(self) -> None:
        """Cut the wait before a retry short, if it is not over already."""
        if self.phase is Phase.BACKOFF and not self._is_send_due:
            self._do(actions.CancelWait())

    def _turn_over(
        self, *, is_persisted: bool, recovery_uri: str | None = None, has_failed: bool = False
    ) -> None:
        """The last save is decided: report the turn, then begin the reply's turn or answer the query."""
        outcome = self._ending
        record = self._record
        self._report.turns.append(
            TurnSummary(self._turn_index, outcome, self._cycle_number, record.start, len(record.stream))
        )
        self._show(shown.TurnEnded(outcome, is_persisted, self._report.usage))
        reply, self._pending_reply = self._pending_reply, None
        if reply is not None and not has_failed:
            self._open_turn(record.stream, ChatRequest(reply), reply_to=self._turn_index)
            return
        if reply is not None:
            self._keep_draft(reply)
        if has_failed:
            self._ending = Outcome.FAILED
        if self._ending is Outcome.ABORTED:
            self.phase = Phase.ABORTED
        else:
            is_failure = self._ending in {Outcome.FAILED, Outcome.KILLED}
            self.phase = Phase.FAILED if is_failure else Phase.COMPLETE
        self._answer(is_persisted=is_persisted, recovery_uri=recovery_uri)

    def _answer(self, *, is_persisted: bool, recovery_uri: str | None = None) -> None:
        """Answer the query."""
        result = self._report.result(
            self._ending,
            self._turn,
            self._request.schema,
            is_persisted=is_persisted,
            recovery_uri=recovery_uri,
        )
        self._do(actions.Finish(result))

    def _keep_draft(self, text: str) -> None:
        self._report.draft = text
        self._do(actions.KeepDraft(text))

    def _ask(self, decision: Decision) -> None:
        self.open_decisions[decision.id] = decision
        self._do(actions.Ask(decision))

    def _close_decisions(self, how: Literal["answered", "superseded", "withdrawn"]) -> None:
        for decision in self.open_decisions:
            self._do(actions.Withdraw(decision, how))
        self.open_decisions.clear()
        self._menu = self._question = None

    def _next_decision(self) -> DecisionId:
        self._decision_count += 1
        return DecisionId(f"{self._token}/{self._decision_count}")

    @property
    def _record(self) -> TurnRecord:
        if self._turn is None:
            raise IllegalState("no turn was opened yet")
        return self._turn

    @property
    def _is_new(self) -> bool:
        return self._prepared is not None and self._prepared.is_new

    @property
    def _at(self) -> Timestamp:
        return Timestamp(self._now.nanoseconds)

    def _do(self, action: Action) -> None:
        self._out.append(action)

    def _show(self, what: shown.Shown) -> None:
        self._out.append(actions.Publish(what))

    def _notice(self, level: str, code: str, text: str, *, is_durable: bool = True) -> None:
        notice = Notice(level, code, text)
        self._report.notices.append(notice)
        self._show(shown.NoticeGiven(notice, is_durable))


def _marked_interrupted(event: ConversationEvent) -> ConversationEvent:
    """Mark a partial, so that the model learns of the interruption in the next turn."""
    return ConversationEvent(event.timestamp, event.kind, {**event.metadata, INTERRUPTED_KEY: True})
