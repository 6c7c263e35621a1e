"""OpenAI's own library as a second opinion on its two APIs, the second of which five other vendors speak.

It reads from our fake vendor, over a socket, the very bytes that we read; both must have read the same.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.ports.provider import CycleRequest, Effort
from jp_lsp.providers.chat import cerebras, deepseek, openrouter, xai
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.openai import adapter as openai_adapter
from tests.adapters.providers.making import DONE, call_delta, delta, model, request, sse
from tests.adapters.providers.recorded_requests import load, recorded_steps, request_of
from tests.adapters.providers.replay import Json
from tests.adapters.providers.second_opinion import KEY, Said, as_we_keep, read_by_us
from tests.support.http_server import HttpServer, Reply

# Their imports and their garbage are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")

MAKERS: Mapping[str, Callable[[Connection], Any]] = {
    "cerebras": cerebras.make_provider,
    "deepseek": deepseek.make_provider,
    "openai": openai_adapter.make_provider,
    "openrouter": openrouter.make_provider,
    "xai": xai.make_provider,
}
BASES = {"openrouter": "/api/v1", "deepseek": ""}
"""What a client of the library puts behind the address; mostly `/v1`."""


def client_of(provider: str, url: str) -> Any:
    openai = pytest.importorskip("openai")
    return openai.OpenAI(base_url=url + BASES.get(provider, "/v1"), api_key=KEY, max_retries=0)


def read_responses(client: Any, name: str) -> Said:
    said = Said()
    response: Any = None
    with client.responses.create(model=name, input="Hello", stream=True) as events:
        for event in events:
            if event.type in {"response.completed", "response.incomplete"}:
                response = event.response
    for item in response.output:
        match item.type:
            case "message":
                said.text += "".join(getattr(part, "text", "") for part in item.content)
            case "reasoning":
                said.reasoning += "\n\n".join(part.text for part in item.summary)
            case "function_call":
                said.calls.append((item.name, json.loads(item.arguments)))
            case _:
                pass
    said.finish = "max_tokens" if response.status == "incomplete" else response.status
    return said


def read_chat(client: Any, name: str) -> Said:
    said = Said()
    calls: dict[int, list[str]] = {}
    messages = [{"role": "user", "content": "Hello"}]
    with client.chat.completions.create(model=name, messages=messages, stream=True) as chunks:
        for chunk in chunks:
            for choice in chunk.choices:
                more = choice.delta.model_extra or {}
                said.text += choice.delta.content or ""
                said.reasoning += more.get("reasoning_content") or more.get("reasoning") or ""
                for call in choice.delta.tool_calls or ():
                    known = calls.setdefault(call.index, ["", ""])
                    known[0] += call.function.name or ""
                    known[1] += call.function.arguments or ""
                said.finish = said.finish or choice.finish_reason or ""
    said.calls = [(called, json.loads(arguments or "{}")) for _, (called, arguments) in sorted(calls.items())]
    words = {"stop": "completed", "tool_calls": "completed", "length": "max_tokens"}
    said.finish = words.get(said.finish, said.finish)
    return said


def check(provider: str, reply: Reply, asked: CycleRequest, *, is_reasoning_shown: bool = True) -> Said:
    """Serve the bytes twice and compare what was read."""
    with HttpServer(lambda _: reply) as server:
        client = client_of(provider, server.url)
        read = read_responses if provider == "openai" else read_chat
        theirs = read(client, asked.model.id.name)
        client.close()
        ours = read_by_us(MAKERS[provider], server.url, asked)
    if not is_reasoning_shown:
        theirs.reasoning = ""
    assert ours == as_we_keep(theirs, asked)
    return ours


def _is_wanted(recording: Json, step: Json) -> bool:
    return recording["origin"]["kind"] == "recorded" and step["kind"] == "chat"


@pytest.mark.shared
@pytest.mark.requirement("R1")
@pytest.mark.parametrize(("path", "number"), recorded_steps(MAKERS, _is_wanted))
def test_recorded_answers(path: Path, number: int) -> None:
    recording = load(path)
    step = recording["steps"][number]
    response = recording["exchanges"][step["exchanges"][0]]["response"]
    is_hidden = recording["provider"] == "openai" and step["input"]["reasoning"] == "off"
    check(
        recording["provider"],
        Reply.sse(response["body"]),
        request_of(recording, step),
        is_reasoning_shown=not is_hidden,
    )


# Thoughts, text and two calls, in both APIs

SAID = Said("Two calls: 😀", "Let me see ✓", [("read", {"path": "ä"}), ("list", {})], "completed")

CHAT = sse(
    delta(role="assistant", content=None),
    delta(reasoning="Let me "),
    delta(reasoning="see ✓"),
    delta(content="Two "),
    delta(content="calls: 😀"),
    call_delta(0, "c1", "read", '{"path": '),
    call_delta(0, None, None, '"ä"}'),
    call_delta(1, "c2", "list", ""),
    delta("tool_calls"),
    DONE,
)


def item_events(index: int, item: Json, *deltas: Json) -> list[Json]:
    begun = (
        {**item, "summary": []}
        if "summary" in item
        else {**item, "content": []}
        if "content" in item
        else item
    )
    place = {"output_index": index, "item_id": item["id"], "content_index": 0, "summary_index": 0}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": begun},
        *({**place, **change} for change in deltas),
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def responses_body() -> bytes:
    summary = [{"type": "summary_text", "text": "Let me see ✓"}]
    content = [{"type": "output_text", "text": "Two calls: 😀", "annotations": []}]
    output: list[Json] = [
        {"id": "rs_1", "type": "reasoning", "summary": summary},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content},
        {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "c1",
            "name": "read",
            "arguments": '{"path": "ä"}',
        },
        {"id": "fc_2", "type": "function_call", "call_id": "c2", "name": "list", "arguments": "{}"},
    ]
    thought = [
        {"type": "response.reasoning_summary_text.delta", "delta": text} for text in ("Let me ", "see ✓")
    ]
    text = [{"type": "response.output_text.delta", "delta": text} for text in ("Two ", "calls: 😀")]
    arguments = [
        {"type": "response.function_call_arguments.delta", "delta": text} for text in ('{"path": ', '"ä"}')
    ]
    none = [{"type": "response.function_call_arguments.delta", "delta": "{}"}]
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": output}
    events: list[Json] = []
    for i, deltas in enumerate((thought, text, arguments, none)):
        events += item_events(i, output[i], *deltas)
    events.append({"type": "response.completed", "response": response})
    return b"".join(b"event: " + event["type"].encode() + b"\n" + sse(event) for event in events)


@pytest.mark.requirement("R1")
@pytest.mark.parametrize("provider", MAKERS)
def test_thoughts_text_and_two_calls(provider: str) -> None:
    body = responses_body() if provider == "openai" else CHAT
    asked = request(of=model(f"{provider}/x"), reasoning=Effort("low"))
    assert check(provider, Reply.sse(body), asked) == SAID


@pytest.mark.requirement("R1")
@pytest.mark.parametrize("provider", ["cerebras", "deepseek", "openrouter", "xai"])
def test_an_answer_that_the_limit_cut(provider: str) -> None:
    body = sse(delta(content="One two"), delta("length"), DONE)
    assert check(provider, Reply.sse(body), request(of=model(f"{provider}/x"))).finish == "max_tokens"
