"""How each vendor writes an answer and reads a request: Google, Ollama, OpenAI, and those like OpenAI."""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.speaking_vendor import Speech

ENCRYPTED = "gAAAA-encrypted-thoughts"

_OVERLOAD = {"type": "service_unavailable_error", "code": "server_is_overloaded", "message": "busy"}


def _event(value: Any, line_end: bytes = b"\n") -> bytes:
    return b"data: %b%b" % (json.dumps(value, ensure_ascii=False).encode(), line_end * 2)


def _index_of(name: str) -> int:
    """Where a call stands. It follows from the tool's name, since pieces are written without knowing of each other."""
    return 2 + sum(name.encode()) % 500


# Google


def _gemini(*parts: Any, **members: Any) -> bytes:
    content = {"role": "model", "parts": list(parts)}
    return _event({"candidates": [{"content": content, **members}]}, b"\r\n")


def _gemini_parts(body: Any, member: str) -> list[Any]:
    return [part[member] for content in body["contents"] for part in content["parts"] if member in part]


def signature_of(name: str) -> str:
    """The signature that Google gives a call."""
    return f"signature-of-{name}"


GOOGLE = Speech(
    model="google/gemini-tiny",
    key="GEMINI_API_KEY",
    key_header=("x-goog-api-key", ""),
    path="/v1beta",
    models=("/v1beta/models", {"models": [{"name": "models/gemini-tiny", "thinking": True}]}),
    settings=(),
    has_call_ids=False,
    said=lambda text: _gemini({"text": text}),
    thought=lambda text: _gemini({"text": text, "thought": True}),
    called=lambda name, arguments: _gemini(
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": signature_of(name)}
    ),
    ended=lambda: _gemini({"text": ""}, finishReason="STOP"),
    in_band=lambda error: _event({"error": error}, b"\r\n"),
    passing_error="the model fell over",
    calls=lambda body: [call["name"] for call in _gemini_parts(body, "functionCall")],
    results=lambda body: [
        result["response"]["content"] for result in _gemini_parts(body, "functionResponse")
    ],
    schema=lambda body: body["generationConfig"]["_responseJsonSchema"],
)


# Ollama


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _message(done: bool = False, **members: Any) -> bytes:
    message = {"role": "assistant", "content": "", **members}
    reason = {"done_reason": "stop"} if done else {}
    return _line({"model": "tiny", "message": message, "done": done, **reason})


def _calls_in_messages(body: Any) -> list[Any]:
    return [call for message in body["messages"] for call in message.get("tool_calls", ())]


def _results_in_messages(body: Any) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


OLLAMA = Speech(
    model="ollama/tiny",
    key="OLLAMA_API_KEY",
    needs_key=False,
    path="",
    models=("/api/tags", {"models": [{"name": "tiny"}]}),
    settings=(),
    has_call_ids=False,
    stream_type="application/x-ndjson",
    waiting=b"\n",
    said=lambda text: _message(content=text),
    thought=lambda text: _message(thinking=text),
    called=lambda name, arguments: _message(
        tool_calls=[{"function": {"name": name, "arguments": arguments}}]
    ),
    ended=lambda: _message(done=True),
    in_band=lambda error: _line({"error": error}),
    passing_error="the model fell over",
    calls=lambda body: [call["function"]["name"] for call in _calls_in_messages(body)],
    results=_results_in_messages,
    schema=lambda body: body["format"],
)


# OpenAI


def _item(word: str, index: int, **item: Any) -> bytes:
    return _event({"type": f"response.output_item.{word}", "output_index": index, "item": item})


def _said(kind: str, index: int, text: str) -> bytes:
    return _event({"type": f"response.{kind}.delta", "output_index": index, "delta": text})


def _responses_call(name: str, arguments: Any) -> bytes:
    index = _index_of(name)
    item = {"type": "function_call", "id": f"fc_{name}", "call_id": f"call-{name}", "name": name}
    text = json.dumps(arguments)
    return (
        _item("added", index, **item, arguments="")
        + _said("function_call_arguments", index, text)
        + _item("done", index, **item, arguments=text)
    )


