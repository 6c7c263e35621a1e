"""How fast streams are decoded, against the least that anybody would have to do, and how much memory that takes.

The yardstick is splitting the body into lines and reading each line's JSON with the standard library; wanted
is at most twice its time for the whole way from bytes to events. The second part decodes a stream of 100 MB
that is never held as a whole: what is in use at most must not depend on how long a stream is. Run it as a
script:

    python tests/bench/bench_decode.py
"""

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.providers.anthropic.adapter import ERRORS as ANTHROPIC_ERRORS
from jp_lsp.providers.anthropic.decode import MessagesDecoder
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.chat.decode import ChatDecoder
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.google.decode import GenerateDecoder
from jp_lsp.providers.ollama.decode import ChatDecoder as OllamaDecoder
from jp_lsp.providers.openai.decode import ResponsesDecoder
from jp_lsp.providers.openai.errors import ERRORS as OPENAI_ERRORS
from jp_lsp.turn.stream_event import StreamEvent

_DELTAS = 20_000
_CHUNK = 1_400
"""Bytes that arrive at once: about what one packet carries."""
_REPEATS = 5
_LONG_STREAM = 100_000_000
_DIFFERENT = frozenset({"anthropic", "openai", "google", "ollama", "openrouter", "llamacpp"})
"""One of each kind of decoder: the others of the family differ in nothing that takes memory."""


class _Decoder(Protocol):
    def feed(self, data: bytes) -> Sequence[StreamEvent]: ...


@dataclass(frozen=True, slots=True)
class _Vendor:
    """What stands before and behind the delta in each event of a vendor, and what reads it.

    `prefix` is the SSE part of a line; a vendor whose lines are JSON alone has none.
    """

    name: str
    before: str
    behind: str
    decoder: Callable[[], _Decoder]
    head: str = ""
    prefix: str = "data: "
    end: str = "\n\n"

    def events(self, count: int) -> bytes:
        """Write so many deltas."""
        lines = [f"{self.prefix}{self.before} word{i}{self.behind}{self.end}" for i in range(count)]
        return (self.head + "".join(lines)).encode()


def _chat(dialect: Dialect) -> Callable[[], _Decoder]:
    def make() -> _Decoder:
        return ChatDecoder(
            dialect.errors,
            scans_tags=dialect.scans_tags,
            reuses_indices=dialect.reuses_indices,
            flushes_late=dialect.flushes_late,
            read_details=dialect.read_details,
        )

    return make


_CHAT = '{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"'
_CHAT_TAIL = (
    '"}}],"created":1780171782,"id":"chatcmpl-Pqpr1VWzsVduKaZMnBAaGwDJTLknWGax","model":"qwen3.5:9b",'
    '"system_fingerprint":"b8210-2cd20b72e","object":"chat.completion.chunk"}'
)
_ROUTED = (
    '{"id":"gen-1771242469-Y6Pl7tMhHtBIFcYGon8E","provider":"Anthropic","model":"anthropic/claude-opus-5",'
    '"object":"chat.completion.chunk","created":1771242469,"choices":[{"index":0,"delta":{"role":"assistant","content":"'
)
_ROUTED_TAIL = '","reasoning":null,"reasoning_details":[]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}'
_BLOCK = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
_RESPONSE = (
    '{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_037b7aea1b560b190169aaea115b0481a1b1f2",'
    '"output_index":0,"content_index":0,"delta":"'
)
_GEMINI_TAIL = (
    '"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":20},'
    '"modelVersion":"gemini-2.5-flash","responseId":"dKqtaZ3jJ8-hkdUPu5eHqAY"}'
)

