"""The life of calls: decided, run, asked about, answered, delivered (query pipeline 3.1 to 3.8).

Whatever the user must be asked becomes an open question; what the answers mean stands in `tools.answers`.
"""

from collections.abc import Callable, Iterable
from typing import Literal, assert_never, cast

from jp_lsp.conversation import base64_text
from jp_lsp.conversation.call_metadata import (
    DECISION,
    EDITED_ARGUMENTS,
    EDITED_BEHIND,
    PREPARED_ARGUMENTS,
    RENDERED_ARGUMENTS,
    RENDERED_EDITED_ARGUMENTS,
    RESULT_DECISION,
    shown_decision,
)
from jp_lsp.conversation.event import (
    Answered,
    AnswerType,
    Cancelled,
    ConversationEvent,
    InquiryRequest,
    InquiryResponse,
    InquirySource,
    Question,
    Redacted,
    SelectOption,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.tools import actions, responses
from jp_lsp.tools import call as topics
from jp_lsp.tools.actions import ToolAction
from jp_lsp.tools.builtin import ASK_USER
from jp_lsp.tools.call import Call, CallPhase, Topic
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.limits import limit_text
from jp_lsp.tools.memory import (
    Memory,
    Scope,
    ToolMemory,
)
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.questions import fits, question_about
from jp_lsp.tools.spec import (
    AssistantTarget,
    BuiltinSource,
    DetachedPolicy,
    QuestionPolicy,
    ResultMode,
    RunMode,
    ToolSpec,
)

RESULT_FILE = "result_file"
"""Metadata of a response: the name of the file that has all of it, in the user's own data."""

MAX_PASSES = 50
"""A tool that asks and asks is given up after so many passes (3.4)."""


class CallLifecycle:
    """The calls of one cycle, and what becomes of each.

    Args:
        memory: what the user decided before; lives as long as the turn.
        next_decision: gives ids for questions.
        attempts: how often each question was asked in this turn, by call and question; ids count on.
        can_prompt: whether anybody can answer.
    """

    def __init__(
        self,
        memory: ToolMemory,
        next_decision: Callable[[], DecisionId],
        attempts: dict[tuple[str, str], int],
        *,
        can_prompt: bool,
    ) -> None:
        self.calls: list[Call] = []
        self.open_questions: dict[DecisionId, tuple[Call, Topic]] = {}
        self._memory = memory
        self._next_decision = next_decision
        self._attempts = attempts
        self._can_prompt = can_prompt
        self.has_begun = False
        self._may_start = False
        self._at = Timestamp(0)
        self._out: list[ToolAction] = []

    # What the turn asks about.

    @property
    def is_done(self) -> bool:
        """Whether every call has its response."""
        return all(call.phase.is_over for call in self.calls)

    @property
    def is_deferred(self) -> bool:
        """Whether calls wait for somebody who is not there, and nothing else is under way."""
        return not self.is_done and all(call.phase.is_over or call.is_deferred for call in self.calls)

    @property
    def running(self) -> tuple[Call, ...]:
        """The calls that are under way."""
        return tuple(call for call in self.calls if call.phase is CallPhase.RUNNING)

    # Deciding whether to run.

    def _admit(self, call: Call) -> None:
        """Note what the declared types and defaults made of the arguments: that is what the user is shown."""
        if call.arguments != call.request.arguments:
            self._out.append(actions.AmendCall(call.id, {PREPARED_ARGUMENTS: call.arguments}))
        self._decide(call)

    def _decide(self, call: Call) -> None:
        spec = self._spec(call)
        mode: RunMode = self._memory.run_mode(call.name) or spec.policy.run_mode
        match mode:
            case "ask" | "edit" | "unattended" if call.may_have_run:
                self._decide_again(call)
            case "unattended":
                self._approve(call, "policy")
            case "skip":
                self._respond(call, Succeeded(responses.SKIPPED_BY_CONFIGURATION), "skip")
            case "ask" | "edit":
                self._decide_with_user(call, mode)
            case _:
                assert_never(mode)

    def _decide_with_user(self, call: Call, mode: Literal["ask", "edit"]) -> None:
        match self._memory.permission(call.name):
            case "run":
                self._approve(call, "remembered")
            case "skip":
                self._respond(call, Succeeded(responses.SKIPPED_REMEMBERED), "remembered")
            case None if not self._can_prompt:
                self._decide_alone(call, self._spec(call).policy.detached_run)
            case None:
                self._show_before_asking(call, mode)

    def _decide_again(self, call: Call) -> None:
        """It may have had effects before the turn was cut off, so nobody but the user lets it run."""
        if self._can_prompt:
            self._show_before_asking(call, "ask")
        else:
            self._respond(call, Failed(responses.MAY_HAVE_RUN), "policy")

    def _decide_alone(self, call: Call, policy: DetachedPolicy) -> None:
        match policy:
            case "auto":
                self._approve(call, "policy")
            case "defer":
                self._defer(call, CallPhase.AWAITING_RUN_MODE)
            case "deny" | "defaults":
                self._respond(call, Failed(responses.NEEDS_APPROVAL), "policy")
            case _:
                assert_never(policy)

    def _show_before_asking(self, call: Call, mode: Literal["ask", "edit"]) -> None:
        """The user sees the arguments before the question; a formatter, which is a program, may have to wait."""
        policy = self._spec(call).policy
        if policy.formatter is not None and policy.formats_unasked:
            self._format(call)
            return
        if policy.formatter is None:
            self._show(call)
        self._ask(
            call, topics.AskArguments() if mode == "edit" else topics.AskRun(), CallPhase.AWAITING_RUN_MODE
        )

    def _format(self, call: Call) -> None:
        call.is_formatting = True
        self._out.append(actions.FormatArguments(call.id, self._spec(call), call.arguments))

    def _formatted(self, call: Call, text: str) -> None:
        if not call.is_formatting:
            return
        call.is_formatting = False
        key = RENDERED_EDITED_ARGUMENTS if call.is_edited else RENDERED_ARGUMENTS
        self._out.append(actions.AmendCall(call.id, {key: base64_text.encode(text)}))
        self._show(call, text)
        if not call.is_approved:
            mode = self._memory.run_mode(call.name) or self._spec(call).policy.run_mode
            topic = topics.AskArguments() if mode == "edit" else topics.AskRun()
            self._ask(call, topic, CallPhase.AWAITING_RUN_MODE)

    def _show(self, call: Call, rendered: str | None = None) -> None:
        call.is_shown = True
        # Before the tools begin, results are held back.
        results = sum(each.phase.is_over for each in self.calls) if self.has_begun else 0
        if call.is_edited and results:
            self._out.append(actions.AmendCall(call.id, {EDITED_BEHIND: results}))
        self._out.append(
            actions.ShowCall(call.id, call.spec, call.name, call.arguments, call.is_edited, rendered)
        )

    def _approve(self, call: Call, decision: str) -> None:
        call.is_approved = True
        call.phase = CallPhase.PENDING
        call.decision = decision
        metadata: dict[str, JsonValue] = {DECISION: decision}
        if call.is_edited:
            metadata[EDITED_ARGUMENTS] = call.arguments
        self._out.append(actions.AmendCall(call.id, metadata))
        formatter = self._spec(call).policy.formatter
        if formatter is not None and not call.is_shown:
            self._format(call)
        elif not call.is_shown:
            self._show(call)

    def _skip(self, call: Call, reason: str | None = None) -> None:
        self._respond(call, Succeeded(responses.skipped(reason)), "skip")

    # Running.

    def _start_ready(self) -> None:
        """Start what is approved; a tool that runs alone waits for the others, and they for it."""
        for call in self.calls:
            is_ready = call.is_approved and call.phase is CallPhase.PENDING and not call.is_formatting
            if self._may_start and is_ready and not self._must_wait(call):
                self._run(call)

    def _must_wait(self, call: Call) -> bool:
        others = [other for other in self.running if other is not call]
        return bool(others) and (
            self._spec(call).policy.runs_alone or any(self._spec(other).policy.runs_alone for other in others)
        )

    def _run(self, call: Call) -> None:
        if call.pass_number >= MAX_PASSES:
            self._respond(call, Failed(responses.TOO_MANY_PASSES), None)
            return
        call.pass_number += 1
        call.phase = CallPhase.RUNNING
        answers, is_allowed = dict(call.answers), call.decision in {"run", "remembered"}
        self._out.append(
            actions.RunPass(call.id, call.pass_number, self._spec(call), call.arguments, answers, is_allowed)
        )

    def _outcome(self, call: Call, outcome: ToolOutcome) -> None:
        match outcome:
            case NeedsInput(question):
                self._tool_asks(call, question)
            case Succeeded() | Failed():
                self._deliver(call, outcome)
            case _:
                assert_never(outcome)

    # Questions of a tool (3.4).

    def _tool_asks(self, call: Call, question: ToolQuestion) -> None:
        key = call.id, question.id
        attempt = self._attempts[key] = self._attempts.get(key, 0) + 1
        call.question = question
        call.inquiry = InquiryId(f"{call.id}.{question.id}.{attempt}")
        kind = InquiryRequest(call.inquiry, _source(call), _stored(question))
        self._store(ConversationEvent(self._at, kind))
        if question.kind == "select" and not question.options:
            self._give_up(call, "backend_error", "there is nothing to choose from")
            return
        policy = self._spec(call).policy.questions.get(question.id, QuestionPolicy())
        remembered = self._memory.answer(call.name, question.id) if question.is_remembered else None
        if remembered is not None and question.kind != "secret" and fits(question, remembered[0]):
            self._give(call, question, remembered[0])
        elif policy.has_answer:
            self._give_configured(call, question, policy.answer)
        elif isinstance(policy.target, AssistantTarget):
            self._ask_assistant(call, question, policy.target)
        elif self._can_prompt:
            self._ask(call, topics.AskQuestion(question), CallPhase.AWAITING_TOOL_INPUT)
        else:
            self._answer_alone(call, question)

    def _give_configured(self, call: Call, question: ToolQuestion, answer: JsonValue) -> None:
        if fits(question, answer):
            self._give(call, question, answer)
            return
        key = f"conversation.tools.{call.name}.questions.{question.id}.answer"
        self._give_up(call, "invalid_static_answer", f"the answer configured in `{key}` does not fit")

    def _ask_assistant(self, call: Call, question: ToolQuestion, target: AssistantTarget) -> None:
        if question.is_exclusive or question.kind == "secret":
            self._give_up(call, "assistant_routing_denied", "only the user may answer it")
            return
        call.phase = CallPhase.AWAITING_INQUIRY
        self._out.append(actions.AskAssistant(call.id, call.pass_number, call.name, question, target))

    def _answer_alone(self, call: Call, question: ToolQuestion) -> None:
        """Nobody is there: follow the policy; what is for the user alone is never answered by others (3.6)."""
        policy = self._spec(call).policy.detached_tool
        if question.is_exclusive or question.kind == "secret" or policy == "deny":
            self._give_up(call, "no_prompt_backend", "there is nobody to ask")
        elif policy == "auto":
            self._ask_assistant(call, question, AssistantTarget())
        elif policy == "defer":
            self._defer(call, CallPhase.AWAITING_TOOL_INPUT)
        elif fits(question, question.default):
            self._give(call, question, question.default)
        else:
            self._give_up(call, "no_prompt_backend", "there is nobody to ask and no default")

    def _give(self, call: Call, question: ToolQuestion, answer: JsonValue) -> None:
        """Record the answer and run the tool again with it."""
        outcome = Redacted() if question.kind == "secret" else Answered(answer)
        self._close_inquiry(call, outcome)
        call.answers[question.id] = answer
        call.phase = CallPhase.PENDING

    def _give_up(self, call: Call, reason: str, why: str) -> None:
        question = call.question.text if call.question else ""
        self._close_inquiry(call, Cancelled(reason))
        self._respond(call, Failed(responses.question_unanswered(question, why)), None)

    def _inquiry_failed(self, call: Call, problem: str) -> None:
        question = call.question.text if call.question else ""
        self._close_inquiry(call, Cancelled("backend_error"))
        self._respond(call, Failed(responses.inquiry_failed(question, problem)), None)

    def _close_inquiry(self, call: Call, outcome: Answered | Cancelled | Redacted) -> None:
        if call.inquiry is not None:
            self._store(ConversationEvent(self._at, InquiryResponse(call.inquiry, outcome)))
        call.inquiry = call.question = None

    # Results (3.8).

    def _deliver(self, call: Call, outcome: Succeeded | Failed) -> None:
        call.outcome = outcome
        mode: ResultMode = self._memory.result_mode(call.name) or self._spec(call).policy.result_mode
        match mode:
            case "unattended":
                self._respond(call, outcome, None)
            case "skip":
                self._respond(call, Succeeded(responses.WITHHELD_BY_CONFIGURATION), None, result="skip")
            case "ask" | "edit" if not self._can_prompt:
                self._deliver_alone(call, outcome)
            case "ask":
                self._ask(call, topics.AskResult(), CallPhase.AWAITING_RESULT_MODE)
            case "edit":
                self._ask(call, topics.AskEditedResult(), CallPhase.AWAITING_RESULT_MODE)
            case _:
                assert_never(mode)

    def _deliver_alone(self, call: Call, outcome: Succeeded | Failed) -> None:
        match self._spec(call).policy.detached_deliver:
            case "auto" | "defaults":
                self._respond(call, outcome, None)
            case "defer":
                self._defer(call, CallPhase.AWAITING_RESULT_MODE)
            case "deny":
                self._respond(call, Failed(responses.RESULT_NEEDS_APPROVAL), None, result="policy")

    def _respond(
        self,
        call: Call,
        outcome: Succeeded | Failed,
        decision: str | None,
        phase: CallPhase = CallPhase.COMPLETED,
        *,
        result: str | None = None,
        is_result_edited: bool = False,
    ) -> None:
        """Give the call its one response."""
        call.phase = phase
        if decision is not None:
            call.decision = decision
            self._out.append(actions.AmendCall(call.id, {DECISION: decision}))
        call.is_formatting = False  # what a formatter still says is of no use any more
        if not call.is_shown:
            self._show(call)
        content = outcome.content
        if call.is_edited and call.pass_number:
            content = responses.edited_note(content)
        if call.spec is not None:
            content = limit_text(content, call.spec.policy.size_threshold, outcome.file)
        metadata: dict[str, JsonValue] = {}
        if outcome.file is not None:
            metadata[RESULT_FILE] = _name_of(outcome.file)
        if result is not None:
            metadata[RESULT_DECISION] = result
        if is_result_edited:
            metadata["result_edited"] = True
        is_error = isinstance(outcome, Failed)
        self._store(ConversationEvent(self._at, ToolCallResponse(call.id, content, is_error), metadata))
        shown = shown_decision(call.decision, result)
        self._out.append(actions.ShowResult(call.id, content, is_error, shown, outcome.file))

    # Cancelling.

    def _cancel(self, call: Call, text: str | None) -> None:
        self._close_question_of(call)
        if call.phase is CallPhase.RUNNING:
            self._out.append(actions.CancelPass(call.id))
        if call.inquiry is not None:
            self._close_inquiry(call, Cancelled("user"))
        if call.phase is CallPhase.AWAITING_RESULT_MODE:
            content = responses.DELIVERY_CANCELLED
        elif text is not None and text.strip():
            content = responses.cancelled_with_message(text)
        else:
            content = self._spec(call).policy.cancellation
        call.is_restarting = False
        self._respond(call, Succeeded(content), None, CallPhase.CANCELLED)

    # Asking the user.

    def _ask(
        self,
        call: Call,
        topic: Topic,
        phase: CallPhase,
        *,
        problem: str | None = None,
        value: str | None = None,
    ) -> None:
        call.phase = phase
        decision = question_about(call, topic, self._next_decision(), problem=problem, value=value)
        self.open_questions[decision.id] = call, topic
        self._out.append(actions.AskUser(decision))

    def _defer(self, call: Call, phase: CallPhase) -> None:
        """Nobody can be asked: the call stays as it is, until the turn is resumed (policy `defer`)."""
        call.phase = phase
        call.is_deferred = True

    # Small things.

    def _close_question_of(self, call: Call) -> None:
        for decision in [id for id, (owner, _) in self.open_questions.items() if owner is call]:
            del self.open_questions[decision]
            self._out.append(actions.CloseQuestion(decision, "withdrawn"))

    def _remember(self, memory: Memory, choice: str | None) -> None:
        scope = cast("Scope", choice if choice in {"turn", "session", "conversation"} else "turn")
        self._memory.remember(memory, scope)
        if scope != "turn":
            self._out.append(actions.Remember(memory, scope))

    def _store(self, *events: ConversationEvent) -> None:
        self._out.append(actions.StoreEvents(events))

    def _unfinished(self) -> Iterable[Call]:
        return [call for call in self.calls if not call.phase.is_over]

    def _spec(self, call: Call) -> ToolSpec:
        assert call.spec is not None, "a call without a tool was answered at once"
        return call.spec

    def _named(self, call_id: CallId) -> str:
        return next((call.name for call in self.calls if call.id == call_id), call_id)


def _name_of(path: str) -> str:
    """Give the last part of a path: what is before it is the user's own, and a conversation is not."""
    return path.replace("\\", "/").rpartition("/")[2]


def _source(call: Call) -> InquirySource:
    """Tell who asks: through `ask_user` it is the assistant itself (7.4)."""
    is_assistant = call.spec is not None and call.spec.source == BuiltinSource(ASK_USER)
    return InquirySource("assistant") if is_assistant else InquirySource("tool", call.name)


def _stored(question: ToolQuestion) -> Question:
    options = tuple(SelectOption(option) for option in question.options)
    return Question(question.text, AnswerType(question.kind, options), question.default)
