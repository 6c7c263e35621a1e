"""Titles as an editor sees them: who is asked, when the title arrives, and what is on disk (query pipeline 7.1)."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer, refused
from tests.support.http_server import Hold
from tests.support.jp_client import JP_CLIENT, PATIENCE, JpClient, Json
from tests.support.jp_server import JpServer, initialized_server
from tests.support.titles import wait_for_title
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

TITLE_REQUEST = "Generate a title for this conversation."
SMALL = "conversation.title.generate.model.id=llamacpp/small"


def titles(*texts: str) -> str:
    return json.dumps({"titles": texts})


@pytest.fixture
def own_vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor
        assert not vendor.has_plans, "an answer was planned that nobody asked for"


@pytest.fixture
def titled_user(tmp_path: Path, own_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path)
    user.configure(own_vendor.url, makes_titles=True)
    return user


@pytest_asyncio.fixture(loop_scope="session")
async def titled_server(titled_user: UserFolders) -> AsyncIterator[JpServer]:
    async with initialized_server(titled_user, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(titled_server: JpServer) -> JpClient:
    return titled_server.client


async def reached(gate: Hold) -> None:
    """Wait until the vendor holds the answer there."""
    assert await asyncio.to_thread(gate.wait_until_reached)


async def title_on_its_way(vendor: ChatVendor, client: JpClient, title: str) -> tuple[str, Hold]:
    """Have a conversation whose title the model is about to say; gives its id, and what the model waits for."""
    gate = Hold()
    vendor.will_answer(answer("Sure."), to="about apples")
    vendor.will_answer(answer(gate, titles(title)), to=TITLE_REQUEST)
    conversation = (await client.query("about apples", "q", conversation="new"))["conversation"]
    await reached(gate)
    return conversation, gate


def metadata(user: UserFolders, conversation: str) -> Any:
    """What is stored, checked to be the same in both places."""
    folder = user.folder_of(conversation)
    text = (folder / "metadata.json").read_text(encoding="utf-8")
    copy = user.workspace / ".jp" / "conversations" / folder.name / "metadata.json"
    assert copy.read_text(encoding="utf-8") == text
    return json.loads(text)


def told(client: JpClient) -> list[tuple[str, str | None]]:
    return [(change["change"], change.get("title")) for change in client.received("jp/conversationChanged")]


@pytest.mark.requirement("F24", "R229", "R241", "R242")
async def test_one_request_to_the_small_model_makes_the_title_behind_the_answer(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    gate = Hold()
    own_vendor.will_answer(answer("Sure."), to="about apples")
    own_vendor.will_answer(answer(gate, titles("All about apples")), to=TITLE_REQUEST)
    result = await editor.query("Talk about apples", "q", conversation="new", config=[SMALL])
    assert result["text"] == "Sure.", "the answer did not wait for the title"
    conversation = result["conversation"]
    assert "title" not in metadata(titled_user, conversation)
    gate.open()
    change = await wait_for_title(editor, "All about apples")
    assert (change["conversation"], change["change"]) == (conversation, "updated")
    assert metadata(titled_user, conversation)["title"] == "All about apples"
    assert titled_user.folder_of(conversation).name.endswith("-all-about-apples")
    assert titled_user.story(conversation) == ["turn", "user: Talk about apples", "message: Sure."]
    listed = (await editor.request("jp/conversation/list"))["conversations"]
    assert [each["title"] for each in listed] == ["All about apples"]
    assert told(editor) == [("created", None), ("updated", None), ("updated", "All about apples")]
    assert {change["conversation"] for change in editor.received("jp/conversationChanged")} == {conversation}

    (asked,) = own_vendor.queries_about(TITLE_REQUEST)
    assert asked["model"] == "small"
    assert "Talk about apples" in json.dumps(asked["messages"])
    assert "tools" not in asked
    assert "titles" in json.dumps(asked["response_format"])
    assert [query["model"] for query in own_vendor.queries] == ["tiny", "small"]
    assert editor.received("jp/notice") == []
    await editor.request("shutdown")
    assert not titled_user.is_locked(conversation)


@pytest.mark.requirement("R225", "R242")
async def test_a_model_that_does_not_keep_to_the_form_is_asked_again(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    own_vendor.will_answer(answer("Sure."), to="about plums")
    own_vendor.will_answer(answer("Sure! Here is a title: Plums"), to=TITLE_REQUEST)
    own_vendor.will_answer(answer(titles("Plums")), to="does not fit the JSON schema")
    result = await editor.query("Talk about plums", "q", conversation="new", config=[SMALL])
    await wait_for_title(editor, "Plums")
    assert titled_user.story(result["conversation"]) == ["turn", "user: Talk about plums", "message: Sure."]
    *_, asked_again = own_vendor.queries
    assert asked_again["messages"][-2] == {"role": "assistant", "content": "Sure! Here is a title: Plums"}
    assert editor.received("jp/notice") == []


@pytest.mark.requirement("F24")
@pytest.mark.parametrize(
    ("params", "title"), [({"persist": False}, None), ({"title": "Mine"}, "Mine"), ({"title": ""}, None)]
)
async def test_none_is_made_for_a_copy_a_given_title_or_none_wanted(
    own_vendor: ChatVendor,
    titled_user: UserFolders,
    editor: JpClient,
    params: Json,
    title: str | None,
) -> None:
    own_vendor.will_answer(answer("Sure."))
    result = await editor.query("# Heading", "q", conversation="new", config=[SMALL], **params)
    await editor.request("shutdown")
    assert [query["model"] for query in own_vendor.queries] == ["tiny"]
    if params.get("persist", True):
        assert metadata(titled_user, result["conversation"]).get("title") == title
        assert told(editor) == [("created", title), ("updated", title)]
    else:
        assert told(editor) == []


@pytest.mark.requirement("R242")
async def test_a_heading_is_the_title_before_the_answer_comes(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    gate = Hold()
    own_vendor.will_answer(answer("Su", gate, "re."))
    _, running = editor.start_query("The *plan*\n===\n\nGo on.", "q", conversation="new")
    change = await wait_for_title(editor, "The plan")
    assert change["change"] == "created"
    assert metadata(titled_user, change["conversation"])["title"] == "The plan"
    gate.open()
    await running
    assert own_vendor.queries_about(TITLE_REQUEST) == []


@pytest.mark.requirement("R242")
async def test_a_title_arrives_while_the_turn_still_runs(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    gate = Hold()
    own_vendor.will_answer(answer("Su", gate, "re."), to="about pears")
    own_vendor.will_answer(answer(titles("Pears")), to=TITLE_REQUEST)
    _, running = editor.start_query("Talk about pears", "q", conversation="new")
    change = await wait_for_title(editor, "Pears")
    assert metadata(titled_user, change["conversation"])["title"] == "Pears"
    gate.open()
    assert (await running)["result"]["text"] == "Sure."
    assert metadata(titled_user, change["conversation"])["title"] == "Pears"
    assert titled_user.story(change["conversation"])[-1] == "message: Sure."


@pytest.mark.requirement("F24")
async def test_the_title_that_the_user_gave_meanwhile_wins(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    conversation, gate = await title_on_its_way(own_vendor, editor, "Theirs")
    own_vendor.will_answer(answer("Again."), to="more")
    await editor.query("more", "p", title="Mine")
    gate.open()
    await editor.request("shutdown")
    assert metadata(titled_user, conversation)["title"] == "Mine"
    assert ("updated", "Theirs") not in told(editor)


@pytest.mark.requirement("F24")
async def test_a_model_that_fails_is_told_once_and_the_next_query_tries_again(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    own_vendor.will_answer(answer("one"), to="first")
    own_vendor.will_answer(answer("two"), to="second")
    own_vendor.will_answer(answer("three"), to="third")
    own_vendor.will_answer(
        refused(401, "who are you"), refused(401, "who are you"), answer(titles("Later")), to=TITLE_REQUEST
    )
    conversation = ""
    for number, text in enumerate(("first", "second", "third")):
        result = await editor.query(text, text, config=[SMALL])
        assert (result["outcome"], result["notices"]) == ("completed", [])
        conversation = result["conversation"]
        async with asyncio.timeout(PATIENCE):
            while len(own_vendor.queries_about(TITLE_REQUEST)) == number:
                await asyncio.sleep(0.01)
    await wait_for_title(editor, "Later")
    (notice,) = editor.received("jp/notice")
    assert (notice["level"], notice["code"]) == ("warning", "title")
    assert notice["conversation"] == conversation
    assert notice["text"].startswith("llamacpp/small made no title for this conversation: ")
    assert "who are you" in notice["text"]
    assert metadata(titled_user, conversation)["title"] == "Later"


@pytest.mark.requirement("F24")
async def test_a_model_without_its_key_is_told_and_not_asked(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    own_vendor.will_answer(answer("Sure."))
    named = "conversation.title.generate.model.id=anthropic/claude-haiku-4-5"
    result = await editor.query("hi", "q", conversation="new", config=[named])
    assert (result["outcome"], result["notices"]) == ("completed", [])
    (notice,) = await editor.wait_for(lambda: editor.received("jp/notice"))
    assert "ANTHROPIC_API_KEY" in notice["text"]
    assert "title" not in metadata(titled_user, result["conversation"])
    assert [query["model"] for query in own_vendor.queries] == ["tiny"]


@pytest.mark.requirement("R242", "S8")
async def test_an_aborted_query_takes_its_conversation_with_it(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    held, gate = Hold(), Hold()
    own_vendor.will_answer(answer("Sure.\n\n", held, "But"), to="about apples")
    own_vendor.will_answer(answer(gate, titles("Apples")), to=TITLE_REQUEST)
    _, running = editor.start_query("about apples", "q", conversation="new")
    await editor.wait_for_text("q", "Sure.")
    await reached(gate)
    await editor.request("jp/interrupt", {"turn": "q", "action": "abort"})
    assert (await running)["result"]["outcome"] == "aborted"
    gate.open()
    held.open()
    await editor.request("shutdown")
    assert told(editor) == [("created", None), ("removed", None)]
    assert list(titled_user.conversations.iterdir()) == []


@pytest.mark.requirement("R242")
async def test_a_hanging_title_does_not_keep_the_server_from_ending(
    own_vendor: ChatVendor, titled_user: UserFolders, titled_server: JpServer
) -> None:
    conversation, gate = await title_on_its_way(own_vendor, titled_server.client, "Apples")
    assert await titled_server.stop() == 0
    gate.open()
    assert "title" not in metadata(titled_user, conversation)
    assert titled_user.story(conversation)[-1] == "message: Sure."
    assert not titled_user.is_locked(conversation)


@pytest.mark.requirement("R242")
async def test_a_title_that_comes_while_the_server_ends_is_kept(
    own_vendor: ChatVendor, titled_user: UserFolders, editor: JpClient
) -> None:
    conversation, gate = await title_on_its_way(own_vendor, editor, "Apples")
    _, ending = editor.start("shutdown")
    gate.open()
    await ending
    assert metadata(titled_user, conversation)["title"] == "Apples"


@pytest.mark.requirement("R242")
async def test_a_killed_server_leaves_an_untitled_conversation_that_gets_its_title_later(
    own_vendor: ChatVendor, titled_user: UserFolders, titled_server: JpServer
) -> None:
    conversation, gate = await title_on_its_way(own_vendor, titled_server.client, "Never")
    await titled_server.kill()
    gate.open()
    assert "title" not in metadata(titled_user, conversation)
    own_vendor.will_answer(answer(titles("Apples")), to=TITLE_REQUEST)
    own_vendor.will_answer(answer("Again."), to="more")
    async with initialized_server(titled_user, capabilities=JP_CLIENT) as other:
        await other.client.query("more", "p", conversation=conversation)
        await wait_for_title(other.client, "Apples")
    assert metadata(titled_user, conversation)["title"] == "Apples"
    assert titled_user.story(conversation)[-2:] == ["user: more", "message: Again."]


@pytest.mark.requirement("R340")
async def test_a_client_of_plain_lsp_hears_of_a_failing_model_and_of_no_method_of_ours(
    own_vendor: ChatVendor, titled_user: UserFolders
) -> None:
    own_vendor.will_answer(answer("Sure."), to="hello")
    own_vendor.will_answer(refused(401, "who are you"), to=TITLE_REQUEST)
    async with initialized_server(titled_user) as server:
        await server.client.query("hello", "q", conversation="new")
        (message,) = await server.client.wait_for(lambda: server.client.received("window/showMessage"))
        assert message["type"] == 2
        assert "made no title" in message["message"]
        assert server.client.received("jp/conversationChanged") == []
