"""Searching conversations over the wire: hits with their places, as they are found, bounded, and stopped."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.jp_client import JP_CLIENT, JpClient, Json, fault_of
from tests.support.jp_server import JpServer, opened_workspace
from tests.support.streams import call, message, result, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

OLD, NEW, GONE = "jp-c17912340000", "jp-c17912349999", "jp-c17912345555"


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    storage = own_user.workspace / ".jp"
    for conversation, day, title, entries in (
        (OLD, "01", "old keys", [turn(), user("a key"), call("c", path="a2V5cw=="), result("c", "a2V5")]),
        (
            NEW,
            "02",
            "new",
            [turn(), user("hi"), message("no"), turn(), user("2"), message("line\nthe <key> is\n")],
        ),
    ):
        metadata: Json = {"title": title, "last_activated_at": f"2026-10-{day} 21:09:27.8"}
        fill(storage, f"{conversation[4:]}-{title.replace(' ', '-')}", *entries, metadata=metadata)
    archive = fill(storage, f"{GONE[4:]}-key", turn(), user("key"), metadata={**metadata, "title": "key"})
    (storage / "conversations" / ".archive").mkdir()
    archive.rename(storage / "conversations" / ".archive" / archive.name)
    async with opened_workspace(own_user, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


async def search(client: JpClient, pattern: str, **params: object) -> Json:
    return await client.request("jp/conversation/search", {"pattern": pattern, **params})  # type: ignore[no-any-return]


def places(hits: list[Any]) -> list[tuple[object, ...]]:
    return [(hit["conversation"], hit["scope"], hit.get("turn"), hit.get("event")) for hit in hits]


@pytest.mark.requirement("R281")
async def test_hits_are_addressed_and_come_newest_first(editor: JpClient) -> None:
    found = await search(editor, "key")
    assert places(found["hits"]) == [
        (NEW, "assistant", 2, 5),
        (OLD, "title", None, None),
        (OLD, "user", 1, 1),
        (OLD, "tool_call", 1, 2),
        (OLD, "tool_result", 1, 3),
    ]
    assert found["hits"][0] == {
        "conversation": NEW,
        "title": "new",
        "scope": "assistant",
        "turn": 2,
        "event": 5,
        "before": "the <",
        "match": "key",
        "after": "> is",
        "count": 1,
    }
    assert {**found, "hits": None} == {
        "hits": None,
        "found": 5,
        "searched": 2,
        "more": False,
        "unreadable": [],
    }
    command = {"command": "jp.conversation.search", "arguments": [{"pattern": "key"}]}
    assert await editor.request("workspace/executeCommand", command) == found


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"pattern": "key", "limit": 3}, [(NEW, "assistant"), (OLD, "title"), (OLD, "user")]),
        ({"pattern": "key", "limit": 2}, [(NEW, "assistant"), (OLD, "title")]),
        ({"pattern": "key", "scopes": ["tool_call", "user"]}, [(OLD, "user"), (OLD, "tool_call")]),
        ({"pattern": "^the.*key", "regex": True}, [(NEW, "assistant")]),
        ({"pattern": "key", "archived": True}, [(GONE, "title"), (GONE, "user")]),
        ({"pattern": "key", "conversations": [NEW]}, [(NEW, "assistant")]),
        ({"pattern": "key", "labels": ["area"]}, []),
        ({"pattern": "Key"}, []),
    ],
)
async def test_what_is_wanted(editor: JpClient, params: Json, expected: list[tuple[str, str]]) -> None:
    found = await search(editor, **params)
    assert [(hit["conversation"], hit["scope"]) for hit in found["hits"]] == expected
    assert found["more"] == ("limit" in params)


async def test_hits_come_on_the_token_as_they_are_found(editor: JpClient) -> None:
    whole = await search(editor, "key")
    found = await search(editor, "key", partialResultToken="s1")
    assert (found["hits"], found["found"]) == ([], 5)
    values = editor.progress("s1")
    assert [len(value["hits"]) for value in values] == [1, 4]
    assert [hit for value in values for hit in value["hits"]] == whole["hits"]


@pytest.mark.parametrize(
    ("params", "number", "text"),
    [
        ({"pattern": "(", "regex": True}, -32602, "`pattern`: '(' is not a regular expression"),
        ({"pattern": ""}, -32602, "`pattern`: there is nothing to search for"),
        ({"pattern": "a", "conversations": ["jp-c1"]}, -32803, "There is no conversation jp-c1"),
        ({"pattern": "a", "scopes": ["all"]}, -32602, "`scopes[0]`"),
    ],
)
async def test_what_cannot_be_searched(editor: JpClient, params: Json, number: int, text: str) -> None:
    fault = await editor.refusal("jp/conversation/search", params)
    assert fault.code == number
    assert text in fault.message


@pytest.mark.requirement("R331")
async def test_an_endless_pattern_stops_nobody_else_and_can_be_cancelled(
    editor: JpClient, own_user: UserFolders
) -> None:
    """A regular expression may take longer than the age of the universe."""
    fill(own_user.workspace / ".jp", "17912350000-long", turn(), user("a" * 200 + "b"))
    number, future = editor.start("jp/conversation/search", {"pattern": "(a+)+$", "regex": True})
    listed = await editor.request("jp/conversation/list")
    assert len(listed["conversations"]) == 3
    editor.cancel(number)
    fault = await fault_of(future)
    assert fault.code == -32800
    assert (await search(editor, "b$", regex=True, conversations=["jp-c17912350000"]))["found"] == 1


@pytest.mark.requirement("R281")
async def test_a_broken_conversation_is_named_and_the_others_are_searched(
    editor: JpClient, own_user: UserFolders
) -> None:
    """Trap 32: a known kind of the wrong shape is not read, and not looked over in silence either."""
    await editor.request("jp/conversation/list")
    for root in (own_user.conversations, own_user.workspace / ".jp" / "conversations"):
        events = root / f"{OLD[4:]}-old-keys" / "events.json"
        broken = [
            *json.loads(events.read_text(encoding="utf-8"))[:2],
            {"type": "chat_response", "timestamp": "x"},
        ]
        events.write_text(json.dumps(broken), encoding="utf-8")
    found = await search(editor, "key")
    assert places(found["hits"]) == [
        (NEW, "assistant", 2, 5),
        (OLD, "title", None, None),
        (OLD, "user", 1, 1),
    ]
    (problem,) = found["unreadable"]
    assert problem["conversation"] == OLD
    assert problem["problem"].startswith("events.json: entry 2: ")
