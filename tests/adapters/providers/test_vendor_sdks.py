"""The vendors' own libraries as a second opinion: what they read from our fake vendor is what we read.

They are asked nothing about requests: those differ on purpose. A library that is not installed skips its tests.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.anthropic.adapter import AnthropicProvider
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.google.adapter import GoogleProvider
from jp_lsp.providers.ollama.adapter import OllamaProvider
from tests.adapters.providers.making import (
    block_delta,
    block_start,
    model,
    request,
    sse,
    stop,
    text_block,
)
from tests.adapters.providers.recorded_requests import load, recorded_steps, request_of
from tests.adapters.providers.replay import Json
from tests.adapters.providers.second_opinion import KEY, Said, as_we_keep, read_by_us
from tests.support.http_server import HttpServer, Reply

# Their imports and their garbage are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")

_MAKERS: Mapping[str, Callable[[Connection], Any]] = {
    "anthropic": AnthropicProvider,
    "google": lambda connection: GoogleProvider(
        Connection(f"{connection.base_url}/v1beta", connection.api_key)
    ),
    "ollama": OllamaProvider,
}


# Theirs


def read_by_anthropic(url: str, name: str) -> Said:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0)
    said = Said()
    with client.messages.stream(
        model=name, max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
    ) as stream:
        message = stream.get_final_message()
    for block in message.content:
        match block.type:
            case "text":
                said.text += block.text
            case "thinking":
                said.reasoning += block.thinking
            case "tool_use":
                said.calls.append((block.name, block.input))
            case _:
                pass
    said.finish = {"end_turn": "completed", "tool_use": "completed"}[message.stop_reason or ""]
    client.close()
    return said


def read_by_google(url: str, name: str) -> Said:
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key=KEY, http_options={"base_url": url, "api_version": "v1beta"})
    said = Said()
    for chunk in client.models.generate_content_stream(model=name, contents="Hello"):
        (candidate,) = chunk.candidates
        for part in (candidate.content.parts if candidate.content else None) or ():
            if part.function_call:
                said.calls.append((part.function_call.name, part.function_call.args or {}))
            elif part.thought:
                said.reasoning += part.text or ""
            else:
                said.text += part.text or ""
        if candidate.finish_reason:
            words = {"STOP": "completed", "MAX_TOKENS": "max_tokens"}
            said.finish = words[candidate.finish_reason.value]
    client.close()
    return said


def read_by_ollama(url: str, name: str) -> Said:
    ollama = pytest.importorskip("ollama")
    client = ollama.Client(host=url)
    said = Said()
    for chunk in client.chat(model=name, messages=[{"role": "user", "content": "Hello"}], stream=True):
        said.text += chunk.message.content or ""
        said.reasoning += chunk.message.thinking or ""
        for call in chunk.message.tool_calls or ():
            said.calls.append((call.function.name, dict(call.function.arguments)))
        if chunk.done:
            said.finish = {"stop": "completed", "length": "max_tokens"}[chunk.done_reason]
    client._client.close()
    return said


_READERS: Mapping[str, Callable[[str, str], Said]] = {
    "anthropic": read_by_anthropic,
    "google": read_by_google,
    "ollama": read_by_ollama,
}


def check(provider: str, reply: Reply, asked: CycleRequest) -> Said:
    """Serve the bytes twice and compare what was read."""
    with HttpServer(lambda _: reply) as server:
        theirs = _READERS[provider](server.url, asked.model.id.name)
        ours = read_by_us(_MAKERS[provider], server.url, asked)
    assert ours == as_we_keep(theirs, asked)
    return ours


# What is read


def _is_wanted(recording: Json, step: Json) -> bool:
    """What takes several requests is more than a library reads in one go."""
    is_recorded_chat = recording["origin"]["kind"] == "recorded" and step["kind"] == "chat"
    return is_recorded_chat and len(step["exchanges"]) == 1


@pytest.mark.shared
@pytest.mark.requirement("R1")
@pytest.mark.parametrize(("path", "number"), recorded_steps(_READERS, _is_wanted))
def test_recorded_answers(path: Path, number: int) -> None:
    recording = load(path)
    step = recording["steps"][number]
    response = recording["exchanges"][step["exchanges"][0]]["response"]
    check(recording["provider"], Reply.sse(response["body"]), request_of(recording, step))


GEMINI = (
    {"candidates": [{"content": {"parts": [{"text": "Let me ", "thought": True}]}}]},
    {"candidates": [{"content": {"parts": [{"text": "see ✓", "thought": True}, {"text": "Two "}]}}]},
    {"candidates": [{"content": {"parts": [{"text": "calls: 😀"}]}}]},
    {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"functionCall": {"name": "read", "args": {"path": "ä"}}, "thoughtSignature": "c2ln"},
                        {"functionCall": {"name": "list"}},
                    ]
                },
                "finishReason": "STOP",
            }
        ]
    },
)
MESSAGES = (
    {
        "type": "message_start",
        "message": {
            **{"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []},
            **{"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}},
        },
    },
    block_start(0, type="thinking", thinking="", signature=""),
    block_delta(0, "thinking_delta", thinking="Let me "),
    block_delta(0, "thinking_delta", thinking="see ✓"),
    block_delta(0, "signature_delta", signature="s"),
    {"type": "content_block_stop", "index": 0},
    *text_block(1, "Two ", "calls: 😀"),
    block_start(2, type="tool_use", id="t1", name="read", input={}),
    block_delta(2, "input_json_delta", partial_json='{"path": '),
    block_delta(2, "input_json_delta", partial_json='"ä"}'),
    {"type": "content_block_stop", "index": 2},
    block_start(3, type="tool_use", id="t2", name="list", input={}),
    {"type": "content_block_stop", "index": 3},
    *stop("tool_use", output_tokens=9),
)
LINES = (
    {"model": "x", "message": {"role": "assistant", "content": "", "thinking": "Let me "}, "done": False},
    {"model": "x", "message": {"role": "assistant", "content": "", "thinking": "see ✓"}, "done": False},
    {"model": "x", "message": {"role": "assistant", "content": "Two "}, "done": False},
    {"model": "x", "message": {"role": "assistant", "content": "calls: 😀"}, "done": False},
    {
        "model": "x",
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": {"name": "read", "arguments": {"path": "ä"}}},
                {"function": {"name": "list", "arguments": {}}},
            ],
        },
        "done": False,
    },
    {"model": "x", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
)
TWO_CALLS: Mapping[str, Reply] = {
    "anthropic": Reply.sse(
        *(f"event: {item['type']}\ndata: {json.dumps(item, ensure_ascii=False)}\n\n" for item in MESSAGES)
    ),
    "google": Reply.sse(sse(*GEMINI).replace(b"\n", b"\r\n")),
    "ollama": Reply.sse(*(json.dumps(item, ensure_ascii=False) + "\n" for item in LINES)),
}


@pytest.mark.requirement("R1")
@pytest.mark.parametrize("provider", TWO_CALLS)
def test_thoughts_text_and_two_calls(provider: str) -> None:
    of = model(f"{provider}/x", max_output_tokens=100)
    assert check(provider, TWO_CALLS[provider], request(of=of)) == Said(
        "Two calls: 😀", "Let me see ✓", [("read", {"path": "ä"}), ("list", {})], "completed"
    )
