"""The middle of the turn's state machine: requests go out, and the provider's answer is taken in."""

from collections.abc import Iterable
from typing import assert_never

from jp_lsp.conversation.call_metadata import was_approved
from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest
from jp_lsp.tools.actions import ToolAction
from jp_lsp.tools.responses import TOO_MANY_CALLS
from jp_lsp.turn import actions, shown
from jp_lsp.turn.answer_schema import MAX_CORRECTIONS, correction
from jp_lsp.turn.cycle import GiveUp, ResilientCycle, Retry
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import AttemptId
from jp_lsp.turn.machine import TurnMachine
from jp_lsp.turn.outcome import Outcome, StructuredResult
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.response import Response, StreamEnd
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
    KeepAlive,
    MaxTokens,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)

EMPTY_ANSWER_HINT = "(Your last answer was empty. Please answer.)"
_LOST_STREAM = StreamFailure(FailureKind.TRANSIENT, "the stream ended without a terminal event")


class CycleMachine(TurnMachine):
    """Requests, attempts and responses."""

    def _leave_gap(self) -> None:
        """What a cycle begins with is stored: begin it, or take up what was cut off."""
        if self.phase is Phase.OPENING and self._is_resumed:
            self._resume()
        else:
            self._begin_cycle()

    def _resume(self) -> None:
        """Decide on the calls that wait; without any, ask the model, unless it has answered."""
        waiting = self._record.unanswered_calls()
        self._record.checkpoint = self._record.start
        if waiting:
            self._cycle_number = 1
            for call in waiting:
                self._dispatch_calls([call], may_have_run=was_approved(call))
            self._execute()
        elif self._record.is_answered():
            self._finish_answered(Outcome.COMPLETED)
        else:
            self._begin_cycle()

    def _begin_cycle(self) -> None:
        self._cycle_number += 1
        self._cycle = ResilientCycle(self._options.retry, self._jitter)
        self._record.checkpoint = len(self._record.stream)
        self._tools = self._new_tools()
        self._hint = None
        self._correction = ()
        self._send()

    def _send(self) -> None:
        """Send the stream as it is now, as a new attempt of the current cycle."""
        self._attempt_count += 1
        attempt = AttemptId(self._attempt_count)
        self._cycle.attempt_began()
        self._record.attempt_mark = len(self._record.stream)
        self._response = Response(attempt, self._call_ids)
        self._is_send_due = False
        self.phase = Phase.WAITING
        self._show(shown.AttemptBegan(self._cycle_number, self._cycle.attempts))
        self._show(shown.Status("waiting", "waiting for first tokens"))
        self._do(actions.RequestCycle(attempt, self._tool_choice, self._hint, self._correction))

    def _send_when_saved(self) -> None:
        """Send as soon as what came so far is durable (P6)."""
        self._is_send_due = True
        if self._unsaved_partials == 0:
            self._send()

    def _save_partials(self) -> None:
        self._unsaved_partials += 1
        self._do(actions.Save("P6"))

    def _wait_and_retry(self, retry: Retry, hint: str | None) -> None:
        self._hint = hint
        self.phase = Phase.BACKOFF
        self._save_partials()
        self._show(shown.RetryScheduled(retry.attempt, retry.max_attempts, retry.cause, retry.delay))
        self._do(actions.Wait(retry.delay))

    def _call_ids(self) -> set[str]:
        events = self._record.stream.events()
        return {event.kind.id for event in events if isinstance(event.kind, ToolCallRequest)}

    def _receive(self, response: Response, item: StreamEvent | StreamEnd) -> None:
        match item:
            case TextPart() | ToolCallStart() | ToolCallArguments():
                if response.builder.accept(item):
                    self._cycle.content_came()
                    self.phase = Phase.STREAMING
                    self._show(shown.PartArrived(item))
            case Flush(index, metadata):
                events = response.builder.flush(index, metadata, self._at)
                if events:
                    self._store(events)
                    self._do(actions.Save("P2"))
                    self._dispatch_calls(event for event in events if "arguments_error" not in event.metadata)
                self._show_receiving(response)
            case Patch(patches):
                for patch in patches:
                    response.patched_events += self._record.stream.remove_metadata(patch.key, patch.value)
                self._show_receiving(response)
            case KeepAlive():
                self._show_receiving(response)
            case Finished(reason):
                response.is_open = False
                self._finished(response, reason)
            case StreamFailure():
                response.is_open = False
                self._attempt_failed(response, item)
            case StreamEnd():
                response.is_open = False
                self._attempt_failed(response, _LOST_STREAM)
            case _:
                assert_never(item)

    def _show_receiving(self, response: Response) -> None:
        """The vendor answers, but not with content yet: tell once (5.10)."""
        if self.phase is Phase.WAITING and not response.is_receiving:
            response.is_receiving = True
            self._show(shown.Status("waiting", "receiving response data"))

    def _finished(self, response: Response, reason: FinishReason) -> None:
        """End the response (1.8)."""
        self.phase = Phase.EVALUATING
        match reason:
            case Refused(category, explanation):
                response.builder.clear()
                self._discard_tools()
                self._record.stream.truncate(self._record.attempt_mark)
                self._show(shown.Retracted("attempt", "refused"))
                why = ": ".join(text for text in (category, explanation) if text)
                self._notice("error", "refused", f"The model refused to answer{f' ({why})' if why else ''}.")
                self._finish(Outcome.REFUSED)
            case RetryRequested():
                self._rebuild(response)
            case Completed() | MaxTokens() | OtherReason():
                dropped = response.builder.incomplete_tool_calls()
                self._store(response.builder.finish(self._at))
                if isinstance(reason, MaxTokens):
                    dropped += self._record.drop_unreadable_calls()
                    text = "The answer reached the model's output limit." + _dropped_calls(dropped)
                    self._notice("warning", "truncated", text)
                elif isinstance(reason, OtherReason):
                    self._notice("warning", "stopped_early", f"The model stopped early ({reason.value}).")
                if dropped and not isinstance(reason, MaxTokens):
                    self._notice("warning", "tool_call_dropped", _dropped_calls(dropped).strip())
                self._evaluate(reason)
            case _:
                assert_never(reason)

    def _rebuild(self, response: Response) -> None:
        """Honour the provider's wish to be asked again after its repairs (6.4)."""
        self._keep_partial()
        if self._cycle.may_rebuild(response.patched_events):
            self._go_on_behind_partial()
            return
        text = (
            "the provider asked for a retry too many times in a row"
            if response.patched_events
            else "the provider asked for a retry without changing anything"
        )
        self._fail(StreamFailure(FailureKind.OTHER, text))

    def _dispatch_calls(self, events: Iterable[ConversationEvent], *, may_have_run: bool = False) -> None:
        """Hand calls over as soon as they are stored; their questions do not wait for the rest (D4)."""
        for event in events:
            if not isinstance(event.kind, ToolCallRequest):
                continue
            self._tool_call_count += 1
            is_over = 0 < self._options.max_tool_calls < self._tool_call_count
            self._perform_tools(
                self._tools.dispatch(
                    event,
                    self._tool_of(event),
                    self._at,
                    refusal=TOO_MANY_CALLS if is_over else None,
                    may_have_run=may_have_run,
                )
            )

    def _evaluate(self, reason: FinishReason) -> None:
        """Decide what follows a response that is complete."""
        known = {call.id for call in self._tools.calls}
        waiting = self._record.unanswered_calls(self._record.checkpoint)
        self._dispatch_calls(call for call in waiting if getattr(call.kind, "id", None) not in known)
        if self._tools.calls:
            self._execute()
        elif isinstance(reason, Completed) and self._record.cycle_is_empty():
            self._answer_was_empty()
        elif isinstance(reason, Completed) and (misfit := self._misfit_to_correct()) is not None:
            self._ask_for_correction(misfit)
        elif isinstance(reason, MaxTokens):
            self._finish(Outcome.TRUNCATED)
        else:
            self._finish_answered(Outcome.COMPLETED)

    def _execute(self) -> None:
        """Let the tools run; when all calls have their response, the follow-up goes out."""
        self.phase = Phase.EXECUTING
        self._release_tool_answers()
        self._show(shown.Status("executing", "running tools"))
        self._perform_tools(self._tools.begin(self._at))
        self._after_tool_event()

    def _tool_event(self, asked: Iterable[ToolAction]) -> None:
        """Do what a call asks for now, in whatever phase; when all are answered, go on."""
        self._perform_tools(asked)
        self._after_tool_event()

    def _after_tool_event(self) -> None:
        """See whether the calls of the cycle are all answered."""
        if self.phase is not Phase.EXECUTING:
            return
        if self._tools.is_done:
            self._continue()
        elif self._tools.is_deferred:
            self._defer()

    def _continue(self) -> None:
        """Store the cycle; its responses go back in a follow-up."""
        if 0 < self._options.max_cycles <= self._cycle_number:
            self._notice(
                "warning", "cycle_limit", f"Stopped after {self._cycle_number} cycles, as configured."
            )
            self._finish(Outcome.STOPPED)
            return
        self.phase = Phase.CONTINUING
        self._is_gap_saved = False
        self._tool_choice = "auto"
        self._do(actions.Save("P4"))

    def _answer_was_empty(self) -> None:
        follows_tools = self._cycle_number > 1
        match self._cycle.after_empty(follows_tools=follows_tools):
            case Retry() as retry:
                self._record.stream.truncate(self._record.attempt_mark)
                self._show(shown.Retracted("attempt", "empty"))
                self._wait_and_retry(retry, EMPTY_ANSWER_HINT)
            case GiveUp() if follows_tools:
                self._finish_answered(Outcome.COMPLETED)
            case GiveUp(attempts):
                text = (
                    f"The model gave no answer in {attempts} attempts. If it runs on a server of your own, its context"
                    " may be smaller than this conversation."
                )
                self._notice("warning", "empty", text)
                self._finish_answered(Outcome.EMPTY)

    def _misfit_to_correct(self) -> StructuredResult | None:
        """Give the value of this attempt if it does not fit the schema and may be asked for again."""
        value = self._record.structured(self._request.schema, self._record.attempt_mark)
        is_misfit = value is not None and not value.is_valid
        return value if is_misfit and self._correction_count < MAX_CORRECTIONS else None

    def _ask_for_correction(self, misfit: StructuredResult) -> None:
        """Take the attempt back, and ask again with its value and what is wrong with it (7.2)."""
        self._correction_count += 1
        self._correction = correction(misfit.data, misfit.problems, self._at)
        self._hint = None
        self._record.stream.truncate(self._record.attempt_mark)
        self._show(shown.Retracted("attempt", "restart"))
        cause = "The value does not fit the schema"
        self._show(shown.RetryScheduled(self._correction_count, MAX_CORRECTIONS, cause, 0.0))
        self.phase = Phase.WAITING
        self._save_partials()
        self._send_when_saved()

    def _finish_answered(self, outcome: Outcome) -> None:
        """End a turn that came to its own end; one that was to bring a value and did not has failed (7.2)."""
        schema = self._request.schema
        if schema is None or self._record.structured(schema) is not None:
            self._finish(outcome)
            return
        text = "the model answered without the value that was asked for"
        self._fail(StreamFailure(FailureKind.MISSING_STRUCTURED_DATA, text))

    def _attempt_failed(self, response: Response, failure: StreamFailure) -> None:
        """Keep what came, then retry, go on with the calls that came, or give up (6.2)."""
        dropped = response.builder.incomplete_tool_calls()
        self._keep_partial()
        if failure.is_retryable and self._record.cycle_has_calls():
            text = "The answer ended early; its complete tool calls go on." + _dropped_calls(dropped)
            self._notice("warning", "stream_ended_early", text)
            self._evaluate(OtherReason("stream ended early"))
            return
        match self._cycle.after_failure(failure):
            case Retry() as retry:
                self._wait_and_retry(retry, self._hint if self._record.cycle_is_empty() else None)
            case GiveUp(attempts):
                self._fail(failure, attempts)

    def _go_on_without_stream(self, response: Response) -> None:
        """The stream died while the menu was open: send a continuation; that costs no retry budget."""
        response.is_open = False
        self._keep_partial()
        self._go_on_behind_partial()

    def _go_on_behind_partial(self) -> None:
        """Go on with the calls that came, as they must be answered before anything is sent (D15); else send again."""
        if self._record.cycle_has_calls():
            self._evaluate(OtherReason("stream ended early"))
            return
        self.phase = Phase.WAITING
        self._save_partials()
        self._send_when_saved()


def _dropped_calls(names: list[str]) -> str:
    return f" Unfinished tool calls were dropped: {', '.join(sorted(names))}." if names else ""
