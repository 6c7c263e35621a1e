"""Conversations as an editor's tree of them needs it: every operation over the wire, and what is on disk then."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jp_lsp.workspace.lock import acquire
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_client import JP_CLIENT, JpClient, Json
from tests.support.jp_server import JpServer, initialized_server, jp_server
from tests.support.streams import message, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import START, fill, states

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    """A server of one test alone, with an editor that knows `jp/`."""
    async with initialized_server(own_user, capabilities=JP_CLIENT) as server:
        yield server


@pytest.fixture
def editor(own_server: JpServer) -> JpClient:
    return own_server.client


async def asked(client: JpClient, vendor: ChatVendor, text: str = "hi") -> str:
    """A new conversation with one turn."""
    vendor.will_answer(answer("Hello."))
    result = await client.query(text, f"ask {text}", conversation="new")
    return str(result["conversation"])


async def ids(client: JpClient, **params: object) -> list[str]:
    listed = await client.request("jp/conversation/list", params)
    return [each["conversation"] for each in listed["conversations"]]


def changes(client: JpClient) -> list[Json]:
    return client.received("jp/conversationChanged")


def metadata_of(user: UserFolders, conversation: str) -> Json:
    """The metadata on disk, checked to be the same in both places."""
    path = user.folder_of(conversation) / "metadata.json"
    copy = user.workspace / ".jp" / "conversations" / path.parent.name / "metadata.json"
    assert copy.read_bytes() == path.read_bytes()
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.requirement("R281", "R241")
async def test_a_conversation_is_named_marked_and_described(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    one = await asked(editor, vendor)
    events = (own_user.folder_of(one) / "events.json").read_bytes()
    before = len(changes(editor))

    async def do(verb: str, **params: object) -> Json:
        result = await editor.request(f"jp/conversation/{verb}", {"conversation": one, **params})
        assert await editor.request("jp/conversation/list") == {"conversations": [result]}, verb
        return result  # type: ignore[no-any-return]

    assert (await do("title", title="The plan: A/B"))["title"] == "The plan: A/B"
    assert own_user.folder_of(one).name.endswith("-the-plan--a-b")
    assert "pinnedAt" in await do("pin")
    assert "pinnedAt" not in await do("pin")
    assert "pinnedAt" in await do("pin", pinned=True)
    added = [{"key": "area", "value": "auth"}, {"key": "wip"}]
    assert (await do("labels", add=added))["labels"] == [
        {"key": "area", "value": "auth"},
        {"key": "wip", "value": ""},
    ]
    assert (await do("labels", add=[{"key": "area", "value": "ui"}], remove=["wip"]))["labels"] == [
        {"key": "area", "value": "ui"}
    ]
    assert "expiresAt" in await do("expiry", expires="2h 30m")
    assert "expiresAt" not in await do("expiry")
    assert metadata_of(own_user, one).keys() == {"title", "last_activated_at", "pinned_at", "labels"}
    assert [change["change"] for change in changes(editor)[before:]] == ["updated"] * 8
    assert "title" not in await do("title")
    assert own_user.folder_of(one).name == one.removeprefix("jp-c")
    assert (own_user.folder_of(one) / "events.json").read_bytes() == events
    shown = await editor.request("jp/conversation/show", {"conversation": one})
    assert (shown["turns"], shown["events"], shown["model"]) == (1, 3, "llamacpp/tiny")
    assert (shown["unfinished"], shown["attachments"], shown["compactions"]) == (False, [], [])
    assert shown["folder"] == (own_user.workspace / ".jp" / "conversations" / one[4:]).as_uri()
    assert not own_user.is_locked(one)


@pytest.mark.requirement("R281", "R279", "R287")
async def test_away_and_back_again(editor: JpClient, vendor: ChatVendor, own_user: UserFolders) -> None:
    one, two = await asked(editor, vendor, "one"), await asked(editor, vendor, "two")
    archived = await editor.request("jp/conversation/archive", {"conversation": two})
    assert (archived["archived"], archived["active"], "archivedAt" in archived) == (True, False, True)
    assert await ids(editor) == [one]
    assert await ids(editor, archived=True) == [two]
    fault = await editor.refusal("jp/query", {"text": "more", "conversation": two})
    assert fault.data["code"] == "conversation_not_found"
    rendered = await editor.request(
        "jp/conversation/render", {"conversation": two, "partialResultToken": "look"}
    )
    assert rendered["turns"] == 1, "it can still be read"
    back = await editor.request("jp/conversation/unarchive", {"conversation": two})
    assert (back["archived"], back["local"]) == (False, False)
    vendor.will_answer(answer("Again."))
    await editor.query("more", "more", conversation=two)
    removed = await editor.request("jp/conversation/remove", {"conversation": two})
    assert [Path(uri.removeprefix("file://")).name for uri in removed["trash"]] == [two[4:]] * 2
    assert await ids(editor) == [one]
    assert [change["change"] for change in changes(editor) if change["conversation"] == two][-4:] == [
        "unarchived",
        "updated",
        "updated",
        "removed",
    ]
    vendor.will_answer(answer("Here."))
    result = await editor.query("next", "next")
    assert result["conversation"] == one, "the one that was used last is gone, so the one before it is"


@pytest.mark.requirement("R230", "R281", "R222")
async def test_a_new_one_a_copy_and_where_queries_go(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    old = await asked(editor, vendor, "old")
    new = await editor.request(
        "jp/conversation/new",
        {
            "title": "Fresh",
            "config": ["assistant.name=Ada"],
            "labels": [{"key": "kind", "value": "try"}],
            "expires": "1d",
            "local": True,
        },
    )
    assert (new["title"], new["local"], new["active"]) == ("Fresh", True, True)
    assert own_user.folder_of(new["conversation"]).name.endswith("-fresh")
    assert not list((own_user.workspace / ".jp" / "conversations").glob("*-fresh"))
    vendor.will_answer(answer("I am Ada."))
    result = await editor.query("who?", "who")
    assert result["conversation"] == new["conversation"]
    assert "## Ada" in editor.transcript("who")
    used = await editor.request("jp/conversation/use", {"conversation": old})
    assert used["active"]
    vendor.will_answer(answer("Back."))
    assert (await editor.query("back?", "back"))["conversation"] == old
    copy = await editor.request(
        "jp/conversation/fork", {"conversation": old, "firstTurns": 1, "title": "Other way"}
    )
    assert own_user.story(copy["conversation"]) == ["turn", "user: old", "message: Hello."]
    assert own_user.story(old)[-2:] == ["user: back?", "message: Back."]
    last = await editor.request("jp/conversation/fork", {"conversation": "last", "use": True})
    assert own_user.story(last["conversation"]) == own_user.story(copy["conversation"])
    vendor.will_answer(answer("Copied."))
    assert (await editor.query("and?", "and"))["conversation"] == last["conversation"]


async def test_out_of_the_workspace_and_in_again(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    one = await asked(editor, vendor)
    shared = own_user.workspace / ".jp" / "conversations" / one[4:]
    moved = await editor.request("jp/conversation/move", {"conversation": one, "local": True})
    assert (moved["local"], shared.exists()) == (True, False)
    vendor.will_answer(answer("Alone."))
    await editor.query("more", "alone", conversation=one)
    assert not shared.exists()
    moved = await editor.request("jp/conversation/move", {"conversation": one, "local": False})
    assert not moved["local"]
    assert own_user.story(one)[-1] == "message: Alone.", "and both copies are the same"


@pytest.mark.requirement("T20")
async def test_what_a_picker_wants_to_see(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    one, two, three = [await asked(editor, vendor, text) for text in ("one", "two", "three")]
    for conversation, title in ((one, "Locks and keys"), (two, "LOCK step")):
        await editor.request("jp/conversation/title", {"conversation": conversation, "title": title})
    await editor.request("jp/conversation/pin", {"conversation": one})
    await editor.request("jp/conversation/move", {"conversation": three, "local": True})
    await editor.request(
        "jp/conversation/labels", {"conversation": two, "add": [{"key": "area", "value": "x"}]}
    )
    assert await ids(editor) == [three, two, one]
    for params, expected in (
        ({"title": "lock"}, [two, one]),
        ({"pinned": True}, [one]),
        ({"pinned": False}, [three, two]),
        ({"local": True}, [three]),
        ({"labels": ["area"]}, [two]),
        ({"labels": ["area=x"]}, [two]),
        ({"labels": ["area=y"]}, []),
        ({"labels": ["area", "wip"]}, []),
        ({"title": "lock", "limit": 1}, [two]),
    ):
        assert await ids(editor, **params) == expected, params
    (own_user.folder_of(one) / "metadata.json").write_text("[]", encoding="utf-8")
    copy = own_user.workspace / ".jp" / "conversations" / own_user.folder_of(one).name / "metadata.json"
    copy.write_text("[]", encoding="utf-8")
    listed = (await editor.request("jp/conversation/list"))["conversations"]
    (broken,) = [each for each in listed if each["conversation"] == one]
    assert "metadata.json" in broken["problem"]
    assert broken["lastActivatedAt"] == broken["createdAt"]


@pytest.mark.requirement("R337", "R338", "S23")
async def test_while_a_query_runs_names_can_change_and_nothing_else(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    held = await HeldQuery.hold(editor, vendor, "held")
    one = held.conversation
    for verb, params in (("title", {"title": "Meanwhile"}), ("pin", {}), ("labels", {"add": [{"key": "x"}]})):
        result = await editor.request(f"jp/conversation/{verb}", {"conversation": one, **params})
        assert result["busy"]
    for verb, params in (("archive", {}), ("remove", {}), ("move", {"local": True})):
        fault = await editor.refusal(f"jp/conversation/{verb}", {"conversation": one, **params})
        assert (fault.code, fault.data["code"]) == (-32803, "conversation_busy")
        assert one in fault.message
    copy = await editor.request("jp/conversation/fork", {"conversation": one})
    assert copy["title"] == "Meanwhile"
    assert (await editor.request("jp/conversation/use", {"conversation": one}))["active"]
    (listed,) = [
        each
        for each in (await editor.request("jp/conversation/list"))["conversations"]
        if each["conversation"] == one
    ]
    assert (listed["busy"], listed["title"]) == (True, "Meanwhile")
    held.go_on()
    assert (await held.result())["outcome"] == "completed"
    stored = metadata_of(own_user, one)
    assert (stored["title"], stored["labels"], "pinned_at" in stored) == ("Meanwhile", {"x": ""}, True)
    assert own_user.story(one)[-1].startswith("message: ")
    assert (await editor.request("jp/conversation/archive", {"conversation": one}))["archived"]


@pytest.mark.requirement("T24", "R338")
async def test_what_another_program_has_is_left_alone(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    one = await asked(editor, vendor)
    lock = acquire(own_user.conversations.parent / "locks" / f"{one}.lock", START, "other")
    assert lock is not None
    before = states(own_user.conversations), states(own_user.workspace / ".jp" / "conversations")
    verbs: tuple[tuple[str, dict[str, Any]], ...] = (
        ("title", {"title": "x"}),
        ("archive", {}),
        ("remove", {}),
        ("move", {"local": True}),
    )
    faults = await asyncio.gather(
        *(editor.refusal(f"jp/conversation/{verb}", {"conversation": one, **more}) for verb, more in verbs)
    )
    for fault in faults:
        assert (fault.code, fault.data["code"]) == (-32803, "lock_timeout")
        assert "in use by process" in fault.message
    assert (await editor.request("jp/conversation/use", {"conversation": one}))["busy"]
    assert (states(own_user.conversations), states(own_user.workspace / ".jp" / "conversations")) == before
    lock.release()
    await editor.request("jp/conversation/title", {"conversation": one, "title": "x"})


VERBS = (
    "show",
    "use",
    "fork",
    "title",
    "labels",
    "pin",
    "expiry",
    "archive",
    "unarchive",
    "remove",
    "move",
)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("verb", VERBS)
async def test_a_conversation_that_is_not_there(client: JpClient, user: UserFolders, verb: str) -> None:
    params = {"conversation": "jp-c17900000000", "local": True}
    fault = await client.refusal(f"jp/conversation/{verb}", params)
    assert (fault.code, fault.data["code"]) == (-32803, "conversation_not_found")
    assert "jp-c17900000000" in fault.message


@pytest.mark.requirement("R343")
@pytest.mark.parametrize(
    ("method", "params", "problem"),
    [
        ("title", {"conversation": "nonsense"}, "conversation id"),
        ("pin", {}, "conversation"),
        ("labels", {"conversation": "jp-c1", "add": [{"key": "no blank"}]}, "a label such as"),
        ("expiry", {"conversation": "jp-c1", "expires": "soon"}, "a duration such as"),
        ("expiry", {"conversation": "jp-c1", "expires": "99999w"}, "at most 5200 weeks"),
        ("fork", {"conversation": "jp-c1", "lastTurns": -1}, "lastTurns"),
        ("move", {"conversation": "jp-c1"}, "local"),
        ("list", {"limit": 0}, "limit"),
    ],
)
async def test_params_that_make_no_sense(client: JpClient, method: str, params: Json, problem: str) -> None:
    fault = await client.refusal(f"jp/conversation/{method}", params)
    assert (fault.code, fault.data["code"]) == (-32602, "invalid_params")
    assert problem in fault.message


async def test_the_long_form_of_an_id_is_understood(editor: JpClient, vendor: ChatVendor) -> None:
    one = await asked(editor, vendor)
    result = await editor.request("jp/conversation/pin", {"conversation": f"{one}-ab12c"})
    assert result["conversation"] == one


@pytest.mark.requirement("R326")
async def test_every_operation_has_a_command(
    editor: JpClient, vendor: ChatVendor, own_user: UserFolders
) -> None:
    async def command(verb: str, **params: object) -> Any:
        asked = {"command": f"jp.conversation.{verb}", "arguments": [params]}
        return await editor.request("workspace/executeCommand", asked)

    one = await asked(editor, vendor)
    assert (await command("title", conversation=one, title="T"))["title"] == "T"
    assert "pinnedAt" in await command("pin", conversation=one)
    assert (await command("labels", conversation=one, add=[{"key": "a"}]))["labels"] != []
    assert "expiresAt" in await command("expiry", conversation=one, expires="1h")
    assert (await command("show", conversation=one))["turns"] == 1
    assert (await command("move", conversation=one, local=True))["local"]
    copy = await command("fork", conversation=one)
    new = await command("new", title="N")
    assert (await command("use", conversation=one))["active"]
    assert (await command("archive", conversation=one))["archived"]
    assert not (await command("unarchive", conversation=one))["archived"]
    assert len((await command("remove", conversation=copy["conversation"]))["trash"]) == 1
    listed = (await command("list"))["conversations"]
    assert {each["conversation"] for each in listed} == {one, new["conversation"]}


async def test_looking_makes_no_workspace(own_user: UserFolders) -> None:
    bare = own_user.workspace.parent / "bare"
    bare.mkdir()
    async with jp_server(own_user) as server:
        client = server.client
        await client.initialize(bare, capabilities=JP_CLIENT)
        assert await client.request("jp/conversation/list") == {"conversations": []}
        for method in ("jp/config/list", "jp/config/get", "jp/config/explain", "jp/model/list"):
            await client.request(method)
        fault = await client.refusal("jp/conversation/title", {"conversation": "jp-c1", "title": "x"})
        assert fault.data["code"] == "conversation_not_found"
    assert list(bare.iterdir()) == []


async def test_a_conversation_id_is_not_a_path(client: JpClient) -> None:
    fault = await client.refusal("jp/conversation/remove", {"conversation": "jp-c1/../../x"})
    assert fault.data["code"] == "invalid_params"


@pytest.mark.requirement("C6")
async def test_of_two_folders_that_a_merge_left_the_newest_is_the_conversation(own_user: UserFolders) -> None:
    """Each branch gave a title of its own; the older one has the name that comes last, and gets the title asked for."""
    root = own_user.workspace / ".jp"
    for title, text, age in (("one", "newer", 100), ("two", "older", 500)):
        metadata: Json = {"title": title, "last_activated_at": "2026-10-05 21:09:27.8"}
        fill(root, f"17912345678-{title}", turn(), user(text), message("Yes."), metadata=metadata, age=age)
    async with initialized_server(own_user, capabilities=JP_CLIENT) as server:
        listed = await server.client.request("jp/conversation/list")
        assert [each["title"] for each in listed["conversations"]] == ["one"]
        titled = {"conversation": "jp-c17912345678", "title": "two"}
        await server.client.request("jp/conversation/title", titled)
        assert own_user.story("jp-c17912345678") == ["turn", "user: newer", "message: Yes."]
    live = [each.name for each in (root / "conversations").iterdir() if each.name[0] != "."]
    assert live == ["17912345678-two"]
    (kept,) = (root / "conversations" / ".trash").iterdir()
    assert "older" in (kept / "events.json").read_text(encoding="utf-8")


@pytest.mark.requirement("R281")
async def test_a_workspace_that_cannot_be_written_can_be_looked_at(own_user: UserFolders) -> None:
    """Its id, with the line ends of another system, cannot be put right."""
    root = own_user.workspace / ".jp"
    (root / ".id").write_bytes(b"x\r\nab12c\r\n")
    (root / ".id.tmp" / "in the way").mkdir(parents=True)
    fill(root, "17912345678", turn(), user("hi"), message("Hello."))
    async with initialized_server(own_user, capabilities=JP_CLIENT) as server:
        assert await ids(server.client) == ["jp-c17912345678"]
        params = {"conversation": "jp-c17912345678", "partialResultToken": "look"}
        assert (await server.client.request("jp/conversation/render", params))["turns"] == 1
    assert (root / ".id").read_bytes() == b"x\r\nab12c\r\n"
