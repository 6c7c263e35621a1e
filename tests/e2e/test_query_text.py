"""Where the text of a query comes from, as clients meet it: a template, a document of the editor, one line."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, fault_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.query_process import run_query
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R221")]

EDITS = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "edit"]}, "chunks": True}}}
OPENS_DOCUMENTS = {"window": {"showDocument": {"support": True}}}

RULE = "-" * 72
EMPTY = f"""\


---8<---{"-" * 64}
Nothing below this line is part of the query. The settings may be changed.
{RULE}

# Active Configuration

```toml
[assistant.model]
id = "llamacpp/tiny"
# parameters.reasoning = "auto"
```
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def editor(user: UserFolders) -> AsyncIterator[JpClient]:
    """An editor that shows documents of ours as its own."""
    async with initialized_server(user, capabilities=EDITS) as server:
        yield server.client


@pytest.fixture
def screen(editor: JpClient) -> Screen:
    screen = Screen()
    editor.answers["jp/prompt"] = screen.show
    return screen


def written(document: str, query: str, **changes: str) -> dict[str, Any]:
    """What a user makes of a document."""
    for old, new in changes.items():
        assert old in document
        document = document.replace(old, new)
    return {"text": query + document.removeprefix("\n")}


# Templates.


@pytest.mark.requirement("R234", "R344")
async def test_a_template_is_filled_in(client: JpClient, vendor: ChatVendor, user: UserFolders) -> None:
    vendor.will_answer(answer("ok"))
    values = ["template.values.file=main.py", 'template.values.why:={"short": "slow"}']
    asked = {"conversation": "new", "config": values, "template": True}
    result = await client.query("Why is {{ file }} {{ why.short }}?", "template", **asked)
    assert user.story(result["conversation"]) == ["turn", "user: Why is main.py slow?", "message: ok"]
    vendor.will_answer(answer("ok"))  # values are settings: they last in the conversation
    again = {"conversation": result["conversation"], "template": True}
    await client.query("And {{ file }}?", "template-2", **again)
    assert "user: And main.py?" in user.story(result["conversation"])


@pytest.mark.requirement("R234", "R344")
async def test_an_unknown_variable_begins_no_turn(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("ok"))
    conversation = (await client.query("hi", "known", conversation="new"))["conversation"]
    before, asked = user.events(conversation), len(vendor.queries)
    params = {"conversation": conversation, "text": "Why {{ x }}?", "template": True}
    fault = await client.refusal("jp/query", params)
    assert fault.message == "Undefined template variable: x. Set `template.values.x`."
    assert (fault.data["code"], fault.data["draft"]) == ("invalid_params", "Why {{ x }}?")
    assert (user.events(conversation), len(vendor.queries)) == (before, asked)
    assert (user.folder_of(conversation) / "QUERY_MESSAGE.md").read_text(encoding="utf-8") == "Why {{ x }}?"


async def test_the_terminal_fills_in_templates(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor
) -> None:
    user = UserFolders(tmp_path, shared_vendor.url)
    vendor.will_answer(answer("Because."))

    assert run_query(user, "--template", "--cfg", "template.values.x=main.py", "Why {{ x }}?")[:2] == (
        0,
        "Because.\n",
    )
    assert vendor.last_message == "Why main.py?"
    code, out, said = run_query(user, "--new", "--template", "Why {{ y }}?")
    assert (code, out) == (2, "")
    assert "Undefined template variable: y. Set `template.values.y`." in said


# The document.


@pytest.mark.requirement("R235", "R328")
async def test_a_query_is_written_in_a_document(
    editor: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    vendor.will_answer(answer("A test."), to="What is this?")
    _, future = editor.start_query("", "write", conversation="new")
    asked = await screen.next_question()
    assert (asked.params["kind"], asked.params["message"]) == ("edit", "What do you want to ask?")
    assert (asked.params["value"], asked.params["language"]) == (EMPTY, "markdown")
    asked.answer(written(EMPTY, "What is this?"))
    result = await result_of(future)
    assert result["outcome"] == "completed"
    assert user.story(result["conversation"]) == ["turn", "user: What is this?", "message: A test."]


@pytest.mark.requirement("R235")
async def test_a_model_that_is_named_in_the_document_answers_this_very_query(
    editor: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    vendor.will_answer(answer("Me."), to="Who?")
    _, future = editor.start_query("", "model", conversation="new")
    (await screen.next_question()).answer(written(EMPTY, "Who?", **{"llamacpp/tiny": "llamacpp/other"}))
    result = await result_of(future)
    assert vendor.queries[-1]["model"] == "other"
    vendor.will_answer(answer("Still me."), to="And now?")
    await editor.query("And now?", "model-2", conversation=result["conversation"])
    assert vendor.queries[-1]["model"] == "other"
    assert json.dumps(user.events(result["conversation"])).count('"other"') >= 1


@pytest.mark.requirement("R235", "R344")
@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("id = ", "this is no TOML: Invalid value (at line 2, column 6)"),
        (
            'idd = "a"',
            '--cfg assistant.model.idd:="a": `assistant.model.idd`: unknown key; did you mean '
            "`assistant.model.id`?",
        ),
    ],
)
async def test_wrong_settings_open_the_document_again(
    editor: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders, wrong: str, problem: str
) -> None:
    query = f"Hi {len(problem)}"
    vendor.will_answer(answer("ok"), to=query)
    _, future = editor.start_query("", f"wrong-{wrong}", conversation="new")
    (await screen.next_question()).answer(written(EMPTY, query, **{'id = "llamacpp/tiny"': wrong}))
    reopened = await screen.next_question()
    again = reopened.params["value"]
    note, _, rest = again.partition("\n")
    assert note == f"<!-- The settings below cannot be used: {problem} -->"
    assert rest.startswith(f"\n{query}\n\n---8<---")
    assert f"\n{wrong}\n" in rest
    reopened.answer(written(EMPTY, query))
    result = await result_of(future)
    assert user.story(result["conversation"])[1] == f"user: {query}"


