"""Requests to Ollama and its answers, beyond what the recordings hold."""

import json
from typing import Any

import pytest

from jp_lsp.conversation.event import StructuredResponse
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import Effort, ModelDetails, ModelId, Unsupported
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.forcing import nudge
from jp_lsp.providers.ndjson import NdjsonDecoder
from jp_lsp.providers.ollama.adapter import read_model, with_port
from jp_lsp.providers.ollama.encode import EncodedRequest, encode
from jp_lsp.providers.sse import EventTooLargeError
from jp_lsp.tools.definition import NamedTool, Parameter
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import StreamEvent, Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import calls, event, model, request, returns, says, thinks, tool, user
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, Json, each_byte, play, whole
from tests.adapters.providers.server_tools import SERVER_TOOL

QWEN = model("ollama/qwen3:8b")
HELLO = {"role": "user", "content": "Hello"}


def encoded(*events: Any, of: ModelDetails = QWEN, **options: Any) -> EncodedRequest:
    return encode(request(*events, of=of, **options))


def messages(*events: Any, **options: Any) -> Any:
    return encoded(*events, **options).body["messages"]


def assistant(content: str = "", **members: Any) -> Json:
    return {"role": "assistant", "content": content, **members}


# Settings


def test_unset_settings_are_not_sent() -> None:
    assert encoded().body == {
        "model": "qwen3:8b",
        "messages": [HELLO],
        "stream": True,
        "think": False,
        "options": {},
    }


@pytest.mark.requirement("F21")
def test_the_answers_limit_and_the_window_are_two_settings() -> None:
    body = encoded(
        reasoning="off",
        max_tokens=256,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        stop_words=("END",),
        other={"context_window": 16_384},
    ).body
    assert body["think"] is False
    assert body["options"] == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "num_predict": 256,
        "stop": ["END"],
        "num_ctx": 16_384,
    }


@pytest.mark.parametrize(
    ("given", "sent"),
    [(5, "5m"), ("5", "5m"), ("90s", "90s"), ("1.5 h", "1.5h"), (-1, "-1m"), ("0", "0m"), (None, None)],
)
def test_how_long_the_model_stays_loaded(given: Any, sent: str | None) -> None:
    assert encoded(other={"keep_alive": given}).body.get("keep_alive") == sent


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"keep_alive": "for ever"}, "ollama takes no keep_alive 'for ever': the setting was left out"),
        ({"context_window": "big"}, "ollama takes no context_window 'big': the setting was left out"),
    ],
)
def test_strange_settings_are_left_out_and_told(other: Json, sentence: str) -> None:
    result = encoded(other=other)
    assert result.warnings == (sentence,)
    assert "keep_alive" not in result.body
    assert result.body["options"] == {}


@pytest.mark.requirement("F21")
@pytest.mark.parametrize(
    ("name", "wish", "think"),
    [
        ("qwen3:8b", None, False),
        ("qwen3:8b", "off", False),
        ("qwen3:8b", "auto", True),
        ("qwen3:8b", Effort("low"), True),
        ("qwen3:8b", Effort("none"), False),
        ("qwen3:8b", Effort(0), False),
        ("gpt-oss:20b", "off", False),
        ("gpt-oss:20b", "auto", "medium"),
        ("gpt-oss:20b", Effort("xlow"), "low"),
        ("gpt-oss:20b", Effort("medium"), "medium"),
        ("gpt-oss:20b", Effort("max"), "high"),
        ("gpt-oss:20b", Effort(9000), "high"),
    ],
)
def test_think_is_always_sent(name: str, wish: Any, think: Any) -> None:
    of = model(f"ollama/{name}", context_window=10_000)
    assert encoded(of=of, reasoning=wish).body["think"] == think


def test_a_model_that_cannot_think_is_not_asked_to() -> None:
    result = encoded(of=model("ollama/llama3", reasoning=Unsupported()), reasoning=Effort("high"))
    assert result.body["think"] is False
    assert result.warnings == ("ollama/llama3 does not reason: the reasoning setting was left out",)


# Messages


def test_system_parts_documents_and_images() -> None:
    attachments = [
        TextAttachment("a.txt", "text"),
        BinaryAttachment("b.png", b"\x89PNG", "image/png"),
        BinaryAttachment("c.jpg", b"\xff\xd8", "image/jpeg"),
        BinaryAttachment("d.pdf", b"%PDF", "application/pdf"),
    ]
    result = encoded(system=["One.", "Two."], attachments=attachments)
    found: Any = result.body["messages"]
    assert [found[0], found[1], *found[3:]] == [
        {"role": "system", "content": "One."},
        {"role": "system", "content": "Two."},
        {"role": "user", "content": "", "images": ["iVBORw==", "/9g="]},
        HELLO,
    ]
    assert found[2]["role"] == "system"
    assert found[2]["content"].startswith("<documents>")
    assert result.warnings == ("ollama takes no application/pdf: attachment 'd.pdf' was left out",)


