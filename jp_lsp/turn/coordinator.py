"""TurnCoordinator: input in, actions out.

It drives one query, which is a chain of turns: one, plus one for every reply that the user gives while
an answer is interrupted. It decides everything and touches nothing but the conversation's stream, which
is its own while the query runs. Time arrives with each input.

Which inputs a phase accepts stands in `phase.ACCEPTS`; here stands what they do. The lower storeys are
`machine` and `streaming`. Section numbers are those of the query pipeline specification.
"""

from collections.abc import Iterable
from typing import assert_never

from jp_lsp.conversation.event import ConversationEvent, TurnStart
from jp_lsp.conversation.retain import take_back
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.tools.actions import ToolAction
from jp_lsp.tools.decision import DecisionId
from jp_lsp.turn import actions, shown
from jp_lsp.turn.actions import Action
from jp_lsp.turn.explanation import Explanation
from jp_lsp.turn.failure import FailureKind, QueryError, StreamFailure
from jp_lsp.turn.inputs import (
    Answered,
    ArgumentsFormatted,
    AskFailed,
    AttemptId,
    CancelRequested,
    ClientGone,
    Crashed,
    Dismissed,
    FromProvider,
    Input,
    InquiryAnswered,
    Instant,
    Prepared,
    PreparedTurn,
    PrepareFailed,
    Pressed,
    Saved,
    SaveFailed,
    SavePoint,
    ShutdownRequested,
    Start,
    StreamEnded,
    TimerElapsed,
    ToolCrashed,
    ToolEnded,
    ToolFinished,
    ToolProgressed,
    UsageReported,
)
from jp_lsp.turn.interrupt import (
    MENU_OF_PHASE,
    Handled,
    PressReport,
    choices_in,
    judge_press,
    menu,
    reply_question,
)
from jp_lsp.turn.machine import IllegalState
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import ACCEPTS, IllegalInput, Phase
from jp_lsp.turn.record import TurnRecord
from jp_lsp.turn.response import StreamEnd
from jp_lsp.turn.stream_event import (
    StreamEvent,
)
from jp_lsp.turn.streaming import CycleMachine


