"""How OpenAI and the vendors that speak its chat completions write an answer, for `NativeVendor`."""

import json
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from tests.support.native_vendor import Speech

ENCRYPTED = "gAAAA-encrypted-thoughts"


def _event(value: Any) -> bytes:
    return b"data: %b\n\n" % json.dumps(value, ensure_ascii=False).encode()


# Chat completions


def _delta(finish: str | None = None, **members: Any) -> bytes:
    return _event({"choices": [{"index": 0, "delta": members, "finish_reason": finish}]})


def _called(name: str, arguments: Any) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    # The number follows from the name, since pieces are written without knowing of each other.
    number = sum(name.encode()) % 500
    call = {"index": number, "id": f"call-{name}", "type": "function", "function": function}
    return _delta(tool_calls=[call])


def _chat(model: str, key: str, path: str, models: tuple[str, Any], thought: str) -> Speech:
    return Speech(
        model=model,
        key=key,
        path=path,
        stream_type="text/event-stream",
        models=models,
        said=lambda text: _delta(content=text),
        thought=lambda text: _delta(**{thought: text}),
        called=_called,
        ended=lambda: _delta("stop") + b"data: [DONE]\n\n",
        in_band=lambda error: _event({"error": error}),
    )


# Responses


def _item(word: str, index: int, **item: Any) -> bytes:
    return _event({"type": f"response.output_item.{word}", "output_index": index, "item": item})


def _said(kind: str, index: int, text: str) -> bytes:
    return _event({"type": f"response.{kind}.delta", "output_index": index, "delta": text})


def _responses_call(name: str, arguments: Any) -> bytes:
    index = 2 + crc32(name.encode()) % 1000
    item = {"type": "function_call", "id": f"fc_{name}", "call_id": f"call-{name}", "name": name}
    text = json.dumps(arguments)
    return (
        _item("added", index, **item, arguments="")
        + _said("function_call_arguments", index, text)
        + _item("done", index, **item, arguments=text)
    )


def thought_item(text: str) -> bytes:
    """A whole reasoning item of OpenAI, with what only the vendor can read."""
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    done = _item("done", 0, **item, encrypted_content=ENCRYPTED)
    return _item("added", 0, **item) + _said("reasoning_summary_text", 0, text) + done


OPENAI = Speech(
    model="openai/gpt-tiny",
    key="OPENAI_API_KEY",
    path="/v1",
    stream_type="text/event-stream",
    models=("/v1/models", {"data": [{"id": "gpt-tiny"}]}),
    said=lambda text: _said("output_text", 1, text),
    thought=lambda text: _said("reasoning_summary_text", 0, text),
    called=_responses_call,
    ended=lambda: _event({"type": "response.completed", "response": {"status": "completed"}}),
    in_band=lambda error: _event({"type": "error", "error": error}),
)
SPEECHES: Mapping[str, Speech] = {
    "openai": OPENAI,
    "openrouter": _chat(
        *("openrouter/tiny/tiny", "OPENROUTER_API_KEY", "/api/v1"),
        ("/api/v1/models", {"data": [{"id": "tiny/tiny"}]}),
        "reasoning",
    ),
    "cerebras": _chat(
        *("cerebras/tiny", "CEREBRAS_API_KEY", ""), ("/v1/models", {"data": [{"id": "tiny"}]}), "reasoning"
    ),
    "deepseek": _chat(
        *("deepseek/tiny", "DEEPSEEK_API_KEY", ""),
        ("/models", {"data": [{"id": "tiny"}]}),
        "reasoning_content",
    ),
    "xai": _chat(
        *("xai/grok-tiny", "XAI_API_KEY", "/v1"),
        ("/v1/language-models", {"models": [{"id": "grok-tiny"}]}),
        "reasoning_content",
    ),
}
