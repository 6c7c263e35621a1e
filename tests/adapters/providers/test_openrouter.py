"""OpenRouter beyond what the recordings hold: messages, signatures, demands for tools, what its vendors say."""

import json
from typing import Any

import anyio
import pytest

from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.ports.provider import CachePolicy, Effort, Leveled, ModelDetails
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.providers.chat.encode import EncodedRequest, encode
from jp_lsp.providers.chat.openrouter import DIALECT, make_provider
from jp_lsp.providers.chat.reasoning_details import read_details, written_details
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.forcing import MAX_FOLLOW_UPS, demand, nudge
from jp_lsp.tools.definition import NamedTool
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import (
    DONE,
    Observer,
    call_delta,
    calls,
    delta,
    model,
    request,
    returns,
    says,
    short_name,
    sse,
    thinks,
    tool,
    user,
)
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, Json, Played, play, whole
from tests.adapters.providers.words import shown
from tests.support.http_server import HttpServer, Reply

GPT = model("openrouter/openai/gpt-5-mini")
CLAUDE = model("openrouter/anthropic/claude-opus-5")
LEVELS: Any = frozenset({"low", "high"})
CAN_DISABLE: Any = Leveled(True, LEVELS)
ALWAYS: Any = Leveled(False, LEVELS)


def encoded(*events: Any, of: ModelDetails = GPT, **options: Any) -> EncodedRequest:
    return encode(request(*events, of=of, **options), DIALECT)


def messages(*events: Any, **options: Any) -> Any:
    return encoded(*events, **options).body["messages"]


def text(value: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **members}


def said(role: str, *blocks: Any, **members: Any) -> dict[str, Any]:
    return {"role": role, **({"content": list(blocks)} if blocks else {}), **members}


def call(call_id: str, index: int) -> dict[str, Any]:
    function = {"name": "tool", "arguments": "{}"}
    return {"id": call_id, "index": index, "type": "function", "function": function}


def answer(*payloads: Any) -> Json:
    body = sse(*payloads).decode()
    return {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": body}


def played(asked: Any, *answers: Json) -> Played:
    result = play(EXCHANGES["openrouter"](asked), list(answers), whole)
    assert violations(result.events) == []
    return result


def words(*payloads: Any) -> list[str]:
    events = played(request(of=GPT), answer(*payloads)).events
    return shown([to_json(event) for event in events])


# Messages


@pytest.mark.parametrize(
    ("of", "seconds", "marked"), [(CLAUDE, 300, (0, 2)), (CLAUDE, 0, ()), (GPT, 300, ())], ids=short_name
)
def test_system_parts_are_one_message(of: ModelDetails, seconds: int, marked: tuple[int, ...]) -> None:
    blocks = [text("A"), text("B"), text("C")]
    for i in marked:
        blocks[i]["cache_control"] = {"type": "ephemeral"}
    first = messages(of=of, system=["A", "B", "C"], cache=CachePolicy(seconds))[0]
    assert first == said("system", *blocks)


def test_files_stand_with_their_names() -> None:
    attachments = [
        TextAttachment("a.txt", "words"),
        BinaryAttachment("a.png", b"x", "image/png"),
        BinaryAttachment("b.pdf", b"x", "application/pdf"),
    ]
    made = encoded(attachments=attachments, system=["A"])
    sent: Any = made.body["messages"]
    content = sent[1]["content"]
    assert content[0]["text"].startswith("<documents>")
    assert content[1:] == [
        text("[Attached file: a.png]"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}},
        text("[Attached file: b.pdf]"),
        {
            "type": "file",
            "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,eA=="},
        },
    ]
    assert made.warnings == ()


@pytest.mark.requirement("R44", "F17")
def test_what_was_said_is_in_blocks_without_thoughts() -> None:
    assert messages(
        *(user("Hello"), thinks("hm"), says("Let me see."), calls("c1"), calls("c2")),
        *(returns("c1"), returns("c2"), thinks("so"), user(""), says("Half")),
    ) == [
        said("user", text("Hello")),
        said("assistant", text("Let me see."), tool_calls=[call("c1", 0), call("c2", 1)]),
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "done"},
        said("user", text("")),
        said("assistant", text("Half")),
        said("user", text(CONTINUE)),
    ]


