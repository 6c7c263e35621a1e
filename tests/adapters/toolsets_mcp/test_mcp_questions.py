"""What servers ask while a tool runs: forms and addresses for the user, folders, models."""

import json
from typing import Any

import anyio
import pytest

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.toolset import NoReply, Reply
from jp_lsp.tools.outcome import Failed, Succeeded, ToolQuestion
from jp_lsp.toolsets.mcp.elicitation import MAX_ATTEMPTS, Filled, fill_form, visit_address
from jp_lsp.toolsets.mcp.executor import McpExecutor
from tests.adapters.toolsets_mcp.scripted import Observer, Stopwatch, User, run_of, watched_pool

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["handshake", "modern"])


def form_of(message: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


class Script:
    """Answers questions in order."""

    def __init__(self, *replies: Reply | NoReply) -> None:
        self.replies = list(replies)
        self.questions: list[ToolQuestion] = []

    async def __call__(self, question: ToolQuestion) -> Reply | NoReply:
        self.questions.append(question)
        return self.replies.pop(0)


async def fill(node: dict[str, Any], *answers: JsonValue, required: bool = True) -> tuple[Any, Script]:
    script = Script(*map(Reply, answers))
    schema: dict[str, Any] = {"properties": {"x": node}, "required": ["x"] if required else []}
    result = await fill_form("notes", "Please say.", schema, script)
    assert script.replies == [], "not every answer was asked for"
    return result.content if isinstance(result, Filled) else result, script


# ------------------------------------------------------------------------------------------ fields


TITLED = {"oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]}
SAME_TITLES = {"oneOf": [{"const": "1", "title": "One"}, {"const": "2", "title": "One"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1}
SEVERAL_TITLED = {"type": "array", "items": {"anyOf": TITLED["oneOf"]}, "default": ["g"]}

FIELDS: dict[str, tuple[dict[str, Any], JsonValue, JsonValue, str]] = {
    "text": ({"type": "string"}, "hello", "hello", "text"),
    "no type": ({}, "hello", "hello", "text"),
    "secret": ({"type": "string", "format": "password"}, "s", "s", "secret"),
    "whole number": ({"type": "integer"}, " 42 ", 42, "text"),
    "number": ({"type": "number"}, "1.5", 1.5, "text"),
    "yes or no": ({"type": "boolean"}, False, False, "boolean"),
    "choice": ({"type": "string", "enum": ["a", "b"]}, "b", "b", "select"),
    "named choice": ({"enum": ["a", "b"], "enumNames": ["A!", "B!"]}, "B!", "b", "select"),
    "titled choice": (TITLED, "Green", "g", "select"),
    "equal titles": (SAME_TITLES, "2", "2", "select"),
    "several": (SEVERAL, "c, a ,c,", ["c", "a"], "text"),
    "several titled": (SEVERAL_TITLED, "Red", ["r"], "text"),
}


@pytest.mark.parametrize(("node", "answer", "value", "kind"), FIELDS.values(), ids=FIELDS)
async def test_a_field_becomes_a_question(
    node: dict[str, Any], answer: JsonValue, value: JsonValue, kind: str
) -> None:
    content, script = await fill(node, answer)
    assert content == {"x": value}
    (question,) = script.questions
    assert question.kind == kind
    assert question.id == "x"
    assert question.context == "notes asks: Please say."
    assert question.is_exclusive, "a model must not answer in the user's place"
    assert not question.is_remembered


MISFITS: dict[str, tuple[dict[str, Any], JsonValue, JsonValue, str]] = {
    "no whole number": ({"type": "integer"}, "1.5", "1", "a whole number is needed"),
    "no number": ({"type": "number"}, "one", "1", "a number is needed"),
    "infinite": ({"type": "number"}, "inf", "1", "a number is needed"),
    "not a number": ({"type": "number"}, "nan", "1", "a number is needed"),
    "too small": ({"type": "integer", "minimum": 0}, "-1", "0", "it must be at least 0"),
    "too large": ({"type": "number", "maximum": 1.5}, "2", "1", "it must be at most 1.5"),
    "too short": ({"type": "string", "minLength": 2}, "a", "ab", "at least 2 characters are needed"),
    "too long": ({"type": "string", "maxLength": 2}, "abc", "ab", "at most 2 characters are allowed"),
    "no address": ({"type": "string", "format": "email"}, "me", "me@x", "an e-mail address is needed"),
    "no URI": (
        {"type": "string", "format": "uri"},
        "x",
        "x:y",
        "an address such as https://example.com is needed",
    ),
    "no date": (
        {"type": "string", "format": "date"},
        "1.2.",
        "2030-01-02",
        "a date such as 2030-12-31 is needed",
    ),
    "no time": (
        {"type": "string", "format": "date-time"},
        "2030-01-02",
        "2030-01-02T03:04:05Z",
        "a time such as 2030-12-31T12:00:00Z is needed",
    ),
    "no choice": (TITLED, "Blue", "Red", "one of the choices is needed"),
    "no boolean": ({"type": "boolean"}, "yes", True, "yes or no is needed"),
    "no text": ({"type": "string"}, 5, "5", "a text is needed"),
    "none of several": (SEVERAL, "a, d", "a", "d is none of the choices"),
    "too few": (SEVERAL, "", "a", "at least 1 choices are needed"),
}


@pytest.mark.parametrize(("node", "bad", "good", "reason"), MISFITS.values(), ids=MISFITS)
async def test_an_answer_that_does_not_fit_is_asked_for_again(
    node: dict[str, Any], bad: JsonValue, good: JsonValue, reason: str
) -> None:
    content, script = await fill(node, bad, good)
    assert isinstance(content, dict)
    assert [question.context for question in script.questions] == [
        "notes asks: Please say.",
        f"notes asks: Please say.\n\n{reason}",
    ]


async def test_a_user_who_never_fits_cancels() -> None:
    content, script = await fill({"type": "integer"}, *["x"] * MAX_ATTEMPTS)
    assert content == "cancel"
    assert len(script.questions) == MAX_ATTEMPTS


DEFAULTS: dict[str, tuple[dict[str, Any], JsonValue]] = {
    "text": ({"type": "string", "default": "d"}, "d"),
    "number": ({"type": "integer", "default": 3}, "3"),
    "yes or no": ({"type": "boolean", "default": False}, False),
    "wrong": ({"type": "boolean", "default": "x"}, None),
    "choice": ({**TITLED, "default": "g"}, "Green"),
    "unknown choice": ({**TITLED, "default": "b"}, None),
    "several": (SEVERAL_TITLED, "Green"),
    "nothing": ({"type": "string", "default": None}, None),
    "odd": ({"type": "string", "default": {}}, None),
}


@pytest.mark.parametrize(("node", "default"), DEFAULTS.values(), ids=DEFAULTS)
async def test_defaults_are_offered(node: dict[str, Any], default: JsonValue) -> None:
    script = Script("dismissed")
    await fill_form("notes", "m", {"properties": {"x": node}}, script)
    assert script.questions[0].default == default


@pytest.mark.parametrize(
    ("node", "answer"), [({"type": "string"}, " "), (TITLED, "(leave out)"), (SEVERAL, "")], ids=str
)
async def test_a_field_that_need_not_be_there_may_be_left_out(node: dict[str, Any], answer: str) -> None:
    content, _ = await fill(node, answer, required=False)
    assert content == {}


async def test_questions_are_one_line_and_name_the_field() -> None:
    node = {"type": "string", "title": "Your\nname", "description": "as in\n\nthe passport"}
    _, script = await fill(node, "x", required=False)
    assert script.questions[0].text == "Your name: as in the passport (may be empty)"


async def test_fields_are_asked_in_order_until_one_is_refused() -> None:
    schema: Any = {"properties": {name: {"type": "string"} for name in "abc"}}
    script = Script(Reply("1"), "declined")
    assert await fill_form("notes", "m", schema, script) == "decline"
    assert [question.id for question in script.questions] == ["a", "b"]


NO_REPLIES = pytest.mark.parametrize(
    ("reply", "result"),
    [("declined", "decline"), ("dismissed", "cancel"), (Reply(False), "decline"), (Reply(True), Filled())],
    ids=str,
)


@NO_REPLIES
async def test_a_form_without_fields_is_a_confirmation(reply: Any, result: Any) -> None:
    script = Script(reply)
    assert await fill_form("notes", "Delete all?", {"properties": {}}, script) == result
    assert script.questions[0].text == "notes asks: Delete all?"


@NO_REPLIES
async def test_an_address_is_shown_and_confirmed(reply: Any, result: Any) -> None:
    script = Script(reply)
    assert await visit_address("notes", "Log in.", "https://example.com/x?y=z", script) == result
    assert "https://example.com/x?y=z" in script.questions[0].text
    assert script.questions[0].context == "Log in.\n\nhttps://example.com/x?y=z"


@pytest.mark.parametrize("schema", [{}, {"properties": 5}, {"properties": {"x": 5}, "required": 7}], ids=str)
async def test_a_broken_form_asks_something_or_nothing_but_breaks_nothing(schema: Any) -> None:
    assert await fill_form("notes", "m", schema, Script("dismissed")) == "cancel"


async def test_an_endless_form_is_declined() -> None:
    schema = {"properties": {str(number): {} for number in range(51)}}
    assert await fill_form("notes", "m", schema, Script()) == "decline"


# ------------------------------------------------------------------------------------------ real servers


async def ask(form: Any, user: User | None, *, era: str = "handshake") -> Any:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(form=form, era=era)}, user)
        outcome = await executor.run(run_of("ask"), Observer())
        assert isinstance(outcome, Succeeded)
        return json.loads(outcome.content)


@ERAS
async def test_a_form_is_filled_by_the_user(era: str) -> None:
    form = form_of("Who?", name={"type": "string"}, age={"type": "integer"}, old={"type": "boolean"})
    user = User(name=Reply("Anna \ud83d"), age=[Reply("x"), Reply("7")], old=Reply(False))
    answered = await ask(form, user, era=era)
    assert answered["action"] == "accept"
    assert answered["content"] == {"name": "Anna ?", "age": 7, "old": False}
    assert [question.id for question in user.asked] == ["name", "age", "age", "old"]
    assert user.runs == ["call_1"] * 4


@pytest.mark.parametrize(("reply", "action"), [("declined", "decline"), ("dismissed", "cancel")])
@ERAS
async def test_a_refusal_is_passed_on(reply: NoReply, action: str, era: str) -> None:
    answered = await ask(form_of("Who?", name={"type": "string"}), User(name=reply), era=era)
    assert answered["action"] == action
    assert answered.get("content") is None


async def test_without_a_user_forms_are_declined() -> None:
    assert (await ask(form_of("Who?", name={"type": "string"}), None))["action"] == "decline"


async def test_an_address_is_opened_by_the_user() -> None:
    form = {"mode": "url", "message": "Log in.", "url": "https://example.com/", "elicitationId": "e"}
    assert await ask(form, User(open=Reply(True))) == {"action": "accept"}


@ERAS
async def test_cancelling_withdraws_the_question(era: str) -> None:
    async with watched_pool() as (watching, servers):
        user, stopwatch = User(name=None), Stopwatch()
        form = form_of("Who?", name={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form, era=era)}, user)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(executor.run, run_of("ask"), Observer())
            await user.is_asked.wait()
            stopwatch.start()
            tasks.cancel_scope.cancel()
        assert stopwatch.seconds < 0.1
        assert await executor.run(run_of("echo", {"text": "next"}), Observer()) == Succeeded("next")
        assert user.was_withdrawn


async def test_the_time_for_an_answer_is_not_the_tools() -> None:
    async with watched_pool() as (watching, servers):
        user = User(name=None)
        form = form_of("Who?", name={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form)}, user)
        await executor.run(run_of("echo", {"text": ""}), Observer())
        with anyio.move_on_after(0.4) as waiting:
            await executor.run(run_of("ask", timeout=0.2), Observer())
        assert waiting.cancelled_caught, "it went on waiting for the user beyond the tool's limit"


