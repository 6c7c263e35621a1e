"""TurnCoordinator: input in, actions out.

It drives one query, which is a chain of turns: one, plus one for every reply that the user gives while
an answer is interrupted. It decides everything and touches nothing but the conversation's stream, which
is its own while the query runs. Time arrives with each input.

Which inputs a phase accepts stands in `phase.ACCEPTS`; here stands what they do, as far as it is no matter of
the lower storeys: how the query begins, and what its saves and its surroundings make of it. Section numbers
are those of the query pipeline specification.
"""

from typing import assert_never

from jp_lsp.conversation.compaction_ranges import end_before
from jp_lsp.conversation.event import ConversationEvent, TurnStart
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.retain import take_back
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.stream import ConversationStream
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
    NothingToAsk,
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
    Written,
)
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import ACCEPTS, IllegalInput, Phase
from jp_lsp.turn.record import TurnRecord
from jp_lsp.turn.response import StreamEnd
from jp_lsp.turn.steering import SteeredMachine
from jp_lsp.turn.stream_event import StreamEvent


class TurnCoordinator(SteeredMachine):
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
            case Written(text):
                self._take_text(text)
            case NothingToAsk():
                self._end_without_text()
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
                self._progressed(call, message, percentage)
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
        self._take_text(text)
        self.phase = Phase.PREPARING
        self._do(actions.Prepare())

    def _take_text(self, text: str) -> None:
        self._has_own_text = bool(text.strip())
        self._report.unasked = text if self._has_own_text else None

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
        end_before(prepared.stream, prepared.stream.turn_count)
        self._rollback_start = len(prepared.stream)
        if (change := prepared.config_delta) is not None:
            prepared.stream.append_config_delta(change.delta, self._at, change.unsets)
        self._open_turn(prepared.stream, prepared.request, reply_to=None)

    def _explain(self, explanation: Explanation) -> None:
        """Preparation was all that was asked for: tell what it found, and begin no turn (7.3)."""
        self._report.explanation = explanation
        self._report.unasked = None
        if self._is_new:
            self._report.conversation = None
        self.phase = Phase.COMPLETE
        self._answer(is_persisted=False)

    def _end_without_text(self) -> None:
        """There is nothing to ask: begin no turn, and change nothing (1.4, Preparing)."""
        self._close_decisions("withdrawn")
        self._ending = Outcome.EMPTY_QUERY
        self.phase = Phase.COMPLETE
        self._answer(is_persisted=False)

    def _reopen_turn(self, stream: ConversationStream) -> None:
        """Take up the turn that the stream ends with, where it was cut off (1.6)."""
        end_before(stream, stream.turn_count - 1)
        starts = [at for at, entry in enumerate(stream.entries) if _is_turn_start(entry.event)]
        self._turn = TurnRecord(stream, starts[-1] if starts else 0)
        self._turn_index = stream.turn_count
        self._rollback_start = len(stream)
        self._request = self._turn.request()
        self._begin_tools_of_turn()
        self._report.unasked = None
        self.phase = Phase.OPENING
        self._show(shown.TurnBegan(self._turn_index, self._request.content, None))
        self._do(actions.Save("P1"))

    def _refuse(self, error: QueryError) -> None:
        self._close_decisions("withdrawn")
        self.phase = Phase.FAILED
        self._do(actions.Refuse(error, self._report.draft))

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
        if point in {"P1", "P7", "P8"}:
            self._report.unasked = None
        match point:
            case "P1" | "P4" if self.phase in {Phase.OPENING, Phase.CONTINUING, Phase.REPLYING}:
                self._is_gap_saved = True
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
            case "P1" if self._is_opening:
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

    @property
    def _is_opening(self) -> bool:
        """Whether nothing but the begin of the turn was asked for yet; a reply may be written over it."""
        phase = self._replying_from if self.phase is Phase.REPLYING else self.phase
        return phase is Phase.OPENING

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

    def _wind_up(self) -> None:
        """The server or the client goes away: as Stop, in bounded time."""
        if self.phase is Phase.PREPARING:
            self._cancel_before_start()
        elif self.phase in {Phase.FINISHING, Phase.CLOSING}:
            self._give_up_reply()
        elif self.phase is not Phase.IDLE:
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
            self._fail(StreamFailure(FailureKind.OTHER, message))

    def _progressed(self, call: CallId, message: str | None, percentage: int | None) -> None:
        """Show it, unless it comes behind the end of the tool."""
        if any(each.id == call for each in self._tools.running):
            self._show(shown.ToolRunning(call, self._tool_named(call), message, percentage))

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


def _is_turn_start(event: ConversationEvent | None) -> bool:
    return event is not None and isinstance(event.kind, TurnStart)