def test_thinking_stands_on_what_was_said_before_it_or_alone() -> None:
    events = (user("a"), thinks("hm"), says("b"), thinks("more"), thinks("and more"), thinks(""), user("c"))
    assert messages(*events)[1:-1] == [
        assistant(thinking="hm"),
        assistant("b", thinking="more"),
        assistant(thinking="and more"),
    ]


def test_calls_are_messages_and_results_of_several_have_a_name() -> None:
    data = event(StructuredResponse({"a": 1}))
    one = messages(user("a"), calls("1", "run", x=1), returns("1", "r"), data)
    assert one[1:-1] == [
        assistant(tool_calls=[{"function": {"name": "run", "arguments": {"x": 1}}}]),
        {"role": "tool", "content": "r"},
        assistant('{"a":1}'),
    ]
    both = messages(user("a"), calls("1", "run"), calls("2", "look"), returns("1", "r"), returns("2", "l"))
    assert both[3:] == [
        {"role": "tool", "content": "r", "tool_name": "run"},
        {"role": "tool", "content": "l", "tool_name": "look"},
    ]


@pytest.mark.requirement("F17")
def test_half_an_answer_at_the_end_is_asked_to_go_on() -> None:
    go_on = {"role": "user", "content": CONTINUE}
    assert messages(user("a"), says("Half"))[-1] == go_on
    assert messages(user("a"), thinks("hm"))[-1] == go_on
    assert messages(user("a"), says("Half"), of=model("ollama/x", prefill=True))[-1] == assistant("Half")
    assert messages(user("a"), calls("1"), returns("1"))[-1]["role"] == "tool"


# Tools and values


@pytest.mark.parametrize("choice", ["required", NamedTool("run")])
def test_a_call_that_cannot_be_forced_is_asked_for(choice: Any) -> None:
    found = messages(tools=[tool()], choice=choice)
    assert found == [HELLO, {"role": "system", "content": nudge(choice)}]
    assert messages(choice=choice) == [HELLO]


def test_tools_are_objects_of_their_parameters() -> None:
    asked = tool(x=Parameter("string", required=True), y=Parameter("integer"))
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": {"type": "integer"}},
        "required": ["x"],
    }
    function = {"name": "run", "description": "Runs run.", "parameters": schema}
    assert encoded(tools=[asked]).body["tools"] == [{"type": "function", "function": function}]
    assert "tools" not in encoded(tools=[asked], choice="none").body


@pytest.mark.requirement("F23")
def test_a_servers_tool_needs_no_definitions() -> None:
    tools: Any = encoded(tools=[SERVER_TOOL]).body["tools"]
    properties = tools[0]["function"]["parameters"]["properties"]
    assert properties["tags"]["items"] == {"type": "string", "description": "{maxLength: 9}"}
    assert properties["mode"] == {"description": "How."}


def test_a_schema_is_the_format() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}}
    assert encoded(schema=schema).body["format"] == schema
    words = encoded(schema=schema, system=["S"], of=model("ollama/x", structured_output=False))
    assert "format" not in words.body
    system: Any = words.body["messages"]
    assert (system[0]["content"], json.loads(system[1]["content"].splitlines()[-1])) == ("S", schema)


# Answers


def line(content: str = "", *, done: str | None = None, **members: Any) -> Json:
    counts = {"prompt_eval_count": 3, "eval_count": 4}
    end = {"done": True, "done_reason": done, **counts} if done else {"done": False}
    return {"message": {"role": "assistant", "content": content, **members}, **end}


def tool_call(name: str, **arguments: Any) -> Json:
    return {"id": "call_x", "function": {"index": 0, "name": name, "arguments": arguments}}


def answer(*lines: Any, end: str = "\n", **members: Any) -> Json:
    body = "\n".join(item if isinstance(item, str) else json.dumps(item) for item in lines) + end
    return {"status": 200, "headers": {"content-type": "application/x-ndjson"}, "body": body, **members}


def converse(*lines: Any, **members: Any) -> list[StreamEvent]:
    answers = [answer(*lines, **members)]
    found = play(EXCHANGES["ollama"](request(of=QWEN)), answers, each_byte).events
    assert violations(found) == []
    return found


def said(*lines: Any) -> list[Any]:
    entries = built(converse(*lines))[:-1]
    return [entry.get("message") or entry.get("reasoning") or entry.get("id") for entry in entries]


@pytest.mark.requirement("R20")
def test_calls_are_counted_over_the_whole_stream() -> None:
    first, second = [tool_call("run", a=1), tool_call("run", a=2)], [tool_call("look")]
    found = said(line(thinking="hm"), line(tool_calls=first), line(tool_calls=second), line(done="stop"))
    assert found == ["hm", "run_2", "run_3", "look_4"]


