"""Forks, turns again, explanations, ends and drafts, over stdio and on disk."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_client import PATIENCE, JpClient
from tests.support.jp_server import JpServer, initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders
from tests.support.workspaces import states, tree

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


async def two_turns(client: JpClient, vendor: ChatVendor, token: str, **params: Any) -> str:
    """Make a conversation of two turns."""
    vendor.will_answer(answer("1"), answer("2"))
    conversation = (await client.query("one", f"{token}-1", conversation="new", **params))["conversation"]
    await client.query("two", f"{token}-2", conversation=conversation)
    return str(conversation)


def metadata(user: UserFolders, conversation: str) -> dict[str, Any]:
    path = user.folder_of(conversation) / "metadata.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.requirement("R281")
async def test_a_query_in_a_copy(client: JpClient, vendor: ChatVendor, user: UserFolders) -> None:
    source = await two_turns(client, vendor, "fork", title="The plan", config=["assistant.name=Ada"])
    before = states(user.folder_of(source)), states(user.workspace / ".jp" / "conversations")
    vendor.will_answer(answer("3"), answer("4"))
    copy = await client.query("three", "fork-3", fork={"from": source, "keepTurns": 1})
    assert copy["conversation"] != source
    assert user.story(copy["conversation"]) == [
        "turn",
        "user: two",
        "message: 2",
        "turn",
        "user: three",
        "message: 3",
    ]
    assert metadata(user, copy["conversation"])["title"] == "The plan"
    assert copy["turns"][0]["index"] == 2
    assert states(user.folder_of(source)) == before[0]
    assert before[1].items() <= states(user.workspace / ".jp" / "conversations").items()
    assert [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "user"] == [
        "two",
        "three",
    ]
    last = await client.query("four", "fork-4", fork={"from": "last"})
    assert user.story(last["conversation"])[-3:] == ["turn", "user: four", "message: 4"]
    assert len(user.story(last["conversation"])) == 9
    base = user.folder_of(copy["conversation"]) / "base_config.json"
    assert base.read_bytes() == (user.folder_of(source) / "base_config.json").read_bytes()


@pytest.mark.requirement("F35")
async def test_a_turn_again(client: JpClient, vendor: ChatVendor, user: UserFolders) -> None:
    conversation = await two_turns(client, vendor, "again")
    vendor.will_answer(answer("better"), answer("best"))
    result = await client.query("", "again-3", conversation=conversation, replay=2)
    assert (result["text"], result["turns"][0]["index"]) == ("better", 2)
    assert user.story(conversation) == [
        "turn",
        "user: one",
        "message: 1",
        "turn",
        "user: two",
        "message: better",
    ]
    assert [each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "user"] == [
        "one",
        "two",
    ]
    result = await client.query("uno", "again-4", conversation=conversation, replay=1)
    assert user.story(conversation) == ["turn", "user: uno", "message: best"]
    fault = await client.refusal("jp/query", {"text": "x", "conversation": conversation, "replay": 2})
    assert (fault.code, fault.data["code"], fault.data["origin"]) == (-32602, "invalid_params", "replay")
    assert "has 1 turn, so there is no turn 2" in fault.message


@pytest.mark.requirement("R344", "S11")
async def test_a_turn_again_that_is_aborted_gives_the_old_ones_back(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    conversation = await two_turns(client, vendor, "back")
    before = user.events(conversation)
    query = await HeldQuery.hold(client, vendor, "back-3", text="other", conversation=conversation, replay=1)
    assert user.story(conversation)[:2] == ["turn", "user: other"]
    await query.press(action="abort")
    result = await query.result()
    assert (result["outcome"], result["draft"]) == ("aborted", "other")
    assert user.events(conversation) == before
    draft = user.folder_of(conversation) / "QUERY_MESSAGE.md"
    assert draft.read_text(encoding="utf-8") == "other"
    vendor.will_answer(answer("3"))
    assert "draft" not in await client.query("three", "back-4", conversation=conversation)
    assert not draft.exists()


@pytest.mark.requirement("R285")
async def test_an_explanation_asks_nobody_and_stores_nothing(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    conversation = await two_turns(client, vendor, "explain")
    asked = len(vendor.queries)
    user.folder_of(conversation)
    before = states(user.data), states(user.workspace)
    result = await client.query(
        "three", "explain-3", conversation=conversation, explain=True, config=["assistant.name=Ada"]
    )
    explanation = result.pop("explanation")
    assert result.pop("lastSeq") >= 0
    assert result == {
        "conversation": conversation,
        "outcome": "completed",
        "turns": [],
        "text": "",
        "notices": [],
        "persisted": False,
    }
    assert explanation["schemaVersion"] == 1
    assert explanation["request"] == {
        "model": "llamacpp/tiny",
        "text": "three",
        "toolChoice": "auto",
        "earlierEvents": 4,
    }
    origins = {each["key"]: each for each in explanation["origins"]}
    name = origins["assistant.name"]
    assert (name["value"], [each["layer"] for each in name["places"]]) == ("Ada", ["request"])
    assert origins["assistant.model.id"]["places"][-1]["layer"] == "conversation"
    fresh = await client.query("", "explain-4", conversation="new", explain=True)
    assert "conversation" not in fresh
    assert fresh["explanation"]["request"]["earlierEvents"] == 0
    (place,) = {each["key"]: each for each in fresh["explanation"]["origins"]}["assistant.model.id"]["places"]
    assert (place["layer"], place["line"]) == ("user_global", 4)
    assert (states(user.data), states(user.workspace)) == before
    assert len(vendor.queries) == asked
    command = {"command": "jp.query", "arguments": [{"text": "x", "conversation": "new", "explain": True}]}
    assert "explanation" in await client.request("workspace/executeCommand", command)


@pytest.mark.requirement("R281")
async def test_what_has_expired_is_gone_at_the_next_start(tmp_path: Path, vendor: ChatVendor) -> None:
    user = UserFolders(tmp_path, vendor.url)
    vendor.will_answer(answer("1"), answer("2"), answer("3"))
    async with initialized_server(user) as server:
        gone = (await server.client.query("hi", "a", conversation="new", expires="0"))["conversation"]
        kept = (await server.client.query("hi", "b", conversation="new", expires="1h"))["conversation"]
        last = (await server.client.query("hi", "c", conversation="new", expires="0"))["conversation"]
    assert re.fullmatch(r"\d{4}-.*", metadata(user, kept)["expires_at"])
    assert metadata(user, gone)["expires_at"] <= time.strftime("%Y-%m-%d %H:%M:%S.9", time.gmtime())
    orphan = user.conversations.parent / "locks" / f"{kept}.lock"
    orphan.write_text("{}", encoding="utf-8")  # of a server that was killed
    async with initialized_server(user, capabilities={"experimental": {"jp": {}}}) as server:
        client = server.client
        await client.request("jp/conversation/list")
        changed = await client.wait_for(lambda: client.received("jp/conversationChanged"))
        assert [(each["conversation"], each["change"]) for each in changed] == [(gone, "removed")]
        listed = (await client.request("jp/conversation/list"))["conversations"]
        assert {each["conversation"] for each in listed} == {kept, last}, "the one that was used last stays"
        fault = await client.refusal("jp/query", {"text": "hi", "conversation": gone})
        assert fault.data["code"] == "conversation_not_found"
        assert not orphan.exists()
    for root in (user.conversations, user.workspace / ".jp" / "conversations"):
        (trashed,) = (root / ".trash").iterdir()
        assert {"events.json", "metadata.json", "base_config.json", "TRASHED.md"} == set(tree(trashed))


async def test_tidying_makes_no_workspace_where_there_is_none(tmp_path: Path) -> None:
    user = UserFolders(tmp_path)
    (user.workspace / ".jp").rmdir()
    async with initialized_server(user) as server:
        for _ in range(3):  # the first begins the tidying
            await server.client.request("jp/conversation/list", {})
        await server.stop()
    assert list(user.workspace.iterdir()) == []
    assert list(user.data.iterdir()) == []


@pytest.mark.requirement("F24")
async def test_a_query_without_persistence_leaves_every_file_as_it_is(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    conversation = await two_turns(client, vendor, "trace")
    before = states(user.data), states(user.workspace)
    held = await HeldQuery.hold(
        client,
        vendor,
        "trace-3",
        text="three",
        conversation=conversation,
        persist=False,
        title="No",
        expires="1h",
    )
    assert not user.is_locked(conversation)
    vendor.will_answer(answer("beside"), to="meanwhile")
    beside = await client.query("meanwhile", "trace-4", conversation=conversation, persist=False)
    assert beside["text"] == "beside"
    held.go_on()
    result = await held.result()
    assert (result["text"], result["persisted"]) == ("First.\n\nSecond.", False)
    assert (states(user.data), states(user.workspace)) == before


@pytest.mark.requirement("R344")
async def test_the_text_of_a_query_that_cannot_begin_is_kept_and_goes_with_the_next_success(
    client: JpClient, vendor: ChatVendor, user: UserFolders
) -> None:
    conversation = await two_turns(client, vendor, "draft")
    asked = {"text": "three", "conversation": conversation, "config": ["assistant.model.id=nobody/x"]}
    fault = await client.refusal("jp/query", asked)
    assert (fault.data["code"], fault.data["draft"]) == ("config_invalid", "three")
    draft = user.folder_of(conversation) / "QUERY_MESSAGE.md"
    assert draft.read_text(encoding="utf-8") == "three"
    assert not (
        user.workspace / ".jp" / "conversations" / user.folder_of(conversation).name / draft.name
    ).exists()
    vendor.will_answer(answer("3"))
    await client.query("three", "draft-3", conversation=conversation)
    assert not draft.exists()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def knowing(user: UserFolders) -> AsyncIterator[JpServer]:
    """An editor that can ask for a text by itself."""
    capabilities = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text"]}}}}
    async with initialized_server(user, capabilities=capabilities) as server:
        yield server


@pytest.mark.requirement("R344", "R331", "S12")
@pytest.mark.parametrize("has_text", [True, False])
async def test_a_reply_that_was_begun_comes_back_with_the_answer(
    knowing: JpServer, vendor: ChatVendor, user: UserFolders, has_text: bool
) -> None:
    """The editor gives what it has when the question is taken back, or says nothing at all."""
    client, screen = knowing.client, Screen()
    client.answers["jp/prompt"] = screen.show
    query = await HeldQuery.hold(client, vendor, f"begun-{has_text}")
    conversation = query.conversation
    await query.press()
    (await screen.next_question()).answer({"action": "reply"})
    question = await screen.next_question()
    await query.press(action="stop")
    if has_text:
        question.answer({"text": "But wh"})
    result = await query.result()
    assert (result["outcome"], result.get("draft")) == ("stopped", "But wh" if has_text else None)
    draft = user.folder_of(conversation) / "QUERY_MESSAGE.md"
    assert draft.exists() is has_text
    if not has_text:
        question.answer({"text": "Better late"})
        async with asyncio.timeout(PATIENCE):
            while not draft.exists():
                await asyncio.sleep(0.02)
    assert draft.read_text(encoding="utf-8") == ("But wh" if has_text else "Better late")
