"""Damaged streams: whatever arrives, there is an end, it is the last event, and nothing crashes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, StreamEvent
from tests.adapters.providers.making import (
    block_delta,
    block_start,
    call_delta,
    delta,
    model,
    request,
    sse,
    stop,
    text_block,
    tool,
)
from tests.adapters.providers.replay import EXCHANGES, at_random, play

CHAT = sse(
    delta(role="assistant", content=None),
    delta(reasoning_content="hm"),
    delta(content="<think>\nmore</think>\nHi ✓"),
    call_delta(0, "a", "run", '{"x"'),
    call_delta(1, "b", "run", "{}"),
    call_delta(0, None, None, ":1}"),
    delta("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 1}, "timings": {"prompt_n": 1}},
    "[DONE]",
)
MESSAGES = sse(
    {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
    block_start(0, type="thinking", thinking="", signature=""),
    {"type": "ping"},
    block_delta(0, "thinking_delta", thinking="hm"),
    block_delta(0, "signature_delta", signature="s"),
    {"type": "content_block_stop", "index": 0},
    *text_block(1, "Hi ✓", " there"),
    block_start(2, type="tool_use", id="t", name="run", input={}),
    block_delta(2, "input_json_delta", partial_json="{}"),
    {"type": "content_block_stop", "index": 2},
    *stop("tool_use"),
)
BODIES = {"anthropic": MESSAGES, "llamacpp": CHAT, "lmstudio": CHAT}
NAMES = {"anthropic": "anthropic/claude-haiku-4-5", "llamacpp": "llamacpp/x", "lmstudio": "lmstudio/x"}


def played(provider: str, answers: list[bytes], seed: int, end: str) -> list[StreamEvent]:
    """Play the bytes as one answer after the other, the last one for ever."""

    def endless() -> Iterator[dict[str, Any]]:
        while True:
            for body in answers:
                yield {
                    "status": 200,
                    "headers": {"content-type": "text/event-stream"},
                    "body": body.decode("latin-1"),
                    "end": end,
                }

    asked = request(of=model(NAMES[provider], max_output_tokens=100), tools=[tool()], choice="required")
    # `latin-1` and back is how arbitrary bytes get through the shape of a recording.
    source = endless()
    return play(EXCHANGES[provider](asked), [next(source) for _ in range(12)], at_random(seed)).events


def check(events: list[StreamEvent]) -> None:
    assert isinstance(events[-1], Finished | StreamFailure)
    assert not any(isinstance(event, Finished | StreamFailure) for event in events[:-1])
    if isinstance(events[-1], StreamFailure):
        assert events[-1].message


@st.composite
def damaged(draw: st.DrawFn, body: bytes) -> bytes:
    """Cut pieces out, double them, swap them, put noise in."""
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(body)))
        end = min(len(body), begin + draw(st.integers(0, 60)))
        piece = draw(
            st.sampled_from([b"", body[begin:end] * 2, b"\x00\xff", b"\r", b"\n\n", b"}", b"[DONE]", b"null"])
        )
        body = body[:begin] + piece + body[end:]
    return body


@pytest.mark.parametrize("provider", BODIES)
@given(data=st.data(), seed=st.integers(0, 99), end=st.sampled_from(["close", "abort"]))
def test_damaged_bodies(provider: str, data: st.DataObject, seed: int, end: str) -> None:
    check(played(provider, [data.draw(damaged(BODIES[provider]))], seed, end))


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "text", "tool_use", "thinking", "stop", "max_tokens", "\ud83d", "content_block_delta"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from([
            "type", "index", "delta", "choices", "content", "tool_calls", "function", "name", "arguments", "id",
            "finish_reason", "reasoning", "reasoning_content", "usage", "error", "message", "content_block", "text",
            "stop_reason", "stop_details", "partial_json", "signature", "prompt_tokens_details", "timings",
        ]),
        inner,
        max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@pytest.mark.parametrize("provider", BODIES)
@given(payloads=st.lists(_VALUES, max_size=5), seed=st.integers(0, 99))
def test_well_formed_nonsense(provider: str, payloads: list[Any], seed: int) -> None:
    body = b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)
    check(played(provider, [body], seed, "close"))
    check(played(provider, [body + BODIES[provider]], seed, "close"))


def _shape_of_chat(value: Any) -> Any:
    return {"choices": [{"index": 0, "delta": value, "finish_reason": None}]}


def _shape_of_messages(value: Any) -> Any:
    return {"type": "content_block_delta", "index": 0, "delta": value}


@pytest.mark.parametrize("provider", BODIES)
@given(values=st.lists(_VALUES, max_size=6))
def test_nonsense_in_the_right_places(provider: str, values: list[Any]) -> None:
    shape = _shape_of_messages if provider == "anthropic" else _shape_of_chat
    body = b"".join(b"data: " + json.dumps(shape(value)).encode() + b"\n\n" for value in values)
    check(played(provider, [body], 0, "close"))


@pytest.mark.parametrize("provider", BODIES)
@given(body=st.binary(max_size=400), seed=st.integers(0, 9))
def test_noise(provider: str, body: bytes, seed: int) -> None:
    check(played(provider, [body], seed, "close"))


@pytest.mark.parametrize("provider", BODIES)
def test_deep_nesting(provider: str) -> None:
    for deep in (b"[" * 100_000, b'{"choices":' * 50_000, b'{"error":' * 2_000 + b"1" + b"}" * 2_000):
        check(played(provider, [b"data: " + deep + b"\n\n"], 0, "close"))
