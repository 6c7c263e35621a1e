"""The tools that are part of this program: describe, ask, tell (config-and-tools 4.10, query pipeline 7.4)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.toolset import ToolRun
from jp_lsp.tools.arguments import prepare_arguments
from jp_lsp.tools.builtin import BUILTIN_TOOLS
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.outcome import Failed, NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, ToolSpec
from jp_lsp.toolsets.builtin import BuiltinExecutor

pytestmark = pytest.mark.anyio


class Silent:
    def progress(self, message: str | None, percentage: int | None) -> None:
        raise AssertionError("these tools are done at once")


def a_run(
    name: str, arguments: JsonObject, answers: JsonObject | None = None, *, checked: bool = True
) -> ToolRun:
    """A run with its arguments prepared as the turn does it."""
    definition = BUILTIN_TOOLS[name].definition if name in BUILTIN_TOOLS else ToolDefinition(name, {})
    spec = ToolSpec(definition, BuiltinSource(name))
    prepared = prepare_arguments(spec, arguments)
    if checked:
        assert prepared.error is None, prepared.error
        arguments = prepared.arguments
    conversation = ConversationId("jp-c17000000000")
    return ToolRun(CallId("c1"), spec, arguments, answers or {}, conversation, "abcde", "/nowhere")


def offered(*definitions: ToolDefinition) -> list[ToolSpec]:
    ours = ToolSpec(BUILTIN_TOOLS["describe_tools"].definition, BuiltinSource("describe_tools"))
    return [*(ToolSpec(each, LocalSource(each.name, Command("run"))) for each in definitions), ours]


class Bench:
    def __init__(self, tools: Sequence[ToolSpec] = ()) -> None:
        self.executor = BuiltinExecutor(lambda run: tools)

    async def run(self, name: str, arguments: JsonObject, answers: JsonObject | None = None) -> ToolOutcome:
        return await self.executor.run(a_run(name, arguments, answers), Silent())


# ------------------------------------------------------------------------------------------ describe_tools

WHOLE = ToolDefinition(
    "find",
    {
        "text": Parameter("string", summary="What to find.", description="Long.\nStory.", examples="a*b"),
        "plain": Parameter("string", summary="Nothing more to say."),
        "only": Parameter("string", description="All there is."),
        "where": Parameter(
            "array",
            items=Parameter("object", properties={"line": Parameter("integer", summary="L.", examples="3")}),
        ),
    },
    summary="Finds notes.",
    description="It reads them all.",
    examples="find(a)\n",
)
SHORT = ToolDefinition("list", {}, summary="Lists notes.", description="By name.")
TERSE = ToolDefinition("terse", {"a": Parameter("string", summary="A.")}, description="All there is.")

FIND = """## find

Finds notes.

It reads them all.

### Examples

find(a)

### Parameters

#### `text`

What to find.

Long.
Story.

a*b

#### `only`

All there is.

#### `where[].line`

L.

