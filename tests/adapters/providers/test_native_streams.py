"""Streams of the four vendors with an API of their own: what the recordings do not hold, as data.

Each case is a body, the events that it must give (as `words` writes them) and what is stored of them. Every body
is read at once, byte by byte, and with the other line ends.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from jp_lsp.ports.provider import CycleRequest
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import (
    block_delta,
    block_start,
    block_stop,
    model,
    request,
    sse,
    stop,
    text_block,
)
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, Json, each_byte, play, whole
from tests.adapters.providers.words import shown

REQUESTS = {
    "anthropic": request(of=model("anthropic/claude-haiku-4-5", max_output_tokens=100), max_tokens=50),
    "openai": request(of=model("openai/gpt-9"), reasoning="auto"),
    "google": request(of=model("google/gemini-9")),
    "ollama": request(of=model("ollama/qwen3")),
}
"""The limit is the user's own, so that an answer that it cuts is not continued."""

SCHEMA: Json = {"type": "object"}


@dataclass(frozen=True)
class Case:
    """A body as its payloads, the words of its events, and what is stored.

    `stored` names each stored event by its text, or a call by its id and arguments.
    """

    name: str
    payloads: Sequence[Any]
    words: Sequence[str]
    stored: Sequence[Any]
    schema: Json | None = None


def body_of(vendor: str, payloads: Sequence[Any]) -> str:
    if vendor == "ollama":
        return "".join(f"{p if isinstance(p, str) else json.dumps(p)}\n" for p in payloads)
    return sse(*payloads).decode()


def check(vendor: str, case: Case) -> None:
    asked = REQUESTS[vendor]
    asked = CycleRequest(asked.model, _with_schema(asked, case.schema), asked.parameters)
    media_type = "application/x-ndjson" if vendor == "ollama" else "text/event-stream"
    answer = {
        "status": 200,
        "headers": {"content-type": media_type},
        "body": body_of(vendor, case.payloads),
    }
    for cut in (whole, each_byte):
        for crlf in (False, True):
            events = play(EXCHANGES[vendor](asked), [answer] * 5, cut, crlf=crlf).events
            assert shown([to_json(event) for event in events]) == list(case.words)
            assert violations(events) == []
            assert list(_stored(built(events))) == list(case.stored)


def _with_schema(asked: CycleRequest, schema: Json | None) -> Any:
    thread = asked.thread
    return type(thread)(thread.system_parts, thread.attachments, thread.events, schema, thread.created_at)


def _stored(entries: Sequence[Json]) -> Iterator[Any]:
    for entry in entries:
        match entry:
            case {"type": "tool_call_request"}:
                yield entry["id"], entry["arguments"]
            case {"type": "chat_response", "kind": "structured"}:
                yield entry["data"]
            case {"type": "chat_response"}:
                yield entry.get("message", entry.get("reasoning"))
            case _:
                pass