def test_what_comes_back_keeps_its_place() -> None:
    lines = (
        line(thinking="one"),
        line("two"),
        line(thinking="three"),
        line(tool_calls=[tool_call("four")]),
        line("five"),
        line(" six"),
        line(done="stop"),
    )
    assert said(*lines) == ["one", "two", "three", "four_4", "five six"]


def test_one_line_may_hold_everything() -> None:
    everything = line("b", thinking="a", tool_calls=[tool_call("c")], done="stop")
    assert said(everything) == ["a", "b", "c_2"]


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", {"reason": "completed"}),
        ("length", {"reason": "max_tokens"}),
        ("load", {"reason": "other", "value": "load"}),
        ("unload", {"reason": "other", "value": "unload"}),
        ("a new word", {"reason": "completed"}),
    ],
)
def test_ends(word: str, finish: Json) -> None:
    assert to_json(converse(line("Hi"), line(done=word))[-1]) == {"type": "finished", **finish}


def test_the_last_line_needs_no_end_and_nothing_counts_behind_it() -> None:
    assert built(converse(line("Hi", done="stop"), end="")) == built(
        converse(line("Hi", done="stop"), line("!"))
    )


def test_usage_is_on_the_last_line() -> None:
    exchange = EXCHANGES["ollama"](request(of=QWEN))
    play(exchange, [answer(line("Hi"), line(done="stop"))], whole)
    assert exchange.usage == Usage(3, 4)


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(
    ("lines", "members", "kind"),
    [
        ([{"error": "model runner has unexpectedly stopped"}], {}, "transient"),
        ([{"error": "model 'nope' not found"}], {}, "transient"),
        ([{"error": {"message": "prompt is too long"}}], {}, "context_length"),
        ([line("Ha"), "{no json"], {}, "transient"),
        ([line("Ha")], {"end": "abort"}, "transient"),
    ],
)
def test_streams_that_break(lines: list[Any], members: Json, kind: str) -> None:
    body = answer(*lines)
    found = play(EXCHANGES["ollama"](request(of=QWEN)), [{**body, **members}], each_byte).events
    assert violations(found) == []
    assert isinstance(found[-1], StreamFailure)
    assert found[-1].kind == kind


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, '"llama3" does not support thinking', "malformed"),
        (401, "unauthorized", "auth"),
        (503, "server busy, please try again.  maximum pending requests exceeded", "transient"),
    ],
)
def test_refusals(status: int, text: str, kind: str) -> None:
    refusal = {
        "status": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"error": text}),
    }
    (failure,) = play(EXCHANGES["ollama"](request(of=QWEN)), [refusal], whole).events
    assert isinstance(failure, StreamFailure)
    assert (failure.kind, failure.message) == (kind, f"{text} (HTTP {status})")


# Lines


def test_lines_end_at_line_feeds_only() -> None:
    body = '\ufeff{"a":"\u2028\x85"}\r\n\n\r\n{"b":"é'.encode()
    for size in range(1, len(body) + 1):
        decoder = NdjsonDecoder()
        found = [event for i in range(0, len(body), size) for event in decoder.feed(body[i : i + size])]
        found += decoder.end()
        assert [event.data for event in found if event.data] == ['{"a":"\u2028\x85"}', '{"b":"é']


@pytest.mark.parametrize("chunks", [[b"123456"], [b"123", b"456"], [b"12345\n"], [b"123", b"45\n"]])
def test_a_line_that_is_too_long(chunks: list[bytes]) -> None:
    decoder = NdjsonDecoder(max_line_size=4)
    *before, last = chunks
    assert [decoder.feed(chunk) for chunk in before] == [[]] * len(before)
    with pytest.raises(EventTooLargeError, match="longer than 4 bytes"):
        decoder.feed(last)


# Addresses and models


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://localhost:11434", "http://localhost:11434"),
        ("http://my-machine", "http://my-machine:11434"),
        ("http://my-machine/ollama/", "http://my-machine:11434/ollama/"),
        ("http://user:word@my-machine", "http://user:word@my-machine:11434"),
        ("http://[::1]", "http://[::1]:11434"),
        ("https://ollama.com", "https://ollama.com"),
        ("http://my-machine:80", "http://my-machine:80"),
    ],
)
def test_a_plain_address_gets_the_usual_port(given: str, address: str) -> None:
    assert with_port(given) == address


def test_what_entries_of_the_list_say() -> None:
    details = ModelDetails(ModelId("ollama", "a"), display_name="a")
    assert read_model({"name": "a"}) == details
    assert read_model({"name": "a", "capabilities": ["completion"]}) == ModelDetails(
        ModelId("ollama", "a"), display_name="a", reasoning=Unsupported()
    )
    assert (
        read_model({"name": "a", "capabilities": ["thinking"], "details": {"context_length": 0}}) == details
    )
    assert read_model({"model": "a"}) is None
