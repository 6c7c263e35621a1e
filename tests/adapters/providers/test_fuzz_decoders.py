"""Damaged bodies by the thousand, over the decoders of all vendors.

Each body begins as one that a vendor really sends and is then cut, swapped, repeated, garbled, buried in huge
lines or in deep JSON. Whatever arrives, an answer ends, its end is its last event, and nothing of it is larger
than what came in. `JP_FUZZ_BODIES=1000000` is the long run; a body that fails is named by its number, and comes
again with that number alone.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

from jp_lsp.ports.provider import CycleRequest, Effort
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import (
    Finished,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)
from tests.adapters.providers.making import AT, model, request, tool
from tests.adapters.providers.recorded_events import taken
from tests.adapters.providers.recorded_requests import load
from tests.adapters.providers.replay import BROKEN, EXCHANGES
from tests.adapters.providers.sample_bodies import SAMPLES
from tests.support.shared import shared_files

BODIES = int(os.environ.get("JP_FUZZ_BODIES", "2400"))
PER_VENDOR = BODIES // len(EXCHANGES)
LARGEST_SAMPLE = 8_000
MOST_REQUESTS = 12
"""More than any answer takes: five continuations, three demands for a tool."""

OUTCOMES: Counter[str] = Counter()
"""How the answers ended; printed by the last test of this file."""


@cache
def samples(vendor: str) -> tuple[bytes, ...]:
    """Bodies to begin with: a made one, and what was recorded where that is at hand."""
    recorded = [
        exchange["response"]["body"].encode()
        for path in shared_files(f"recordings/{vendor}/**/*.json")
        for exchange in load(path)["exchanges"]
        if exchange["response"] is not None and exchange["request"]["method"] == "POST"
    ]
    return (SAMPLES[vendor], *(body for body in recorded if 0 < len(body) <= LARGEST_SAMPLE))


# Damage


def _span(source: random.Random, body: bytes, most: int = 200) -> slice:
    begin = source.randint(0, len(body))
    return slice(begin, begin + source.randint(0, most))


def cut_out(source: random.Random, body: bytes) -> bytes:
    span = _span(source, body)
    return body[: span.start] + body[span.stop :]


def cut_off(source: random.Random, body: bytes) -> bytes:
    return body[: source.randint(0, len(body))]


def repeat(source: random.Random, body: bytes) -> bytes:
    span = _span(source, body)
    return body[: span.start] + body[span] * source.choice((2, 3, 20)) + body[span.stop :]


def swap_lines(source: random.Random, body: bytes) -> bytes:
    lines = body.split(b"\n")
    one, other = source.randrange(len(lines)), source.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def double_event(source: random.Random, body: bytes) -> bytes:
    lines = body.split(b"\n")
    position = source.randrange(len(lines))
    return b"\n".join([*lines[: position + 1], b"", *lines[position:]])


def garble(source: random.Random, body: bytes) -> bytes:
    position = source.randint(0, len(body))
    noise = source.choice(
        (
            b"\xff\xfe",
            b"\xc3",
            b"\xed\xa0\xbd",
            b"\x00",
            b"\r",
            b"\xe2\x80\xa8",
            b"\xef\xbb\xbf",
            b'"',
            b"}",
            b"\\",
        )
    )
    return body[:position] + noise + body[position + source.randint(0, 2) :]


def half_a_character(source: random.Random, body: bytes) -> bytes:
    return body.replace(b" ", source.choice((b"\\ud83d", b"\\udc4d", b"\\u0000")), source.randint(1, 3))


def change_a_value(source: random.Random, body: bytes) -> bytes:
    old = source.choice(
        (b":0", b":1", b":null", b'"index"', b'"type"', b'"delta"', b'""', b"{}", b"[]", b'"text"')
    )
    new = source.choice(
        (b":-1", b":1e400", b":99999999999999999999", b":true", b":[]", b":{}", b':"x"', b'"x"', b"5")
    )
    places = body.split(old)
    if len(places) < 2:
        return body
    position = source.randrange(1, len(places))
    return old.join(places[:position]) + new + old.join(places[position:])


def put_in(source: random.Random, body: bytes) -> bytes:
    lines = body.split(b"\n")
    position = source.randint(0, len(lines))
    lines.insert(position, _strange_line(source))
    return b"\n".join(lines)


def _strange_line(source: random.Random) -> bytes:
    size = source.choice((10, 1_000, 20_000))
    return source.choice(
        (
            b"data: " + b"[" * size,
            b"data: " + b'{"choices":' * size,
            b'data: {"error":' * 2 + b'{"error":' * 50 + b"1" + b"}" * 51,
            b'data: {"type":"response.output_text.delta","output_index":0,"delta":"' + b"x" * size + b'"}',
            b'{"message":{"content":"' + b"y" * size + b'"},"done":false}',
            b": " + b"comment" * size,
            b"data: [DONE]",
            b"event: error",
            b"data",
            b"data:\ndata:\ndata:",
            b"data: null\n",
            b"data: 5\n",
            b"<html><body>Bad gateway</body></html>",
            b"",
        )
    )


def other_line_ends(source: random.Random, body: bytes) -> bytes:
    return body.replace(b"\n", source.choice((b"\r\n", b"\r", b"\n\n")))


DAMAGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(cut_out, cut_off, repeat, swap_lines, double_event, garble, half_a_character, change_a_value, put_in),
    other_line_ends,
)


def damaged(source: random.Random, vendor: str) -> bytes:
    """Make a body."""
    body = source.choice(samples(vendor))
    for _ in range(source.randint(1, 5)):
        body = source.choice(DAMAGES)(source, body)
    return body


# Playing


def pieces(source: random.Random, body: bytes) -> Iterator[bytes]:
    size = source.choice((1, 7, 100, 1_400, 1_000_000)) if len(body) < 20_000 else 60_000
    for position in range(0, len(body), size):
        yield body[position : position + size]


def played(source: random.Random, asked: CycleRequest, vendor: str, body: bytes) -> list[StreamEvent]:
    """Answer every request with the body."""
    exchange = EXCHANGES[vendor](asked)
    events: list[StreamEvent] = []
    is_document = source.random() < 0.05
    for _ in range(MOST_REQUESTS):
        if exchange.next_request() is None:
            return events
        if is_document:
            status = source.choice((200, 400, 401, 429, 500, 529))
            events += exchange.refused(RefusedResponse(status, {"content-type": "application/json"}, body))
            continue
        for piece in pieces(source, body):
            events += exchange.feed(piece)
            if not exchange.wants_more:
                break
        else:
            events += exchange.end() if source.random() < 0.7 else exchange.broken(BROKEN)
    assert exchange.next_request() is None, "an answer takes requests without end"
    return events


def size_of(event: StreamEvent) -> int:
    match event:
        case TextPart(text=text, metadata=metadata):
            return len(text) + sum(len(value) for value in metadata.values() if isinstance(value, str))
        case ToolCallStart(id=call_id, name=name):
            return len(call_id) + len(name)
        case ToolCallArguments(text=text):
            return len(text)
        case StreamFailure(message=message):
            return len(message)
        case _:
            return 0


def check(events: list[StreamEvent], size: int) -> str:
    """Hold an answer to what must be true of every answer; give a word for how it ended."""
    assert events, "there is no end"
    *before, last = events
    assert isinstance(last, Finished | StreamFailure)
    assert not any(isinstance(event, Finished | StreamFailure) for event in before)
    # Each part costs the vendor more bytes than it has characters, except for a few words of our own.
    assert sum(map(size_of, events)) <= (size + 5_000) * MOST_REQUESTS
    assert len(events) <= (size + 100) * MOST_REQUESTS
    builder = EventBuilder()
    for event in before:
        taken(builder, event)
    if isinstance(last, StreamFailure):
        assert last.message
        return str(last.kind)
    builder.finish(AT)
    return type(last.reason).__name__


REQUESTS: Mapping[str, Callable[[str], CycleRequest]] = {
    "plain": lambda name: request(of=model(name, max_output_tokens=9_000), reasoning=Effort("low")),
    "forced": lambda name: request(
        of=model(name, max_output_tokens=9_000), tools=[tool()], choice="required", reasoning=Effort("low")
    ),
    "value": lambda name: request(of=model(name, max_output_tokens=9_000), schema={"type": "object"}),
}
NAMES = {"anthropic": "claude-haiku-4-5"}


@pytest.mark.requirement("F01", "F02", "F09", "F13")
@pytest.mark.parametrize("vendor", EXCHANGES)
def test_damaged_bodies_over_all_decoders(vendor: str) -> None:
    asked = [make(f"{vendor}/{NAMES.get(vendor, 'x')}") for make in REQUESTS.values()]
    for number in range(PER_VENDOR):
        source = random.Random(f"{vendor} {number}")
        body = damaged(source, vendor)
        try:
            OUTCOMES[check(played(source, source.choice(asked), vendor, body), len(body))] += 1
        except Exception as error:
            pytest.fail(f"body {number} of {vendor}: {error!r}, from {body[:2_000]!r}")


def test_print_how_the_answers_ended(capsys: pytest.CaptureFixture[str]) -> None:
    endings = ", ".join(f"{word} {count}" for word, count in OUTCOMES.most_common())
    with capsys.disabled():
        print(f"\n{sum(OUTCOMES.values())} damaged bodies: {endings}")  # noqa: T201