async def test_after_an_answer_the_limit_counts_again() -> None:
    async with watched_pool() as (watching, servers):
        form = form_of("Who?", name={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form)}, User(name=Reply("x")))
        outcome = await executor.run(run_of("ask_and_hang", timeout=0.2), Observer())
        assert outcome.content == "Tool 'ask_and_hang' timed out after 0.2 s."


async def test_with_several_calls_the_one_that_began_last_is_asked() -> None:
    async with watched_pool() as (watching, servers):
        user = User(name=Reply("x"))
        form = form_of("Who?", name={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form)}, user)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(executor.run, run_of("never", call="first"), Observer())
            process = await watching.next_process()
            await process.wait_for("tools/call")
            await executor.run(run_of("ask", call="second"), Observer())
            assert user.runs == ["second"]
            tasks.cancel_scope.cancel()


async def test_a_question_outlives_a_call_that_it_cannot_have_been_of() -> None:
    """The older protocol does not say which of the running calls asks; one that has ended does not."""
    async with watched_pool() as (watching, servers):
        user = User(who=[None, Reply("x")], where=Reply("y"))
        form = form_of("Who?", who={"type": "string"}, where={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form)}, user)
        outcomes: dict[str, Succeeded | Failed] = {}

        async def run(tool: str, call: str) -> None:
            outcomes[call] = await executor.run(run_of(tool, call=call), Observer())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, "hold_and_ask", "first")
            process = await watching.next_process()
            await process.wait_for("tools/call")
            async with anyio.create_task_group() as second:
                second.start_soon(run, "never", "second")
                await process.wait_for("tools/call")
                process.go_on()
                await user.is_asked.wait()
                second.cancel_scope.cancel()
        assert user.runs == ["second", "first", "first"]
        assert json.loads(outcomes["first"].content)["content"] == {"who": "x", "where": "y"}