def _cases(cases: Sequence[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


# Anthropic


def thinking(index: int, *texts: str, signature: str | None = None) -> list[Any]:
    signed = [] if signature is None else [block_delta(index, "signature_delta", signature=signature)]
    pieces = [block_delta(index, "thinking_delta", thinking=text) for text in texts]
    return [
        block_start(index, type="thinking", thinking="", signature=""),
        *pieces,
        *signed,
        block_stop(index),
    ]


def tool_use(index: int, call_id: str, name: str, *pieces: str) -> list[Any]:
    arguments = [block_delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [
        block_start(index, type="tool_use", id=call_id, name=name, input={}),
        *arguments,
        block_stop(index),
    ]


ANTHROPIC = [
    Case(
        "two calls, with and without arguments",
        [
            *text_block(0, "\n\n"),
            *tool_use(1, "toolu_a", "read", "", '{"path": "a', '.txt"}'),
            *tool_use(2, "toolu_b", "list"),
            *stop("tool_use"),
        ],
        [
            *("m0:\n\n", "f0"),
            *("s1:toolu_a,read", "a1:", 'a1:{"path": "a', 'a1:.txt"}', "f1"),
            *("s2:toolu_b,list", "f2", "completed"),
        ],
        [("toolu_a", {"path": "a.txt"}), ("toolu_b", {})],
    ),
    Case(
        "two calls with one id",
        [*tool_use(0, "t", "one", '{"a":1}'), *tool_use(1, "t", "two", "null"), *stop("tool_use")],
        ["s0:t,one", 'a0:{"a":1}', "f0", "s1:t,two", "a1:null", "f1", "completed"],
        [("t", {"a": 1}), ("t_2", {})],
    ),
    Case(
        "blocks of two calls interleaved",
        [
            block_start(0, type="tool_use", id="a", name="one", input={}),
            block_start(1, type="tool_use", id="b", name="two", input={}),
            block_delta(1, "input_json_delta", partial_json='{"y":'),
            block_delta(0, "input_json_delta", partial_json='{"x":1}'),
            block_delta(1, "input_json_delta", partial_json="2}"),
            block_stop(1),
            block_stop(0),
            *stop("tool_use"),
        ],
        ["s0:a,one", "s1:b,two", 'a1:{"y":', 'a0:{"x":1}', "a1:2}", "f1", "f0", "completed"],
        [("a", {"x": 1}), ("b", {"y": 2})],
    ),
    Case(
        "thinking that was not shown",
        [*thinking(0, signature="sig"), *text_block(1, "Hi"), *stop()],
        ["r0:", "r0:", "f0", "m1:Hi", "f1", "completed"],
        ["", "Hi"],
    ),
    Case(
        "text, thinking and text again",
        [*text_block(0, "a"), *thinking(1, "b", signature="s"), *text_block(2, "c"), *stop()],
        ["m0:a", "f0", "r1:", "r1:b", "r1:", "f1", "m2:c", "f2", "completed"],
        ["a", "b", "c"],
    ),
    Case(
        "a server's own tool and its result",
        [
            *text_block(0, "Let me look."),
            block_start(1, type="server_tool_use", id="srvtoolu_1", name="web_search", input={}),
            block_delta(1, "input_json_delta", partial_json='{"query": "x"}'),
            block_stop(1),
            block_start(2, type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[]),
            block_stop(2),
            block_start(3, type="text", text="", citations=[]),
            block_delta(3, "citations_delta", citation={"type": "web_search_result_location"}),
            block_delta(3, "text_delta", text="Found."),
            block_stop(3),
            *stop(),
        ],
        ["m0:Let me look.", "f0", "f1", "f2", "m3:Found.", "f3", "completed"],
        ["Let me look.", "Found."],
    ),
    Case(
        "a block that has its text from the beginning",
        [
            block_start(0, type="text", text="Hi"),
            block_delta(0, "text_delta", text=""),
            block_stop(0),
            *stop(),
        ],
        ["m0:Hi", "m0:", "f0", "completed"],
        ["Hi"],
    ),
    Case(
        "a schema: values, and thinking beside them",
        [*thinking(0, "hm", signature="s"), *text_block(1, '{"a"', ":1}"), *stop()],
        ["r0:", "r0:hm", "r0:", "f0", "d1:", 'd1:{"a"', "d1::1}", "f1", "completed"],
        ["hm", {"a": 1}],
        SCHEMA,
    ),
    Case(
        "a refusal without details",
        [
            *text_block(0, "I"),
            {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": None}},
        ],
        ["m0:I", "f0", "refused"],
        ["I"],  # it is the turn that takes back what was complete
    ),
    Case(
        "the limit within a text and behind a call",
        [*tool_use(0, "t", "one", "{}"), *text_block(1, "cut")[:2], *stop("max_tokens")],
        ["s0:t,one", "a0:{}", "f0", "m1:cut", "max_tokens"],
        [("t", {}), "cut"],
    ),
    Case(
        "pings anywhere",
        [
            {"type": "ping"},
            *text_block(0, "a")[:2],
            {"type": "ping"},
            block_stop(0),
            {"type": "ping"},
            *stop(),
        ],
        ["ping", "m0:a", "ping", "f0", "ping", "completed"],
        ["a"],
    ),
    Case(
        "an end that says nothing about itself",
        [
            *text_block(0, "a"),
            {"type": "message_delta", "delta": None, "usage": None},
            {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": None}},
            {"type": "message_stop"},
        ],
        ["m0:a", "f0", "completed"],
        ["a"],
    ),
]


@pytest.mark.requirement("F09", "R25")
@_cases(ANTHROPIC)
def test_anthropic(case: Case) -> None:
    check("anthropic", case)


# OpenAI


def added(index: int, kind: str, **members: Any) -> Json:
    return {"type": "response.output_item.added", "output_index": index, "item": {"type": kind, **members}}


def done(index: int, kind: str, **members: Any) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": {"type": kind, **members}}


def delta(index: int, kind: str, text: Any, **members: Any) -> Json:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **members}


def ended(status: str = "completed", **members: Any) -> Json:
    return {"type": f"response.{status}", "response": {"status": status, **members}}


def call(call_id: str, name: str, arguments: str = "") -> Json:
    return {"id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments}


OPENAI = [
    Case(
        "remarks, thoughts and calls in one answer",
        [
            added(0, "reasoning", id="rs_1", summary=[]),
            done(0, "reasoning", id="rs_1", summary=[], encrypted_content="enc"),
            added(1, "message", id="msg_1", phase="commentary"),
            delta(1, "output_text", "I look.", obfuscation="xyz"),
            done(1, "message", id="msg_1", phase="commentary"),
            added(2, "function_call", **call("c1", "read")),
            delta(2, "function_call_arguments", '{"p":1}'),
            {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": '{"p":1}'},
            done(2, "function_call", **call("c1", "read", '{"p":1}')),
            ended(),
        ],
        ["r0:", "f0", "m1:", "m1:I look.", "f1", "s2:c1,read", 'a2:{"p":1}', "f2", "completed"],
        ["", "I look.", ("c1", {"p": 1})],
    ),
    Case(
        "arguments only at the end, behind an empty piece",
        [
            added(0, "function_call", **call("c1", "read")),
            delta(0, "function_call_arguments", ""),
            done(0, "function_call", **call("c1", "read", '{"p":1}')),
            ended(),
        ],
        ["s0:c1,read", "a0:", 'a0:{"p":1}', "f0", "completed"],
        [("c1", {"p": 1})],
    ),
    Case(
        "hosted tools and annotations",
        [
            added(0, "web_search_call", id="ws_1", status="in_progress"),
            {"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"},
            done(0, "web_search_call", id="ws_1", status="completed"),
            added(1, "message", id="msg_1"),
            {"type": "response.content_part.added", "output_index": 1, "part": {"type": "output_text"}},
            delta(1, "output_text", "Found."),
            {"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {}},
            {"type": "response.output_text.done", "output_index": 1, "text": "Found."},
            done(1, "message", id="msg_1"),
            ended(),
        ],
        ["m1:", "m1:Found.", "f1", "completed"],
        ["Found."],
    ),
    Case(
        "a message without any text beside a call",
        [
            added(0, "message", id="msg_1"),
            done(0, "message", id="msg_1"),
            added(1, "function_call", **call("c1", "read")),
            delta(1, "function_call_arguments", "{}"),
            done(1, "function_call", **call("c1", "read", "{}")),
            ended(),
        ],
        ["m0:", "f0", "s1:c1,read", "a1:{}", "f1", "completed"],
        [("c1", {})],
    ),
    Case(
        "a filter that stops the answer",
        [
            added(0, "message", id="msg_1"),
            delta(0, "output_text", "Well"),
            ended("incomplete", incomplete_details={"reason": "content_filter"}),
        ],
        ["m0:", "m0:Well", "other content_filter"],
        ["Well"],
    ),
    Case(
        "three paragraphs of thought",
        [
            added(0, "reasoning", id="rs_1"),
            *[
                event
                for i, text in enumerate(("One", "Two", "Three"))
                for event in (
                    {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": i},
                    delta(0, "reasoning_summary_text", text, summary_index=i),
                )
            ],
            done(0, "reasoning", id="rs_1", encrypted_content=None),
            ended(),
        ],
        ["r0:", "r0:One", "r0:\n\n", "r0:Two", "r0:\n\n", "r0:Three", "f0", "completed"],
        ["One\n\nTwo\n\nThree"],
    ),
    Case(
        "a schema: a value",
        [
            added(0, "message", id="msg_1"),
            delta(0, "output_text", '{"a"'),
            delta(0, "output_text", ":[1]}"),
            done(0, "message", id="msg_1"),
            ended(),
        ],
        ["d0:", 'd0:{"a"', "d0::[1]}", "f0", "completed"],
        [{"a": [1]}],
        SCHEMA,
    ),
]


@pytest.mark.requirement("F09", "R25")
@_cases(OPENAI)
def test_openai(case: Case) -> None:
    check("openai", case)


# Google


def chunk(*parts: Json, finish: str | None = None, **members: Any) -> Json:
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [{**candidate, "finishReason": finish} if finish else candidate], **members}


def thought(text: str, **members: Any) -> Json:
    return {"text": text, "thought": True, **members}


def function(name: str, args: Any = None, call_id: str | None = None, **members: Any) -> Json:
    called = {"name": name, "args": args, "id": call_id}
    return {"functionCall": {key: value for key, value in called.items() if value is not None}, **members}


GOOGLE = [
    Case(
        "parallel calls with ids of the vendor, in one chunk with the finish",
        [
            chunk(
                thought("hm"), function("run", {"a": 1}, "x1"), function("run", {"a": 2}, "x2"), finish="STOP"
            )
        ],
        ["r0:hm", "f0", "s1:x1,run", 'a1:{"a":1}', "f1", "s2:x2,run", 'a2:{"a":2}', "f2", "completed"],
        ["hm", ("x1", {"a": 1}), ("x2", {"a": 2})],
    ),
    Case(
        "calls with blank ids and odd arguments",
        [
            chunk(function("run", call_id=" ")),
            chunk(function("run", "")),
            chunk(function("run", '{"a":1}')),
            chunk(function("run", [1])),
            chunk({"text": ""}, finish="STOP"),
        ],
        [
            *("s0:run_0,run", "a0:{}", "f0"),
            *("s1:run_1,run", 'a1:""', "f1"),
            *("s2:run_2,run", 'a2:"{\\"a\\":1}"', "f2"),
            *("s3:run_3,run", "a3:[1]", "f3", "completed"),
        ],
        [("run_0", {}), ("run_1", {}), ("run_2", {"a": 1}), ("run_3", {})],
    ),
    Case(
        "thoughts, text and thoughts again",
        [
            chunk(thought("a")),
            chunk(thought("b")),
            chunk({"text": "c"}),
            chunk(thought("d")),
            chunk(finish="STOP"),
        ],
        ["r0:a", "r0:b", "f0", "m1:c", "f1", "r2:d", "f2", "completed"],
        ["ab", "c", "d"],
    ),
    Case(
        "parts of other kinds",
        [
            chunk({"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "a"}),
            chunk(
                {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
                {"inlineData": {"data": "x"}},
                {"text": "b"},
            ),
            chunk(finish="STOP", usageMetadata={"promptTokenCount": 1}),
        ],
        ["m0:a", "m0:b", "f0", "completed"],
        ["ab"],
    ),
    Case(
        "chunks without candidates",
        [
            {"usageMetadata": {"promptTokenCount": 4}},
            chunk({"text": "a"}),
            {"candidates": None},
            chunk(finish="STOP"),
        ],
        ["m0:a", "f0", "completed"],
        ["a"],
    ),
    Case(
        "a candidate that is nothing but its finish",
        [{"candidates": [{"finishReason": "STOP"}]}],
        ["f0", "completed"],
        [],
    ),
    Case(
        "a blocked prompt",
        [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}],
        ["refused"],
        [],
    ),
    Case(
        "a call that cannot be read, behind a text",
        [chunk({"text": "a"}), chunk(finish="MALFORMED_FUNCTION_CALL")],
        ["m0:a", "f0", "other MALFORMED_FUNCTION_CALL"],
        ["a"],
    ),
    Case(
        "the limit within thoughts",
        [chunk(thought("so much")), chunk(finish="MAX_TOKENS")],
        ["r0:so much", "max_tokens"],
        ["so much"],
    ),
    Case(
        "a schema: a value, and thoughts beside it",
        [chunk(thought("hm")), chunk({"text": '{"a"'}), chunk({"text": ":1}"}, finish="STOP")],
        ["r0:hm", "f0", 'd1:{"a"', "d1::1}", "f1", "completed"],
        ["hm", {"a": 1}],
        SCHEMA,
    ),
]


@pytest.mark.requirement("F09", "R25")
@_cases(GOOGLE)
def test_google(case: Case) -> None:
    check("google", case)


# Ollama


def line(content: str | None = "", *, end: str | None = None, **members: Any) -> Json:
    said = {"role": "assistant", "content": content, **members}
    return {"message": said, "done": end is not None, **({"done_reason": end} if end else {})}


def called(name: str, arguments: Any = None) -> Json:
    return {"function": {"name": name, **({} if arguments is None else {"arguments": arguments})}}


OLLAMA = [
    Case(
        "calls in one line and in two, with and without arguments",
        [
            line(tool_calls=[called("run", {"a": 1}), called("run")]),
            line(tool_calls=[called("look", "")]),
            line(end="stop"),
        ],
        [
            *("f0", "s2:run_2,run", 'a2:{"a":1}', "f2", "s3:run_3,run", "a3:{}", "f3"),
            *("s4:look_4,look", 'a4:""', "f4", "f1", "completed"),
        ],
        [("run_2", {"a": 1}), ("run_3", {}), ("look_4", {})],
    ),
    Case(
        "thinking that comes back",
        [line(thinking="a"), line("b"), line(thinking="c"), line(end="stop")],
        ["r0:a", "f0", "m1:b", "f1", "r2:c", "f2", "completed"],
        ["a", "b", "c"],
    ),
    Case(
        "nulls",
        [
            {"message": None},
            line(None, thinking=None, tool_calls=None),
            line("a"),
            {"done": True, "message": None},
        ],
        ["f0", "m1:a", "f1", "completed"],
        ["a"],
    ),
    Case(
        "nothing at all",
        [line(end="stop")],
        ["f0", "f1", "completed"],
        [],
    ),
    Case(
        "a model that was only loaded",
        [line(end="load")],
        ["f0", "f1", "other load"],
        [],
    ),
    Case(
        "the limit within thinking",
        [line(thinking="so much"), line(end="length")],
        ["r0:so much", "f0", "f1", "max_tokens"],
        ["so much"],
    ),
    Case(
        "a schema: a value",
        [line(thinking="hm"), line('{"a"'), line(":1}", end="stop")],
        ["r0:hm", "f0", 'd1:{"a"', "d1::1}", "f1", "completed"],
        ["hm", {"a": 1}],
        SCHEMA,
    ),
]


@pytest.mark.requirement("F09", "R25")
@_cases(OLLAMA)
def test_ollama(case: Case) -> None:
    check("ollama", case)
