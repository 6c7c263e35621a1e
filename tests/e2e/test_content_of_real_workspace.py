"""Searching, exporting and changing conversations of all ages, on a copy of a real workspace."""

import json
from typing import Any

import pytest

from tests.support.jp_client import JpClient
from tests.support.shared import LIVE_CONVERSATIONS, shared_path
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.shared]


def facts(conversation: str) -> dict[str, Any]:
    """What is expected of a conversation."""
    text = (shared_path("real-workspace") / "conversation-facts.json").read_text(encoding="utf-8")
    listed = json.loads(text)["conversations"]
    return next(each for each in listed if each["dirname"].split("-")[0] == conversation[4:])  # type: ignore[no-any-return]


def events_text(user: UserFolders, conversation: str) -> str:
    return (user.folder_of(conversation) / "events.json").read_text(encoding="utf-8")


@pytest.mark.requirement("R281", "R219")
async def test_a_search_sees_every_event_at_its_place(real_client: JpClient) -> None:
    """A pattern that is everywhere finds as many events as there are texts, at positions that an export agrees with."""
    found = await real_client.request(
        "jp/conversation/search", {"pattern": ".", "regex": True, "limit": 10_000}
    )
    assert (found["searched"], found["more"], found["unreadable"]) == (len(LIVE_CONVERSATIONS), False, [])
    for conversation in LIVE_CONVERSATIONS:
        hits = [hit for hit in found["hits"] if hit["conversation"] == conversation and "event" in hit]
        positions = [hit["event"] for hit in hits]
        assert positions == sorted(set(positions))
        assert positions[-1] < facts(conversation)["loaded_entries"]
        assert hits[-1]["turn"] <= facts(conversation)["loaded_turns"]


@pytest.mark.requirement("R281")
@pytest.mark.parametrize("conversation", LIVE_CONVERSATIONS)
async def test_each_is_exported_whole(
    real_client: JpClient, real_user: UserFolders, conversation: str
) -> None:
    before = events_text(real_user, conversation)
    params = {"conversation": conversation, "format": "json"}
    exported = await real_client.request("jp/conversation/export", params)
    view = json.loads(exported["text"])
    assert (view["id"], view["title"]) == (conversation[4:], facts(conversation)["title"])
    assert (view["events_count"], exported["turns"]) == (
        facts(conversation)["loaded_events"],
        facts(conversation)["loaded_turns"],
    )
    assert events_text(real_user, conversation) == before


@pytest.mark.requirement("R281")
async def test_another_text_changes_one_entry_and_a_compaction_adds_one(
    real_client: JpClient, real_user: UserFolders
) -> None:
    """To the byte, in a long conversation that has its old layout."""
    conversation = "jp-c17738399468"
    before = events_text(real_user, conversation)
    old = json.loads(before)
    await real_client.request(
        "jp/conversation/edit", {"conversation": conversation, "turn": 11, "text": "Changed."}
    )
    edited = events_text(real_user, conversation)
    new = json.loads(edited)
    assert len(new) == len(old) - 1, "the first entry of the old layout is its base configuration"
    (different,) = [at for at, (one, other) in enumerate(zip(old[1:], new, strict=True)) if one != other]
    assert new[different] == {**old[different + 1], "content": "Changed."}
    await real_client.request(
        "jp/conversation/compact",
        {"conversation": conversation, "toolCalls": "strip_responses", "keepLast": 2},
    )
    compacted = events_text(real_user, conversation)
    assert compacted.startswith(edited.removesuffix("\n]\n") + ",\n  {\n")
    assert json.loads(compacted)[:-1] == new