async def test_the_newer_protocol_tells_which_call_asks() -> None:
    async with watched_pool() as (watching, servers):
        user = User(name=Reply("x"))
        form = form_of("Who?", name={"type": "string"})
        executor = McpExecutor(servers, {"notes": watching.server(form=form, era="modern")}, user)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(executor.run, run_of("hold_and_ask", call="first"), Observer())
            process = await watching.next_process()
            await process.wait_for("tools/call")
            tasks.start_soon(executor.run, run_of("never", call="second"), Observer())
            await process.wait_for("tools/call")
            process.go_on()
            await user.is_asked.wait()
            assert user.runs == ["first"]
            tasks.cancel_scope.cancel()


@ERAS
async def test_the_workspace_is_the_only_root(era: str, tmp_path: Any) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(era=era)})
        outcome = await executor.run(run_of("roots", root=folder), Observer())
        answered = json.loads(outcome.content)
        assert answered["roots"] == [{"uri": folder.as_uri(), "name": "a b"}]


async def sample(era: str) -> Succeeded | Failed:
    async with watched_pool() as (watching, servers):
        executor = McpExecutor(servers, {"notes": watching.server(era=era)})
        outcome = await executor.run(run_of("sample"), Observer())
        process = await watching.next_process()
        await process.wait_for("tools/call")
        assert "elicitation" in json.dumps(process.messages)
        assert "sampling" not in json.dumps(process.messages)
        return outcome


async def test_a_models_answer_is_not_offered_and_politely_declined() -> None:
    assert json.loads((await sample("handshake")).content)["message"] == "Sampling not supported"
    assert (
        await sample("modern")
    ).content == "MCP server 'notes' refused: Sampling not supported (code -32600)"
