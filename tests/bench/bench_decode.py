"""How fast streams are decoded, against the least that anybody would have to do.

The yardstick is splitting the body into lines and reading each line's JSON with the standard library; wanted
is at most twice its time for the whole way from bytes to events. Run it as a script:

    python tests/bench/bench_decode.py
"""

import json
import time
from collections.abc import Callable, Iterator

from jp_lsp.providers.anthropic.adapter import ERRORS
from jp_lsp.providers.anthropic.decode import MessagesDecoder
from jp_lsp.providers.chat.decode import ChatDecoder
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.sse import SseDecoder

_DELTAS = 20_000
_CHUNK = 1_400
"""Bytes that arrive at once: about what one packet carries."""
_REPEATS = 5


def _chat_body() -> bytes:
    """Look like llama.cpp's own stream."""
    tail = '"created":1780171782,"id":"chatcmpl-Pqpr1VWzsVduKaZMnBAaGwDJTLknWGax","model":"qwen3.5:9b",'
    tail += '"system_fingerprint":"b8210-2cd20b72e","object":"chat.completion.chunk"}'
    lines = [
        f'data: {{"choices":[{{"finish_reason":null,"index":0,"delta":{{"content":" word{i}"}}}}],{tail}\n\n'
        for i in range(_DELTAS)
    ]
    finish = f'data: {{"choices":[{{"finish_reason":"stop","index":0,"delta":{{}}}}],{tail}\n\n'
    return "".join([*lines, finish, "data: [DONE]\n\n"]).encode()


def _messages_body() -> bytes:
    """Look like Anthropic's stream."""
    start = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
    lines = [f"event: content_block_start\ndata: {start}\n\n"]
    for i in range(_DELTAS):
        delta = f'"delta":{{"type":"text_delta","text":" word{i}"}}'
        payload = f'{{"type":"content_block_delta","index":0,{delta}}}'
        lines.append(f"event: content_block_delta\ndata: {payload}\n\n")
    lines.append('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    return "".join(lines).encode()


def _chunks(body: bytes) -> Iterator[bytes]:
    for position in range(0, len(body), _CHUNK):
        yield body[position : position + _CHUNK]


def _yardstick(body: bytes) -> int:
    count = 0
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            json.loads(line[6:])
            count += 1
    return count


def _sse_only(body: bytes) -> int:
    decoder = SseDecoder()
    return sum(len(decoder.feed(chunk)) for chunk in _chunks(body))


def _chat(body: bytes) -> int:
    decoder = ChatDecoder(VendorErrors("llamacpp"), scans_tags=True)
    return sum(len(decoder.feed(chunk)) for chunk in _chunks(body))


def _messages(body: bytes) -> int:
    decoder = MessagesDecoder(ERRORS)
    return sum(len(decoder.feed(chunk)) for chunk in _chunks(body))


def _seconds(work: Callable[[bytes], int], body: bytes) -> float:
    best = float("inf")
    for _ in range(_REPEATS):
        begun = time.perf_counter()
        work(body)
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> None:
    """Print a line for each decoder."""
    for name, body, decode in (("chat", _chat_body(), _chat), ("anthropic", _messages_body(), _messages)):
        megabytes = len(body) / 1e6
        yardstick = _seconds(_yardstick, body)
        sse, whole = _seconds(_sse_only, body), _seconds(decode, body)
        print(  # noqa: T201  # a script's output
            f"{name:10} {megabytes:5.1f} MB  lines+json {megabytes / yardstick:6.1f} MB/s"
            f"  sse alone {megabytes / sse:6.1f} MB/s  decode {megabytes / whole:6.1f} MB/s"
            f"  ratio {whole / yardstick:.2f} (wanted: at most 2.0)"
        )


if __name__ == "__main__":
    main()
