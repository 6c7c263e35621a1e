"""Adapters against a real server that misbehaves, over real sockets."""

import gzip
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest

from jp_lsp import __version__
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.anthropic.adapter import AnthropicProvider
from jp_lsp.providers.chat import llamacpp, openrouter
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.google.adapter import GoogleProvider
from jp_lsp.providers.http import VendorHttp, join_url
from jp_lsp.providers.ollama.adapter import OllamaProvider
from jp_lsp.providers.openai.adapter import OpenAIProvider
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Finished, StreamEvent, TextPart, Usage
from tests.adapters.providers.making import (
    DONE,
    Observer,
    delta,
    model,
    request,
    sse,
    stop,
    text_block,
)
from tests.adapters.providers.recorded_events import to_json
from tests.support.http_server import RESET, Hold, HttpServer, Reply, refusing_url

KEY = "sk-very-secret-key"
HI = sse(delta(content="Hi"))
LONG = sse(delta(content="Long enough for the tag scanner to let some of it go"))
STOP = sse(delta("stop"))
END = sse(DONE)

pytestmark = pytest.mark.anyio


def error(status: int, message: str = "Some words", **headers: str) -> Reply:
    return Reply.json({"error": {"message": message}}, status, **headers)


Maker = Callable[[Connection], Any]
MAKERS: dict[str, tuple[Maker, CycleRequest]] = {
    "llamacpp": (llamacpp.make_provider, request(of=model("llamacpp/qwen3"))),
    "anthropic": (AnthropicProvider, request(of=model(max_output_tokens=100))),
    "openai": (OpenAIProvider, request(of=model("openai/gpt-5.5"))),
    "openrouter": (openrouter.make_provider, request(of=model("openrouter/a/b"))),
    "google": (GoogleProvider, request(of=model("google/gemini-x"))),
    "ollama": (OllamaProvider, request(of=model("ollama/qwen3"))),
}


def gemini(text: str, **members: Any) -> bytes:
    return sse({"candidates": [{"content": {"parts": [{"text": text}]}, **members}]})


def line(text: str, **members: Any) -> bytes:
    return json.dumps({"message": {"content": text}, **members}).encode() + b"\n"


SAYS_HI = {
    "llamacpp": (HI, STOP + END),
    "anthropic": (sse(*text_block(0, "Hi")), sse(*stop())),
    "google": (gemini("Hi"), gemini("", finishReason="STOP")),
    "ollama": (line("Hi"), line("", done=True)),
    "openai": (
        sse({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}),
        sse({"type": "response.completed", "response": {"status": "completed"}}),
    ),
    "openrouter": (HI, STOP + END),
}
"""The greeting and the end, as each of them writes it."""


@asynccontextmanager
async def provider(url: str, name: str = "llamacpp") -> AsyncGenerator[tuple[Any, CycleRequest], None]:
    make, asked = MAKERS[name]
    made = make(Connection(url, KEY, now=lambda: 1_800_000_000.0))
    try:
        yield made, asked
    finally:
        await made.aclose()


async def events_of(
    *replies: Reply, name: str = "llamacpp", observer: Observer | None = None
) -> list[StreamEvent]:
    """Give the events that a script of replies leads to; every one of them must have been asked for."""
    with HttpServer(replies) as server, anyio.fail_after(20):
        async with provider(server.url, name) as (made, asked):
            events = [event async for event in made.stream(asked, observer or Observer())]
        assert len(server.requests) == len(replies)
    return events


async def failure_of(*replies: Reply, name: str = "llamacpp") -> StreamFailure:
    *before, last = await events_of(*replies, name=name)
    assert isinstance(last, StreamFailure), last
    assert not any(isinstance(event, Finished | StreamFailure) for event in before)
    assert last.provider == name
    return last


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPart))


# Before there is a response


@pytest.mark.requirement("R55")
@pytest.mark.parametrize("name", MAKERS)
async def test_nobody_listens(name: str) -> None:
    with refusing_url() as url, anyio.fail_after(20):
        async with provider(url, name) as (made, asked):
            (failure,) = [event async for event in made.stream(asked, Observer())]
    assert failure.kind is FailureKind.CONNECT
    assert failure.is_retryable
    assert failure.message.startswith(f"cannot connect to {url.removeprefix('http://')}: ")