def _items(body: Any, kind: str) -> list[Any]:
    return [item for item in body["input"] if item["type"] == kind]


def thought_item(text: str) -> bytes:
    """A whole reasoning item of OpenAI, with what only the vendor can read."""
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    done = _item("done", 0, **item, encrypted_content=ENCRYPTED)
    return _item("added", 0, **item) + _said("reasoning_summary_text", 0, text) + done


OPENAI = Speech(
    model="openai/gpt-tiny",
    key="OPENAI_API_KEY",
    path="/v1",
    models=("/v1/models", {"data": [{"id": "gpt-tiny"}]}),
    closes_schemas=True,
    said=lambda text: _said("output_text", 1, text),
    thought=lambda text: _said("reasoning_summary_text", 0, text),
    called=_responses_call,
    ended=lambda: _event({"type": "response.completed", "response": {"status": "completed"}}),
    in_band=lambda error: _event({"type": "error", "error": error}),
    passing_error=_OVERLOAD,
    calls=lambda body: [item["call_id"] for item in _items(body, "function_call")],
    results=lambda body: [item["output"] for item in _items(body, "function_call_output")],
    schema=lambda body: body["text"]["format"]["schema"],
)


# Chat completions


def _delta(finish: str | None = None, **members: Any) -> bytes:
    return _event({"choices": [{"index": 0, "delta": members, "finish_reason": finish}]})


def _chat_call(name: str, arguments: Any) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": _index_of(name), "id": f"call-{name}", "type": "function", "function": function}
    return _delta(tool_calls=[call])


def _response_format(body: Any) -> Any:
    return body["response_format"]["json_schema"]["schema"]


def _schema_in_prompt(body: Any) -> Any:
    (prompt,) = (m["content"] for m in body["messages"] if "JSON schema:" in m["content"])
    return json.loads(prompt.partition("JSON schema:\n")[2])


def _chat(thinks_in: str = "reasoning", **facts: Any) -> Speech:
    given: dict[str, Any] = {
        "said": lambda text: _delta(content=text),
        "thought": lambda text: _delta(**{thinks_in: text}),
        "called": _chat_call,
        "ended": lambda: _delta("stop") + b"data: [DONE]\n\n",
        "in_band": lambda error: _event({"error": error}),
        "passing_error": _OVERLOAD,
        "calls": lambda body: [call["id"] for call in _calls_in_messages(body)],
        "results": _results_in_messages,
        "schema": _response_format,
    }
    return Speech(**given | facts)


OPENROUTER = _chat(
    model="openrouter/tiny/tiny",
    key="OPENROUTER_API_KEY",
    path="/api/v1",
    models=("/api/v1/models", {"data": [{"id": "tiny/tiny"}]}),
)
CEREBRAS = _chat(
    model="cerebras/tiny",
    key="CEREBRAS_API_KEY",
    path="",
    models=("/v1/models", {"data": [{"id": "tiny"}]}),
    closes_schemas=True,
)
DEEPSEEK = _chat(
    "reasoning_content",
    model="deepseek/tiny",
    key="DEEPSEEK_API_KEY",
    path="",
    models=("/models", {"data": [{"id": "tiny"}]}),
    schema=_schema_in_prompt,
)
XAI = _chat(
    "reasoning_content",
    model="xai/grok-tiny",
    key="XAI_API_KEY",
    base_url="XAI_BASE_URL",
    path="/v1",
    models=("/v1/language-models", {"models": [{"id": "grok-tiny"}]}),
)

LIKE_OPENAI: Mapping[str, Speech] = {
    speech.provider: speech for speech in (OPENAI, OPENROUTER, CEREBRAS, DEEPSEEK, XAI)
}
SPEECHES: Mapping[str, Speech] = {"google": GOOGLE, "ollama": OLLAMA, **LIKE_OPENAI}