class TurnCoordinator(CycleMachine):
    """The state machine of one query."""

    def handle(self, item: Input, now: Instant) -> list[Action]:
        """Take an input and give what is to be done about it, in order.

        Raises:
            IllegalInput: the phase does not accept this kind of input.
        """
        if type(item) not in ACCEPTS[self.phase]:
            raise IllegalInput(f"{type(item).__name__} cannot happen in phase {self.phase.value}")
        self._now = now
        self._out = []
        if not self.phase.is_terminal:
            self._dispatch(item)
        elif isinstance(item, Pressed):
            self._answer_press("none")
        return self._out

    def _dispatch(self, item: Input) -> None:
        match item:
            case Start(text):
                self._start(text)
            case Prepared(turn):
                self._open_prepared(turn)
            case PrepareFailed(error):
                self._refuse(error)
            case Saved(point):
                self._saved(point)
            case SaveFailed(point, message, recovery_uri):
                self._save_failed(point, message, recovery_uri)
            case FromProvider(attempt, event):
                self._from_provider(attempt, event)
            case StreamEnded(attempt):
                self._from_provider(attempt, StreamEnd())
            case UsageReported(usage):
                self._report.add_usage(usage)
            case Pressed():
                self._pressed(item)
            case CancelRequested():
                self._cancel_requested()
            case Answered(decision, choice, text):
                self._answered(decision, choice, text)
            case Dismissed(decision):
                self._dismissed(decision)
            case AskFailed(decision):
                self._ask_failed(decision)
            case ToolFinished(call, pass_number, outcome):
                self._tool_event(self._tools.pass_finished(call, pass_number, outcome, self._at))
            case ToolCrashed(call, pass_number, message):
                self._tool_event(self._tools.pass_crashed(call, pass_number, message, self._at))
            case ToolEnded(call):
                self._tool_event(self._tools.pass_cancelled(call, self._at))
            case ToolProgressed(call, message, percentage):
                self._show(shown.ToolRunning(call, self._tool_named(call), message, percentage))
            case ArgumentsFormatted():
                self._formatted(item)
            case InquiryAnswered():
                self._inquiry_answered(item)
            case TimerElapsed():
                self._send_when_saved()
            case ShutdownRequested() | ClientGone():
                self._wind_up()
            case Crashed(message):
                self._crashed(message)
            case _:
                assert_never(item)

    def _start(self, text: str) -> None:
        self._has_own_text = bool(text.strip())
        self._report.draft = text if self._has_own_text else None
        self.phase = Phase.PREPARING
        self._do(actions.Prepare())

    def _open_prepared(self, prepared: PreparedTurn) -> None:
        self._close_decisions("withdrawn")
        self._prepared = prepared
        self._report.conversation = prepared.conversation
        self._options = prepared.options
        self._presses.cooldown = prepared.options.interrupt.cooldown
        self._tool_choice = prepared.tool_choice
        if prepared.explanation is not None:
            self._explain(prepared.explanation)
            return
        if prepared.is_resumed:
            self._reopen_turn(prepared.stream)
            return
        if prepared.replaces is not None:  # before the repair, which may give turns other numbers
            self._replaced = tuple(prepared.stream.entries)
            take_back(prepared.stream, prepared.replaces - 1)
        sanitize(prepared.stream)
        self._rollback_start = len(prepared.stream)
        if prepared.config_delta is not None:
            prepared.stream.append_config_delta(prepared.config_delta, self._at)
        self._open_turn(prepared.stream, prepared.request, reply_to=None)

    def _explain(self, explanation: Explanation) -> None:
        """Preparation was all that was asked for: tell what it found, and begin no turn (7.3)."""
        self._report.explanation = explanation
        self._report.draft = None
        if self._is_new:
            self._report.conversation = None
        self.phase = Phase.COMPLETE
        self._answer(is_persisted=False)

    def _reopen_turn(self, stream: ConversationStream) -> None:
        """Take up the turn that the stream ends with, where it was cut off (1.6)."""
        starts = [at for at, entry in enumerate(stream.entries) if _is_turn_start(entry.event)]
        self._turn = TurnRecord(stream, starts[-1] if starts else 0)
        self._turn_index = stream.turn_count
        self._rollback_start = len(stream)
        self._request = self._turn.request()
        self._begin_tools_of_turn()
        self._report.draft = None
        self.phase = Phase.OPENING
        self._show(shown.TurnBegan(self._turn_index, self._request.content, None))
        self._do(actions.Save("P1"))

    def _resume(self) -> None:
        """Decide on the calls that wait; without any, ask the model, unless it has answered."""
        waiting = self._record.unanswered_calls()
        self._record.checkpoint = self._record.start
        if waiting:
            self._cycle_number = 1
            for call in waiting:
                was_approved = call.metadata.get("decision") in {"run", "policy", "remembered"}
                self._dispatch_calls([call], may_have_run=was_approved)
            self._execute()
        elif self._record.is_answered():
            self._finish_answered(Outcome.COMPLETED)
        else:
            self._begin_cycle()

    def _refuse(self, error: QueryError) -> None:
        self._close_decisions("withdrawn")
        self.phase = Phase.FAILED
        self._do(actions.Refuse(error, self._report.draft))

    def _cancel_before_start(self) -> None:
        self._close_decisions("withdrawn")
        self.phase = Phase.COMPLETE
        self._ending = Outcome.CANCELLED_BEFORE_START
        self._do(actions.CancelPreparation())
        self._answer(is_persisted=False)

    def _from_provider(self, attempt: AttemptId, item: StreamEvent | StreamEnd) -> None:
        response = self._response
        if response is None or response.attempt != attempt or not response.is_open:
            return
        is_held = self.phase in {Phase.INTERRUPTED_STREAM, Phase.REPLYING}
        if is_held and response.hold(item):
            self._do(actions.PauseReading(attempt))
        elif not is_held:
            self._receive(response, item)

    def _saved(self, point: SavePoint) -> None:
        match point:
            case "P1" | "P4" if self.phase in {Phase.OPENING, Phase.CONTINUING, Phase.REPLYING}:
                self._is_gap_saved = True
                if point == "P1":
                    self._report.draft = None
                if self._menu is None and self.phase is not Phase.REPLYING:
                    self._go_on()
            case "P6":
                self._unsaved_partials -= 1
                if self._is_send_due and self.phase in {Phase.WAITING, Phase.BACKOFF}:
                    self._send_when_saved()
            case "P7" if self.phase is Phase.FINISHING:
                self._turn_over(is_persisted=self._options.persist)
            case "P8" if self.phase is Phase.CLOSING:
                self._turn_over(is_persisted=self._options.persist)
            case _:
                pass

    def _save_failed(self, point: SavePoint, message: str, recovery_uri: str | None) -> None:
        match point:
            case "P1" if self.phase is Phase.OPENING:
                self._turn_was_not_stored(message)
            case "P3" | "P4" | "P6" if self.phase not in {Phase.FINISHING, Phase.CLOSING}:
                self._unsaved_partials = 0
                self._fail(
                    StreamFailure(FailureKind.OTHER, f"the conversation could not be saved: {message}")
                )
            case "P7" | "P8" if self.phase in {Phase.FINISHING, Phase.CLOSING}:
                where = f" A copy is at {recovery_uri}." if recovery_uri else ""
                text = f"The conversation could not be saved: {message}.{where}"
                self._notice("error", "persist_failed", text)
                self._turn_over(is_persisted=False, recovery_uri=recovery_uri, has_failed=True)
            case _:
                pass

    def _turn_was_not_stored(self, message: str) -> None:
        """Undo the begin of a turn; the text goes back to the user."""
        self._close_decisions("withdrawn")
        self._take_turn_back()
        self._show(shown.Retracted("turn", "abort"))
        self._give_request_back()
        self.phase = Phase.FAILED
        if self._report.turns:
            self._ending = Outcome.FAILED
            self._notice("error", "persist_failed", f"The reply could not be saved: {message}.")
            self._answer(is_persisted=False)
        else:
            error = QueryError("persist_failed", f"The query could not be saved: {message}")
            self._do(actions.Refuse(error, self._report.draft))

    def _give_up_reply(self) -> None:
        """The turn is ending for a reply, and now nothing may follow: the text becomes a draft."""
        if self._pending_reply is not None:
            self._keep_draft(self._pending_reply)
            self._pending_reply = None
            self._ending = Outcome.STOPPED

    def _wind_up(self) -> None:
        """The server or the client goes away: as Stop, in bounded time."""
        if self.phase is Phase.PREPARING:
            self._cancel_before_start()
        elif self.phase in {Phase.FINISHING, Phase.CLOSING}:
            self._give_up_reply()
        elif self.phase is not Phase.IDLE:
            if self._response is not None and self._response.is_open:
                self._response.drop_held()
                self._keep_partial(self._response, is_interrupted=True)
            self._leave()

    def _crashed(self, message: str) -> None:
        if self.phase is Phase.IDLE:
            return
        if self.phase is Phase.PREPARING:
            self._do(actions.CancelPreparation())
            self._refuse(QueryError("internal", message))
        elif self.phase in {Phase.FINISHING, Phase.CLOSING}:
            self._notice("error", "internal", message)
            self._turn_over(is_persisted=False, has_failed=True)
        else:
            if self._response is not None and self._response.is_open:
                self._response.drop_held()
                self._keep_partial(self._response)
            self._fail(StreamFailure(FailureKind.OTHER, message))

    def _pressed(self, press: Pressed) -> None:
        """Steer: a ready-made choice, a menu, or the next step of the escalation (4.3)."""
        if press.action is not None:
            self._pressed_with_choice(press.action, press.text)
            return
        count = self._presses.press(self._now.monotonic)
        has_menu, can_prompt = self._menu is not None, self._options.can_prompt
        verdict = judge_press(
            self.phase, count, self._options.interrupt, has_menu=has_menu, can_prompt=can_prompt
        )
        match verdict.then:
            case "nothing":
                pass
            case "menu":
                self._interrupt()
                self._open_menu()
            case "back_to_menu":
                self._close_decisions("withdrawn")
                self._back_to_menu()
            case "choose":
                self._reply_came_from_menu = False
                self._interrupt()
                self._choose(verdict.choice, None)
            case "escalate":
                self._end_now(Outcome.INTERRUPTED)
            case "kill":
                self._end_now(Outcome.KILLED)
        self._answer_press(verdict.handled)

    def _end_now(self, outcome: Outcome) -> None:
        """End the query without a further question; a forced end does not wait for the last save."""
        if self.phase is Phase.PREPARING:
            self._cancel_before_start()
        elif self.phase in {Phase.FINISHING, Phase.CLOSING}:
            self._give_up_reply()
            self._ending = outcome
            self._turn_over(is_persisted=False)
        else:
            self._stop(outcome)

    def _pressed_with_choice(self, choice: str, text: str | None) -> None:
        if self.phase is Phase.REPLYING and choice in choices_in(self._replying_from):
            self.phase = self._replying_from
        if choice not in choices_in(self.phase):
            self._answer_press("none")
            return
        self._close_decisions("superseded")
        self._reply_came_from_menu = False
        self._interrupt()
        self._choose_on_purpose(choice, text)
        self._answer_press("action")

    def _interrupt(self) -> None:
        """Hold the stream or the start of tools, if there is one; gaps and an open menu stay as they are."""
        if self.phase is Phase.EXECUTING:
            self._tools.hold()
            self.phase = Phase.INTERRUPTED_TOOLS
        if self.phase in {Phase.WAITING, Phase.STREAMING, Phase.BACKOFF}:
            self._cancel_wait()
            self._interrupted_phase = self.phase
            self.phase = Phase.INTERRUPTED_STREAM
            self._show(shown.Paused())

    def _choose_on_purpose(self, choice: str, text: str | None) -> None:
        """Do what the user chose. Only that forgets the presses: a configured Continue can be escalated (4.3)."""
        if choice in {"continue", "back"}:
            self._presses.reset()
        self._choose(choice, text)

    def _choose(self, choice: str, text: str | None) -> None:
        """Do what was chosen in a menu, or configured in its place."""
        match choice:
            case "stop" if self.phase is Phase.PREPARING:
                self._cancel_before_start()
            case "stop":
                self._stop(Outcome.STOPPED)
            case "abort":
                self._abort()
            case "reply" | "respond":
                self._ask_for_reply(text)
            case "restart":
                self._restart_tools()
            case "continue" | "back":
                self._go_on()
            case _:
                raise IllegalState(f"no menu offers {choice!r}")

    def _ask_for_reply(self, text: str | None) -> None:
        self._replying_from = self.phase
        self.phase = Phase.REPLYING
        if text is not None:
            self._reply(text)
        elif self._options.can_prompt:
            to_tools = self._replying_from is Phase.INTERRUPTED_TOOLS
            question = reply_question(self._next_decision(), self._options.interrupt, to_tools=to_tools)
            self._question = question.id
            self._ask(question)
        else:
            self._reply("")

    def _reply(self, text: str) -> None:
        """End this turn and let the text open the next one; a blank text goes back one level."""
        if self._replying_from is Phase.INTERRUPTED_TOOLS:
            self._respond_to_tools(text)
        elif text.strip():
            self._pending_reply = text
            self._stop(Outcome.REPLIED)
        else:
            self._reply_was_cancelled()

    def _reply_was_cancelled(self) -> None:
        """Nothing was written: back to the menu, or on with what the configured action had interrupted."""
        are_tools_done = self._replying_from is Phase.INTERRUPTED_TOOLS and self._tools.is_done
        if self._reply_came_from_menu and not are_tools_done:
            self._back_to_menu()
        else:
            self.phase = self._replying_from
            self._go_on()

    def _back_to_menu(self) -> None:
        self.phase = self._replying_from
        self._open_menu()

    def _go_on(self) -> None:
        """Continue: with the tools, the live stream, a new request, or the gap's next step (6.1)."""
        if self.phase is Phase.INTERRUPTED_TOOLS:
            self._go_on_with_tools()
            return
        if self.phase in {Phase.OPENING, Phase.CONTINUING}:
            if self._is_gap_saved:
                self._leave_gap()
            return
        if self.phase is not Phase.INTERRUPTED_STREAM:
            return
        self._show(shown.Resumed())
        self.phase = self._interrupted_phase
        response = self._response
        if self._interrupted_phase is Phase.BACKOFF or response is None or not response.is_open:
            self.phase = Phase.WAITING
            self._send_when_saved()
            return
        held, is_dead = response.take_held()
        if response.is_paused and not is_dead:
            response.is_paused = False
            self._do(actions.ResumeReading(response.attempt))
        for item in held:
            if response.is_open:
                self._receive(response, item)
        if is_dead and response.is_open:
            self._go_on_without_stream(response)

    def _leave_gap(self) -> None:
        if self.phase is Phase.OPENING and self._is_resumed:
            self._resume()
        else:
            self._begin_cycle()

    def _cancel_requested(self) -> None:
        self._report.was_cancelled = True
        match self.phase:
            case Phase.PREPARING:
                self._cancel_before_start()
            case Phase.FINISHING | Phase.CLOSING:
                self._give_up_reply()
            case Phase.IDLE:
                pass
            case _ if self._options.interrupt.cancel_means == "abort" and self._response is not None:
                self._abort()
            case _:
                self._stop(Outcome.STOPPED)

    def _open_menu(self) -> None:
        is_over_question = any(decision.call_id for decision in self.open_decisions.values())
        kind = MENU_OF_PHASE[self.phase]
        question = menu(kind, self._next_decision(), is_over_question=is_over_question)
        self._menu = question.id
        self._reply_came_from_menu = True
        self._ask(question)

    def _answered(self, decision: DecisionId, choice: str | None, text: str | None) -> None:
        if decision == self._menu:
            offered = {each.id for each in self.open_decisions[decision].choices}
            self._close_decisions("answered")
            if choice in offered:
                self._choose_on_purpose(choice or "", text)
            else:
                self._menu_was_dismissed()
        elif decision == self._question:
            self._close_decisions("answered")
            self._reply(text or "")
        else:
            self._tool_event(self._tools.answered(decision, choice, text, self._at))

    def _dismissed(self, decision: DecisionId) -> None:
        if decision == self._menu:
            self._close_decisions("answered")
            self._menu_was_dismissed()
        elif decision == self._question:
            self._close_decisions("answered")
            self._reply_was_cancelled()
        else:
            self._tool_event(self._tools.dismissed(decision, self._at))

    def _ask_failed(self, decision: DecisionId) -> None:
        if decision == self._question:
            text = "This client cannot ask for a text; use its reply command instead."
            self._notice("info", "reply_command", text, is_durable=False)
        if decision in {self._menu, self._question}:
            self._dismissed(decision)
        else:
            self._tool_event(self._tools.ask_failed(decision, self._at))

    # Tool calls ---------------------------------------------------------------------------------------

    def _tool_event(self, asked: Iterable[ToolAction]) -> None:
        """Do what a call asks for now, in whatever phase; when all are answered, go on."""
        self._perform_tools(asked)
        self._after_tool_event()

    def _formatted(self, item: ArgumentsFormatted) -> None:
        if item.problem is None:
            self._tool_event(self._tools.formatted(item.call, item.text, self._at))
        else:
            self._tool_event(self._tools.format_failed(item.call, item.problem, self._at))

    def _inquiry_answered(self, item: InquiryAnswered) -> None:
        if item.problem is None:
            answer = self._tools.inquiry_answered(item.call, item.pass_number, item.answer, self._at)
        else:
            answer = self._tools.inquiry_failed(item.call, item.pass_number, item.problem, self._at)
        self._tool_event(answer)

    def _go_on_with_tools(self) -> None:
        """Leave the tool menu: what was approved meanwhile starts, and what ended meanwhile counts."""
        self.phase = Phase.EXECUTING
        self._perform_tools(self._tools.begin(self._at))
        self._after_tool_event()

    def _restart_tools(self) -> None:
        if self._tools.is_done:
            self._notice("info", "nothing_to_restart", "All tools had finished already.", is_durable=False)
        self._perform_tools(self._tools.restart(self._at))
        self._go_on_with_tools()

    def _respond_to_tools(self, text: str) -> None:
        """Stop the tools and let the user's words stand in for their results."""
        if self._tools.is_done and text.strip():
            self._pending_reply = text
            self._finish(Outcome.REPLIED)
            return
        self.phase = Phase.EXECUTING
        if not self._tools.is_done:
            self._perform_tools(self._tools.cancel(self._at, text=text))
        self._after_tool_event()

    def _menu_was_dismissed(self) -> None:
        """Escalate, unless configured to continue; before the turn, keep waiting (D11)."""
        if self.phase is Phase.PREPARING:
            return
        if self._options.interrupt.on_dismiss == "continue":
            self._choose("continue", None)
        else:
            self._stop(Outcome.INTERRUPTED)

    def _answer_press(self, handled: Handled) -> None:
        """Tell where the press has led; where it meant nothing, also what would have meant something."""
        allowed = choices_in(self.phase) if handled == "none" else ()
        self.last_press = PressReport(handled, self.phase, allowed)


def _is_turn_start(event: ConversationEvent | None) -> bool:
    return event is not None and isinstance(event.kind, TurnStart)
