"""One body of each vendor with a thought, text and tool calls in it: what damage begins with."""

import json
from collections.abc import Mapping
from typing import Any

from tests.adapters.providers.making import (
    DONE,
    block_delta,
    block_start,
    call_delta,
    delta,
    sse,
    stop,
    text_block,
)

_CHAT = sse(
    delta(role="assistant", content=None),
    delta(reasoning_content="hm"),
    delta(content="<think>\nmore</think>\nHi ✓"),
    call_delta(0, "a", "run", '{"x"'),
    call_delta(1, "b", "run", "{}"),
    call_delta(0, None, None, ":1}"),
    delta("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 1}, "timings": {"prompt_n": 1}},
    DONE,
)
_DETAIL = {"type": "reasoning.text", "format": "anthropic-claude-v1", "signature": "s", "index": 0}
_OPENROUTER = b": OPENROUTER PROCESSING\n\n" + sse(
    delta(reasoning="hm", reasoning_details=[{**_DETAIL, "text": "hm"}]),
    delta(reasoning=None, reasoning_details=[_DETAIL]),
    delta(content="Hi ✓"),
    call_delta(0, "a", "run", "{}"),
    delta("tool_calls"),
    DONE,
)
_MESSAGES = sse(
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
_GEMINI = sse(
    {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}]}}], "usageMetadata": {}},
    {"candidates": [{"content": {"parts": [{"text": "Hi ✓", "thoughtSignature": "s"}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "run", "args": {"x": 1}}}] * 2}}]},
    {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]},
)


def _item(word: str, index: int, **item: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{word}", "output_index": index, "item": item}


def _said(kind: str, index: int, text: str) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": index, "item_id": f"i{index}", "delta": text}


_RESPONSES = sse(
    {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
    _item("added", 0, type="reasoning", id="i0", summary=[]),
    {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
    _said("reasoning_summary_text", 0, "hm"),
    _item("done", 0, type="reasoning", id="i0", encrypted_content="e"),
    _item("added", 1, type="message", id="i1"),
    _said("output_text", 1, "Hi ✓"),
    _item("done", 1, type="message", id="i1", phase="commentary"),
    _item("added", 2, type="function_call", id="i2", call_id="c", name="run"),
    _said("function_call_arguments", 2, '{"x":1}'),
    _item("done", 2, type="function_call", id="i2", arguments='{"x":1}'),
    {"type": "response.completed", "response": {"status": "completed", "usage": {"input_tokens": 1}}},
)
_LINES = b"".join(
    json.dumps(value).encode() + b"\n"
    for value in (
        {"message": {"content": "", "thinking": "hm"}, "done": False},
        {"message": {"content": "Hi ✓"}, "done": False},
        {
            "message": {"tool_calls": [{"function": {"name": "run", "arguments": {"x": 1}}}] * 2},
            "done": False,
        },
        {"message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 3},
    )
)

SAMPLES: Mapping[str, bytes] = {
    "anthropic": _MESSAGES,
    "cerebras": _CHAT,
    "compatible": _CHAT,
    "deepseek": _CHAT,
    "google": _GEMINI,
    "llamacpp": _CHAT,
    "lmstudio": _CHAT,
    "ollama": _LINES,
    "openai": _RESPONSES,
    "openrouter": _OPENROUTER,
    "xai": _CHAT,
}
