"""Streams that go on for ever and say nothing: what is kept of them has a limit.

What a model writes is counted elsewhere and stops at the ceiling of an answer. Empty pieces count nothing there,
so no list may hold them.
"""

import json
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pytest

from jp_lsp.turn.builder import EventBuilder
from tests.adapters.providers.making import (
    block_delta,
    block_start,
    model,
    request,
    sse,
    text_block,
)
from tests.adapters.providers.recorded_events import taken
from tests.adapters.providers.replay import EXCHANGES

ROUNDS, AT_ONCE = 200, 150
LIMIT = 150_000
"""Bytes. A list of 30,000 references is larger."""


def body(vendor: str, *payloads: Any) -> bytes:
    return (
        b"".join(json.dumps(p).encode() + b"\n" for p in payloads) if vendor == "ollama" else sse(*payloads)
    )


def kept_of(vendor: str, begun: bytes, again: bytes) -> int:
    """Read a piece of a stream again and again; give the bytes that are held at the end, as a turn would."""
    exchange = EXCHANGES[vendor](request(of=model(f"{vendor}/x", max_output_tokens=100)))
    exchange.next_request()
    builder = EventBuilder()

    def read(data: bytes) -> None:
        for event in exchange.feed(data):
            taken(builder, event)

    read(begun + again)
    many = again * AT_ONCE
    tracemalloc.start()
    try:
        for _ in range(ROUNDS):
            read(many)
        assert exchange.wants_more
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def item(**members: Any) -> Mapping[str, Any]:
    return {"type": "response.output_item.added", "output_index": 0, "item": members}


@pytest.mark.parametrize(
    ("vendor", "begun", "again"),
    [
        ("anthropic", [block_start(0, type="thinking")], block_delta(0, "thinking_delta", thinking="")),
        ("anthropic", [block_start(0, type="thinking")], block_delta(0, "signature_delta", signature="")),
        ("anthropic", [block_start(0, type="text")], block_delta(0, "text_delta", text="")),
        (
            "anthropic",
            [block_start(0, type="tool_use", id="t", name="run")],
            block_delta(0, "input_json_delta", partial_json=""),
        ),
        ("anthropic", text_block(0, "Hi"), {"type": "ping"}),
        ("anthropic", [], block_start(5, type="strange")),
        ("anthropic", [], {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}),
        ("openai", [item(type="message")], {"type": "response.output_text.delta", "output_index": 0}),
        ("openai", [], item(type="reasoning")),
        ("openai", [], {"type": "response.in_progress"}),
        ("google", [], {"candidates": [{"content": {"parts": [{"text": ""}]}}]}),
        ("google", [], {"usageMetadata": {"promptTokenCount": 1}}),
        ("ollama", [], {"message": {"content": ""}, "done": False}),
    ],
)
def test_nothing_is_kept_of_nothing(vendor: str, begun: list[Any], again: Any) -> None:
    assert kept_of(vendor, body(vendor, *begun), body(vendor, again)) < LIMIT
