"""The ground of the turn's state machine: its data, and how a turn begins, is stored, and ends.

The machine is built in four storeys, each in a file of its own, each using only what stands below it:
`machine` (this one), `streaming` (requests and what the provider says), `steering` (what the user wants),
`coordinator` (the inputs). Section numbers are those of the query pipeline specification.
"""

from collections.abc import Callable, Iterable
from typing import Literal, assert_never

from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ChatRequest, ConversationEvent, ToolCallRequest, TurnStart
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.interruption import INTERRUPTED_KEY
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools.actions import (
    AmendCall,
    AskAssistant,
    AskUser,
    CancelPass,
    CloseQuestion,
    FormatArguments,
    Remember,
    RunPass,
    ShowCall,
    ShowRawArguments,
    ShowResult,
    StoreEvents,
    ToolAction,
)
from jp_lsp.tools.coordinator import ToolCoordinator
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.tools.spec import ToolSpec
from jp_lsp.turn import actions, shown
from jp_lsp.turn.actions import Action
from jp_lsp.turn.cycle import ResilientCycle
from jp_lsp.turn.failure import NOTICE_WORDS, StreamFailure
from jp_lsp.turn.inputs import Instant, PreparedTurn
from jp_lsp.turn.interrupt import PressCounter, PressReport
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.outcome import FailureReport, Notice, Outcome, TurnSummary
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.record import TurnRecord
from jp_lsp.turn.report import QueryReport
from jp_lsp.turn.response import Response


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
        self._decision_count: int = 0
        self._prepared: PreparedTurn | None = None
        self._request = ChatRequest("")
        self._turn: TurnRecord | None = None
        self._turn_index: int = 0
        self._rollback_start: int = 0
        self._replaced: tuple[Entry, ...] | None = None
        self._has_own_text: bool = False
        self._ending: Outcome = Outcome.COMPLETED
        self._pending_reply: str | None = None
        # its current cycle and attempt
        self._cycle_number: int = 0
        self._cycle = ResilientCycle(self._options.retry, jitter)
        self._attempt_count: int = 0
        self._response: Response | None = None
        self._tool_choice: ToolChoice = "auto"
        self._hint: str | None = None
        self._correction: tuple[ConversationEvent, ...] = ()
        self._correction_count: int = 0
        # its tool calls
        self._memory = ToolMemory()
        self._question_attempts: dict[tuple[str, str], int] = {}
        self._tool_call_count: int = 0
        self._tools = self._new_tools()
        self._held_tool_actions: list[ToolAction] = []
        # what a phase waits for
        self._unsaved_partials: int = 0
        self._is_send_due: bool = False
        self._is_gap_saved: bool = False
        # questions and where they lead back to
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
        self._correction_count = 0
        self._begin_tools_of_turn()
        self._report.failure = None
        self._is_gap_saved = False
        self.phase = Phase.OPENING
        self._show(shown.TurnBegan(self._turn_index, request.content, reply_to))
        self._do(actions.Save("P1"))

    def _begin_tools_of_turn(self) -> None:
        """A turn has its own memory; what holds longer comes from the preparation."""
        prepared = self._prepared
        self._memory = (
            ToolMemory() if prepared is None or prepared.memory is None else prepared.memory.for_turn()
        )
        self._question_attempts = {}
        self._tool_call_count = 0
        self._tools = self._new_tools()

    def _new_tools(self) -> ToolCoordinator:
        return ToolCoordinator(
            self._memory, self._next_decision, self._question_attempts, can_prompt=self._options.can_prompt
        )

    def _store(self, events: Iterable[ConversationEvent]) -> None:
        for event in events:
            self._record.append(event)
            self._show(shown.EventStored(event))

    def _keep_partial(self, *, is_interrupted: bool = False) -> None:
        """Store what the response has brought and not stored yet; an unfinished structured value is void.

        That can be a whole call, which was held back behind an open text. Whoever keeps it goes on with the
        calls of the cycle or ends the turn, and both answer it. A response that is over has nothing left.
        """
        if self._response is None:
            return
        self._response.drop_held()
        builder = self._response.builder
        if builder.has_open_structured:
            self._show(shown.Retracted("structured", "restart"))
        events = builder.commit_partial(self._at)
        if is_interrupted and events and not isinstance(events[-1].kind, ToolCallRequest):
            events[-1] = _marked_interrupted(events[-1])
        self._store(events)

    def _abort(self) -> None:
        """Take the cycle back, in the first cycle the whole turn with its request (D6).

        What a resumed turn had before it was cut off came in earlier cycles.
        """
        record, is_first = self._record, self._cycle_number <= 1 and not self._is_resumed
        if self._response is not None:
            self._response.builder.clear()
        self._let_go()
        self._discard_tools()
        if is_first:
            self._take_turn_back()
        else:
            record.stream.truncate(record.checkpoint)
        self._show(shown.Retracted("turn" if is_first else "cycle", "abort"))
        self._ending = Outcome.ABORTED
        self.phase = Phase.FINISHING
        if not is_first:
            self._do(actions.Save("P7"))
            return
        if not self._report.turns and self._is_new:
            self._do(actions.DiscardConversation())
            self._give_request_back()
            self._turn_over(is_persisted=False)
        else:
            self._give_request_back()
            self._do(actions.Save("P7"))

    def _take_turn_back(self) -> None:
        """Undo the begin of a turn. The first one of a query leaves the stream as it was found."""
        record = self._record
        if self._report.turns:
            record.stream.truncate(record.start)
        elif self._replaced is not None:
            record.stream.replace(self._replaced)
        else:
            record.stream.truncate(self._rollback_start)
        record.start = len(record.stream)

    def _give_request_back(self) -> None:
        """A request that is not stored becomes a draft, unless the turn that it was taken from is back."""
        is_back = self._replaced is not None and not self._has_own_text and not self._report.turns
        if not is_back:
            self._keep_draft(self._request.content)

    def _fail(self, failure: StreamFailure, attempts: int | None = None) -> None:
        attempts = self._cycle.attempts if attempts is None else attempts
        self._report.failure = FailureReport(failure, attempts)
        self._keep_partial()
        tries = f" after {attempts} attempts" if attempts > 1 else ""
        self._notice("error", "failed", f"{NOTICE_WORDS[failure.kind]}{tries}: {failure.message}")
        self._finish(Outcome.FAILED)

    def _finish(self, outcome: Outcome) -> None:
        """End the turn: keep what was shown, answer what is still open, and make everything durable."""
        self._keep_partial(is_interrupted=True)
        self._let_go()
        self._end_tools()
        self._ending = outcome
        self.phase = Phase.FINISHING
        self._do(actions.Save("P7"))

    def _leave(self) -> None:
        """Somebody goes away: store what came. Calls that wait for the user stay open, to be resumed."""
        self._keep_partial(is_interrupted=True)
        self._let_go()
        self._release_tool_answers()
        self._perform_tools(self._tools.suspend(self._at))
        self._ending = Outcome.STOPPED
        self.phase = Phase.CLOSING
        self._do(actions.Save("P8"))

    def _defer(self) -> None:
        """End the turn as it is: calls stay unanswered, to be resumed when somebody can answer (3.6)."""
        self._let_go()
        self._ending = Outcome.WAITING_FOR_INPUT
        self.phase = Phase.FINISHING
        self._do(actions.Save("P7"))

    def _let_go(self) -> None:
        """Close what belongs to the phase: questions, the wait, the stream."""
        self._close_decisions("withdrawn")
        self._cancel_wait()
        if self._response is not None and self._response.is_open:
            self._response.is_open = False
            self._do(actions.CloseStream(self._response.attempt))

    # Tool calls: what they ask for (3). ------------------------------------------------------------------

    def _perform_tools(self, asked: Iterable[ToolAction]) -> None:
        """Do what tool calls ask for. While the response still arrives, answers to its calls are held."""
        for action in asked:
            is_answer = isinstance(action, StoreEvents | ShowResult)
            if is_answer and self._response is not None and self._response.is_open:
                self._held_tool_actions.append(action)
            else:
                self._perform_tool_action(action)

    def _perform_tool_action(self, action: ToolAction) -> None:
        match action:
            case StoreEvents(events):
                self._store(events)
                self._do(actions.Save("P3"))
            case AmendCall(call, metadata):
                self._record.amend_call(call, metadata)
                self._do(actions.Save("P3"))
            case AskUser(decision):
                self._ask(decision)
            case CloseQuestion(decision, how):
                self.open_decisions.pop(decision, None)
                self._do(actions.Withdraw(decision, how))
            case ShowCall(call, spec, name, arguments, is_edited, rendered):
                source = None if spec is None else spec.source
                self._show(shown.CallShown(call, name, arguments, source, is_edited, rendered))
            case ShowRawArguments(call, arguments):
                self._show(shown.RawArgumentsShown(self._tool_named(call), arguments))
            case ShowResult(call, content, is_error, decision, file):
                self._show(shown.ResultShown(call, content, is_error, decision, file))
            case RunPass(call):
                self._show(shown.ToolRunning(call, self._tool_named(call)))
                self._do(action)
            case CancelPass() | FormatArguments() | AskAssistant() | Remember():
                self._do(action)
            case _:
                assert_never(action)

    def _release_tool_answers(self) -> None:
        """The response is complete: store the answers that its calls were given meanwhile."""
        held, self._held_tool_actions = self._held_tool_actions, []
        for action in held:
            self._perform_tool_action(action)

    def _end_tools(self) -> None:
        """Give every stored call its one response: cancelled where tools were running, else not run (R101).

        A call may be stored without being handed over: it was kept just now, or nobody came to it yet.
        """
        self._release_tool_answers()
        end = self._tools.cancel if self._tools.has_begun else self._tools.end_unstarted
        self._perform_tools(end(self._at))
        for call in self._record.unanswered_calls():
            self._perform_tools(self._tools.turn_away(call, self._tool_of(call), self._at))

    def _discard_tools(self) -> None:
        """The calls of the cycle are taken back."""
        self._held_tool_actions = []
        self._perform_tools(self._tools.discard())
        self._tools = self._new_tools()

    def _tool_of(self, call: ConversationEvent) -> ToolSpec | None:
        """Give the tool that a stored call asks for, if it is offered."""
        assert self._prepared is not None, "calls come behind the preparation"
        return self._prepared.tools.get(call.kind.name) if isinstance(call.kind, ToolCallRequest) else None

    def _tool_named(self, call: CallId) -> str:
        return next((each.name for each in self._tools.calls if each.id == call), "")

    def _cancel_wait(self) -> None:
        """Cut the wait before a retry short, if it is not over already."""
        if self.phase is Phase.BACKOFF and not self._is_send_due:
            self._do(actions.CancelWait())

    def _turn_over(
        self, *, is_persisted: bool, recovery_uri: str | None = None, has_failed: bool = False
    ) -> None:
        """The last save is decided: report the turn, then begin the reply's turn or answer the query."""
        if has_failed:
            self._ending = Outcome.FAILED
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
        if self._ending is Outcome.ABORTED:
            self.phase = Phase.ABORTED
        else:
            is_failure = self._ending in {Outcome.FAILED, Outcome.KILLED}
            self.phase = Phase.FAILED if is_failure else Phase.COMPLETE
        self._answer(is_persisted=is_persisted, recovery_uri=recovery_uri)

    def _answer(self, *, is_persisted: bool, recovery_uri: str | None = None) -> None:
        """Answer the query. Once one has succeeded, an older draft is not needed (7.3)."""
        if is_persisted and self._ending in _SUCCESSES and self._report.draft is None:
            self._do(actions.ClearDraft())
        result = self._report.result(
            self._ending,
            self._turn,
            self._request.schema,
            is_persisted=is_persisted,
            recovery_uri=recovery_uri,
        )
        self._do(actions.Finish(result))

    def _keep_draft(self, text: str) -> None:
        self._report.kept = text
        self._do(actions.KeepDraft(text))

    def _ask(self, decision: Decision) -> None:
        self.open_decisions[decision.id] = decision
        self._do(actions.Ask(decision))

    def _close_decisions(self, how: Literal["answered", "superseded", "withdrawn"]) -> None:
        """Close the menu or the question behind it; those of tools are the tools' own."""
        for decision in (self._menu, self._question):
            if decision is not None:
                del self.open_decisions[decision]
                self._do(actions.Withdraw(decision, how))
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
    def _is_resumed(self) -> bool:
        """Whether this turn was begun by an earlier query."""
        return self._prepared is not None and self._prepared.is_resumed and not self._report.turns

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


_SUCCESSES = frozenset({Outcome.COMPLETED, Outcome.TRUNCATED, Outcome.STOPPED})
"""What the user asked for happened, and all that was said is stored."""


def _marked_interrupted(event: ConversationEvent) -> ConversationEvent:
    """Mark a partial, so that the model learns of the interruption in the next turn."""
    return ConversationEvent(event.timestamp, event.kind, {**event.metadata, INTERRUPTED_KEY: True})
