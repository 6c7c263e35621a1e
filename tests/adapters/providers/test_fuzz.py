"""Damaged streams: whatever arrives, there is an end, it is the last event, and nothing crashes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, StreamEvent
from tests.adapters.providers.making import model, request, sse, tool
from tests.adapters.providers.replay import EXCHANGES, at_random, play
from tests.adapters.providers.sample_bodies import SAMPLES

NAMES = {"anthropic": "anthropic/claude-haiku-4-5"}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def framed(provider: str, *payloads: Any) -> bytes:
    """Write payloads one after the other, as the vendor's framing wants it."""
    return lines(*payloads) if provider == "ollama" else sse(*map(json.dumps, payloads))


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

    asked = request(
        of=model(NAMES.get(provider, f"{provider}/x"), max_output_tokens=100),
        tools=[tool()],
        choice="required",
    )
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


@pytest.mark.parametrize("provider", SAMPLES)
@given(data=st.data(), seed=st.integers(0, 99), end=st.sampled_from(["close", "abort"]))
def test_damaged_bodies(provider: str, data: st.DataObject, seed: int, end: str) -> None:
    check(played(provider, [data.draw(damaged(SAMPLES[provider]))], seed, end))


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "text", "tool_use", "thinking", "stop", "max_tokens", "\ud83d", "content_block_delta",
                       "response.output_item.added", "message"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from([
            "type", "index", "delta", "choices", "content", "tool_calls", "function", "name", "arguments", "id",
            "finish_reason", "reasoning", "reasoning_content", "usage", "error", "message", "content_block", "text",
            "stop_reason", "stop_details", "partial_json", "signature", "prompt_tokens_details", "timings",
            "candidates", "parts", "functionCall", "args", "thought", "thoughtSignature", "finishReason",
            "promptFeedback", "usageMetadata", "message", "done", "done_reason", "output_index", "item", "item_id",
            "response", "status", "summary_index", "incomplete_details", "reasoning_details", "format", "data",
        ]),
        inner,
        max_size=5,
    ),
    max_leaves=15,
)  # fmt: skip


@pytest.mark.parametrize("provider", SAMPLES)
@given(payloads=st.lists(_VALUES, max_size=5), seed=st.integers(0, 99))
def test_well_formed_nonsense(provider: str, payloads: list[Any], seed: int) -> None:
    body = framed(provider, *payloads)
    check(played(provider, [body], seed, "close"))
    check(played(provider, [body + SAMPLES[provider]], seed, "close"))


def _shape_of_chat(value: Any) -> Any:
    return {"choices": [{"index": 0, "delta": value, "finish_reason": None}]}


def _shape_of_messages(value: Any) -> Any:
    return {"type": "content_block_delta", "index": 0, "delta": value}


def _shape_of_gemini(value: Any) -> Any:
    return {"candidates": [{"content": {"parts": [value, {"text": value}, {"functionCall": value}]}}]}


def _shape_of_ollama(value: Any) -> Any:
    return {"message": {"content": value, "thinking": value, "tool_calls": [value, {"function": value}]}}


def _shape_of_responses(value: Any) -> Any:
    return {"type": "response.output_item.done", "output_index": 0, "item": value, "delta": value}


_SHAPES = {
    "openai": _shape_of_responses,
    "anthropic": _shape_of_messages,
    "google": _shape_of_gemini,
    "ollama": _shape_of_ollama,
}


@pytest.mark.parametrize("provider", SAMPLES)
@given(values=st.lists(_VALUES, max_size=6))
def test_nonsense_in_the_right_places(provider: str, values: list[Any]) -> None:
    shape = _SHAPES.get(provider, _shape_of_chat)
    body = framed(provider, *map(shape, values))
    check(played(provider, [body], 0, "close"))


@pytest.mark.parametrize("provider", SAMPLES)
@given(body=st.binary(max_size=400), seed=st.integers(0, 9))
def test_noise(provider: str, body: bytes, seed: int) -> None:
    check(played(provider, [body], seed, "close"))


@pytest.mark.parametrize("provider", SAMPLES)
def test_deep_nesting(provider: str) -> None:
    for deep in (b"[" * 100_000, b'{"choices":' * 50_000, b'{"error":' * 2_000 + b"1" + b"}" * 2_000):
        body = deep + b"\n" if provider == "ollama" else b"data: " + deep + b"\n\n"
        check(played(provider, [body], 0, "close"))