async def test_a_name_that_does_not_exist() -> None:
    async with provider("http://does-not-exist.invalid") as (made, asked):
        (failure,) = [event async for event in made.stream(asked, Observer())]
    assert failure.kind is FailureKind.CONNECT


@pytest.mark.requirement("R55", "F02")
@pytest.mark.parametrize("steps", [[RESET], []], ids=["reset", "closed"])
async def test_the_connection_ends_before_any_header(steps: list[Any]) -> None:
    failure = await failure_of(Reply.nothing(*steps))
    assert failure.kind is FailureKind.TRANSIENT
    assert "broke" in failure.message


async def test_something_else_than_http_answers() -> None:
    assert (await failure_of(Reply.nothing(b"220 mail.example ESMTP\r\n"))).kind is FailureKind.TRANSIENT


# Responses that are no stream


@pytest.mark.requirement("R51", "R52", "R56", "R57", "R58", "R59", "F13")
@pytest.mark.parametrize(
    ("reply", "kind", "wait"),
    [
        (error(429, Retry_After="3"), FailureKind.RATE_LIMIT, 3),
        (error(429, "Please try again in 1.5s"), FailureKind.RATE_LIMIT, 2),
        (error(429, Retry_After="Fri, 15 Jan 2027 08:00:30 GMT"), FailureKind.RATE_LIMIT, 30),
        (error(429, "insufficient_quota", Retry_After="3"), FailureKind.QUOTA, None),
        (error(529), FailureKind.RATE_LIMIT, None),
        (error(503, Retry_After="0"), FailureKind.TRANSIENT, None),
        (error(401), FailureKind.AUTH, None),
        (error(404), FailureKind.UNKNOWN_MODEL, None),
        (error(400), FailureKind.MALFORMED, None),
        (Reply.text("<html><title>Log in</title></html>", 200, "text/html"), FailureKind.TRANSIENT, None),
        (Reply.json({"error": {"message": "no", "code": 401}}), FailureKind.AUTH, None),
        (Reply.json({"choices": []}), FailureKind.TRANSIENT, None),
        (Reply.text("", 302, "text/html", location="https://x.example/"), FailureKind.OTHER, None),
        (Reply.text("", 500, "text/plain"), FailureKind.TRANSIENT, None),
    ],
)  # fmt: skip
async def test_refusals(reply: Reply, kind: FailureKind, wait: float | None) -> None:
    failure = await failure_of(reply)
    assert (failure.kind, failure.retry_after) == (kind, wait)


async def test_a_refusal_that_breaks_off_still_counts() -> None:
    half = Reply((b'{"error": {"mess', RESET), 401, {"content-type": "application/json"}, "chunked")
    assert (await failure_of(half)).kind is FailureKind.AUTH


async def test_a_huge_refusal_is_cut() -> None:
    failure = await failure_of(Reply.text(b"x" * 5_000_000, 500, "text/plain"))
    assert failure.kind is FailureKind.TRANSIENT
    assert len(failure.message) < 600


async def test_an_endless_refusal_is_not_waited_for() -> None:
    endless = Reply((b"x" * 2_000_000, Hold()), 500, {"content-type": "text/plain"})
    assert (await failure_of(endless)).kind is FailureKind.TRANSIENT


async def test_a_stream_needs_no_content_type() -> None:
    events = await events_of(Reply((HI, STOP, END), headers={}))
    assert text_of(events) == "Hi"


# In the middle of a stream


@pytest.mark.requirement("F01", "F02", "R55", "T09")
@pytest.mark.parametrize(
    "reply",
    [
        Reply.sse(),
        Reply.sse(HI),
        Reply.sse(HI, framing="close"),
        Reply.sse(HI, RESET),
        Reply.sse(HI[:30], RESET),
        Reply(
            (HI, RESET),
            headers={"content-type": "text/event-stream", "content-length": "9999"},
            framing="length",
        ),
    ],
    ids=["empty", "cut", "closed", "reset", "reset in a line", "short"],
)
async def test_a_stream_without_an_end_is_lost(reply: Reply) -> None:
    failure = await failure_of(reply)
    assert failure.kind is FailureKind.TRANSIENT


