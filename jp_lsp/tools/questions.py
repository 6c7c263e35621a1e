"""The questions about a call, as the user sees them (query pipeline 3.3, 3.4, 3.8).

Messages are short, because editors cut long ones; arguments and results are in the transcript. The harmless
choice stands first.
"""

import json
from typing import assert_never

from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools import call as topics
from jp_lsp.tools.call import Call, Topic
from jp_lsp.tools.decision import Choice, Decision, DecisionId, DecisionKind
from jp_lsp.tools.memory import SCOPES
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.tools.spec import BuiltinSource, LocalSource, McpSource

RUN_CHOICES = (
    Choice("skip", "Skip"),
    Choice("run", "Run"),
    Choice("edit", "Edit arguments..."),
    Choice("skip_with_reason", "Skip with a reason..."),
    Choice("run_remember", "Run, and remember..."),
    Choice("skip_remember", "Skip, and remember..."),
    Choice("change_run_mode", "Change how it runs..."),
    Choice("change_result_mode", "Change how results are delivered..."),
    Choice("print_args", "Show raw arguments"),
)
RESULT_CHOICES = (
    Choice("withhold", "Don't deliver"),
    Choice("deliver", "Deliver"),
    Choice("edit", "Edit first..."),
)
RUN_MODE_CHOICES = (
    Choice("ask", "Ask each time"),
    Choice("unattended", "Run without asking"),
    Choice("edit", "Edit arguments each time"),
    Choice("skip", "Never run"),
)
RESULT_MODE_CHOICES = (
    Choice("ask", "Ask before delivering"),
    Choice("unattended", "Deliver without asking"),
    Choice("edit", "Edit each result"),
    Choice("skip", "Never deliver"),
)
SCOPE_CHOICES = tuple(Choice(scope, words.capitalize()) for scope, words in SCOPES)
MODE_SCOPE_CHOICES = SCOPE_CHOICES[:2]

YES, NO = Choice("yes", "Yes"), Choice("no", "No")
REMEMBER = ":remember"
"""Behind the id of a choice: this answer, and remember it."""


def question_about(
    call: Call, topic: Topic, id: DecisionId, *, problem: str | None = None, value: str | None = None
) -> Decision:
    """Build the question. `problem` says what was wrong with the last answer, `value` pre-fills a text."""

    def ask(
        kind: DecisionKind,
        message: str,
        choices: tuple[Choice, ...] = (),
        *,
        value: str | None = None,
        language: str | None = None,
    ) -> Decision:
        text = f"{message} ({problem})" if problem else message
        return Decision(id, kind, text, choices, value=value, language=language, call_id=call.id)

    match topic:
        case topics.AskRun():
            again = " It may have run already, before the turn was cut off." if call.may_have_run else ""
            return ask("approval", f"Run {_describe(call)}?{again}", RUN_CHOICES)
        case topics.AskRunScope(permission):
            verb = "Run" if permission == "run" else "Skip"
            return ask("pick", f"{verb} {call.name} for how long?", SCOPE_CHOICES)
        case topics.AskSkipReason():
            return ask("text", f"Why skip {call.name}?")
        case topics.AskArguments():
            text = value if value is not None else _pretty(call.arguments)
            return ask("edit", f"Arguments of {call.name}", value=text, language="json")
        case topics.AskRunMode():
            return ask("pick", f"How should {call.name} run?", RUN_MODE_CHOICES)
        case topics.AskResultMode():
            return ask("pick", f"How should results of {call.name} be delivered?", RESULT_MODE_CHOICES)
        case topics.AskRunModeScope() | topics.AskResultModeScope():
            return ask("pick", "For how long?", MODE_SCOPE_CHOICES)
        case topics.AskQuestion(question):
            return ask_tool_question(call.name, call.id, question, id, problem)
        case topics.AskAnswerScope():
            return ask("pick", "Remember the answer for how long?", SCOPE_CHOICES)
        case topics.AskResult():
            size = len(call.outcome.content.encode("utf-8", "replace")) if call.outcome else 0
            return ask("approval", f"Deliver the result of {call.name} ({size} bytes)?", RESULT_CHOICES)
        case topics.AskEditedResult():
            text = value if value is not None else (call.outcome.content if call.outcome else "")
            return ask("edit", f"Result of {call.name}", value=text, language="text")
        case _:
            assert_never(topic)


def read_answer(question: ToolQuestion, choice: str | None, text: str | None) -> tuple[JsonValue] | None:
    """Read an answer to a tool's question; `None` is one that does not fit.

    The value comes in a tuple, since it may be false.
    """
    given = choice.removesuffix(REMEMBER) if choice is not None else text
    if given is None:
        return None
    match question.kind:
        case "boolean":
            value = {"yes": True, "no": False, "true": True, "false": False}.get(given.strip().lower())
            return None if value is None else (value,)
        case "select":
            return (given,) if given in question.options else None
        case "text" | "secret":
            return (given,)
        case _:
            assert_never(question.kind)


def fits(question: ToolQuestion, answer: JsonValue) -> bool:
    """Tell whether a configured, remembered or inferred answer is one the question takes."""
    match question.kind:
        case "boolean":
            return isinstance(answer, bool)
        case "select":
            return isinstance(answer, str) and answer in question.options
        case "text" | "secret":
            return isinstance(answer, str)
        case _:
            assert_never(question.kind)


def ask_tool_question(
    tool: str, call: CallId, question: ToolQuestion, id: DecisionId, problem: str | None = None
) -> Decision:
    """Build the question that a tool asks."""
    message = f"{tool}: {question.text}" + (f" ({problem})" if problem else "")
    default = question.default if fits(question, question.default) else None
    match question.kind:
        case "boolean":
            yes, no = (YES, NO) if default is not False else (NO, YES)
            choices = tuple(_marked(choice, default is not None and choice is yes) for choice in (yes, no))
            if question.is_remembered:
                choices += tuple(
                    Choice(choice.id + REMEMBER, f"{choice.title}, and remember...") for choice in (yes, no)
                )
            return Decision(id, "pick", message, choices, detail=question.context, call_id=call)
        case "select":
            options = tuple(_marked(Choice(option, option), option == default) for option in question.options)
            return Decision(id, "pick", message, options, detail=question.context, call_id=call)
        case "text" | "secret":
            value = default if isinstance(default, str) and question.kind == "text" else None
            kind: DecisionKind = "secret" if question.kind == "secret" else "text"
            return Decision(id, kind, message, (), question.context, value, call_id=call)
        case _:
            assert_never(question.kind)


def _marked(choice: Choice, is_default: bool) -> Choice:
    return Choice(choice.id, f"{choice.title} (default)") if is_default else choice


def _describe(call: Call) -> str:
    match call.spec and call.spec.source:
        case McpSource(server=server):
            return f"mcp tool {call.name} from server {server}"
        case BuiltinSource():
            return f"builtin tool {call.name}"
        case LocalSource():
            return f"local tool {call.name}"
        case _:
            return f"tool {call.name}"


def _pretty(arguments: JsonValue) -> str:
    return json.dumps(arguments, indent=2, ensure_ascii=False)
