"""A setting that is taken away from a conversation, as its files can say it or not (conversation format 3.8, 3.12)."""

from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, WireFault
from tests.support.jp_server import initialized_server
from tests.support.user_folders import Json, UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

NEWER: Any = {"jp": {"storage": {"newer_format": True}}}
STOP_WORDS = "assistant.model.parameters.stop_words"
FIRST = ["assistant.name=Ada", f'{STOP_WORDS}:=["a","b"]']
REMOVAL = ["assistant.name:=null", f'{STOP_WORDS}:=["b"]']


async def ask(client: JpClient, vendor: ChatVendor, token: str, **params: Any) -> str:
    """Ask once, and give the conversation."""
    vendor.will_answer(answer("Yes."))
    result = await client.query("Hi", token, **params)
    return str(result["conversation"])


async def name_in(client: JpClient, conversation: str) -> Any:
    shown = await client.request("jp/config/get", {"key": "assistant.name", "conversation": conversation})
    return shown.get("value")


def notices(client: JpClient, token: str) -> list[str]:
    return [chunk["text"] for chunk in client.chunks(token) if chunk["type"] == "notice"]


def deltas(user: UserFolders, conversation: str) -> list[Json]:
    return [each for each in user.events(conversation) if each["type"] == "config_delta"]


@pytest.mark.requirement("G38")
async def test_in_the_newer_form_what_one_query_removes_stays_removed(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    async with initialized_server(own_user, options=NEWER) as server:
        conversation = await ask(server.client, vendor, "1", config=FIRST)
        assert vendor.queries[-1]["stop"] == ["a", "b"]
        await ask(server.client, vendor, "2", conversation=conversation, config=REMOVAL)
        assert vendor.queries[-1]["stop"] == ["b"]
        assert notices(server.client, "2") == []
    (removal,) = deltas(own_user, conversation)
    assert sorted(removal["unsets"]) == [STOP_WORDS, "assistant.name"]
    # It holds for a server that would not begin a conversation of this form, as long as the file has it.
    async with initialized_server(own_user) as server:
        await ask(server.client, vendor, "3", conversation=conversation)
        assert vendor.queries[-1]["stop"] == ["b"]
        assert await name_in(server.client, conversation) is None
        assert deltas(own_user, conversation) == [removal]
        await ask(server.client, vendor, "4", conversation=conversation, config=[f"{STOP_WORDS}:=[]"])
        assert "stop" not in vendor.queries[-1]
        await ask(server.client, vendor, "5", conversation=conversation)
        assert "stop" not in vendor.queries[-1]
    assert deltas(own_user, conversation)[-1]["unsets"] == [STOP_WORDS]
    assert all("event_id" in each for each in own_user.events(conversation))


async def test_the_older_form_is_given_no_new_field_and_the_user_is_told(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    async with initialized_server(own_user) as server:
        conversation = await ask(server.client, vendor, "1", config=FIRST)
        await ask(server.client, vendor, "2", conversation=conversation, config=REMOVAL)
        assert vendor.queries[-1]["stop"] == ["b"]
        assert f"`{STOP_WORDS}`: this change holds for this query only" in notices(server.client, "2")[-1]
        await ask(server.client, vendor, "3", conversation=conversation)
        assert vendor.queries[-1]["stop"] == ["a", "b"]
        assert await name_in(server.client, conversation) == "Ada"
    text = (own_user.folder_of(conversation) / "events.json").read_text(encoding="utf-8")
    assert "unsets" not in text
    assert "event_id" not in text


async def test_what_a_file_says_comes_back_and_the_user_is_told(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """A key that a conversation has no value for comes from the files again."""
    own_user.write(".jp/config.toml", 'assistant.name = "Ada"\n')
    async with initialized_server(own_user, options=NEWER) as server:
        conversation = await ask(server.client, vendor, "1")
        await ask(server.client, vendor, "2", conversation=conversation, config=["assistant.name:=null"])
        (told,) = notices(server.client, "2")
        assert told == (
            "`assistant.name`: this change holds for this query only; "
            ".jp/config.toml:1 sets it, which then counts again"
        )
        assert await name_in(server.client, conversation) == "Ada"


async def test_a_key_is_unset_in_a_conversation_of_the_newer_form(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    async with initialized_server(own_user, options=NEWER) as server:
        conversation = await ask(server.client, vendor, "1", config=FIRST)
        wanted = {
            "target": conversation,
            "unset": ["assistant.name", "assistant.name"],
            "set": [{"key": "user.name", "value": "Quill"}, {"key": STOP_WORDS, "value": None}],
        }
        changed = await server.client.request("jp/config/set", wanted)
        assert changed["written"] == "file"
        states = {each["key"]: each["state"] for each in changed["settings"]}
        assert states == {"assistant.name": "not set", STOP_WORDS: "not set", "user.name": "wins"}
        (delta,) = deltas(own_user, conversation)
        assert sorted(delta["unsets"]) == [STOP_WORDS, "assistant.name"]
        assert delta["delta"] == {"user": {"name": "Quill"}}
        assert await name_in(server.client, conversation) is None
        again = await server.client.request(
            "jp/config/set", {"target": conversation, "unset": ["assistant.name"]}
        )
        assert again["written"] == "nothing"
        with pytest.raises(WireFault) as fault:
            await server.client.request(
                "jp/config/set", {"target": conversation, "unset": ["assistant.nmae"]}
            )
        assert "assistant.nmae" in str(fault.value)
        assert deltas(own_user, conversation) == [delta]
