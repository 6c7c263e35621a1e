"""`jp/config/set` with a conversation as its target: a delta is appended, and everything before stays (1.11)."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, WireFault
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest_asyncio.fixture(loop_scope="session")
async def own_server(own_user: UserFolders) -> AsyncIterator[JpServer]:
    persona = own_user.workspace / ".jp" / "roles" / "bard.toml"
    persona.parent.mkdir(parents=True)
    persona.write_text('[assistant]\nname = "Bard"\nsystem_prompt = "Sing."\n', encoding="utf-8")
    config = 'config_load_paths = [".jp/roles"]\n[providers.llm.aliases]\nquick = "llamacpp/quick"\n'
    (own_user.workspace / ".jp" / "config.toml").write_text(config, encoding="utf-8")
    capabilities = {"experimental": {"jp": {"version": 1, "chunks": True}}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        yield server


@pytest.fixture
def client(own_server: JpServer) -> JpClient:
    return own_server.client


@pytest_asyncio.fixture(loop_scope="session")
async def conversation(client: JpClient, vendor: ChatVendor) -> str:
    """A conversation of one turn."""
    vendor.will_answer(answer("Hello."))
    result = await client.request("jp/query", {"text": "Hi"})
    return str(result["conversation"])


async def change(client: JpClient, conversation: str, **wanted: Any) -> Any:
    return await client.request("jp/config/set", {"target": conversation, **wanted})


def text_of(user: UserFolders, conversation: str) -> str:
    return (user.folder_of(conversation) / "events.json").read_text(encoding="utf-8")


async def test_a_delta_is_appended_and_holds(
    client: JpClient, own_user: UserFolders, vendor: ChatVendor, conversation: str
) -> None:
    before = text_of(own_user, conversation)
    changed = await change(
        client,
        conversation,
        set=[{"key": "assistant.name", "value": "𝄞 Ada"}],
        config=["assistant.model.id=quick"],
    )
    assert (changed["name"], changed["written"]) == (f"conversation {conversation}", "file")
    told = {
        each["key"]: (each["value"], each["state"], each["place"]["layer"]) for each in changed["settings"]
    }
    assert told["assistant.name"] == ("𝄞 Ada", "wins", "conversation")
    *_, delta = own_user.events(conversation)
    assert delta["type"] == "config_delta"
    assert delta["delta"]["assistant"]["name"] == "𝄞 Ada"
    assert delta["delta"]["assistant"]["model"]["id"]["name"] == "quick"  # the alias was looked up
    after = text_of(own_user, conversation)
    assert after.startswith(before.rstrip().removesuffix("]").rstrip())
    vendor.will_answer(answer("Yes."))
    await client.request("jp/query", {"text": "And?", "conversation": conversation})
    assert vendor.queries[-1]["model"] == "quick"


async def test_a_persona_is_applied_and_only_what_it_changes_is_kept(
    client: JpClient, own_user: UserFolders, conversation: str
) -> None:
    """What the files have come to say meanwhile is not made the conversation's own in passing."""
    config = own_user.workspace / ".jp" / "config.toml"
    config.write_text(config.read_text(encoding="utf-8") + '[user]\nname = "Later"\n', encoding="utf-8")
    await change(client, conversation, config=["@bard"])
    *_, delta = own_user.events(conversation)
    assert delta["delta"]["assistant"]["name"] == "Bard"
    assert set(delta["delta"]) == {"assistant"}
    shown = await client.request("jp/config/get", {"key": "assistant.name", "conversation": conversation})
    assert shown["value"] == "Bard"


async def test_what_it_says_already_is_not_written(
    client: JpClient, own_user: UserFolders, conversation: str
) -> None:
    await change(client, conversation, config=["assistant.name=Ada"])
    before = text_of(own_user, conversation)
    again = await change(client, conversation, config=["assistant.name=Ada"])
    assert again["written"] == "nothing"
    assert text_of(own_user, conversation) == before


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"config": ["assistant.nmae=x"]}, "did you mean"),
        ({"set": [{"key": "assistant.request.max_retries", "value": "many"}]}, "max_retries"),
        ({"unset": ["assistant.name"]}, "cannot be taken away from a conversation"),
        ({"set": [{"key": "assistant.name", "value": None}]}, "cannot be taken away from a conversation"),
        ({"config": ["@nobody"]}, "no file of that name"),
    ],
)
async def test_what_is_wrong_changes_nothing(
    client: JpClient, own_user: UserFolders, conversation: str, wanted: Any, told: str
) -> None:
    before = text_of(own_user, conversation)
    with pytest.raises(WireFault) as fault:
        await change(client, conversation, **wanted)
    assert told in str(fault.value), str(fault.value)
    assert text_of(own_user, conversation) == before


async def test_nothing_is_changed_while_a_query_runs(
    client: JpClient, own_user: UserFolders, vendor: ChatVendor, conversation: str
) -> None:
    before = text_of(own_user, conversation)
    gate = Hold()
    vendor.will_answer(answer("Hel", gate, "lo"))
    _, running = client.start("jp/query", {"text": "Slow", "conversation": conversation})
    assert await asyncio.to_thread(gate.wait_until_reached)
    with pytest.raises(WireFault) as fault:
        await change(client, conversation, config=["assistant.name=x"])
    assert fault.value.data["code"] == "conversation_busy"
    gate.open()
    await running
    after = text_of(own_user, conversation)
    assert after.startswith(before.rstrip().removesuffix("]").rstrip())
    assert "config_delta" not in after


async def test_one_that_is_not_there_and_the_command(
    client: JpClient, own_user: UserFolders, conversation: str
) -> None:
    with pytest.raises(WireFault) as fault:
        await change(client, "jp-c1", config=["assistant.name=x"])
    assert fault.value.data["code"] == "conversation_not_found"
    twin = await client.request(
        "workspace/executeCommand",
        {"command": "jp.config.set", "arguments": [{"target": conversation, "config": ["assistant.name=T"]}]},
    )
    assert twin["written"] == "file"
    assert json.loads(text_of(own_user, conversation))[-1]["delta"]["assistant"]["name"] == "T"