def test_settings_and_routing_are_sent() -> None:
    routing = {"order": ["anthropic"], "allow_fallbacks": False}
    other = {"provider": routing, "verbosity": "low"}
    settings: Any = {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop_words": ("END",)}
    made = encoded(**settings, other=other, reasoning=Effort("max"))
    assert {name: value for name, value in made.body.items() if name not in {"messages", "model"}} == {
        "stream": True,
        "provider": routing,
        "reasoning": {"exclude": False, "effort": "xhigh"},
        **{"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop": ["END"]},
    }
    assert made.warnings == ()


# Signatures


def detail(kind: str, form: str | None, **members: Any) -> Json:
    return {"type": f"reasoning.{kind}", "format": form, **members}


SIGNED = detail("text", "anthropic-claude-v1", signature="sig", index=0)
ENCRYPTED = detail("encrypted", "openai-responses-v1", data="enc", id="rs_1", index=0)


@pytest.mark.parametrize(
    ("details", "metadata"),
    [
        (None, None),
        ([], None),
        ("text", None),
        ([detail("summary", "openai-responses-v1", summary="x")], None),
        ([detail("text", None, text="x")], {}),
        ([detail("encrypted", "xai-responses-v1", data="x")], {}),
        ([detail("text", "brand-new-v9", signature="x")], {}),
        ([5], {}),
        ([detail("text", "anthropic-claude-v1", text="x")], {}),
        ([detail("text", "anthropic-claude-v1", signature=5)], {}),
        (
            [SIGNED],
            {
                "anthropic_thinking_signature": "sig",
                "openrouter_metadata": [{"index": 0, "field": "anthropic_thinking_signature"}],
            },
        ),
        (
            [ENCRYPTED],
            {
                "openai_encrypted_content": "enc",
                "openrouter_metadata": [{"id": "rs_1", "index": 0, "field": "openai_encrypted_content"}],
            },
        ),
        (
            [detail("encrypted", "anthropic-claude-v1", data="red", id=None)],
            {
                "anthropic_redacted_thinking": "red",
                "openrouter_metadata": [{"field": "anthropic_redacted_thinking"}],
            },
        ),
        (
            [detail("text", "google-gemini-v1", signature="sig")],
            {
                "google_thought_signature": "sig",
                "openrouter_metadata": [{"field": "google_thought_signature"}],
            },
        ),
    ],
)
def test_what_is_kept_of_details(details: Any, metadata: Any) -> None:
    assert read_details(details) == metadata


def test_a_late_signature_belongs_to_the_thought() -> None:
    signature = delta(reasoning=None, reasoning_details=[SIGNED], content="")
    payloads = [delta(reasoning="hm"), delta(content="Hi"), signature, delta("stop"), DONE]
    assert words(*payloads) == ["r0:hm", "m1:Hi", "r0:", "f0", "f1", "completed"]
    thought, message, _ = built(played(request(of=GPT), answer(*payloads)).events)
    assert (thought["reasoning"], thought["metadata"]["anthropic_thinking_signature"]) == ("hm", "sig")
    assert message["message"] == "Hi"


# Trap 38.
def test_thoughts_between_texts_keep_their_order() -> None:
    payloads = [
        delta(reasoning="a"),
        delta(content="A"),
        delta(reasoning="b"),
        delta(content="B"),
        delta("stop"),
    ]
    assert words(*payloads, DONE) == ["r0:a", "m1:A", "f0", "f1", "r2:b", "m3:B", "f2", "f3", "completed"]


@pytest.mark.requirement("R44")
def test_signed_thoughts_go_back_when_the_user_says_so() -> None:
    kept: Any = read_details([SIGNED])
    hidden: Any = read_details([ENCRYPTED])
    events = [
        *(user("Hello"), thinks("hm", **kept), says("Look."), calls("c1"), calls("c2"), returns("c1")),
        *(returns("c2"), thinks("", **hidden), calls("c3"), returns("c3"), thinks("mine"), calls("c4")),
    ]
    sent = messages(*events, other={"return_reasoning": True})
    assert [message.get("reasoning_details") for message in sent if message["role"] == "assistant"] == [
        [{**SIGNED, "text": "hm"}],
        [ENCRYPTED],
        None,
    ]
    assert "reasoning_details" not in json.dumps(messages(*events))
    assert written_details("hm", {"openrouter_metadata": [5, {"field": "strange"}]}) == []


# Demands for tools that cannot be forced while the model thinks (trap 58)


HI = [delta(content="I would rather talk."), delta("stop"), DONE]
USAGE = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
CALL = [call_delta(0, "c1", "run", "{}"), delta("tool_calls"), USAGE, DONE]
OTHER_CALL = [call_delta(0, "c1", "walk", "{}"), delta("tool_calls"), DONE]


def demanding(reasoning: Any, wish: Any = None, choice: Any = "required") -> Any:
    return request(
        of=model("openrouter/x/y", reasoning=reasoning), tools=[tool("run")], choice=choice, reasoning=wish
    )


@pytest.mark.parametrize("choice", ["required", NamedTool("run")])
def test_a_model_that_can_be_silenced_is_forced_in_a_second_request(choice: Any) -> None:
    asked = demanding(CAN_DISABLE, Effort("low"), choice)
    result = played(asked, answer(delta(reasoning="hm"), *HI), answer(delta(reasoning="hm"), *CALL))
    first, second = result.bodies
    assert first["tool_choice"] == "auto"
    assert first["messages"][0] == said("system", text(nudge(choice)))
    named = {"type": "function", "function": {"name": "run"}}
    assert second["tool_choice"] == ("required" if choice == "required" else named)
    assert second["reasoning"] == {"exclude": True, "effort": "none"}
    assert second["messages"][len(first["messages"]) :] == [
        said("assistant", text("I would rather talk.")),
        said("user", text(demand(choice, 0))),
    ]
    assert shown([to_json(event) for event in result.events]) == [
        *("r0:hm", "m1:I would rather talk.", "f0", "f1", "s2:c1,run", "a2:{}", "f0", "f2", "completed")
    ]


def test_a_model_that_always_thinks_is_asked_ever_more_firmly() -> None:
    result = played(demanding(ALWAYS, "off"), *(answer(*HI) for _ in range(MAX_FOLLOW_UPS + 1)))
    assert len(result.bodies) == MAX_FOLLOW_UPS + 1
    assert {body["tool_choice"] for body in result.bodies} == {"auto"}
    demands = [message["content"][0]["text"] for message in result.bodies[-1]["messages"][3::2]]
    assert demands == [demand("required", i) for i in range(MAX_FOLLOW_UPS)]
    assert [to_json(event) for event in result.events][-1] == {"type": "finished", "reason": "completed"}


@pytest.mark.parametrize(
    ("reasoning", "wish", "first", "count"),
    [
        (CAN_DISABLE, Effort("low"), CALL, 1),
        (CAN_DISABLE, Effort("low"), OTHER_CALL, 1),
        (CAN_DISABLE, Effort("low"), [delta(content="Long"), delta("length"), DONE], 1),
        (CAN_DISABLE, Effort("low"), [{"error": {"code": 502, "message": "no"}}], 1),
        (CAN_DISABLE, "off", HI, 1),
        (None, "off", HI, 1),
        (None, "auto", HI, 2),
    ],
)
def test_when_an_answer_is_followed_up(reasoning: Any, wish: Any, first: Any, count: int) -> None:
    result = played(demanding(reasoning, wish), answer(*first), answer(*CALL))
    assert len(result.bodies) == count


def test_what_all_responses_took_is_added_up() -> None:
    exchange = EXCHANGES["openrouter"](demanding(CAN_DISABLE, Effort("low")))
    play(exchange, [answer(*HI[:-1], USAGE, DONE), answer(*CALL)], whole)
    assert exchange.usage == Usage(20, 10)


# What goes wrong


@pytest.mark.requirement("R52", "R256")
@pytest.mark.parametrize(
    ("chunk", "kind", "message"),
    [
        ({"error": {"code": "server_error", "message": "no"}}, "transient", "no"),
        ({"error": {"code": "rate_limit_exceeded", "message": "no"}}, "rate_limit", "no"),
        (
            {"choices": [{"index": 0, "error": {"code": 429, "message": "slow down"}}]},
            "rate_limit",
            "slow down",
        ),
        (delta("error"), "transient", "the server stopped with 'error'"),
        (
            {
                "error": {
                    "code": 502,
                    "message": "Provider returned error",
                    "metadata": {"provider_name": "P", "raw": '{"error":{"message":"The GPU is on fire"}}'},
                }
            },
            "transient",
            "Provider returned error (P: The GPU is on fire)",
        ),
        (
            {
                "error": {
                    "code": 403,
                    "message": "Your input was flagged",
                    "metadata": {"reasons": ["violence", 5, "spite"], "provider_name": "P"},
                }
            },
            "permission",
            "Your input was flagged (P: violence, spite)",
        ),
        (
            {"error": {"code": 502, "message": "no", "metadata": {"raw": {"x": 1}, "reasons": "all"}}},
            "transient",
            'no ({"x":1})',
        ),
    ],
)
def test_errors_inside_the_stream(chunk: Any, kind: str, message: str) -> None:
    *_, failure = played(request(of=GPT), answer(delta(content="Hi"), chunk)).events
    assert isinstance(failure, StreamFailure)
    assert (failure.kind, failure.message) == (kind, message)


@pytest.mark.shared
def test_a_refusal_shows_its_reasons() -> None:
    error = {"code": 403, "message": "Flagged", "metadata": {"reasons": ["violence"]}}
    refusal = {
        "status": 403,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"error": error}),
    }
    (failure,) = played(request(of=GPT), refusal).events
    assert isinstance(failure, StreamFailure)
    assert failure.message == "Flagged (violence) (HTTP 403)"