@pytest.mark.requirement("F02")
@pytest.mark.parametrize("last", [[], [END]], ids=["after the finish", "after the sentinel"])
async def test_a_reset_after_the_end_is_nothing(last: list[bytes]) -> None:
    events = await events_of(Reply.sse(HI, STOP, *last, RESET))
    assert to_json(events[-1]) == {"type": "finished", "reason": "completed"}
    assert text_of(events) == "Hi"


@pytest.mark.requirement("F06", "F12")
async def test_an_error_event_after_text() -> None:
    failing = sse({"error": {"code": 503, "message": "upstream gone"}})
    events = await events_of(Reply.sse(HI, failing, HI))
    assert text_of(events) == "Hi"
    assert to_json(events[-1])["kind"] == "transient"


@pytest.mark.parametrize("name", MAKERS)
async def test_a_compressed_stream_is_read(name: str) -> None:
    packed = gzip.compress(b"".join(SAYS_HI[name]))
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    events = await events_of(Reply((packed[:20], packed[20:]), headers=headers), name=name)
    assert text_of(events) == "Hi"


@pytest.mark.parametrize("damage", ["truncated", "garbage"])
async def test_a_damaged_compressed_stream_is_lost(damage: str) -> None:
    packed = gzip.compress(HI * 50 + STOP + END)
    data = packed[: len(packed) // 2] if damage == "truncated" else b"\x1f\x8b garbage" * 9
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    assert (await failure_of(Reply((data,), headers=headers))).kind is FailureKind.TRANSIENT


@pytest.mark.requirement("F01", "F02")
@pytest.mark.parametrize("name", MAKERS)
async def test_all_streams_have_the_same_faults(name: str) -> None:
    begun, end = SAYS_HI[name]
    for steps in ([begun], [begun, RESET], [begun, end[: len(end) // 2], RESET]):
        *before, failure = await events_of(Reply.sse(*steps), name=name)
        assert isinstance(failure, StreamFailure)
        assert failure.kind is FailureKind.TRANSIENT
        assert text_of(before) in {"Hi", ""}  # what might have been a tag is still held back
    events = await events_of(Reply.sse(begun, end, RESET), name=name)
    assert to_json(events[-1]) == {"type": "finished", "reason": "completed"}


# Silence, and stopping


@pytest.mark.requirement("T13", "R173", "F14")
@pytest.mark.parametrize("how", ["close", "cancel"])
async def test_stopping_closes_the_connection_at_once(how: str) -> None:
    hold = Hold()
    with HttpServer([Reply.sse(LONG, hold, STOP, END)]) as server, anyio.fail_after(20):
        async with provider(server.url) as (made, asked):
            events = made.stream(asked, Observer())
            first = await anext(events)
            assert to_json(first)["type"] in {"part", "flush"}
            if how == "close":
                await events.aclose()
            else:
                async with aclosing(events):
                    with anyio.CancelScope() as scope:
                        async with anyio.create_task_group() as tasks:
                            tasks.start_soon(_exhaust, events)
                            await anyio.to_thread.run_sync(hold.wait_until_reached)
                            scope.cancel()
            assert await anyio.to_thread.run_sync(server.wait_until_client_closed)


async def _exhaust(events: AsyncIterator[StreamEvent]) -> None:
    async for _ in events:
        pass


async def test_the_end_does_not_wait_for_the_server_to_close() -> None:
    hold = Hold()
    with HttpServer([Reply.sse(HI, STOP, END, hold)]) as server, anyio.fail_after(20):
        async with provider(server.url) as (made, asked):
            events = [event async for event in made.stream(asked, Observer())]
            assert to_json(events[-1]) == {"type": "finished", "reason": "completed"}
            assert await anyio.to_thread.run_sync(server.wait_until_client_closed)


@pytest.mark.requirement("T13", "F07")
async def test_every_arrival_is_told_comments_included() -> None:
    observer, hold, before = Observer(), Hold(), 0
    script = [Reply.sse(": keep-alive\n\n", hold, HI, STOP, END)]
    with HttpServer(script) as server, anyio.fail_after(20):
        async with provider(server.url) as (made, asked):
            stream = made.stream(asked, observer)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_exhaust, stream)
                await anyio.to_thread.run_sync(hold.wait_until_reached)
                await anyio.wait_all_tasks_blocked()
                before = observer.arrivals
                hold.open()
            assert 2 <= before < observer.arrivals


# Usage


async def test_usage_is_reported_once_and_before_the_end() -> None:
    observer = Observer()
    usage = sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    with HttpServer([Reply.sse(HI, STOP, usage, END)]) as server:
        async with provider(server.url) as (made, asked), aclosing(made.stream(asked, observer)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    assert observer.usages == [Usage(3, 4)]
    assert observer.usages == [Usage(3, 4)]


async def test_usage_of_an_interrupted_answer_is_reported() -> None:
    observer, hold = Observer(), Hold()
    usage = sse({"choices": [], "usage": {"prompt_tokens": 3}})
    with HttpServer([Reply.sse(usage + LONG, hold)]) as server, anyio.fail_after(20):
        async with provider(server.url) as (made, asked), aclosing(made.stream(asked, observer)) as events:
            await anext(events)
    assert observer.usages == [Usage(3)]


# What goes out, and what must not


async def test_what_a_request_looks_like() -> None:
    with HttpServer([Reply.sse(END)]) as server:
        async with provider(f"{server.url}/v1/") as (made, asked):
            _ = [event async for event in made.stream(asked, Observer())]
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/v1/chat/completions")
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["accept"] == "text/event-stream"
    assert sent.headers["user-agent"] == f"jp-lsp/{__version__}"
    assert sent.json()["messages"] == [{"role": "user", "content": "Hello"}]


@pytest.mark.requirement("F26")
@pytest.mark.parametrize(
    ("name", "path", "accept", "key_header", "key"),
    [
        ("llamacpp", "/v1/chat/completions", "text/event-stream", "authorization", f"Bearer {KEY}"),
        ("anthropic", "/v1/messages", "text/event-stream", "x-api-key", KEY),
        (
            "google",
            "/models/gemini-x:streamGenerateContent?alt=sse",
            "text/event-stream",
            "x-goog-api-key",
            KEY,
        ),
        ("ollama", "/api/chat", "application/x-ndjson", "authorization", f"Bearer {KEY}"),
        ("openai", "/v1/responses", "text/event-stream", "authorization", f"Bearer {KEY}"),
        ("openrouter", "/api/v1/chat/completions", "text/event-stream", "authorization", f"Bearer {KEY}"),
    ],
)
async def test_where_requests_go(name: str, path: str, accept: str, key_header: str, key: str) -> None:
    begun, end = SAYS_HI[name]
    with HttpServer(lambda _: Reply.sse(begun, end)) as server:
        async with provider(f"{server.url}/behind/a/proxy/", name) as (made, asked):
            for _ in range(2):
                _ = [event async for event in made.stream(asked, Observer())]
    first, second = server.requests
    assert (first.method, first.path) == ("POST", f"/behind/a/proxy{path}")
    assert (first.headers["accept"], first.headers[key_header]) == (accept, key)
    # The same question is the same bytes: vendors' caches hit on nothing less.
    assert (first.body, first.headers) == (second.body, second.headers)


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://h", "/v1/x", "https://h/v1/x"),
        ("https://h/", "/v1/x", "https://h/v1/x"),
        ("https://h/proxy", "/v1/x", "https://h/proxy/v1/x"),
        ("https://h/proxy/v1", "/v1/x", "https://h/proxy/v1/x"),
        ("https://h/api/paas/v4/", "/v1/x/y", "https://h/api/paas/v4/x/y"),
        ("https://h/v1beta2", "/v1/x", "https://h/v1beta2/x"),
        ("https://h/vllm", "/v1/x", "https://h/vllm/v1/x"),
        ("https://h/v1", "/api/x", "https://h/v1/api/x"),
        ("https://h/api/v1", "/api/v1/x", "https://h/api/v1/x"),
        ("https://h/api", "/api/v1/x", "https://h/api/api/v1/x"),
        ("https://h/v1", "/chat/x", "https://h/v1/chat/x"),
        ("https://h/plain/chat/completions", "/v1/x", "https://h/plain/x"),
        ("https://h/v1/chat/completions/", "/v1/x", "https://h/v1/x"),
        ("https://h/api/v1/chat/completions", "/api/v1/x", "https://h/api/v1/x"),
        ("https://h/chat/completions", "/x", "https://h/x"),
    ],
)
async def test_how_addresses_are_joined(base: str, path: str, url: str) -> None:
    assert join_url(base, path) == url


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://h", "https://h/public/v1/models"),
        ("https://h/v1/", "https://h/public/v1/models"),
        ("https://h/proxy/v1", "https://h/proxy/public/v1/models"),
        ("https://h/v1/chat/completions", "https://h/public/v1/models"),
    ],
)
async def test_a_page_beside_the_api_has_no_version_in_front(base: str, url: str) -> None:
    assert join_url(base, "/public/v1/models", is_versioned=False) == url


