"""Whole turns on OpenAI and on the vendors that speak its chat completions, over stdio."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.http_server import RESET, Delay, Reply
from tests.support.jp_server import JpServer, initialized_server
from tests.support.native_vendor import NativeVendor
from tests.support.openai_speech import ENCRYPTED, OPENAI, SPEECHES, thought_item
from tests.support.shell_tools import FREE, with_tools
from tests.support.titles import wait_for_title
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

KEY = "planted-key-4712-of-nobody"
JP_CLIENT = {"experimental": {"jp": {"version": 1, "chunks": True}}}
SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


def address_of(vendor: NativeVendor) -> str:
    return vendor.url + vendor.speech.path


def environment_of(vendor: NativeVendor) -> dict[str, str]:
    """Keys are read from here, and xAI's address, which is in no file."""
    return {vendor.speech.key: KEY, "XAI_BASE_URL": address_of(vendor)}


def configured(folder: Path, vendor: NativeVendor, *lines: str) -> UserFolders:
    user = UserFolders(folder)
    speech = vendor.speech
    settings = [
        f"assistant.model.id = '{speech.model}'",
        "assistant.model.parameters.reasoning = 'low'",
        "assistant.request.base_backoff_ms = 1",
        *(
            []
            if speech.provider == "xai"
            else [f"providers.llm.{speech.provider}.base_url = '{address_of(vendor)}'"]
        ),
        *(lines or ("conversation.title.generate.auto = false",)),
        "",
    ]
    (user.config / "config.toml").write_text("\n".join(settings), encoding="utf-8")
    with_tools(user, look=("echo seen", FREE), list=("echo a b", FREE))
    return user


@pytest.fixture(params=SPEECHES)
def peer(request: pytest.FixtureRequest) -> Iterator[NativeVendor]:
    with NativeVendor(SPEECHES[request.param]) as vendor:
        yield vendor


@pytest.fixture
def peer_user(tmp_path: Path, peer: NativeVendor) -> UserFolders:
    return configured(tmp_path, peer)


@pytest_asyncio.fixture(loop_scope="session")
async def peer_server(peer_user: UserFolders, peer: NativeVendor) -> AsyncIterator[JpServer]:
    async with initialized_server(peer_user, environment=environment_of(peer)) as server:
        yield server


def results_of(body: Any) -> list[str]:
    """What the tools said, from a request in either API."""
    outputs = [item["output"] for item in body.get("input", ()) if item["type"] == "function_call_output"]
    contents = [message["content"] for message in body.get("messages", ()) if message["role"] == "tool"]
    return [text.strip() for text in (*outputs, *contents)]


def calls_of(body: Any) -> list[str]:
    """The ids of the calls that a request holds."""
    items = [item["call_id"] for item in body.get("input", ()) if item["type"] == "function_call"]
    messages = [call["id"] for message in body.get("messages", ()) for call in message.get("tool_calls", ())]
    return [*items, *messages]


@pytest.mark.requirement("R1", "R17", "R240")
async def test_thoughts_two_calls_and_an_answer(
    peer_server: JpServer, peer: NativeVendor, peer_user: UserFolders
) -> None:
    speech = peer.speech
    peer.will_answer(
        speech.answer(
            speech.thought("Let me "),
            speech.thought("see."),
            "One moment.",
            speech.called("look", {}),
            speech.called("list", {}),
        ),
        speech.answer("It is ", "*there*."),
    )
    result = await peer_server.client.query("Is it there?", "t")
    assert (result["outcome"], result["text"]) == ("completed", "One moment.It is *there*.")
    story = peer_user.story(result["conversation"])
    assert story[:4] == ["turn", "user: Is it there?", "reasoning: Let me see.", "message: One moment."]
    assert {*story[4:6]} == {"call call-look: look", "call call-list: list"}
    assert {*story[6:8]} == {"result call-look", "result call-list"}
    assert story[8:] == ["message: It is *there*."]
    assert peer_server.client.transcript("t").endswith("It is *there*.")
    first, second = peer.queries
    assert (calls_of(first), results_of(first)) == ([], [])
    assert {*calls_of(second)} == {"call-look", "call-list"}
    assert {*results_of(second)} == {"seen", "a b"}
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in peer.requests)


