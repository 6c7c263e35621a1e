"""Exporting, editing, compacting and taking back conversations over the wire, and what is on disk then."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio

from jp_lsp.workspace.lock import acquire
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_client import JP_CLIENT, JpClient, Json
from tests.support.jp_server import JpServer, opened_workspace
from tests.support.streams import Raw, call, file_text, message, reasoning, result, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import START, fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

ID = "jp-c17912345678"
STREAM: tuple[Raw, ...] = (
    turn(),
    user("one"),
    reasoning("hm"),
    call("c", path="a2V5"),
    result("c", "b2s="),
    message("first"),
    turn(),
    user("two"),
    message("second"),
)


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    metadata: Json = {"title": "The plan", "last_activated_at": "2026-10-05 21:09:27.8"}
    fill(own_user.workspace / ".jp", f"{ID[4:]}-the-plan", *STREAM, metadata=metadata)
    async with opened_workspace(own_user, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


def stored(user: UserFolders) -> list[Raw]:
    """The entries on disk, checked to be the same text in both places."""
    path = user.folder_of(ID) / "events.json"
    copy = user.workspace / ".jp" / "conversations" / path.parent.name / "events.json"
    assert copy.read_bytes() == path.read_bytes()
    entries = json.loads(path.read_text(encoding="utf-8"))
    assert path.read_text(encoding="utf-8") == file_text(entries), "in the form that JP writes"
    return entries  # type: ignore[no-any-return]


def path_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


async def do(client: JpClient, verb: str, **params: object) -> Json:
    return await client.request(f"jp/conversation/{verb}", {"conversation": ID, **params})  # type: ignore[no-any-return]


@pytest.mark.requirement("R281")
async def test_an_export_for_people_and_one_for_programs(editor: JpClient, own_user: UserFolders) -> None:
    before = stored(own_user)
    exported = await do(editor, "export", turns={"last": 1})
    assert (exported["name"], exported["turns"]) == ("17912345678-the-plan.md", 1)
    assert exported["text"].startswith("# The plan\n\n")
    assert "two" in exported["text"]
    assert "second" in exported["text"]
    assert "first" not in exported["text"]
    exported = await do(editor, "export", format="json")
    assert exported["name"] == "17912345678-the-plan.json"
    view = json.loads(exported["text"])
    assert {key: view[key] for key in view if key != "events"} == {
        "id": "17912345678",
        "title": "The plan",
        "last_activated_at": "2026-10-05T21:09:27.800Z",
        "events_count": 9,
    }
    assert view["events"][3]["arguments"] == {"path": "key"}
    assert view["events"][4]["content"] == "ok"
    command = {"command": "jp.conversation.export", "arguments": [{"conversation": ID, "format": "json"}]}
    assert await editor.request("workspace/executeCommand", command) == exported
    assert stored(own_user) == before


@pytest.mark.requirement("R281", "R344")
async def test_a_turn_is_edited_and_another_removed(editor: JpClient, own_user: UserFolders) -> None:
    edited = await do(editor, "edit", turn=2, text="zwei")
    expected = [*STREAM[:7], {**STREAM[7], "content": "zwei"}, STREAM[8]]
    assert stored(own_user) == expected
    copy = path_of(edited["copyUri"])
    assert json.loads((copy / "events.json").read_text(encoding="utf-8")) == list(STREAM)
    unchanged = await do(editor, "edit", turn=2, text="zwei")
    assert "copyUri" not in unchanged
    removed = await do(editor, "edit", turn=1, remove=True)
    assert stored(own_user) == expected[6:]
    assert path_of(removed["copyUri"]) != copy
    told = [each["change"] for each in editor.received("jp/conversationChanged")]
    assert told == ["updated", "updated"]
    assert not own_user.is_locked(ID)


@pytest.mark.requirement("R281")
async def test_models_are_shown_less(editor: JpClient, own_user: UserFolders, vendor: ChatVendor) -> None:
    first = {"fromTurn": 1, "toTurn": 1, "summarized": False}
    dry = await do(editor, "compact", reasoning=True, toolCalls="omit", keepLast=1, dryRun=True)
    assert dry == {"conversation": ID, "compactions": [first], "added": [first]}
    assert stored(own_user) == list(STREAM)
    assert await do(editor, "compact", reasoning=True, toolCalls="omit", keepLast=1) == dry
    assert stored(own_user)[:-1] == list(STREAM)
    summary = {"fromTurn": 1, "toTurn": 1, "summarized": True}
    compacted = await do(editor, "compact", summary="Turn one went well.", toTurn=-2)
    assert (compacted["compactions"], compacted["added"]) == ([first, summary], [summary])
    assert (await do(editor, "show"))["compactions"] == [first, summary]
    vendor.will_answer(answer("third"))
    await editor.query("three", "three", conversation=ID)
    shown = str(vendor.requests[-1].body)
    assert "Turn one went well." in shown
    assert "first" not in shown
    assert "second" in shown
    assert await do(editor, "compact", reasoning=True, fromTurn=9) == {
        "conversation": ID,
        "compactions": [first, summary],
        "added": [],
    }
    assert (await do(editor, "compact", reset=1))["compactions"] == [summary]
    assert (await do(editor, "compact", reset="all"))["compactions"] == []
    assert [entry["type"] for entry in stored(own_user)].count("compaction") == 0


@pytest.mark.requirement("R281", "R287")
async def test_what_was_removed_is_taken_back(editor: JpClient, own_user: UserFolders) -> None:
    before = await do(editor, "show")
    gone = await do(editor, "remove")
    (trashed,) = (await editor.request("jp/conversation/trash"))["conversations"]
    assert (trashed["conversation"], trashed["title"]) == (ID, "The plan")
    assert sorted(trashed["folders"]) == sorted(gone["trash"])
    assert (await do(editor, "restore"))["title"] == "The plan"
    assert await do(editor, "show") == before
    assert stored(own_user) == list(STREAM)
    assert (await editor.request("jp/conversation/trash"))["conversations"] == []
    told = [each["change"] for each in editor.received("jp/conversationChanged")]
    assert told == ["removed", "created"]
    fault = await editor.refusal("jp/conversation/restore", {"conversation": ID})
    assert "is there already" in fault.message


@pytest.mark.parametrize(
    ("verb", "params", "number", "text"),
    [
        ("edit", {"turn": 3, "text": "x"}, -32602, "the conversation has 2 turns, so there is no turn 3"),
        ("edit", {"turn": 1, "text": " "}, -32602, "a request needs a text"),
        ("edit", {"turn": 1}, -32602, "give either `text` or `remove`"),
        ("edit", {"turn": 1, "text": "x", "remove": True}, -32602, "give either `text` or `remove`"),
        ("compact", {"summary": "a", "summarize": {}}, -32602, "give either `summary` or `summarize`"),
        ("compact", {"reasoning": True, "toTurn": 0}, -32602, "`toTurn` counts from 1"),
        ("compact", {"keepLast": "soon"}, -32602, "`keepLast` must be a duration"),
        ("compact", {"dryRun": True, "summary": ""}, -32602, "the summary is empty"),
        ("compact", {"reset": 1}, -32602, "has 0 compactions, so there is no compaction 1"),
        ("export", {"turns": {"fromTurn": 3}}, -32602, "the conversation has 2 turns"),
        ("export", {"conversation": "jp-c1"}, -32803, "There is no conversation jp-c1"),
        ("restore", {"conversation": "jp-c1"}, -32803, "There is no conversation jp-c1 in the trash"),
    ],
)
async def test_what_cannot_be_done_changes_nothing(
    editor: JpClient, own_user: UserFolders, verb: str, params: Json, number: int, text: str
) -> None:
    before = stored(own_user)
    fault = await editor.refusal(f"jp/conversation/{verb}", {"conversation": ID, **params})
    assert fault.code == number
    assert text in fault.message
    assert stored(own_user) == before
    assert not (own_user.conversations.parent / "recovery").exists()


@pytest.mark.requirement("T24", "R338")
async def test_nothing_is_edited_that_somebody_has(
    editor: JpClient, own_user: UserFolders, vendor: ChatVendor
) -> None:
    """Another program first, then a query of our own; who has it is said, and nothing is written over it."""
    lock = acquire(own_user.conversations.parent / "locks" / f"{ID}.lock", START, None)
    assert lock is not None
    fault = await editor.refusal("jp/conversation/edit", {"conversation": ID, "turn": 1, "text": "x"})
    assert fault.data["code"] == "lock_timeout"
    lock.release()
    assert stored(own_user) == list(STREAM)
    held = await HeldQuery.hold(editor, vendor, "held", conversation=ID)
    for verb, params in (("edit", {"turn": 1, "remove": True}), ("compact", {"reasoning": True})):
        fault = await editor.refusal(f"jp/conversation/{verb}", {"conversation": ID, **params})
        assert fault.data["code"] == "conversation_busy"
    held.go_on()
    await held.result()
    assert stored(own_user)[: len(STREAM)] == list(STREAM)


@pytest.mark.requirement("R281", "C43", "T24")
@pytest.mark.parametrize("is_workspace_broken", [False, True])
async def test_a_conversation_whose_settings_cannot_be_used_is_shown_all_the_same(
    own_user: UserFolders, is_workspace_broken: bool
) -> None:
    """An old one may name a model that nobody knows any more, and files of settings may just be being written."""
    unknown: Raw = {"assistant": {"name": "Jean", "model": {"id": "gone"}}}
    fill(own_user.workspace / ".jp", ID[4:], *STREAM, base=unknown)
    async with opened_workspace(own_user) as server:
        if is_workspace_broken:
            own_user.write(".jp/config.toml", "not = [toml")
        rendered = await do(server.client, "render")
        exported = await do(server.client, "export")
        shown = await do(server.client, "show")
    assert rendered["turns"] == exported["turns"] == shown["turns"] == 2
    for text in (rendered["md"], exported["text"]):
        assert all(part in text for part in ("one", "first", "two", "second"))
        assert "\n## Jean\n" in text
    (notice,) = rendered["notices"]
    assert notice["text"].startswith("Turn 1 is shown without settings of its own that cannot be used: ")
    assert stored(own_user) == list(STREAM)