@pytest.mark.requirement("R256")
@pytest.mark.parametrize("name", MAKERS)
async def test_the_key_reaches_no_text(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    quoted = f"bad key {KEY} at https://h/x?key={KEY}&a=1 and https://h/?api_key=other-secret"
    replies = (
        error(401, quoted),
        Reply.text(quoted, 500, "text/plain"),
        Reply.json({"error": {"message": quoted, "code": 400}}),
        Reply.sse(_in_band(name, {"error": {"message": quoted}, "type": "error"})),
    )
    for reply in replies:
        failure = await failure_of(reply, name=name)
        assert "bad key *** at https://h/x?key=***&a=1" in failure.message
        assert "secret" not in failure.message
    # Our own logs hold neither key nor body; the server's half of the test is not ours.
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert KEY not in logged
    assert "Hello" not in logged


def _in_band(name: str, error: Any) -> bytes:
    return json.dumps(error).encode() if name == "ollama" else sse(error)


async def test_a_password_in_the_address_reaches_no_text() -> None:
    with refusing_url() as url:
        address = url.replace("http://", "http://user:p%40ssword@")
        async with provider(address) as (made, asked):
            (failure,) = [event async for event in made.stream(asked, Observer())]
    assert "ssword" not in failure.message
    assert Connection(address).http("x").mask("p@ssword p%40ssword") == "*** ***"


async def test_short_values_are_no_secrets() -> None:
    assert VendorHttp("x", "http://h", secrets=("a",)).mask("a banana") == "a banana"


async def test_text_that_utf8_cannot_hold_is_sent_all_the_same() -> None:
    with HttpServer([Reply.sse(END)]) as server:
        async with provider(server.url) as (made, asked):
            broken = request(*asked.thread.events, of=asked.model, system=["half \ud83d", str(2**70)])
            _ = [event async for event in made.stream(broken, Observer())]
    assert server.requests[0].json()["messages"][0]["content"] == "half ?"


async def test_halves_of_a_character_meet() -> None:
    halves = [
        f'data: {{"choices":[{{"delta":{{"content":"{half}"}}}}]}}\n\n' for half in (r"\ud83d", r"\ude00")
    ]
    events = await events_of(Reply.sse(*halves, STOP, END))
    assert text_of(events) == "😀"


async def test_warnings_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with HttpServer(lambda _: Reply.sse(END)) as server:
        async with provider(server.url, "anthropic") as (made, _):
            asked = request(of=model("anthropic/claude-opus-5", max_output_tokens=9), temperature=0.5)
            for _ in range(3):
                _ = [event async for event in made.stream(asked, Observer())]
    said = [record.getMessage() for record in caplog.records if re.search("temperature", record.getMessage())]
    assert said == ["anthropic/claude-opus-5 takes no temperature: the setting was left out"]


async def test_one_client_serves_concurrent_first_requests() -> None:
    with HttpServer(lambda _: Reply.sse(HI, STOP, END)) as server, anyio.fail_after(20):
        async with provider(server.url) as (made, asked), anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(partial(_exhaust, made.stream(asked, Observer())))
    assert len(server.requests) == 5


async def test_a_closed_provider_can_be_used_again() -> None:
    with HttpServer(lambda _: Reply.sse(HI, STOP, END)) as server:
        async with provider(server.url) as (made, asked):
            for _ in range(2):
                assert text_of([event async for event in made.stream(asked, Observer())]) == "Hi"
                await made.aclose()


async def test_a_chain_runs_over_real_connections() -> None:
    cut = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    first = Reply.sse(sse(*text_block(0, "The quick brown"), cut, {"type": "message_stop"}))
    second = Reply.sse(sse(*text_block(0, "quick brown fox"), *stop()))
    events = await events_of(first, second, name="anthropic")
    assert text_of(events) == "The quick brown fox"
    assert json.dumps([to_json(event) for event in events]).count("finished") == 1
