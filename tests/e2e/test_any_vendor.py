"""Whole turns on each vendor that has an API of its own or speaks OpenAI's, over stdio: all must come to the same."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.http_server import RESET, Delay, Reply
from tests.support.jp_client import JP_CLIENT
from tests.support.jp_server import JpServer, initialized_server
from tests.support.speaking_vendor import KEY, SpeakingVendor, Speech
from tests.support.speeches import LIKE_OPENAI, SPEECHES
from tests.support.titles import wait_for_title
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

OPTIONS = {"jp": {"limits": {"record_events": True}, "log": {"level": "debug"}}}
SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@pytest.fixture(params=SPEECHES)
def peer(request: pytest.FixtureRequest) -> Iterator[SpeakingVendor]:
    with SpeakingVendor(SPEECHES[request.param]) as vendor:
        yield vendor


@pytest.fixture
def peer_user(tmp_path: Path, peer: SpeakingVendor) -> UserFolders:
    return peer.user(tmp_path)


@pytest_asyncio.fixture(loop_scope="session")
async def peer_server(peer_user: UserFolders, peer: SpeakingVendor) -> AsyncIterator[JpServer]:
    async with initialized_server(peer_user, environment=peer.environment, options=OPTIONS) as server:
        yield server


def among(*names: str) -> pytest.MarkDecorator:
    """For a test that is about some of the vendors."""
    return pytest.mark.parametrize("peer", names, indirect=True)


@pytest.mark.requirement("R1", "R17", "R214", "R240")
async def test_thoughts_two_calls_and_an_answer(
    peer_server: JpServer, peer: SpeakingVendor, peer_user: UserFolders
) -> None:
    speech = peer.speech
    calls = speech.called("look", {}), speech.called("list", {})
    peer.will_answer(
        speech.answer(speech.thought("Let me "), speech.thought("see."), "One moment.", *calls),
        speech.answer("It is ", "*there*."),
    )
    result = await peer_server.client.query("Is it there?", "t")
    assert (result["outcome"], result["text"]) == ("completed", "One moment.It is *there*.")
    story = peer_user.story(result["conversation"])
    look, list_ = (line.split()[1].removesuffix(":") for line in story if line.startswith("call "))
    assert story[:6] == [
        "turn",
        "user: Is it there?",
        "reasoning: Let me see.",
        "message: One moment.",
        f"call {look}: look",
        f"call {list_}: list",
    ]
    # Results are stored as they come, and sent in the order of the calls.
    assert {*story[6:8]} == {f"result {look}", f"result {list_}"}
    assert story[8:] == ["message: It is *there*."]
    assert peer_server.client.transcript("t").endswith("It is *there*.")
    first, second = peer.queries
    assert (speech.calls(first), speech.results(first)) == ([], [])
    assert [text.strip() for text in speech.results(second)] == ["seen", "a b"]
    assert len({look, list_}) == 2
    if speech.has_call_ids:
        assert (look, list_) == ("call-look", "call-list")
    assert speech.calls(second) == ([look, list_] if speech.has_call_ids else ["look", "list"])
    header, begin = speech.key_header
    assert {request.headers[header] for request in peer.requests} == {begin + KEY}
    # The question about the model and both cycles went the same way.
    assert peer.connection_count == 1


@pytest.mark.requirement("R20")
@among(*(name for name, speech in SPEECHES.items() if not speech.has_call_ids))
async def test_ids_that_a_vendor_does_not_give_are_not_used_twice(
    peer_server: JpServer, peer: SpeakingVendor, peer_user: UserFolders
) -> None:
    speech = peer.speech
    conversation = "new"
    for token in ("one", "two"):
        peer.will_answer(speech.answer(speech.called("look", {})), speech.answer("Seen."))
        result = await peer_server.client.query("Look!", token, conversation=conversation)
        conversation = result["conversation"]
    events = peer_user.events(conversation)
    ids = [event["id"] for event in events if event["type"] == "tool_call_request"]
    assert len(set(ids)) == 2
    assert ids == [event["id"] for event in events if event["type"] == "tool_call_response"]


# Trouble


def page(status: int, title: str) -> Reply:
    return Reply.text(f"<html><title>{title}</title></html>", status, "text/html")


TROUBLES: Mapping[str, Callable[[Speech], list[Reply]]] = {
    "limited": lambda _: [Reply.json({"error": {"message": "slow down"}}, 429, retry_after_ms="5")],
    "failing": lambda _: [
        Reply.json({"error": "out of order"}, 500),
        Reply.json({"error": "busy"}, 503),
        page(502, "Bad gateway"),
    ],
    "overloaded": lambda _: [
        Reply.json({"error": {"type": "overloaded_error", "message": "busy"}}, 529),
        Reply.json({"error": {"type": "overloaded_error", "message": "busy"}}, 529),
    ],
    "cut": lambda speech: [speech.broken("One ", RESET), speech.broken("two ", b'data: {"cho', RESET)],
    "ended early": lambda speech: [speech.broken("One "), speech.broken("two ")],
    "told in between": lambda speech: [speech.broken("One ", speech.in_band(speech.passing_error))],
    "no stream": lambda _: [page(200, "Log in")],
    "unreachable": lambda _: [Reply.text("no healthy upstream", 400, "text/plain")],
}


@pytest.mark.requirement("R51", "R55", "R57", "F01", "F02", "F12")
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_that_passes_is_not_the_users(
    peer_server: JpServer, peer: SpeakingVendor, trouble: str
) -> None:
    replies = TROUBLES[trouble](peer.speech)
    peer.will_answer(*replies, peer.speech.answer("three."))
    result = await peer_server.client.query("Count!", "t")
    assert (result["outcome"], result["text"].endswith("three.")) == ("completed", True)
    assert len(peer.queries) == len(replies) + 1


@pytest.mark.requirement("F13", "R57", "R121")
@among(*LIKE_OPENAI)
async def test_trouble_that_stays_is_said_once(peer_server: JpServer, peer: SpeakingVendor) -> None:
    spent = {"error": {"message": f"no money left for {KEY}", "code": "insufficient_quota"}}
    peer.will_answer(Reply.json(spent, 429))
    result = await peer_server.client.query("Hello", "t")
    assert (result["outcome"], result["error"]["class"]) == ("failed", "quota")
    said, _, page = result["error"]["message"].rpartition(" at ")
    assert said == "Insufficient API quota: no money left for *** (HTTP 429). Check plan and billing"
    assert page.startswith("https://")
    assert len(peer.queries) == 1
    assert KEY not in json.dumps(peer_server.client.messages)


async def test_a_slow_answer_is_shown_while_it_comes(peer_server: JpServer, peer: SpeakingVendor) -> None:
    words = ["One.\n\n", "Two.\n\n", "Three."]
    steps = [step for word in words for step in (word, peer.speech.waiting, Delay(0.05))]
    peer.will_answer(peer.speech.answer(*steps))
    result = await peer_server.client.query("Count!", "t")
    assert result["text"] == "".join(words)
    assert len(peer_server.client.progress("t")) > 3


@pytest.mark.requirement("T09", "F04")
async def test_a_call_of_a_dead_stream_leaves_no_orphan(
    peer_server: JpServer, peer: SpeakingVendor, peer_user: UserFolders
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
        assert len(speech.calls(body)) == len(speech.results(body))


# Values and titles


@pytest.mark.requirement("R225", "R258")
async def test_values_and_their_second_try(peer_server: JpServer, peer: SpeakingVendor) -> None:
    peer.will_answer(peer.speech.answer('{"size": "3"}'), peer.speech.answer('{"si', 'ze": 3}'))
    result = await peer_server.client.query("How large?", "t", schema=json.dumps(SCHEMA))
    assert (result["outcome"], result["data"], result["dataValid"]) == ("completed", {"size": 3}, True)
    first, second = peer.queries
    closed = {"additionalProperties": False} if peer.speech.closes_schemas else {}
    assert peer.speech.schema(first) == {**SCHEMA, **closed}
    assert "not of type 'integer'" in json.dumps(second)


@pytest.mark.requirement("F24")
async def test_titles(tmp_path: Path, peer: SpeakingVendor) -> None:
    user = peer.user(tmp_path, makes_titles=True)
    peer.will_answer(*[peer.speech.answer('{"titles": ["Of sizes"]}')] * 2)
    async with initialized_server(user, environment=peer.environment, capabilities=JP_CLIENT) as server:
        result = await server.client.query("How large?", "t", conversation="new")
        await wait_for_title(server.client, "Of sizes")
    assert result["outcome"] == "completed"
    assert len(peer.queries) == 2


# Names and keys


@pytest.mark.requirement("R55")
async def test_a_name_that_is_nearly_right(peer_server: JpServer, peer: SpeakingVendor) -> None:
    name = peer.speech.model.partition("/")[2]
    refusal = {"error": {"code": 404, "message": f"model {name}x not found", "status": "NOT_FOUND"}}
    peer.will_answer(Reply.json(refusal, 404))
    model = f"assistant.model.id={peer.speech.model}x"
    result = await peer_server.client.query("Hello", "t", conversation="new", config=[model])
    assert (result["outcome"], result["error"]["class"]) == ("failed", "unknown_model")
    assert result["error"]["message"].endswith(f"Did you mean {peer.speech.model!r}?")


@pytest.mark.requirement("R56")
@among(*(name for name, speech in SPEECHES.items() if speech.needs_key))
async def test_without_a_key_nothing_is_sent(peer: SpeakingVendor, peer_user: UserFolders) -> None:
    async with initialized_server(peer_user) as server:
        fault = await server.client.refusal("jp/query", {"text": "Hello", "partialResultToken": "t"})
    assert f"environment variable {peer.speech.key} is not set" in str(fault)
    assert peer.requests == []


QUOTED = f"no good: {KEY}, at https://models.example/?key={KEY}&x=1"
QUOTING = [
    Reply.json({"error": {"message": QUOTED, "code": 401, "details": [{"reason": KEY}]}}, 401),
    Reply.json({"error": QUOTED}, 400),
    Reply.text(f"<html><title>{QUOTED}</title><body>{KEY}</body></html>", 403, "text/html"),
    Reply.text("", 307, "text/plain", location=f"https://models.example/?key={KEY}"),
    Reply.text(QUOTED, 404, "text/plain"),
]


@pytest.mark.requirement("R121", "R256", "R302")
async def test_a_key_that_comes_back_from_everywhere_is_kept_nowhere(
    peer_server: JpServer, peer: SpeakingVendor, peer_user: UserFolders
) -> None:
    speech = peer.speech
    in_band = speech.broken("One ", speech.in_band({"message": QUOTED, "code": 400}))
    passing = Reply.json({"error": {"message": QUOTED}}, 503)
    for number, replies in enumerate([*([reply] for reply in QUOTING), [passing, passing, in_band]]):
        peer.will_answer(*replies)
        result = await peer_server.client.query("Hello", f"t{number}", conversation="new")
        assert result["outcome"] == "failed"
        assert "***" in result["error"]["message"]
    await peer_server.stop()

    assert KEY in str(peer.requests[0].headers)
    assert KEY not in json.dumps(peer_server.client.messages)
    assert not any(KEY in line for line in peer_server.log.lines)
    roots = peer_user.data, peer_user.workspace
    kept = [path for root in roots for path in root.rglob("*") if path.is_file()]
    assert any("recordings" in path.parts for path in kept)
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
