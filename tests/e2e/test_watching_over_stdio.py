"""What JP or git does to conversations shows up in an editor without a restart."""

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json
from tests.support.jp_server import initialized_server
from tests.support.streams import message, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

EXPERIMENTAL = {"jp": {"version": 1, "chunks": True}}
WATCHING = {"dynamicRegistration": True, "relativePatternSupport": True}
CAPABILITIES: dict[str, Json] = {
    "polling": {"experimental": EXPERIMENTAL},
    "watching": {
        "experimental": EXPERIMENTAL,
        "workspace": {"didChangeWatchedFiles": WATCHING},
    },
}
OLD, OTHER, DUMMY = "jp-c17912345678", "jp-c17912349999", "jp-c17912340000"


@pytest_asyncio.fixture(loop_scope="session", params=sorted(CAPABILITIES))
async def editor(own_user: UserFolders, request: pytest.FixtureRequest) -> AsyncIterator[JpClient]:
    """An editor in a workspace with one conversation, which has been listed."""
    fill(own_user.workspace / ".jp", OLD[4:], turn(), user("hi"), message("hello"))
    async with initialized_server(own_user, capabilities=CAPABILITIES[request.param]) as server:
        registered: list[Any] = []
        server.client.answers["client/registerCapability"] = registered.append
        await server.client.request("jp/conversation/list")
        if request.param == "watching":
            await server.client.wait_for(lambda: registered or None)
            (registration,) = registered[0]["registrations"]
            assert registration["method"] == "workspace/didChangeWatchedFiles"
            roots = [own_user.conversations.parent, own_user.workspace / ".jp"]
            assert registration["registerOptions"]["watchers"] == [
                {"globPattern": {"baseUri": root.as_uri(), "pattern": "conversations/**"}} for root in roots
            ]
        yield server.client


def nudge(client: JpClient, user: UserFolders) -> None:
    """What an editor says that watches; one that polls is not told, and saying it all the same harms nobody."""
    uri = (user.workspace / ".jp" / "conversations").as_uri()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})


def changes_of(client: JpClient) -> list[Json]:
    return [each for each in client.received("jp/conversationChanged") if each["conversation"] != DUMMY]


async def told(client: JpClient, count: int) -> list[tuple[object, ...]]:
    """Wait for so many changes."""

    def look() -> list[Json] | None:
        changes = changes_of(client)
        return changes if len(changes) >= count else None

    changes = await client.wait_for(look)
    return [(each["conversation"], each["change"], each.get("title")) for each in changes]


@pytest.mark.requirement("R281")
async def test_what_others_do_is_told(editor: JpClient, own_user: UserFolders) -> None:
    await editor.request("jp/conversation/show", {"conversation": OLD})
    storage = own_user.workspace / ".jp"
    await first_look(editor, own_user)
    metadata: Json = {"title": "By git", "last_activated_at": "2026-10-06 21:09:27.8"}
    folder = fill(storage, f"{OTHER[4:]}-by-git", turn(), user("hi"), metadata=metadata)
    nudge(editor, own_user)
    assert await told(editor, 1) == [(OTHER, "created", "By git")]
    (storage / "conversations" / ".archive").mkdir()
    folder.rename(storage / "conversations" / ".archive" / folder.name)
    nudge(editor, own_user)
    assert (await told(editor, 2))[1:] == [(OTHER, "archived", "By git")]
    shutil.rmtree(storage / "conversations" / ".archive" / folder.name)
    nudge(editor, own_user)
    assert (await told(editor, 3))[2:] == [(OTHER, "removed", None)]


async def first_look(editor: JpClient, own_user: UserFolders) -> None:
    """Make changes until one is told: the first look has been then."""
    folder = fill(own_user.workspace / ".jp", DUMMY[4:], turn(), user("hi"))
    while not editor.received("jp/conversationChanged"):
        with (folder / "events.json").open("a", encoding="utf-8") as file:
            file.write("\n")
        nudge(editor, own_user)
        await editor.request("jp/conversation/list")


@pytest.mark.requirement("R281")
async def test_our_own_work_is_told_once(editor: JpClient, own_user: UserFolders, vendor: ChatVendor) -> None:
    await first_look(editor, own_user)
    await editor.request("jp/conversation/title", {"conversation": OLD, "title": "T"})
    vendor.will_answer(answer("Hello."))
    await editor.query("more", "more", conversation=OLD)
    ours = len(changes_of(editor))
    assert ours > 1
    fill(own_user.workspace / ".jp", OTHER[4:], turn(), user("hi"))
    nudge(editor, own_user)
    assert (await told(editor, ours + 1))[ours:] == [(OTHER, "created", None)], "and ours not once more"


@pytest.mark.requirement("R281")
async def test_what_others_write_right_after_us_is_told(editor: JpClient, own_user: UserFolders) -> None:
    await first_look(editor, own_user)
    await editor.request("jp/conversation/title", {"conversation": OLD, "title": "T"})
    ours = len(changes_of(editor))
    events = own_user.workspace / ".jp" / "conversations" / f"{OLD[4:]}-t" / "events.json"
    with events.open("a", encoding="utf-8") as file:
        file.write("\n")
    nudge(editor, own_user)
    assert (await told(editor, ours + 1))[ours:] == [(OLD, "updated", "T")]
