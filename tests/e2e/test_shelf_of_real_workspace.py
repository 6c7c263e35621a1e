"""The operations of an editor's tree, over the wire, on a copy of a real workspace of conversations of all ages."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.jp_client import JpClient, Json
from tests.support.shared import LIVE_CONVERSATIONS, shared_path
from tests.support.user_folders import UserFolders
from tests.support.workspaces import states

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.shared]


def facts() -> dict[str, Any]:
    """What is expected of each conversation, by id."""
    text = (shared_path("real-workspace") / "conversation-facts.json").read_text(encoding="utf-8")
    return {f"jp-c{each['dirname'].split('-')[0]}": each for each in json.loads(text)["conversations"]}


def streams(user: UserFolders, conversation: str) -> dict[str, bytes]:
    """The bytes of all files of a conversation but its metadata, wherever they are."""
    number = conversation.removeprefix("jp-c")
    found: dict[str, bytes] = {}
    for label, root in (
        ("silo", user.conversations),
        ("workspace", user.workspace / ".jp" / "conversations"),
    ):
        for path in root.rglob(f"{number}*/*.json"):
            if path.name != "metadata.json":
                found[f"{label} {path.name}"] = path.read_bytes()
    return found


@pytest.mark.requirement("R219", "R281")
async def test_all_are_listed_and_described_as_they_are(real_client: JpClient) -> None:
    live = (await real_client.request("jp/conversation/list"))["conversations"]
    archived = (await real_client.request("jp/conversation/list", {"archived": True}))["conversations"]
    expected = facts()
    assert {each["conversation"]: each["title"] for each in (*live, *archived)} == {
        conversation: each["title"] for conversation, each in expected.items()
    }
    assert [each["conversation"] for each in archived] == [
        conversation for conversation, each in expected.items() if each["archived"]
    ]
    times = [each["lastActivatedAt"] for each in live]
    assert times == sorted(times, reverse=True)
    for conversation, each in expected.items():
        shown: Json = await real_client.request("jp/conversation/show", {"conversation": conversation})
        assert (shown["turns"], shown["events"]) == (each["loaded_turns"], each["loaded_events"]), (
            conversation
        )
        assert "unreadable" not in shown


@pytest.mark.requirement("R219", "R281", "F33")
@pytest.mark.parametrize("conversation", LIVE_CONVERSATIONS)
async def test_no_byte_of_what_was_said_changes(
    real_client: JpClient, real_user: UserFolders, conversation: str
) -> None:
    """Not even the layout of an old conversation: a title is no reason to bring its stream up to date."""
    await real_client.request("jp/conversation/show", {"conversation": conversation})
    before = streams(real_user, conversation)
    title = facts()[conversation]["title"]
    for verb, params in (
        ("title", {"title": "Renamed"}),
        ("pin", {"pinned": True}),
        ("labels", {"add": [{"key": "seen"}]}),
        ("expiry", {"expires": "1w"}),
        ("use", {}),
        ("archive", {}),
        ("unarchive", {}),
        ("move", {"local": True}),
        ("move", {"local": False}),
    ):
        await real_client.request(f"jp/conversation/{verb}", {"conversation": conversation, **params})
    assert streams(real_user, conversation) == before
    for verb, params in (
        ("title", {"title": title}),
        ("pin", {"pinned": False}),
        ("labels", {"clear": True}),
        ("expiry", {}),
    ):
        await real_client.request(f"jp/conversation/{verb}", {"conversation": conversation, **params})
    assert real_user.folder_of(conversation).name == facts()[conversation]["dirname"]
    stored = json.loads((real_user.folder_of(conversation) / "metadata.json").read_text(encoding="utf-8"))
    assert stored.keys() == {"title", "last_activated_at"}


async def test_a_copy_of_an_old_one_leaves_it_alone(real_client: JpClient, real_user: UserFolders) -> None:
    source = "jp-c17659773217"
    before = states(Path(real_user.conversations / ".archive"))
    copy = await real_client.request("jp/conversation/fork", {"conversation": source})
    assert copy["title"] == facts()[source]["title"]
    shown = await real_client.request("jp/conversation/show", {"conversation": copy["conversation"]})
    assert shown["events"] == facts()[source]["sanitized_events"]
    assert states(Path(real_user.conversations / ".archive")) == before
