"""A workspace that is opened for the first time answers at once, while its conversations are being copied."""

import asyncio
import itertools

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.streams import message, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

COUNT = 400
CHUNKS = {"experimental": {"jp": {"version": 1, "chunks": True}}}


@pytest.mark.requirement("T07", "R280", "R281")
async def test_it_answers_while_conversations_are_copied(own_user: UserFolders, vendor: ChatVendor) -> None:
    """One conversation goes on meanwhile; none is lost or doubled, and the copies are no news."""
    storage = own_user.workspace / ".jp"
    for number in range(COUNT):
        fill(storage, str(17912340000 + number), turn(), user(f"hi {number}"), message("hello"))
    chosen = f"jp-c{17912340000 + COUNT - 1}"
    vendor.will_answer(answer("Again."), to="once more")
    async with initialized_server(own_user, capabilities=CHUNKS) as server:
        listed = (await server.client.request("jp/conversation/list"))["conversations"]
        assert len(listed) == COUNT
        result = await server.client.query("once more", "t", conversation=chosen)
        assert (result["outcome"], result["text"]) == ("completed", "Again.")
        await own_user.wait_for_copies()
        listed = (await server.client.request("jp/conversation/list"))["conversations"]
        assert len({each["conversation"] for each in listed}) == COUNT
        told = {each["conversation"] for each in server.client.received("jp/conversationChanged")}
        assert told <= {chosen}
    names = sorted(path.name for path in (storage / "conversations").iterdir())
    assert sorted(path.name for path in own_user.conversations.iterdir()) == names
    assert own_user.story(chosen)[-2:] == ["user: once more", "message: Again."]


async def test_two_editors_open_it_at_once(own_user: UserFolders) -> None:
    """One of them copies, and neither takes the copies for the work of somebody else."""
    storage = own_user.workspace / ".jp"
    for number in range(COUNT):
        fill(storage, str(17912340000 + number), turn(), user(f"hi {number}"), message("hello"))
    async with (
        initialized_server(own_user, capabilities=CHUNKS) as one,
        initialized_server(own_user, capabilities=CHUNKS) as other,
    ):
        for server in (one, other):
            listed = (await server.client.request("jp/conversation/list"))["conversations"]
            assert len(listed) == COUNT
        await own_user.wait_for_copies()
        await renamed_until_told(one.client, other.client)
        told = other.client.received("jp/conversationChanged")
        assert {each["conversation"] for each in told} == {"jp-c17912340007"}
    assert len(list(own_user.conversations.iterdir())) == COUNT


async def renamed_until_told(one: JpClient, other: JpClient) -> None:
    """Rename a conversation until the other editor is told: the first look of its server only remembers."""
    async with asyncio.timeout(30):
        for number in itertools.count():
            title = {"conversation": "jp-c17912340007", "title": f"title {number}"}
            await one.request("jp/conversation/title", title)
            await other.request("jp/conversation/list", {"limit": 1})
            if other.received("jp/conversationChanged"):
                return
            await asyncio.sleep(0.05)