_VENDORS = (
    _Vendor(
        "anthropic",
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
        '"}}',
        lambda: MessagesDecoder(ANTHROPIC_ERRORS),
        head=f"event: content_block_start\ndata: {_BLOCK}\n\n",
        prefix="event: content_block_delta\ndata: ",
    ),
    _Vendor(
        "openai",
        _RESPONSE,
        '","logprobs":[],"obfuscation":"Zb3Qw9kLmN2"}',
        lambda: ResponsesDecoder(OPENAI_ERRORS),
        prefix="event: response.output_text.delta\ndata: ",
    ),
    _Vendor(
        "google",
        '{"candidates":[{"content":{"parts":[{"text":"',
        _GEMINI_TAIL,
        lambda: GenerateDecoder(structured=False, first_index=0, now=time.time),
        end="\r\n\r\n",
    ),
    _Vendor(
        "ollama",
        '{"model":"qwen3:8b","created_at":"2026-03-06T12:00:00.123456Z","message":{"role":"assistant","content":"',
        '"},"done":false}',
        lambda: OllamaDecoder(structured=False),
        prefix="",
        end="\n",
    ),
    _Vendor("openrouter", _ROUTED, _ROUTED_TAIL, _chat(openrouter.DIALECT)),
    *(
        _Vendor(dialect.provider, _CHAT, _CHAT_TAIL, _chat(dialect))
        for dialect in (
            *(llamacpp.DIALECT, lmstudio.DIALECT, compatible.DIALECT),
            *(cerebras.DIALECT, deepseek.DIALECT, xai.DIALECT),
        )
    ),
)


def _chunks(body: bytes) -> Iterator[bytes]:
    for position in range(0, len(body), _CHUNK):
        yield body[position : position + _CHUNK]


def _yardstick(body: bytes, prefix: bytes) -> int:
    count = 0
    for line in body.split(b"\n"):
        if line.startswith(prefix + b"{"):
            json.loads(line[len(prefix) :])
            count += 1
    return count


def _decode(decoder: _Decoder, body: bytes) -> int:
    return sum(len(decoder.feed(chunk)) for chunk in _chunks(body))


def _seconds(work: Callable[[], int]) -> float:
    best = float("inf")
    for _ in range(_REPEATS):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


def _measure_speed(vendor: _Vendor) -> str:
    body = vendor.events(_DELTAS)
    megabytes = len(body) / 1e6
    # Only the last line of an event's frame is JSON.
    prefix = vendor.prefix.rpartition("\n")[2].encode()
    yardstick = _seconds(lambda: _yardstick(body, prefix))
    whole = _seconds(lambda: _decode(vendor.decoder(), body))
    return (
        f"{vendor.name:10} {megabytes:5.1f} MB  lines+json {megabytes / yardstick:6.1f} MB/s"
        f"  decode {megabytes / whole:6.1f} MB/s {_DELTAS / whole / 1e3:6.0f} k events/s"
        f"  ratio {whole / yardstick:.2f} (wanted: at most 2.0)"
    )


def _measure_memory(vendor: _Vendor) -> str:
    head, piece = vendor.events(0), vendor.events(1_000).removeprefix(vendor.head.encode())
    decoder = vendor.decoder()
    decoder.feed(head)
    tracemalloc.start()
    marks: list[int] = []
    for done in range(0, _LONG_STREAM, len(piece)):
        _decode(decoder, piece)
        if done >= _LONG_STREAM * (len(marks) + 1) // 2 or done + len(piece) >= _LONG_STREAM:
            marks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.reset_peak()
    tracemalloc.stop()
    first, *_, last = marks
    return (
        f"{vendor.name:10} peak {first / 1e3:6.0f} kB in the first half, {last / 1e3:6.0f} kB in the second"
    )


def main() -> None:
    """Print both parts."""
    for vendor in _VENDORS:
        print(_measure_speed(vendor), flush=True)  # noqa: T201  # a script's output
    print(f"memory for a stream of {_LONG_STREAM / 1e6:.0f} MB:")  # noqa: T201
    for vendor in _VENDORS:
        if vendor.name in _DIFFERENT:
            print(_measure_memory(vendor), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