# Traps 7, 18 to 23 in this vendor's clothes.
@pytest.mark.requirement("F01", "F02")
@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        ([], ["error transient"]),
        ([delta(content="Hi")], ["m1:Hi", "error transient"]),
        ([delta(content="Hi"), DONE], ["m1:Hi", "f1", "completed"]),
        ([delta(content="Hi"), delta("stop")], ["m1:Hi", "f1", "completed"]),
        ([delta(content="Hi"), delta("content_filter"), DONE], ["m1:Hi", "f1", "other content_filter"]),
        ([delta(content="Hi"), delta("stop"), delta(content="more"), DONE], ["m1:Hi", "f1", "completed"]),
        ([call_delta(0, "c", "run", "{"), delta("length"), DONE], ["s2:c,run", "a2:{", "max_tokens"]),
        ([DONE], ["completed"]),
    ],
)
def test_endings(payloads: list[Any], expected: list[str]) -> None:
    assert words(*payloads) == expected


# Over a real connection


@pytest.mark.anyio
@pytest.mark.requirement("R255")
async def test_the_vendor_sees_who_asks() -> None:
    settings = ProviderSettings(app_name="My JP", app_referrer="https://me.example")
    with HttpServer([Reply.sse(": OPENROUTER PROCESSING\n\n", sse(*HI))]) as server, anyio.fail_after(20):
        provider = make_provider(Connection(f"{server.url}/api/v1", "sk-key-of-nobody", settings))
        events = [event async for event in provider.stream(request(of=GPT), Observer())]
        await provider.aclose()
    assert shown([to_json(event) for event in events])[-1] == "completed"
    (sent,) = server.requests
    assert sent.path == "/api/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer sk-key-of-nobody"
    assert (sent.headers["x-title"], sent.headers["http-referer"]) == ("My JP", "https://me.example")


@pytest.mark.anyio
async def test_a_name_that_no_header_can_hold_stops_no_request() -> None:
    settings = ProviderSettings(app_name="Jürgens\nJP")
    with HttpServer([Reply.sse(sse(*HI))]) as server, anyio.fail_after(20):
        provider = make_provider(Connection(server.url, "sk-key-of-nobody", settings))
        events = [event async for event in provider.stream(request(of=GPT), Observer())]
        await provider.aclose()
    assert shown([to_json(event) for event in events])[-1] == "completed"
    assert server.requests[0].headers["x-title"] == "J?rgens?JP"


def test_a_model_that_holds_to_no_schema_is_asked_in_blocks_like_all_else() -> None:
    made = encoded(
        of=model("openrouter/x/y", structured_output=False), schema={"type": "object"}, system=["A"]
    )
    sent: Any = made.body["messages"]
    assert sent[0] == said("system", text("A"))
    (block,) = sent[1]["content"]
    assert (sent[1]["role"], block["type"]) == ("system", "text")
    assert '{"type":"object"}' in block["text"]
