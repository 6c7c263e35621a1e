"""ToolCoordinator: all tool calls of one cycle, from the flushed request to its one response.

Pure, like the turn that owns it: each method takes what happened and gives what is to be done. Calls are
independent; they run in parallel, ask in any order, and each response is stored as it comes. Section numbers
are those of the query pipeline specification.
"""

from collections.abc import Callable

from jp_lsp.conversation.call_metadata import TOOL_SERVER, TOOL_SOURCE, was_approved
from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.sanitize import INTERRUPTED
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools import actions, responses
from jp_lsp.tools.actions import ToolAction
from jp_lsp.tools.answers import CallAnswers
from jp_lsp.tools.arguments import prepare_arguments
from jp_lsp.tools.call import Call, CallPhase, Topic
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.outcome import Failed, ToolOutcome
from jp_lsp.tools.questions import fits
from jp_lsp.tools.spec import BuiltinSource, McpSource, ToolSpec


class ToolCoordinator(CallAnswers):
    """The calls of one cycle, as the turn steers them."""

    def dispatch(
        self,
        event: ConversationEvent,
        spec: ToolSpec | None,
        at: Timestamp,
        *,
        refusal: str | None = None,
        may_have_run: bool = False,
    ) -> list[ToolAction]:
        """Take a call that was just stored, while the response may still be arriving (3.2).

        Args:
            event: the stored request.
            spec: its tool, if that is offered.
            at: now.
            refusal: why the call may not run at all.
            may_have_run: it comes from a turn that was cut off, so the user is asked whatever the run mode.
        """
        assert isinstance(event.kind, ToolCallRequest)
        call = Call(event, event.kind, spec, event.kind.arguments, may_have_run=may_have_run)
        self.calls.append(call)
        return self._step(at, lambda: self._take(call, refusal))

    def begin(self, at: Timestamp) -> list[ToolAction]:
        """The response is complete: what is approved may start."""
        self.has_begun = self._may_start = True
        return self._step(at, lambda: None)

    def hold(self) -> None:
        """A menu is open: approvals are noted, and nothing new starts (trap 71)."""
        self._may_start = False

    def answered(
        self, decision: DecisionId, choice: str | None, text: str | None, at: Timestamp
    ) -> list[ToolAction]:
        """The user answered."""
        return self._settle(decision, at, lambda call, topic: self._answer(call, topic, choice, text))

    def dismissed(self, decision: DecisionId, at: Timestamp) -> list[ToolAction]:
        """The user closed the question; that never means yes."""
        return self._settle(decision, at, self._dismiss)

    def ask_failed(self, decision: DecisionId, at: Timestamp) -> list[ToolAction]:
        """The question could not be put."""
        return self._settle(decision, at, self._could_not_ask)

    def formatted(self, call_id: CallId, text: str, at: Timestamp) -> list[ToolAction]:
        """The formatter wrote the arguments."""
        return self._on(call_id, at, lambda call: self._formatted(call, text))

    def format_failed(self, call_id: CallId, problem: str, at: Timestamp) -> list[ToolAction]:
        """The formatter failed, so the call is not run (F39)."""

        def fail(call: Call) -> None:
            call.is_formatting = False
            self._respond(call, Failed(responses.formatter_failed(call.name, problem)), "policy")

        return self._on(call_id, at, fail)

    def pass_finished(
        self, call_id: CallId, pass_number: int, outcome: ToolOutcome, at: Timestamp
    ) -> list[ToolAction]:
        """A pass ended by itself."""
        return self._on_pass(call_id, pass_number, at, lambda call: self._outcome(call, outcome))

    def pass_crashed(
        self, call_id: CallId, pass_number: int, problem: str, at: Timestamp
    ) -> list[ToolAction]:
        """Our own code broke while running a tool."""
        failed = Failed(responses.crashed(self._named(call_id), problem))
        return self._on_pass(call_id, pass_number, at, lambda call: self._deliver(call, failed))

    def pass_cancelled(self, call_id: CallId, at: Timestamp) -> list[ToolAction]:
        """What ran for a call has ended because we wanted it; a restart may go on."""

        def again(call: Call) -> None:
            if call.is_restarting:
                call.is_restarting = False
                call.answers = {}
                call.phase = CallPhase.PENDING

        return self._on(call_id, at, again)

    def inquiry_answered(
        self, call_id: CallId, pass_number: int, answer: JsonValue, at: Timestamp
    ) -> list[ToolAction]:
        """A model answered a tool's question; what does not fit counts as a failure."""

        def take(call: Call) -> None:
            if call.question is not None and fits(call.question, answer):
                self._give(call, call.question, answer)
            else:
                self._inquiry_failed(call, "its answer does not fit the question")

        return self._on_inquiry(call_id, pass_number, at, take)

    def inquiry_failed(
        self, call_id: CallId, pass_number: int, problem: str, at: Timestamp
    ) -> list[ToolAction]:
        """The model could not answer."""
        return self._on_inquiry(call_id, pass_number, at, lambda call: self._inquiry_failed(call, problem))

    def cancel(self, at: Timestamp, *, text: str | None = None) -> list[ToolAction]:
        """Stop everything that is unfinished; `text` is what the user says to it (3.11)."""

        def stop() -> None:
            self._may_start = False
            for call in self._unfinished():
                self._cancel(call, text)

        return self._step(at, stop)

    def end_unstarted(self, at: Timestamp) -> list[ToolAction]:
        """The turn ends before the tools ran."""

        def end() -> None:
            self._may_start = False
            for call in self._unfinished():
                self._close_question_of(call)
                self._respond(call, Failed(responses.NOT_RUN), None, CallPhase.CANCELLED)

        return self._step(at, end)

    def turn_away(self, event: ConversationEvent, spec: ToolSpec | None, at: Timestamp) -> list[ToolAction]:
        """Answer a stored call that was not dispatched when the turn ended: nobody is asked, and it does not run.

        One that was let run in a turn that was cut off is told what repair would tell it.
        """
        assert isinstance(event.kind, ToolCallRequest)
        call = Call(event, event.kind, spec, event.kind.arguments)
        self.calls.append(call)
        text = INTERRUPTED if was_approved(event) else responses.NOT_RUN

        def answer() -> None:
            self._note_source(call)
            self._respond(call, Failed(text), None, CallPhase.CANCELLED)

        return self._step(at, answer)

    def suspend(self, at: Timestamp) -> list[ToolAction]:
        """The turn is left unfinished: what runs is stopped and answered, what waits for the user stays open."""

        def leave() -> None:
            self._may_start = False
            for call in self._unfinished():
                has_run = call.phase in {CallPhase.RUNNING, CallPhase.AWAITING_RESULT_MODE}
                if has_run and not call.is_deferred:
                    self._cancel(call, None)
                else:
                    self._close_question_of(call)

        return self._step(at, leave)

    def discard(self) -> list[ToolAction]:
        """The cycle is taken back: close the questions and forget the calls."""

        def forget() -> None:
            self._may_start = False
            for call in self.calls:
                self._close_question_of(call)
                if call.phase is CallPhase.RUNNING:
                    self._out.append(actions.CancelPass(call.id))
                call.phase = CallPhase.CANCELLED

        return self._step(self._at, forget)

    def restart(self, at: Timestamp) -> list[ToolAction]:
        """Run the unfinished calls again, once what runs has ended; approvals stay (3.12)."""

        def again() -> None:
            for call in self.running:
                if not call.is_restarting:
                    call.is_restarting = True
                    self._out.append(actions.CancelPass(call.id))

        return self._step(at, again)

    def _take(self, call: Call, refusal: str | None) -> None:
        """Refuse what cannot run, and decide about all else."""
        self._note_source(call)
        bad_json = call.event.metadata.get("arguments_error")
        if isinstance(bad_json, str):
            self._respond(call, Failed(responses.bad_json(bad_json)), "policy")
        elif call.spec is None:
            self._respond(call, Failed(responses.unavailable(call.name)), "unavailable")
        elif refusal is not None:
            self._respond(call, Failed(refusal), "policy")
        elif (prepared := prepare_arguments(call.spec, call.arguments)).error is not None:
            self._respond(call, Failed(prepared.error), "policy")
        else:
            call.arguments = prepared.arguments
            self._admit(call)

    def _note_source(self, call: Call) -> None:
        if notes := _notes_of_source(call.spec):
            self._out.append(actions.AmendCall(call.id, notes))

    def _step(self, at: Timestamp, work: Callable[[], None]) -> list[ToolAction]:
        self._at = at
        self._out = []
        work()
        self._start_ready()
        return self._out

    def _settle(
        self, decision: DecisionId, at: Timestamp, work: Callable[[Call, Topic], None]
    ) -> list[ToolAction]:
        found = self.open_questions.pop(decision, None)
        if found is None:
            return []
        call, topic = found

        def settle() -> None:
            self._out.append(actions.CloseQuestion(decision, "answered"))
            work(call, topic)

        return self._step(at, settle)

    def _on(self, call_id: CallId, at: Timestamp, work: Callable[[Call], None]) -> list[ToolAction]:
        call = next((call for call in self.calls if call.id == call_id), None)
        if call is None or (call.phase.is_over and not call.is_restarting):
            return []
        return self._step(at, lambda: work(call))

    def _on_pass(
        self, call_id: CallId, pass_number: int, at: Timestamp, work: Callable[[Call], None]
    ) -> list[ToolAction]:
        def current(call: Call) -> None:
            if call.phase is CallPhase.RUNNING and call.pass_number == pass_number and not call.is_restarting:
                work(call)

        return self._on(call_id, at, current)

    def _on_inquiry(
        self, call_id: CallId, pass_number: int, at: Timestamp, work: Callable[[Call], None]
    ) -> list[ToolAction]:
        def current(call: Call) -> None:
            if call.phase is CallPhase.AWAITING_INQUIRY and call.pass_number == pass_number:
                work(call)

        return self._on(call_id, at, current)


def _notes_of_source(spec: ToolSpec | None) -> JsonObject:
    """Say where a tool comes from, for whoever shows the call again when the tool may be gone."""
    match spec and spec.source:
        case McpSource(server=server):
            return {TOOL_SOURCE: "mcp", TOOL_SERVER: server}
        case BuiltinSource():
            return {TOOL_SOURCE: "builtin"}
        case _:
            return {}
