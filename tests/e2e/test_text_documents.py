"""Texts from an editor that knows nothing of us but opens documents: the installed program, a file, two buttons."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.held_query import HeldQuery
from tests.support.jp_client import PATIENCE, JpClient, Json, result_of
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen, Shown
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R334")]

OPENS_DOCUMENTS = {"window": {"showDocument": {"support": True}}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(user: UserFolders) -> AsyncIterator[JpClient]:
    """An editor that knows standard LSP."""
    async with initialized_server(user, capabilities=OPENS_DOCUMENTS) as server:
        server.client.answers["window/showDocument"] = lambda params: {"success": True}
        yield server.client


@pytest.fixture
def screen(client: JpClient) -> Screen:
    screen = Screen()
    client.answers["window/showMessageRequest"] = screen.show
    return screen


def press(question: Shown, title: str) -> None:
    """Press a button."""
    titles = [action["title"] for action in question.params["actions"]]
    assert title in titles, titles
    question.answer({"title": title})


def opened(client: JpClient) -> Path:
    """The document that was opened last."""
    return path_of(client.received("window/showDocument")[-1])


def path_of(params: Json) -> Path:
    return Path(unquote(urlsplit(params["uri"]).path))


async def begin_reply(query: HeldQuery, screen: Screen) -> Shown:
    """Interrupt, and choose to reply."""
    await query.press()
    press(await screen.next_question(), "Reply")
    return await screen.next_question()


@pytest.mark.requirement("R138", "R157", "S24")
async def test_a_reply_that_was_written_in_a_document_opens_a_turn(
    client: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    query = await HeldQuery.hold(client, vendor, "reply")
    question = await begin_reply(query, screen)
    document = opened(client)
    assert document.is_relative_to(user.data)
    assert question.params["message"] == (
        f"Your reply: write in {document.name} and save it, then press Send."
    )
    document.write_text("Shorter!\n", encoding="utf-8")
    vendor.will_answer(answer("Right."), to="Shorter!")
    press(question, "Send")
    result = await query.result()
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
    assert user.story(result["conversation"])[-2:] == ["user: Shorter!", "message: Right."]
    assert not document.exists()


async def test_an_editor_that_keeps_us_informed_need_not_save(
    client: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    query = await HeldQuery.hold(client, vendor, "informed")
    question = await begin_reply(query, screen)
    uri = client.received("window/showDocument")[-1]["uri"]
    item = {"uri": uri, "languageId": "markdown", "version": 1, "text": ""}
    client.notify("textDocument/didOpen", {"textDocument": item})
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "Unsaved words\n"}]}
    client.notify("textDocument/didChange", change)
    vendor.will_answer(answer("Right."), to="Unsaved words")
    press(question, "Send")
    result = await query.result()
    assert user.story(result["conversation"])[-2:] == ["user: Unsaved words", "message: Right."]


@pytest.mark.requirement("R330")
async def test_a_document_that_is_closed_asks_again(
    client: JpClient, vendor: ChatVendor, screen: Screen
) -> None:
    query = await HeldQuery.hold(client, vendor, "closed")
    question = await begin_reply(query, screen)
    document = opened(client)
    uri = client.received("window/showDocument")[-1]["uri"]
    item = {"uri": uri, "languageId": "markdown", "version": 1, "text": ""}
    client.notify("textDocument/didOpen", {"textDocument": item})
    document.write_text("Half", encoding="utf-8")
    press(question, "Keep editing")
    await screen.next_question()
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    closed = await screen.next_question()
    assert [action["title"] for action in closed.params["actions"]] == ["Reopen", "Send", "Discard"]
    press(closed, "Discard")
    press(await screen.next_question(), "Stop")
    assert (await query.result())["outcome"] == "stopped"
    assert not document.exists()


@pytest.mark.requirement("R330", "S4")
@pytest.mark.parametrize("how", ["Discard", "null", "blank"])
async def test_no_text_leads_back_to_the_menu(
    client: JpClient, vendor: ChatVendor, screen: Screen, how: str
) -> None:
    query = await HeldQuery.hold(client, vendor, f"back-{how}")
    question = await begin_reply(query, screen)
    if how == "null":
        question.answer(None)
    else:
        press(question, "Send" if how == "blank" else how)
    press(await screen.next_question(), "Stop")
    assert (await query.result())["outcome"] == "stopped"


@pytest.mark.requirement("T19", "R331")
async def test_a_query_that_ends_first_keeps_what_was_written(
    client: JpClient, vendor: ChatVendor, screen: Screen, user: UserFolders
) -> None:
    query = await HeldQuery.hold(client, vendor, "ends")
    conversation = query.conversation
    question = await begin_reply(query, screen)
    document = opened(client)
    document.write_text("Not lost", encoding="utf-8")
    query.cancel()
    fault = await query.fault()
    assert (fault.code, fault.data["draft"]) == (-32800, "Not lost")
    draft = user.folder_of(conversation) / "QUERY_MESSAGE.md"
    await client.wait_for(lambda: client.received("$/cancelRequest"))
    async with asyncio.timeout(PATIENCE):
        while document.exists():
            await asyncio.sleep(0.02)
    assert draft.read_text(encoding="utf-8") == "Not lost"
    press(question, "Send")
    vendor.will_answer(answer("Still here."))
    assert (await client.query("hi", "after", conversation="new"))["text"] == "Still here."


@pytest.mark.parametrize("can_open", [True, False], ids=["does not open it", "says it cannot"])
async def test_without_a_document_the_menu_comes_back_with_a_hint(
    user: UserFolders, vendor: ChatVendor, can_open: bool
) -> None:
    capabilities = OPENS_DOCUMENTS if can_open else {}
    async with initialized_server(user, capabilities=capabilities) as server:
        client, screen = server.client, Screen()
        client.answers["window/showMessageRequest"] = screen.show
        client.answers["window/showDocument"] = lambda params: {"success": False}
        query = await HeldQuery.hold(client, vendor, "degraded")
        press_again = await begin_reply(query, screen)
        assert "Reply" in [action["title"] for action in press_again.params["actions"]]
        hint = await client.wait_for_chunk("degraded", "notice", code="reply_command")
        assert "reply command" in hint["text"]
        assert len(client.received("window/showDocument")) == int(can_open)
        press(press_again, "Stop")
        assert (await query.result())["outcome"] == "stopped"


async def test_the_user_can_choose_the_document(user: UserFolders, vendor: ChatVendor) -> None:
    """`prompt.text_transport` and `prompt.save_commits`, with an editor that could ask for a text itself."""
    knows_us = {**OPENS_DOCUMENTS, "experimental": {"jp": {"prompt": {"kinds": ["menu", "text"]}}}}
    options = {"jp": {"prompt": {"text_transport": "document", "save_commits": True}}}
    async with initialized_server(user, capabilities=knows_us, options=options) as server:
        client, menus, messages = server.client, Screen(), Screen()
        client.answers["jp/prompt"] = menus.show
        client.answers["window/showMessageRequest"] = messages.show
        client.answers["window/showDocument"] = lambda params: {"success": True}
        query = await HeldQuery.hold(client, vendor, "chosen")
        await query.press()
        (await menus.next_question()).answer({"action": "reply"})
        await messages.next_question()
        vendor.will_answer(answer("Right."), to="By saving")
        opened(client).write_text("By saving", encoding="utf-8")
        result = await query.result()
        assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]


TOOLS = r"""
[conversation.tools.greet]
source = "local"
enable = true
run = "ask"
command = { program = "echo hello {{tool.arguments.name}}", shell = true }
summary = "Greets"
[conversation.tools.greet.parameters.name]
type = "string"
required = true
[conversation.tools.ask]
source = "local"
enable = true
run = "unattended"
command = { program = "PYTHON ask.py \"{{tool.answers | tojson}}\"", shell = true }
summary = "Asks"
"""

ASK = """
import json, sys
answers = json.loads(sys.argv[1])
question = {'id': 'why', 'text': 'Why?', 'answer_type': 'text'}
print('why: ' + answers['why'] if 'why' in answers else json.dumps({'type': 'needs_input', 'question': question}))
"""


@pytest.mark.requirement("T16", "R14", "R151")
async def test_a_reason_edited_arguments_and_an_answer(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor
) -> None:
    """The model calls three times: one call is skipped with a reason, one edited, one asks back."""
    user = UserFolders(tmp_path, shared_vendor.url)
    config = user.config / "config.toml"
    config.write_text(config.read_text() + TOOLS.replace("PYTHON", shlex.quote(sys.executable)))
    (user.workspace / "ask.py").write_text(ASK)
    for call_id, name, arguments in (
        ("one", "greet", '{"name": "a"}'),
        ("two", "greet", '{"name": "b"}'),
        ("three", "ask", "{}"),
    ):
        vendor.will_answer(answer(called(call_id, name, arguments), reason="tool_calls"))
    vendor.will_answer(answer("Done."))
    async with initialized_server(user, capabilities=OPENS_DOCUMENTS) as server:
        client, screen = server.client, Screen()
        client.answers["window/showMessageRequest"] = screen.show
        client.answers["window/showDocument"] = lambda params: {"success": True}
        _, future = client.start_query("go", "t", conversation="new")

        press(await screen.next_question(), "Skip with a reason...")
        question = await screen.next_question()
        opened(client).write_text("Nobody is there.\n")
        press(question, "Send")

        press(await screen.next_question(), "Edit arguments...")
        question = await screen.next_question()
        document = opened(client)
        assert (document.suffix, json.loads(document.read_text())) == (".json", {"name": "b"})
        document.write_text('{"name": "c"')
        press(question, "Send")
        question = await screen.next_question()
        assert "not valid JSON" in question.params["message"]
        document.write_text('{"name": "c"}')
        press(question, "Send")

        question = await screen.next_question()
        assert question.params["message"].startswith("ask: Why? Write in ask-why-")
        opened(client).write_text("Because.\n")
        press(question, "Send")
        result = await result_of(future)
    assert (result["outcome"], result["text"]) == ("completed", "Done.")
    told = [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "tool"]
    assert "Nobody is there." in told[0]
    assert "hello c" in told[1]
    assert "why: Because." in told[2]


async def test_what_was_written_for_a_killed_server_is_a_draft(
    tmp_path: Path, shared_vendor: ChatVendor, vendor: ChatVendor
) -> None:
    own_user = UserFolders(tmp_path, shared_vendor.url)
    async with initialized_server(own_user, capabilities=OPENS_DOCUMENTS) as server:
        client, screen = server.client, Screen()
        client.answers["window/showMessageRequest"] = screen.show
        client.answers["window/showDocument"] = lambda params: {"success": True}
        query = await HeldQuery.hold(client, vendor, "killed")
        conversation = query.conversation
        await begin_reply(query, screen)
        document = opened(client)
        document.write_text("Half a thought", encoding="utf-8")
        server.process.kill()
        await server.process.wait()
    assert document.exists()
    async with initialized_server(own_user) as server:
        await server.client.request("jp/conversation/list", {})  # the first request begins the session
        async with asyncio.timeout(PATIENCE):
            while document.exists():
                await asyncio.sleep(0.02)
        vendor.will_answer(answer("Here."))
        await server.client.query("hi", "later", conversation="new")
        told = [each["message"] for each in server.client.received("window/showMessage")]
    assert f"A text that you had not sent is kept as a draft of conversation {conversation}." in told
    draft = own_user.folder_of(conversation) / "QUERY_MESSAGE.md"
    assert draft.read_text(encoding="utf-8") == "Half a thought"
    assert list(document.parent.iterdir()) == []
