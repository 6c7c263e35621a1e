"""Compaction by the settings and by a model, over the wire, and what is on disk then."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer, refused
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, Json, fault_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.streams import Raw, call, compaction, message, reasoning, result, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

JP_CLIENT = {
    "experimental": {"jp": {"version": 1, "chunks": True}},
    "window": {"workDoneProgress": True},
}
ID = "jp-c17912345678"
LONG = "and so on " * 40
STREAM: tuple[Raw, ...] = tuple(
    entry
    for number in ("one", "two", "three", "four")
    for entry in (
        turn(),
        user(number),
        reasoning("hm"),
        call(f"c{number}", path="a2V5"),
        result(f"c{number}", "b2s="),
        message(f"{number}: {LONG}"),
    )
)


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    fill(own_user.workspace / ".jp", ID[4:], *STREAM)
    async with initialized_server(own_user, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


def stored(user: UserFolders) -> list[Raw]:
    """The entries in the workspace."""
    (folder,) = (user.workspace / ".jp" / "conversations").glob(f"{ID[4:]}*")
    return json.loads((folder / "events.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def rules(user: UserFolders, text: str) -> None:
    (user.workspace / ".jp" / "config.toml").write_text(text, encoding="utf-8")


async def compact(client: JpClient, **params: object) -> Json:
    return await client.request("jp/conversation/compact", {"conversation": ID, **params})  # type: ignore[no-any-return]


def lasting(first: int, last: int, *, is_summary: bool = False) -> Json:
    return {"fromTurn": first, "toTurn": last, "summarized": is_summary}


@pytest.mark.requirement("R281")
async def test_without_a_word_the_settings_say_how(editor: JpClient, own_user: UserFolders) -> None:
    middle = lasting(2, 3)
    expected = {"conversation": ID, "compactions": [middle], "added": [middle]}
    assert await compact(editor, dryRun=True) == expected
    assert stored(own_user) == list(STREAM)
    assert await compact(editor) == expected
    (added,) = stored(own_user)[len(STREAM) :]
    strip = {"policy": "strip", "request": True, "response": True}
    expected_entry = compaction(1, 2, 0, reasoning="strip", tool_calls=strip)
    assert {**added, "timestamp": ""} == {**expected_entry, "timestamp": ""}
    rules(own_user, "[[conversation.compaction.rules]]\nkeep_first = 0\nkeep_last = 0\ntool_calls = 'omit'\n")
    command = {"command": "jp.conversation.compact", "arguments": [{"conversation": ID}]}
    again = await editor.request("workspace/executeCommand", command)
    assert (again["compactions"], again["added"]) == ([middle, lasting(1, 4)], [lasting(1, 4)])
    behind = await compact(editor, fromTurn="last", reasoning=True)
    assert behind["added"] == []


@pytest.mark.requirement("R281", "R333")
async def test_a_model_sums_up_and_the_client_sees_it_at_work(
    editor: JpClient, own_user: UserFolders, vendor: ChatVendor
) -> None:
    gate = Hold()
    vendor.will_answer(answer("All ", gate, "is well."))
    _, asked = editor.start(
        "jp/conversation/compact",
        {"conversation": ID, "summarize": {"context": "for tests"}, "keepLast": 1, "workDoneToken": "w"},
    )
    await editor.wait_for(lambda: len(editor.progress("w")) > 1)
    gate.open()
    answered = (await asked)["result"]
    assert answered["added"] == [lasting(1, 3, is_summary=True)]
    assert [(each["kind"], each.get("message")) for each in editor.progress("w")] == [
        ("begin", None),
        ("report", "Summing up turns 1 to 3"),
        ("end", None),
    ]
    assert stored(own_user)[-1]["summary"] == {"summary": "All is well."}
    (request,) = vendor.queries
    assert "About this summary: for tests" in str(request["messages"][0])
    assert "three: and so on" in str(request["messages"])
    assert "four: and so on" not in str(request["messages"])
    vendor.will_answer(answer("good"))
    await editor.query("five", "five", conversation=ID)
    shown = str(vendor.queries[-1]["messages"])
    assert "All is well." in shown
    assert "three: and so on" not in shown


@pytest.mark.requirement("T14")
async def test_a_summary_that_is_no_shorter_changes_nothing(
    editor: JpClient, own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer(LONG * 9))
    fault = await editor.refusal("jp/conversation/compact", {"conversation": ID, "summarize": {}})
    assert (fault.code, fault.data["code"]) == (-32803, "compaction_failed")
    assert "The summary of turns 1 to 4 is not shorter than what it would replace" in fault.message
    assert "The conversation is as it was." in fault.message
    assert len(vendor.queries) == 1, "it was tried once"
    assert stored(own_user) == list(STREAM)
    assert not own_user.is_locked(ID)


@pytest.mark.requirement("R281")
@pytest.mark.parametrize("by", ["request", "progress"])
async def test_a_cancelled_compaction_changes_nothing(
    editor: JpClient, own_user: UserFolders, vendor: ChatVendor, by: str
) -> None:
    gate = Hold()
    vendor.will_answer(answer("All ", gate, "is well."))
    editor.answers["window/workDoneProgress/create"] = lambda _: None
    request, asked = editor.start("jp/conversation/compact", {"conversation": ID, "summarize": {}})
    created = await editor.wait_for(
        lambda: next(iter(editor.received("window/workDoneProgress/create")), None)
    )
    await editor.wait_for(lambda: editor.progress(created["token"]))
    assert await asyncio.to_thread(gate.wait_until_reached)
    if by == "request":
        editor.cancel(request)
    else:
        editor.notify("window/workDoneProgress/cancel", {"token": created["token"]})
    fault = await fault_of(asked)
    assert fault.code == -32800
    assert stored(own_user) == list(STREAM)
    assert not own_user.is_locked(ID)
    assert editor.progress(created["token"])[-1]["kind"] == "end"
    gate.open()
    assert (await compact(editor, reasoning=True))["added"] == [lasting(1, 4)], "and it can be changed again"


async def test_a_model_that_refuses_is_named(
    editor: JpClient, own_user: UserFolders, vendor: ChatVendor
) -> None:
    vendor.will_answer(refused(401, "no such key"))
    fault = await editor.refusal("jp/conversation/compact", {"conversation": ID, "summarize": {}})
    assert "llamacpp/tiny made no summary:" in fault.message
    assert stored(own_user) == list(STREAM)


@pytest.mark.requirement("R281")
async def test_a_copy_is_compacted_by_the_settings(editor: JpClient, own_user: UserFolders) -> None:
    copy = await editor.request("jp/conversation/fork", {"conversation": ID, "compact": True})
    shown = await editor.request("jp/conversation/show", {"conversation": copy["conversation"]})
    assert shown["compactions"] == [lasting(2, 3)]
    assert stored(own_user) == list(STREAM)


@pytest.mark.requirement("R43", "C47")
async def test_what_is_asked_behind_a_compaction_past_the_end_is_shown(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """Hand-made, or left by another program: it covers what was there, and no turn that comes."""
    past_end = compaction(3, 40, summary={"summary": "The fourth went well."})
    fill(own_user.workspace / ".jp", ID[4:], *STREAM, compaction(9, 12, reasoning="strip"), past_end)
    vendor.will_answer(answer("Gladly."), answer("Again."))
    async with initialized_server(own_user) as server:
        for text in ("five", "six"):
            await server.client.query(text, text, conversation=ID)
    (first, second) = ([said["content"] for said in asked["messages"][-3:]] for asked in vendor.queries)
    assert first == ["[Summary of previous conversation]", "The fourth went well.", "five"]
    assert second == ["five", "Gladly.", "six"]
    assert stored(own_user)[: len(STREAM) + 1] == [*STREAM, {**past_end, "to_turn": 3}]


@pytest.mark.requirement("R43", "T08")
async def test_a_turn_that_goes_on_is_shown_though_it_was_compacted(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """Else the model would never see what its tools answer, and call them again and again."""
    unfinished = [*STREAM, turn(), user("five"), call("c"), result("c", "c2l4dGg=")]
    whole = compaction(0, 4, summary={"summary": "All went well."}, tool_calls={"policy": "omit"})
    fill(own_user.workspace / ".jp", ID[4:], *unfinished, whole)
    vendor.will_answer(answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.request("jp/query", {"conversation": ID, "resume": True})
    (asked,) = vendor.queries
    assert [(said["role"], said.get("content")) for said in asked["messages"][1:]] == [
        ("user", "[Summary of previous conversation]"),
        ("assistant", "All went well."),
        ("user", "five"),
        ("assistant", None),
        ("tool", "sixth"),
    ]
    assert stored(own_user)[: len(unfinished) + 1] == [*unfinished, {**whole, "to_turn": 3}]
