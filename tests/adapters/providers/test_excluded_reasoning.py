"""Thinking that nobody wants to see (`exclude`): not sent where the vendor can keep it to itself (config-and-tools 3.3).

What is needed to go on, signatures and encrypted thoughts, comes in any case and goes back with the next request.
"""

from collections.abc import Callable
from typing import Any

import pytest

from jp_lsp.conversation.event import MessageResponse
from jp_lsp.ports.provider import Adaptive, Budgetted, CycleRequest, Effort, Leveled, ModelDetails
from jp_lsp.providers.anthropic import encode as anthropic
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import encode as encode_chat
from jp_lsp.providers.google import encode as google
from jp_lsp.providers.ollama import encode as ollama
from jp_lsp.providers.openai import encode as openai
from tests.adapters.providers.making import event, model, request, says, thinks, user

Encode = Callable[[CycleRequest], Any]

SHOWN, EXCLUDED = Effort("high"), Effort("high", exclude=True)
LADDER = Leveled(can_disable=True, levels=frozenset({"low", "medium", "high"}))
ADAPTIVE = model("anthropic/claude-opus-5", reasoning=Adaptive(True, True, True), max_output_tokens=8000)
BUDGETTED = model("anthropic/claude-haiku-4-5", reasoning=Budgetted(True, 1024), max_output_tokens=8000)
GPT = model("openai/gpt-5.2", reasoning=LADDER)
GEMINI_3 = model("google/gemini-3-pro", reasoning=LADDER)
GEMINI_2 = model("google/gemini-2.5-pro", reasoning=Budgetted(False, 512, 24576), max_output_tokens=8000)
GEMINI_NEXT = model("google/gemini-9")


def chat(dialect: Dialect) -> Encode:
    return lambda asked: encode_chat(asked, dialect)


def body(encode: Encode, of: ModelDetails, wish: Effort, **parameters: Any) -> dict[str, Any]:
    asked = request(of=of, reasoning=wish, **parameters)
    return encode(asked).body  # type: ignore[no-any-return]


def test_anthropic_leaves_the_text_of_thinking_out() -> None:
    for of in (ADAPTIVE, BUDGETTED):
        shown, excluded = (body(anthropic.encode, of, wish) for wish in (SHOWN, EXCLUDED))
        assert shown["thinking"]["display"] == "summarized"
        assert excluded == {**shown, "thinking": {**shown["thinking"], "display": "omitted"}}


def test_openai_is_asked_for_no_summary_and_still_for_encrypted_thoughts() -> None:
    shown, excluded = (body(openai.encode, GPT, wish) for wish in (SHOWN, EXCLUDED))
    assert shown["reasoning"] == {"effort": "high", "summary": "auto"}
    assert excluded == {**shown, "reasoning": {"effort": "high"}}
    assert excluded["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize("of", [GEMINI_3, GEMINI_2, GEMINI_NEXT], ids=lambda of: of.id.name)
def test_google_includes_no_thoughts(of: ModelDetails) -> None:
    shown, excluded = (
        body(google.encode, of, wish)["generationConfig"]["thinkingConfig"] for wish in (SHOWN, EXCLUDED)
    )
    assert shown["includeThoughts"] is True
    assert excluded == {**shown, "includeThoughts": False}


def test_openrouter_excludes_thoughts_unless_they_shall_go_back() -> None:
    encode, of = chat(openrouter.DIALECT), model("openrouter/openai/gpt-5", reasoning=LADDER)
    assert body(encode, of, SHOWN)["reasoning"] == {"exclude": False, "effort": "high"}
    assert body(encode, of, EXCLUDED)["reasoning"] == {"exclude": True, "effort": "high"}
    returned = body(encode, of, EXCLUDED, other={"return_reasoning": True})
    assert returned["reasoning"] == {"exclude": False, "effort": "high"}


@pytest.mark.parametrize(
    "dialect",
    [each.DIALECT for each in (cerebras, compatible, deepseek, llamacpp, lmstudio, xai)],
    ids=lambda dialect: dialect.provider,
)
def test_a_server_that_cannot_keep_thoughts_to_itself_is_asked_as_ever(dialect: Dialect) -> None:
    of = model(f"{dialect.provider}/m", reasoning=LADDER)
    assert body(chat(dialect), of, EXCLUDED) == body(chat(dialect), of, SHOWN)


def test_ollama_is_asked_as_ever() -> None:
    of = model("ollama/qwen3")
    assert body(ollama.encode, of, EXCLUDED) == body(ollama.encode, of, SHOWN)


def test_what_came_without_text_goes_back_with_what_vouches_for_it() -> None:
    signed = thinks("", anthropic_thinking_signature="sig")
    sent: Any = anthropic.encode(request(user("a"), signed, says("b"), user("c"), of=ADAPTIVE)).body
    thinking = {"type": "thinking", "thinking": "", "signature": "sig"}
    assert sent["messages"][1]["content"] == [thinking, {"type": "text", "text": "b"}]
    kept = thinks("", provider="openai", openai_item_id="rs_1", openai_encrypted_content="enc")
    said = event(MessageResponse("b"), openai_item_id="msg_1")
    items: Any = openai.encode(request(user("a"), kept, said, user("c"), of=GPT)).body["input"]
    reasoning = next(item for item in items if item["type"] == "reasoning")
    assert (reasoning["id"], reasoning["encrypted_content"]) == ("rs_1", "enc")
