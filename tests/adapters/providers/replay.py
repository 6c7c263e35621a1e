"""Plays vendors' answers through the pure half of an adapter: each request gets the next one, cut into pieces.

New vendors join by adding a line to `EXCHANGES`.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.anthropic.adapter import ERRORS as ANTHROPIC_ERRORS
from jp_lsp.providers.anthropic.encode import encode as encode_anthropic
from jp_lsp.providers.anthropic.exchange import MessagesExchange
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import encode as encode_chat
from jp_lsp.providers.chat.exchanges import make_exchange
from jp_lsp.providers.exchange import Exchange
from jp_lsp.providers.google.encode import encode as encode_google
from jp_lsp.providers.google.exchange import GenerateExchange
from jp_lsp.providers.http import RefusedResponse, is_stream
from jp_lsp.providers.ollama.encode import encode as encode_ollama
from jp_lsp.providers.ollama.exchange import ChatExchange as OllamaExchange
from jp_lsp.providers.openai.encode import encode as encode_openai
from jp_lsp.providers.openai.errors import ERRORS as OPENAI_ERRORS
from jp_lsp.providers.openai.exchange import ResponsesExchange
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import StreamEvent

Json = dict[str, Any]
Cut = Callable[[bytes], Iterator[bytes]]

NOW = 1_800_000_000.0
BROKEN = StreamFailure(FailureKind.TRANSIENT, "connection reset")


# What an adapter's pure half looks like, by vendor


def _chat(dialect: Dialect) -> Callable[[CycleRequest], Exchange]:
    def make(request: CycleRequest) -> Exchange:
        structured = request.thread.schema is not None
        return make_exchange(encode_chat(request, dialect), dialect, structured=structured, now=lambda: NOW)

    return make


def _anthropic(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return MessagesExchange(
        encode_anthropic(request), ANTHROPIC_ERRORS, structured=structured, chains=True, now=lambda: NOW
    )


def _openai(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return ResponsesExchange(encode_openai(request), OPENAI_ERRORS, structured=structured, now=lambda: NOW)


def _google(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return GenerateExchange(encode_google(request).body, structured=structured, now=lambda: NOW)


def _ollama(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return OllamaExchange(encode_ollama(request).body, structured=structured, now=lambda: NOW)


EXCHANGES: Mapping[str, Callable[[CycleRequest], Exchange]] = {
    "anthropic": _anthropic,
    "cerebras": _chat(cerebras.DIALECT),
    "compatible": _chat(compatible.DIALECT),
    "deepseek": _chat(deepseek.DIALECT),
    "google": _google,
    "llamacpp": _chat(llamacpp.DIALECT),
    "lmstudio": _chat(lmstudio.DIALECT),
    "ollama": _ollama,
    "openai": _openai,
    "openrouter": _chat(openrouter.DIALECT),
    "xai": _chat(xai.DIALECT),
}


# Playing


@dataclass(slots=True)
class Played:
    """What went out and what came back."""

    bodies: list[Json] = field(default_factory=list[Json])
    events: list[StreamEvent] = field(default_factory=list[StreamEvent])


def play(exchange: Exchange, answers: Sequence[Json], cut: Cut, *, crlf: bool = False) -> Played:
    """Answer the n-th request with the n-th recorded response, its body cut into pieces."""
    played = Played()
    remaining = iter(answers)
    while (body := exchange.next_request()) is not None:
        played.bodies.append(json.loads(json.dumps(body)))
        response = next(remaining)
        data = response["body"].encode()
        if crlf and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")
        headers = {name.lower(): value for name, value in response["headers"].items()}
        if not is_stream(response["status"], headers.get("content-type", "")):
            played.events += exchange.refused(RefusedResponse(response["status"], headers, data))
            continue
        for piece in cut(data):
            played.events += exchange.feed(piece)
            if not exchange.wants_more:
                break
        else:
            is_clean = response.get("end", "close") == "close"
            played.events += exchange.end() if is_clean else exchange.broken(BROKEN)
    return played


def whole(data: bytes) -> Iterator[bytes]:
    """All at once."""
    yield data


def each_byte(data: bytes) -> Iterator[bytes]:
    """One byte at a time."""
    for i in range(len(data)):
        yield data[i : i + 1]


def at_random(seed: int) -> Cut:
    """Pieces of random sizes, small ones often."""

    def cut(data: bytes) -> Iterator[bytes]:
        source = random.Random(seed)
        position = 0
        while position < len(data):
            size = source.choice((1, 2, 3, 7, 40, 300, 5000))
            yield data[position : position + size]
            position += size

    return cut


def in_two(position: int) -> Cut:
    """Two pieces."""

    def cut(data: bytes) -> Iterator[bytes]:
        yield data[:position]
        yield data[position:]

    return cut