# Thoughts that only the vendor can read go back to it as they came, after a restart as well.
@pytest.mark.requirement("R44", "F18")
async def test_encrypted_thoughts_come_back_to_openai(tmp_path: Path) -> None:
    with NativeVendor(OPENAI) as vendor:
        user = configured(tmp_path, vendor)
        speech = vendor.speech
        vendor.will_answer(
            speech.answer(thought_item("Hm."), speech.called("look", {})),
            speech.answer("Seen."),
            speech.answer("Yes."),
        )
        async with initialized_server(user, environment=environment_of(vendor)) as server:
            first = await server.client.query("Look!", "t")
        async with initialized_server(user, environment=environment_of(vendor)) as server:
            again = await server.client.query("Sure?", "u", conversation=first["conversation"])
        assert again["text"] == "Yes."
        thought = {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": ENCRYPTED,
        }
        _, second, third = vendor.queries
        for body in (second, third):
            position = body["input"].index(thought)
            assert body["input"][position + 1]["type"] == "function_call"


# Trap 37: what the vendor refuses to take back is taken off what is stored, and the turn goes on by itself.
@pytest.mark.requirement("F15", "F18")
async def test_thoughts_that_openai_refuses_are_mended(tmp_path: Path) -> None:
    refusal = {
        "error": {
            "type": "invalid_request_error",
            "message": "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        }
    }
    with NativeVendor(OPENAI) as vendor:
        user = configured(tmp_path, vendor)
        speech = vendor.speech
        vendor.will_answer(
            speech.answer(thought_item("Hm."), speech.called("look", {})),
            Reply.json(refusal, 400),
            speech.answer("Seen."),
        )
        async with initialized_server(user, environment=environment_of(vendor)) as server:
            result = await server.client.query("Look!", "t")
        assert (result["outcome"], result["text"]) == ("completed", "Seen.")
        assert "openai_item_id" not in json.dumps(user.events(result["conversation"]))
        _, second, third = vendor.queries
        assert [item["type"] for item in second["input"]].count("reasoning") == 1
        assert [item["type"] for item in third["input"]].count("reasoning") == 0
        assert {"type": "message", "role": "assistant", "content": "<think>\nHm.\n</think>\n\n"} in third[
            "input"
        ]


# Trouble


def _limited(vendor: NativeVendor) -> list[Reply]:
    return [Reply.json({"error": {"message": "slow down"}}, 429, retry_after_ms="5")]


def _failing(vendor: NativeVendor) -> list[Reply]:
    page = Reply.text("<html><title>Bad gateway</title></html>", 502, "text/html")
    return [Reply.json({"error": "out of order"}, 500), page]


def _overloaded(vendor: NativeVendor) -> list[Reply]:
    return [Reply.json({"error": {"type": "overloaded_error", "message": "busy"}}, 529)] * 2


def _cut(vendor: NativeVendor) -> list[Reply]:
    return [vendor.speech.broken("One ", RESET), vendor.speech.broken("two ", b'data: {"cho', RESET)]


def _ended_early(vendor: NativeVendor) -> list[Reply]:
    return [vendor.speech.broken("One "), vendor.speech.broken("two ")]


def _told_in_between(vendor: NativeVendor) -> list[Reply]:
    overload = {"type": "service_unavailable_error", "code": "server_is_overloaded", "message": "busy"}
    return [vendor.speech.broken("One ", vendor.speech.in_band(overload))]


def _unreachable(vendor: NativeVendor) -> list[Reply]:
    return [Reply.text("no healthy upstream", 400, "text/plain")]


@pytest.mark.requirement("R51", "R55", "R57", "F01", "F02", "F12")
@pytest.mark.parametrize(
    "trouble", [_limited, _failing, _overloaded, _cut, _ended_early, _told_in_between, _unreachable]
)
async def test_trouble_that_passes_is_not_the_users(
    peer_server: JpServer, peer: NativeVendor, trouble: Any
) -> None:
    replies = trouble(peer)
    peer.will_answer(*replies, peer.speech.answer("three."))
    result = await peer_server.client.query("Count!", "t")
    assert (result["outcome"], result["text"].endswith("three.")) == ("completed", True)
    assert len(peer.queries) == len(replies) + 1


@pytest.mark.requirement("F13", "R57", "R121")
async def test_trouble_that_stays_is_said_once(peer_server: JpServer, peer: NativeVendor) -> None:
    spent = {"error": {"message": f"no money left for {KEY}", "code": "insufficient_quota"}}
    peer.will_answer(Reply.json(spent, 429))
    result = await peer_server.client.query("Hello", "t")
    assert (result["outcome"], result["error"]["class"]) == ("failed", "quota")
    said, _, page = result["error"]["message"].rpartition(" at ")
    assert said == "Insufficient API quota: no money left for *** (HTTP 429). Check plan and billing"
    assert page.startswith("https://")
    assert len(peer.queries) == 1
    assert KEY not in json.dumps(peer_server.client.messages)


async def test_a_slow_answer_is_shown_while_it_comes(peer_server: JpServer, peer: NativeVendor) -> None:
    words = ["One.\n\n", "Two.\n\n", "Three."]
    steps = [step for word in words for step in (peer.speech.said(word), b": waiting\n\n", Delay(0.05))]
    peer.will_answer(peer.speech.answer(*steps))
    result = await peer_server.client.query("Count!", "t")
    assert result["text"] == "".join(words)
    assert len(peer_server.client.progress("t")) > 3


@pytest.mark.requirement("T09", "F04")
async def test_a_call_of_a_dead_stream_leaves_no_orphan(
    peer_server: JpServer, peer: NativeVendor, peer_user: UserFolders
) -> None:
    speech = peer.speech
    half = speech.called("look", {"path": "a"})[:-40]
    peer.will_answer(
        speech.broken("Let me ", half),
        speech.broken(half),
        speech.answer("see. ", speech.called("look", {})),
        speech.answer("Seen."),
    )
    result = await peer_server.client.query("hi", "t")
    assert result["outcome"] == "completed"
    kinds = [line.split()[0] for line in peer_user.story(result["conversation"])]
    assert kinds == ["turn", "user:", "message:", "message:", "call", "result", "message:"]
    for body in peer.queries:
        assert len(calls_of(body)) == len(results_of(body))


# Values and titles


@pytest.mark.requirement("R225", "R258")
async def test_values_and_their_second_try(peer_server: JpServer, peer: NativeVendor) -> None:
    peer.will_answer(peer.speech.answer('{"size": "3"}'), peer.speech.answer('{"si', 'ze": 3}'))
    result = await peer_server.client.query("How large?", "t", schema=json.dumps(SCHEMA))
    assert (result["outcome"], result["data"], result["dataValid"]) == ("completed", {"size": 3}, True)
    first, second = peer.queries
    assert '"required": ["size"]' in json.dumps(first).replace('\\"', '"').replace(":[", ": [")
    assert "not of type 'integer'" in json.dumps(second)


@pytest.mark.requirement("F24")
async def test_titles(tmp_path: Path, peer: NativeVendor) -> None:
    user = configured(tmp_path, peer, "conversation.title.generate.auto = true")
    peer.will_answer(*[peer.speech.answer('{"titles": ["Of sizes"]}')] * 2)
    environment = environment_of(peer)
    async with initialized_server(user, environment=environment, capabilities=JP_CLIENT) as server:
        result = await server.client.query("How large?", "t", conversation="new")
        await wait_for_title(server.client, "Of sizes")
    assert result["outcome"] == "completed"
    assert len(peer.queries) == 2


# Keys and addresses


@pytest.mark.requirement("R56")
async def test_without_a_key_nothing_is_sent(tmp_path: Path, peer: NativeVendor) -> None:
    async with initialized_server(configured(tmp_path, peer)) as server:
        fault = await server.client.refusal("jp/query", {"text": "Hello", "partialResultToken": "t"})
    assert f"environment variable {peer.speech.key} is not set" in str(fault)
    assert peer.requests == []


@pytest.mark.requirement("R255")
async def test_openai_is_where_the_environment_says(tmp_path: Path) -> None:
    with NativeVendor(OPENAI) as vendor:
        user = configured(tmp_path, vendor)
        config = user.config / "config.toml"
        config.write_text(
            config.read_text("utf-8").replace(vendor.url, "http://127.0.0.1:1"), encoding="utf-8"
        )
        vendor.will_answer(vendor.speech.answer("Here."))
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{vendor.url}/v1"}
        async with initialized_server(user, environment=environment) as server:
            result = await server.client.query("Hello", "t")
        assert result["text"] == "Here."
        assert [request.path for request in vendor.requests] == ["/v1/responses"]
