"""What the user's answers to questions about calls mean (query pipeline 3.3, 3.4, 3.8)."""

from typing import assert_never, cast

from jp_lsp.conversation.event import (
    Cancelled,
)
from jp_lsp.tools import actions, responses
from jp_lsp.tools import call as topics
from jp_lsp.tools.arguments import parse_edited, prepare_arguments
from jp_lsp.tools.call import Call, CallPhase, Topic
from jp_lsp.tools.lifecycle import CallLifecycle
from jp_lsp.tools.memory import (
    Permission,
    RememberAnswer,
    RememberPermission,
    RememberResultMode,
    RememberRunMode,
)
from jp_lsp.tools.outcome import Failed, Succeeded, ToolQuestion
from jp_lsp.tools.questions import REMEMBER, read_answer
from jp_lsp.tools.spec import ResultMode, RunMode


class CallAnswers(CallLifecycle):
    """Reads answers. A question that was closed never means yes."""

    def _answer(self, call: Call, topic: Topic, choice: str | None, text: str | None) -> None:
        match topic:
            case topics.AskRun():
                self._answer_run(call, choice)
            case topics.AskRunScope(permission):
                self._remember_permission(call, cast("Permission", permission), choice)
            case topics.AskSkipReason():
                self._skip(call, text)
            case topics.AskArguments():
                self._answer_arguments(call, text)
            case topics.AskRunMode():
                mode = cast("RunMode", choice or "ask")
                self._ask(call, topics.AskRunModeScope(mode), call.phase)
            case topics.AskRunModeScope(mode):
                self._remember(RememberRunMode(call.name, mode), choice)
                self._decide_open_calls(call.name)
            case topics.AskResultMode():
                result_mode = cast("ResultMode", choice or "unattended")
                self._ask(call, topics.AskResultModeScope(result_mode), call.phase)
            case topics.AskResultModeScope(mode):
                self._remember(RememberResultMode(call.name, mode), choice)
                self._ask(call, topics.AskRun(), call.phase)
            case topics.AskQuestion(question):
                self._answer_question(call, question, choice, text)
            case topics.AskAnswerScope(question, answer):
                self._remember(RememberAnswer(call.name, question.id, answer), choice)
                self._give(call, question, answer)
            case topics.AskResult():
                self._answer_result(call, choice)
            case topics.AskEditedResult():
                self._answer_edited_result(call, text)
            case _:
                assert_never(topic)

    def _answer_run(self, call: Call, choice: str | None) -> None:
        match choice:
            case "run":
                self._approve(call, "run")
            case "run_remember":
                self._ask(call, topics.AskRunScope("run"), call.phase)
            case "skip_remember":
                self._ask(call, topics.AskRunScope("skip"), call.phase)
            case "skip_with_reason":
                self._ask(call, topics.AskSkipReason(), call.phase)
            case "edit":
                self._ask(call, topics.AskArguments(), call.phase)
            case "change_run_mode":
                self._ask(call, topics.AskRunMode(), call.phase)
            case "change_result_mode":
                self._ask(call, topics.AskResultMode(), call.phase)
            case "print_args":
                self._out.append(actions.ShowRawArguments(call.id, call.arguments))
                self._ask(call, topics.AskRun(), call.phase)
            case _:
                self._skip(call)

    def _remember_permission(self, call: Call, permission: Permission, choice: str | None) -> None:
        self._remember(RememberPermission(call.name, permission), choice)
        self._decide_open_calls(call.name, first=call, permission=permission)

    def _decide_open_calls(
        self, tool: str, *, first: Call | None = None, permission: Permission | None = None
    ) -> None:
        """Apply a new decision to this call and to all others of the tool that wait for the user (trap 96)."""
        if first is not None and permission is not None:
            self._approve(first, "run") if permission == "run" else self._skip(first)
        for call in self._unfinished():
            if call.name != tool or call is first or call.phase is not CallPhase.AWAITING_RUN_MODE:
                continue
            self._close_question_of(call)
            self._decide(call)

    def _answer_arguments(self, call: Call, text: str | None) -> None:
        if text is None or not text.strip():
            self._ask(call, topics.AskRun(), CallPhase.AWAITING_RUN_MODE)
            return
        edited, problem = parse_edited(text)
        if problem is None:
            prepared = prepare_arguments(self._spec(call), edited)
            edited, problem = prepared.arguments, prepared.error
        if problem is not None:
            self._ask(call, topics.AskArguments(), call.phase, problem=problem, value=text)
            return
        if edited != call.arguments:
            call.arguments = edited
            call.is_edited = True
            call.is_shown = False
        self._approve(call, "run")

    def _answer_question(
        self, call: Call, question: ToolQuestion, choice: str | None, text: str | None
    ) -> None:
        answer = read_answer(question, choice, text)
        if answer is None:
            self._ask(
                call, topics.AskQuestion(question), call.phase, problem="that is not one of the answers"
            )
        elif choice is not None and choice.endswith(REMEMBER) and question.is_remembered:
            self._ask(call, topics.AskAnswerScope(question, answer[0]), call.phase)
        else:
            self._give(call, question, answer[0])

    def _answer_result(self, call: Call, choice: str | None) -> None:
        match choice:
            case "deliver" if call.outcome is not None:
                self._respond(call, call.outcome, None, result="deliver")
            case "edit":
                self._ask(call, topics.AskEditedResult(), call.phase)
            case _:
                self._respond(call, Succeeded(responses.WITHHELD), None, result="withhold")

    def _answer_edited_result(self, call: Call, text: str | None) -> None:
        """An edited result is a good one; emptied or unchanged, the original is delivered."""
        assert call.outcome is not None, "a result is edited once there is one"
        if text is None or not text.strip() or text == call.outcome.content:
            self._respond(call, call.outcome, None, result="deliver")
        else:
            self._respond(call, Succeeded(text), None, result="edit", is_result_edited=True)

    def _dismiss(self, call: Call, topic: Topic) -> None:
        """Closing a question is the harmless answer to it."""
        match topic:
            case topics.AskRun() | topics.AskRunScope() | topics.AskSkipReason():
                self._skip(call)
            case topics.AskArguments():
                self._skip(call, responses.EDIT_CANCELLED)
            case (
                topics.AskRunMode()
                | topics.AskRunModeScope()
                | topics.AskResultMode()
                | topics.AskResultModeScope()
            ):
                self._ask(call, topics.AskRun(), call.phase)
            case topics.AskQuestion():
                self._close_inquiry(call, Cancelled("user"))
                self._respond(call, Succeeded(responses.INPUT_CANCELLED), None)
            case topics.AskAnswerScope(question, answer):
                self._give(call, question, answer)
            case topics.AskResult():
                self._respond(call, Succeeded(responses.WITHHELD), None, result="withhold")
            case topics.AskEditedResult():
                self._answer_edited_result(call, None)
            case _:
                assert_never(topic)

    def _could_not_ask(self, call: Call, topic: Topic) -> None:
        """What the client cannot show degrades (4.7 D); an approval that cannot be asked for is none."""
        match topic:
            case topics.AskRun():
                self._respond(call, Failed(responses.APPROVAL_FAILED), "unavailable")
            case topics.AskQuestion(question):
                self._answer_alone(call, question)
            case topics.AskArguments() if self._spec(call).policy.run_mode != "edit":
                self._ask(call, topics.AskRun(), call.phase)
            case topics.AskArguments():
                self._respond(call, Failed(responses.APPROVAL_FAILED), "unavailable")
            case _:
                self._dismiss(call, topic)