3
"""
LIST = "## list\n\nLists notes.\n\nBy name.\n"
NONE = "No additional documentation available for: "

DESCRIBED: dict[str, tuple[list[JsonValue], str]] = {
    "one": (["find"], FIND),
    "two": (["find", "list"], f"{FIND}\n---\n\n{LIST}"),
    "one twice": (["list", "list"], LIST),
    "one with nothing more": (["terse"], f"{NONE}terse\n"),
    "an unknown one": (["gone", "terse"], f"{NONE}gone, terse\n"),
    "some of each": (["gone", "list", "describe_tools"], f"{LIST}\n---\n\n{NONE}gone, describe_tools\n"),
}


@pytest.mark.requirement("R275")
@pytest.mark.parametrize("case", DESCRIBED)
async def test_tools_are_described(case: str) -> None:
    wanted, text = DESCRIBED[case]
    bench = Bench(offered(WHOLE, SHORT, TERSE))
    assert await bench.run("describe_tools", {"tools": wanted}) == Succeeded(text)


async def test_parameters_are_described_where_that_is_all_there_is_to_say() -> None:
    tool = ToolDefinition("t", {"a": Parameter("string", summary="A.", examples="x")}, summary="T.")
    assert await Bench(offered(tool)).run("describe_tools", {"tools": ["t"]}) == Succeeded(
        "## t\n\nT.\n\n### Parameters\n\n#### `a`\n\nA.\n\nx\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "Missing or invalid `tools` parameter."),
        ({"tools": "find"}, "Missing or invalid `tools` parameter."),
        ({"tools": []}, "The `tools` array must not be empty."),
    ],
)
async def test_a_call_without_names_is_refused(arguments: JsonObject, text: str) -> None:
    run = a_run("describe_tools", arguments, checked=False)
    assert await Bench(offered(WHOLE)).executor.run(run, Silent()) == Failed(text)


# ------------------------------------------------------------------------------------------------ ask_user

QUESTIONS: dict[str, tuple[JsonObject, ToolQuestion]] = {
    "text": ({"question": " Which? "}, ToolQuestion("answer", "Which?", "text")),
    "text with all": (
        {"question": "Which?", "context": "a\nb", "answer_type": "text", "default": "x"},
        ToolQuestion("answer", "Which?", "text", "a\nb", (), "x"),
    ),
    "boolean": (
        {"question": "Sure?", "answer_type": "boolean", "default": False},
        ToolQuestion("answer", "Sure?", "boolean", None, (), default=False),
    ),
    "boolean with a word": (
        {"question": "Sure?", "answer_type": "boolean", "default": "True"},
        ToolQuestion("answer", "Sure?", "boolean", None, (), default=True),
    ),
    "select": (
        {
            "question": "Which?",
            "answer_type": "select",
            "options": ["a", "b"],
            "default": "b",
            "context": " ",
        },
        ToolQuestion("answer", "Which?", "select", None, ("a", "b"), "b"),
    ),
}


@pytest.mark.requirement("R276")
@pytest.mark.parametrize("case", QUESTIONS)
async def test_a_question_goes_to_the_user_alone_and_is_not_remembered(case: str) -> None:
    arguments, question = QUESTIONS[case]
    outcome = await Bench().run("ask_user", arguments)
    assert isinstance(outcome, NeedsInput)
    assert (outcome.question.is_exclusive, outcome.question.is_remembered) == (True, False)
    found = outcome.question
    assert (found.id, found.text, found.kind, found.context, found.options, found.default) == (
        question.id, question.text, question.kind, question.context, question.options, question.default
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "answer"), [("text", 'say "ü"'), ("boolean", False), ("select", "a"), ("text", "")]
)
async def test_the_answer_is_passed_on(kind: str, answer: JsonValue) -> None:
    arguments: dict[str, JsonValue] = {"question": "Which?", "answer_type": kind}
    if kind == "select":
        arguments["options"] = ["a", "b"]
    outcome = await Bench().run("ask_user", arguments, {"answer": answer})
    assert isinstance(outcome, Succeeded)
    assert json.loads(outcome.content) == {"answer_type": kind, "answer": answer}


INVALID: dict[str, tuple[JsonObject, str]] = {
    "blank": ({"question": " "}, "The `question` must not be empty."),
    "many lines": ({"question": "a\nb"}, "The `question` must be one line; put the rest into `context`."),
    "one option": (
        {"question": "?", "answer_type": "select", "options": ["a"]},
        "The answer type `select` needs two or more `options`.",
    ),
    "no options": (
        {"question": "?", "answer_type": "select"},
        "The answer type `select` needs two or more `options`.",
    ),
    "equal options": (
        {"question": "?", "answer_type": "select", "options": ["a", "a"]},
        "The `options` must be different from each other.",
    ),
    "an empty option": (
        {"question": "?", "answer_type": "select", "options": ["a", " "]},
        "The `options` must be an array of texts that are not empty.",
    ),
    "options of a text": (
        {"question": "?", "options": ["a", "b"]},
        "`options` belong to the answer type `select`.",
    ),
    "a default that is no option": (
        {"question": "?", "answer_type": "select", "options": ["a", "b"], "default": "c"},
        "The `default` must be one of the `options`.",
    ),
    "a default that is no boolean": (
        {"question": "?", "answer_type": "boolean", "default": "maybe"},
        "The `default` of a boolean must be true or false.",
    ),
    "a default that is no text": (
        {"question": "?", "default": True},
        "The `default` of a text must be a text.",
    ),
}


@pytest.mark.parametrize("case", INVALID)
async def test_what_makes_no_question_is_answered_at_once(case: str) -> None:
    arguments, text = INVALID[case]
    assert await Bench().run("ask_user", arguments) == Failed(text)
    assert await Bench().run("ask_user", arguments, {"answer": "x"}) == Failed(text)


@pytest.mark.parametrize(
    "arguments",
    [{"question": 3}, {"question": "?", "answer_type": "number"}, {"question": "?", "options": "ab"}, {}],
)
async def test_arguments_that_were_not_checked_do_not_break_it(arguments: Any) -> None:
    outcome = await Bench().executor.run(a_run("ask_user", arguments, checked=False), Silent())
    assert isinstance(outcome, Failed)


# ----------------------------------------------------------------------------------------------- tell_user


async def test_a_message_is_acknowledged() -> None:
    """Showing it is the view's: it knows the call, live and when the turn is shown again."""
    assert await Bench().run("tell_user", {"message": "**Half** done"}) == Succeeded("Message shown to user.")


@pytest.mark.parametrize("arguments", [{}, {"message": " \n"}, {"message": 3}])
async def test_nothing_to_tell_is_an_error(arguments: Any) -> None:
    run = a_run("tell_user", arguments, checked=False)
    assert await Bench().executor.run(run, Silent()) == Failed("The `message` must not be empty.")


# ------------------------------------------------------------------------------------------------- others


async def test_an_unknown_tool_and_an_editor_that_is_not_there() -> None:
    assert await Bench().run("other", {}) == Failed("There is no built-in tool 'other'.")
    assert await Bench().run("editor_list_documents", {}) == Failed(
        "No editor is connected that has documents."
    )
