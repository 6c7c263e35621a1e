"""A workspace whose conversations lie outside of it through a link: left alone until the user trusts that."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json
from tests.support.jp_server import initialized_server
from tests.support.streams import message, turn, user
from tests.support.user_folders import UserFolders
from tests.support.workspaces import fill, states

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R306", "T15")]

EXPERIMENTAL: Json = {"experimental": {"jp": {"prompt": {"kinds": ["approval"]}, "chunks": True}}}
OLD, EXPIRED = "jp-c17740000000", "jp-c17740000001"
PAST = "2026-01-01 00:00:00.0"


@pytest.fixture
def other(own_user: UserFolders, tmp_path: Path) -> Path:
    """Another project of the user's, to whose conversations the workspace has a link."""
    storage = tmp_path / "other" / ".jp"
    fill(storage, f"{OLD[4:]}-theirs", turn(), user("hi"), message("hello"), metadata=metadata("theirs"))
    expired = {**metadata("expired"), "expires_at": PAST}
    folder = fill(storage, f"{EXPIRED[4:]}-expired", turn(), user("hi"), metadata=expired)
    (folder / "events.json.tmp").write_text("half", encoding="utf-8")
    (own_user.workspace / ".jp" / "conversations").symlink_to(storage / "conversations")
    return storage


def metadata(title: str) -> Json:
    return {"title": title, "last_activated_at": PAST}


async def titles(client: JpClient) -> list[str | None]:
    listed = await client.request("jp/conversation/list")
    return [each.get("title") for each in listed["conversations"]]


async def test_nothing_outside_is_touched_without_trust(
    own_user: UserFolders, other: Path, vendor: ChatVendor
) -> None:
    before = states(other)
    async with initialized_server(own_user, capabilities=EXPERIMENTAL) as server:
        client = server.client
        client.answers["jp/prompt"] = lambda prompt: {"action": "deny"}
        assert await titles(client) == []
        for method, more in {"title": {"title": "Mine"}, "archive": {}, "remove": {}, "show": {}}.items():
            fault = await client.refusal(f"jp/conversation/{method}", {"conversation": OLD, **more})
            assert fault.data["code"] == "conversation_not_found", method
        vendor.will_answer(answer("Hello."))
        result = await client.query("t", "hi", conversation="last")
        assert result["outcome"] == "completed"
        assert len(await titles(client)) == 1, "the new one, in the user's own folder"
        await client.request(
            "jp/conversation/title", {"conversation": result["conversation"], "title": "Own"}
        )
        assert await titles(client) == ["Own"]
        assert str(other / "conversations") in str(client.messages)
    assert states(other) == before
    assert [path.name for path in own_user.conversations.glob("[0-9]*")] == [
        f"{result['conversation'][4:]}-own"
    ]


async def test_once_the_user_trusts_it_the_folder_is_the_workspaces(
    own_user: UserFolders, other: Path, vendor: ChatVendor
) -> None:
    asked: list[Any] = []

    def trust(prompt: Any) -> Any:
        asked.append(prompt)
        return {"action": "trust"}

    for _ in range(2):  # it is asked once, also of the next server
        async with initialized_server(own_user, capabilities=EXPERIMENTAL) as server:
            server.client.answers["jp/prompt"] = trust
            vendor.will_answer(answer("Hello."))
            await server.client.query("t", "hi", conversation="new")
            assert "theirs" in await titles(server.client)
    (prompt,) = asked
    assert prompt["message"] == "Trust this workspace to run its programs? 1 folder outside of the workspace."
    assert f"`.jp/conversations`: {other / 'conversations'}" in prompt["detail"]


async def test_a_folder_that_another_link_leads_to_is_asked_about_anew(
    own_user: UserFolders, other: Path, tmp_path: Path, vendor: ChatVendor
) -> None:
    async with initialized_server(own_user, capabilities=EXPERIMENTAL) as server:
        server.client.answers["jp/prompt"] = lambda prompt: {"action": "trust"}
        vendor.will_answer(answer("Hello."))
        await server.client.query("t", "hi", conversation="new")
        assert "theirs" in await titles(server.client)
        link = own_user.workspace / ".jp" / "conversations"
        shutil.copytree(other, tmp_path / "third")
        link.unlink()
        link.symlink_to(tmp_path / "third" / "conversations")
        before = states(tmp_path / "third")
        await server.client.refusal("jp/conversation/title", {"conversation": OLD, "title": "Mine"})
        assert states(tmp_path / "third") == before


@pytest.mark.parametrize("place", ["outside", "inside"])
async def test_who_trusts_everything_and_who_stays_inside_is_asked_nothing(
    own_user: UserFolders, tmp_path: Path, place: str
) -> None:
    storage = (tmp_path if place == "outside" else own_user.workspace) / "kept"
    fill(storage, f"{OLD[4:]}-theirs", turn(), user("hi"), message("hello"), metadata=metadata("theirs"))
    (own_user.workspace / ".jp" / "conversations").symlink_to(storage / "conversations")
    options = {"jp": {"trust": "always" if place == "outside" else "ask"}}
    async with initialized_server(own_user, capabilities=EXPERIMENTAL, options=options) as server:
        assert await titles(server.client) == ["theirs"]
        await server.client.request("jp/conversation/title", {"conversation": OLD, "title": "Mine"})
        assert await titles(server.client) == ["Mine"]
    assert [path.name for path in (storage / "conversations").glob("[0-9]*")] == [f"{OLD[4:]}-mine"]