@pytest.mark.requirement("R235", "R344")
async def test_a_draft_is_what_one_begins_with_and_goes_once_it_is_asked(
    editor: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    vendor.will_answer(answer("ok"))
    conversation = (await editor.query("hi", "draft", conversation="new"))["conversation"]
    draft = user.folder_of(conversation) / "QUERY_MESSAGE.md"
    draft.write_text("Half a question", encoding="utf-8")
    _, future = editor.start_query("", "draft-2", conversation=conversation)
    asked = await screen.next_question()
    assert asked.params["value"].startswith("Half a question\n\n---8<---")
    assert asked.params["value"].endswith("\n# What was said last, to look at\n\n**You:** hi\n\nok\n")
    asked.answer(None)
    assert (await result_of(future))["outcome"] == "empty_query"
    assert draft.read_text(encoding="utf-8") == "Half a question"
    vendor.will_answer(answer("ok"), to="A whole one")
    _, future = editor.start_query("", "draft-3", conversation=conversation)
    (await screen.next_question()).answer({"text": "A whole one"})
    assert (await result_of(future))["outcome"] == "completed"
    assert not draft.exists()


@pytest.mark.requirement("R235")
@pytest.mark.parametrize("given", [None, {"text": " \n"}, {}], ids=["dismissed", "blank", "nothing"])
async def test_without_a_text_nothing_comes_of_it(
    editor: JpClient, screen: Screen, given: dict[str, Any] | None
) -> None:
    listed = await ids(editor)
    token = f"none-{given}"
    _, future = editor.start_query("", token, conversation="new")
    (await screen.next_question()).answer(given)
    result = await result_of(future)
    assert (result["outcome"], result["persisted"]) == ("empty_query", False)
    assert "conversation" not in result
    assert await ids(editor) == listed


async def ids(client: JpClient) -> list[str]:
    listed = await client.request("jp/conversation/list")
    return [each["conversation"] for each in listed["conversations"]]


@pytest.mark.requirement("R235")
async def test_who_must_not_be_asked_is_not_asked(editor: JpClient, screen: Screen) -> None:
    result = await editor.query("", "quiet", conversation="new", interactive=False)
    assert (result["outcome"], screen.questions) == ("empty_query", [])


@pytest.mark.requirement("R235", "R340", "R344")
async def test_an_editor_that_only_opens_documents(user: UserFolders, vendor: ChatVendor) -> None:
    async with initialized_server(user, capabilities=OPENS_DOCUMENTS) as server:
        client, screen = server.client, Screen()
        client.answers["window/showDocument"] = lambda params: {"success": True}
        client.answers["window/showMessageRequest"] = screen.show
        vendor.will_answer(answer("A test."), to="What is this?")
        _, future = client.start(
            "workspace/executeCommand", {"command": "jp.query", "arguments": [{"conversation": "new"}]}
        )
        question = await screen.next_question()
        document = path_of(client.received("window/showDocument")[-1]["uri"])
        assert document.name.startswith("what-do-you-want-to-ask-")
        assert document.read_text(encoding="utf-8") == EMPTY
        document.write_text(f"What is this?{EMPTY}", encoding="utf-8")
        question.answer({"title": "Send"})
        result = await result_of(future)
        assert user.story(result["conversation"])[1:] == ["user: What is this?", "message: A test."]
        assert not document.exists()

        number, future = client.start("jp/query", {"conversation": result["conversation"]})
        await screen.next_question()
        document = path_of(client.received("window/showDocument")[-1]["uri"])
        document.write_text(f"Half a question{EMPTY}", encoding="utf-8")
        client.cancel(number)
        fault = await fault_of(future)
        assert (fault.code, fault.data["draft"]) == (-32800, "Half a question")
        draft = user.folder_of(result["conversation"]) / "QUERY_MESSAGE.md"
        assert draft.read_text(encoding="utf-8") == "Half a question"
        assert not document.exists()


def path_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
