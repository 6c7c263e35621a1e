"""Whole turns on vendors with an API of their own: Google and Ollama."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.http_server import RESET, Delay, Reply
from tests.support.jp_client import WireFault
from tests.support.jp_server import JpServer, initialized_server
from tests.support.native_vendor import SPEECHES, NativeVendor, signature_of
from tests.support.shell_tools import FREE, with_tools
from tests.support.titles import wait_for_title
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

KEY = "planted-key-4711-of-nobody"
JP_CLIENT = {"experimental": {"jp": {"version": 1, "chunks": True}}}
SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@pytest.fixture(params=SPEECHES)
def native(request: pytest.FixtureRequest) -> Iterator[NativeVendor]:
    with NativeVendor(SPEECHES[request.param]) as vendor:
        yield vendor


@pytest.fixture
def native_user(tmp_path: Path, native: NativeVendor) -> UserFolders:
    user = UserFolders(tmp_path)
    configure(user, native)
    with_tools(user, look=("echo seen", FREE), list=("echo a b", FREE))
    return user


def configure(user: UserFolders, vendor: NativeVendor, titles: bool = False) -> None:
    speech = vendor.speech
    lines = [
        f"assistant.model.id = '{speech.model}'",
        "assistant.request.base_backoff_ms = 1",
        f"conversation.title.generate.auto = {str(titles).lower()}",
        f"providers.llm.{speech.provider}.base_url = '{vendor.url}{speech.path}'",
        "",
    ]
    (user.config / "config.toml").write_text("\n".join(lines), encoding="utf-8")


@pytest_asyncio.fixture(loop_scope="session")
async def native_server(native_user: UserFolders, native: NativeVendor) -> AsyncIterator[JpServer]:
    options = {"jp": {"limits": {"record_events": True}, "log": {"level": "debug"}}}
    environment = {native.speech.key: KEY}
    async with initialized_server(native_user, environment=environment, options=options) as server:
        yield server


@pytest.mark.requirement("R1", "R17", "R214", "R240")
async def test_thoughts_two_calls_and_an_answer(
    native_server: JpServer, native: NativeVendor, native_user: UserFolders
) -> None:
    speech = native.speech
    calls = speech.called("look", {}), speech.called("list", {})
    native.will_answer(
        speech.answer(speech.thought("Let me "), speech.thought("see."), "One moment.", *calls),
        speech.answer("It is ", "*there*."),
    )
    result = await native_server.client.query("Is it there?", "t")
    assert (result["outcome"], result["text"]) == ("completed", "One moment.It is *there*.")
    story = native_user.story(result["conversation"])
    ids = [line.split()[1].removesuffix(":") for line in story if line.startswith("call ")]
    assert story[:6] == [
        "turn",
        "user: Is it there?",
        "reasoning: Let me see.",
        "message: One moment.",
        f"call {ids[0]}: look",
        f"call {ids[1]}: list",
    ]
    # Results are stored as they come, and sent in the order of the calls.
    assert sorted(story[6:-1]) == sorted(f"result {call_id}" for call_id in ids)
    assert story[-1] == "message: It is *there*."
    shown = native_server.client.transcript("t")
    assert shown.endswith("It is *there*.")
    first, second = native.queries
    assert [*results_of(second)] == ["seen", "a b"]
    assert len(json.dumps(second)) > len(json.dumps(first))
    if speech.provider == "google":
        signatures = [part.get("thoughtSignature") for part in second["contents"][1]["parts"]]
        assert signatures[-2:] == [signature_of("look"), signature_of("list")]
    # The question about the model and both cycles went the same way.
    assert native.connection_count == 1


def results_of(body: Any) -> Iterator[str]:
    """Give what the tools said, from a request to either vendor."""
    for content in body.get("contents", ()):
        for part in content["parts"]:
            if "functionResponse" in part:
                yield part["functionResponse"]["response"]["content"].strip()
    for message in body.get("messages", ()):
        if message["role"] == "tool":
            yield message["content"].strip()


@pytest.mark.requirement("R20")
async def test_ids_that_a_vendor_does_not_give_are_not_used_twice(
    native_server: JpServer, native: NativeVendor, native_user: UserFolders
) -> None:
    speech = native.speech
    conversation = "new"
    for token in ("one", "two"):
        native.will_answer(speech.answer(speech.called("look", {})), speech.answer("Seen."))
        result = await native_server.client.query("Look!", token, conversation=conversation)
        conversation = result["conversation"]
    events = native_user.events(conversation)
    ids = [event["id"] for event in events if event["type"] == "tool_call_request"]
    assert len(set(ids)) == 2
    assert ids == [event["id"] for event in events if event["type"] == "tool_call_response"]


def _limited(vendor: NativeVendor) -> list[Reply]:
    return [Reply.json({"error": {"message": "slow down"}}, 429, retry_after_ms="5")]


def _failing(vendor: NativeVendor) -> list[Reply]:
    page = Reply.text("<html><title>Bad gateway</title></html>", 502, "text/html")
    return [Reply.json({"error": "out of order"}, 500), Reply.json({"error": "busy"}, 503), page]


def _cut(vendor: NativeVendor) -> list[Reply]:
    return [vendor.speech.broken("One ", RESET), vendor.speech.broken("two ", b'data: {"can', RESET)]


def _ended_early(vendor: NativeVendor) -> list[Reply]:
    return [vendor.speech.broken("One "), vendor.speech.broken("two ")]


def _told_in_between(vendor: NativeVendor) -> list[Reply]:
    return [vendor.speech.broken("One ", vendor.speech.in_band("the model fell over"))]


def _no_stream(vendor: NativeVendor) -> list[Reply]:
    return [Reply.text("<html><title>Log in</title></html>", 200, "text/html")]


@pytest.mark.requirement("R51", "R55", "R57", "F01", "F02")
@pytest.mark.parametrize("trouble", [_limited, _failing, _cut, _ended_early, _told_in_between, _no_stream])
async def test_trouble_that_passes_is_not_the_users(
    native_server: JpServer, native: NativeVendor, trouble: Any
) -> None:
    replies = trouble(native)
    native.will_answer(*replies, native.speech.answer("three."))
    result = await native_server.client.query("Count!", "t")
    assert (result["outcome"], result["text"].endswith("three.")) == ("completed", True)
    assert len(native.queries) == len(replies) + 1


async def test_a_slow_answer_is_shown_while_it_comes(native_server: JpServer, native: NativeVendor) -> None:
    words = ["One.\n\n", "Two.\n\n", "Three."]
    steps = [step for word in words for step in (native.speech.said(word), Delay(0.05))]
    native.will_answer(native.speech.answer(*steps))
    result = await native_server.client.query("Count!", "t")
    assert result["text"] == "".join(words)
    assert len(native_server.client.progress("t")) > 3


@pytest.mark.requirement("T09", "F04")
async def test_a_call_of_a_dead_stream_leaves_no_orphan(
    native_server: JpServer, native: NativeVendor, native_user: UserFolders
) -> None:
    speech = native.speech
    half = speech.called("look", {})[:-20]
    native.will_answer(
        speech.broken("Let me ", half),
        speech.broken(half),
        speech.answer("see. ", speech.called("look", {})),
        speech.answer("Seen."),
    )
    result = await native_server.client.query("hi", "t")
    assert result["outcome"] == "completed"
    story = native_user.story(result["conversation"])
    kinds = [line.split()[0] for line in story]
    assert kinds == ["turn", "user:", "message:", "message:", "call", "result", "message:"]
    for body in native.queries:
        sent = json.dumps(body)
        calls, results = sent.count('"functionCall"') + sent.count('"tool_calls"'), len([*results_of(body)])
        assert calls == results


@pytest.mark.requirement("R225", "R258")
async def test_values_and_their_second_try(native_server: JpServer, native: NativeVendor) -> None:
    native.will_answer(native.speech.answer('{"size": "3"}'), native.speech.answer('{"si', 'ze": 3}'))
    result = await native_server.client.query("How large?", "t", schema=json.dumps(SCHEMA))
    assert (result["outcome"], result["data"], result["dataValid"]) == ("completed", {"size": 3}, True)
    first, second = native.queries
    schema = first.get("format") or first["generationConfig"]["_responseJsonSchema"]
    assert schema == SCHEMA
    assert "not of type 'integer'" in json.dumps(second)


async def test_titles(native_user: UserFolders, native: NativeVendor) -> None:
    configure(native_user, native, titles=True)
    native.will_answer(*[native.speech.answer('{"titles": ["Of sizes"]}')] * 2)
    environment = {native.speech.key: KEY}
    async with initialized_server(native_user, environment=environment, capabilities=JP_CLIENT) as server:
        result = await server.client.query("How large?", "t", conversation="new")
        await wait_for_title(server.client, "Of sizes")
    assert result["outcome"] == "completed"
    assert len(native.queries) == 2


# Models


@pytest.mark.requirement("R240")
async def test_models_are_known_where_the_vendor_cannot_be_reached(tmp_path: Path) -> None:
    user = UserFolders(tmp_path)
    environment = {"GEMINI_API_KEY": KEY}
    asked = {"vendor": "google"}
    with NativeVendor(SPEECHES["google"]) as vendor:
        configure(user, vendor)
        async with initialized_server(user, environment=environment) as server:
            before = await server.client.request("jp/model/list", asked)
        questions = len(vendor.requests)
    assert [each["id"] for each in before["models"]] == ["google/gemini-tiny"]
    async with initialized_server(user, environment=environment) as server:
        client = server.client
        assert await client.request("jp/model/list", asked) == before
        after = await client.request("jp/model/list", {**asked, "refresh": True})
    assert after["models"] == before["models"]
    (notice,) = after["notices"]
    assert notice["text"].startswith("The models of google could not be listed: cannot connect to ")
    assert notice["text"].endswith(" Shown are those of a moment ago.")
    assert questions == 1


@pytest.mark.requirement("R55")
async def test_a_name_that_is_nearly_right(native_server: JpServer, native: NativeVendor) -> None:
    name = native.speech.model.partition("/")[2]
    refusal = {"error": {"code": 404, "message": f"model {name}x not found", "status": "NOT_FOUND"}}
    native.will_answer(Reply.json(refusal, 404))
    model = f"assistant.model.id={native.speech.model}x"
    result = await native_server.client.query("Hello", "t", conversation="new", config=[model])
    assert (result["outcome"], result["error"]["class"]) == ("failed", "unknown_model")
    assert result["error"]["message"].endswith(f"Did you mean {native.speech.model!r}?")


# Keys


@pytest.mark.requirement("R56")
async def test_without_a_key_nothing_is_sent(tmp_path: Path) -> None:
    with NativeVendor(SPEECHES["google"]) as vendor:
        user = UserFolders(tmp_path)
        configure(user, vendor)
        async with initialized_server(user) as server:
            fault = await server.client.refusal("jp/query", {"text": "Hello", "partialResultToken": "t"})
        assert isinstance(fault, WireFault)
        assert "environment variable GEMINI_API_KEY is not set" in str(fault)
        assert vendor.requests == []


@pytest.mark.requirement("R121", "R256", "R302")
async def test_a_key_that_comes_back_from_everywhere_is_kept_nowhere(
    native_server: JpServer, native: NativeVendor, native_user: UserFolders
) -> None:
    speech = native.speech
    quoted = f"no good: {KEY}, at https://models.example/?key={KEY}&x=1"
    failures = [
        Reply.json({"error": {"message": quoted, "code": 401, "details": [{"reason": KEY}]}}, 401),
        Reply.json({"error": quoted}, 400),
        Reply.text(f"<html><title>{quoted}</title><body>{KEY}</body></html>", 403, "text/html"),
        Reply.text("", 307, "text/plain", location=f"https://models.example/?key={KEY}"),
        Reply.text(quoted, 404, "text/plain"),
    ]
    for number, reply in enumerate(failures):
        native.will_answer(reply)
        result = await native_server.client.query("Hello", f"t{number}", conversation="new")
        assert result["outcome"] == "failed"
        assert "***" in result["error"]["message"]
    native.will_answer(
        *[Reply.json({"error": {"message": quoted}}, 503)] * 2,
        speech.broken("One ", speech.in_band({"message": quoted, "code": 400})),
    )
    result = await native_server.client.query("Hello", "in-band", conversation="new")
    assert result["outcome"] == "failed"
    assert "***" in result["error"]["message"]
    await native_server.stop()

    assert KEY in str(native.requests[0].headers)
    assert KEY not in json.dumps(native_server.client.messages)
    assert not any(KEY in line for line in native_server.log.lines)
    kept = [
        path
        for root in (native_user.data, native_user.workspace)
        for path in root.rglob("*")
        if path.is_file()
    ]
    assert any("recordings" in path.parts for path in kept)
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
