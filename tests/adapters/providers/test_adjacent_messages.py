"""What each adapter makes of several texts of one speaker in a row: they stay apart, and none is lost (providers 6).

Two answers follow each other where one was interrupted and continued, or where a response had two texts.
"""

from collections.abc import Callable
from typing import Any

import pytest

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.anthropic import encode as anthropic
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import encode as encode_chat
from jp_lsp.providers.google import encode as google
from jp_lsp.providers.ollama import encode as ollama
from jp_lsp.providers.openai import encode as openai
from tests.adapters.providers.making import calls, model, request, returns, says, thinks, user

Encode = Callable[[CycleRequest], Any]

ANTHROPIC, GOOGLE, OLLAMA, OPENAI = (
    model(name)
    for name in ("anthropic/claude-opus-5", "google/gemini-3-pro", "ollama/qwen3", "openai/gpt-4o")
)


def history(*events: Any, of: Any, encode: Encode) -> Any:
    """What is sent between the user's first and last words."""
    body = encode(request(user("first"), *events, user("last"), of=of)).body
    sent = body.get("messages") or body.get("contents") or body["input"]
    return sent[1:-1]


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_anthropic_puts_neighbours_into_one_message_as_blocks() -> None:
    assert history(says("Half."), says("Whole."), of=ANTHROPIC, encode=anthropic.encode) == [
        {"role": "assistant", "content": [said("Half."), said("Whole.")]}
    ]


def test_google_puts_neighbours_into_one_content_as_parts() -> None:
    assert history(says("Half."), says("Whole."), of=GOOGLE, encode=google.encode) == [
        {"role": "model", "parts": [{"text": "Half."}, {"text": "Whole."}]}
    ]


def test_openai_gets_an_item_for_each() -> None:
    sent = openai.encode(request(user("a"), says("Half."), says("Whole."), user("b"), of=OPENAI)).body[
        "input"
    ]
    assert isinstance(sent, list)
    assert sent[-3:-1] == [
        {"type": "message", "role": "assistant", "content": "Half."},
        {"type": "message", "role": "assistant", "content": "Whole."},
    ]


def test_ollama_gets_a_message_for_each_with_thinking_on_the_one_before() -> None:
    events = says("Half."), thinks("Hm."), says("Whole."), calls("1"), returns("1")
    function = {"name": "tool", "arguments": {}}
    assert history(*events, of=OLLAMA, encode=ollama.encode) == [
        {"role": "assistant", "content": "Half.", "thinking": "Hm."},
        {"role": "assistant", "content": "Whole."},
        {"role": "assistant", "content": "", "tool_calls": [{"function": function}]},
        {"role": "tool", "content": "done"},
    ]


@pytest.mark.parametrize(
    "dialect",
    [each.DIALECT for each in (cerebras, compatible, deepseek, llamacpp, lmstudio, xai)],
    ids=lambda dialect: dialect.provider,
)
def test_chat_completions_join_neighbours_by_a_blank_line(dialect: Dialect) -> None:
    """The format has one place for text and one for thinking; the reference lost all but the last."""
    events = thinks("One."), thinks("Two."), says("Half."), says(""), says("Whole."), calls("1"), calls("2")
    (message, *_) = history(
        *events,
        returns("1"),
        returns("2"),
        of=model(f"{dialect.provider}/m"),
        encode=lambda asked: encode_chat(asked, dialect),
    )
    assert message["content"] == "Half.\n\nWhole."
    assert message[str(dialect.reasoning_member)] == "One.\n\nTwo."
    assert [call["id"] for call in message["tool_calls"]] == ["1", "2"]


def test_openrouter_puts_neighbours_into_one_message_as_blocks() -> None:
    events = says("Half."), thinks("Hm."), says("Whole."), calls("1"), calls("2")
    (message, *_) = history(
        *events,
        returns("1"),
        returns("2"),
        of=model("openrouter/openai/gpt-5"),
        encode=lambda asked: encode_chat(asked, openrouter.DIALECT),
    )
    assert message["content"] == [said("Half."), said("Whole.")]
    assert [(call["id"], call["index"]) for call in message["tool_calls"]] == [("1", 0), ("2", 1)]
