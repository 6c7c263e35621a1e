"""Streams of the chat-completions family as its servers really send them, vendor by vendor.

The cases are of the kind that the recordings are, each for something that no recording holds. They go through
the whole exchange, cut at every byte, with both kinds of line ends.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from jp_lsp.turn.failure import StreamFailure
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import DONE, call_delta, delta, model, request, sse
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, Json, each_byte, play, whole
from tests.adapters.providers.words import shown

FAMILY = ("cerebras", "compatible", "deepseek", "llamacpp", "lmstudio", "openrouter", "xai")
STOP, CALLS = delta("stop"), delta("tool_calls")


def answer(body: bytes, *, status: int = 200, content_type: str = "text/event-stream") -> Json:
    return {"status": status, "headers": {"content-type": content_type}, "body": body.decode()}


def events_of(vendor: str, reply: Json, *, structured: bool = False) -> list[Any]:
    """Give the events of a reply, which the cuts and line ends must not change."""
    asked = request(of=model(f"{vendor}/x"), schema={"type": "object"} if structured else None)
    played = [
        play(EXCHANGES[vendor](asked), [reply], cut, crlf=crlf).events
        for cut in (whole, each_byte)
        for crlf in (False, True)
    ]
    assert all(others == played[0] for others in played[1:])
    return played[0]


def check(vendor: str, payloads: Sequence[Any], *expected: str, structured: bool = False) -> list[Json]:
    """Decode a stream, compare its events, and give what they make."""
    events = events_of(vendor, answer(sse(*payloads)), structured=structured)
    assert shown([to_json(event) for event in events]) == list(expected)
    assert violations(events) == []
    return [] if isinstance(events[-1], StreamFailure) else built(events)


def failure_of(vendor: str, reply: Json) -> tuple[str, str]:
    """Give the kind and the message of the failure that a reply is."""
    (failure,) = events_of(vendor, reply)
    assert isinstance(failure, StreamFailure)
    return failure.kind.value, failure.message


# Text and calls


@pytest.mark.requirement("R27", "R28")
@pytest.mark.parametrize("vendor", ["cerebras", "deepseek", "xai"])
def test_text_before_a_call_is_complete_at_the_end(vendor: str) -> None:
    said = check(
        vendor,
        [delta(content="Let me look."), call_delta(0, "a", "run", "{}"), CALLS, DONE],
        "f0", "m1:Let me look.", "s2:a,run", "a2:{}", "f1", "f2", "completed",
    )  # fmt: skip
    assert [entry["type"] for entry in said] == ["chat_response", "tool_call_request", "finished"]


@pytest.mark.requirement("R27", "F11")
@pytest.mark.parametrize("vendor", ["compatible", "lmstudio", "llamacpp"])
def test_text_that_might_be_a_tag_comes_before_the_call(vendor: str) -> None:
    call = [call_delta(0, "a", "run", "{}"), CALLS, DONE]
    after = ("f0", "s2:a,run", "a2:{}", "f1", "f2", "completed")
    check(vendor, [delta(content="Let me look."), *call], "m1:Let m", "m1:e look.", *after)
    check(vendor, [delta(content="<think>\nLet me look."), *call], "r0:Let ", "r0:me look.", *after)


@pytest.mark.requirement("R27")
def test_calls_in_openrouters_last_chunk_come_behind_the_text() -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    last = delta("tool_calls", content="", tool_calls=[call, {**call, "index": 1, "id": "d"}])
    check(
        "openrouter",
        [delta(reasoning="hm"), delta(content="Hi"), last, DONE],
        "r0:hm", "m1:Hi", "f0", "f1", "s2:c,run", "a2:{}", "s3:d,run", "a3:{}", "f2", "f3", "completed",
    )  # fmt: skip


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("vendor", FAMILY)
def test_interleaved_calls_are_put_together(vendor: str) -> None:
    first, second, *_ = check_calls(
        vendor,
        call_delta(0, "a", "alpha", '{"p":'), call_delta(1, "b", "beta", '{"q":'),
        call_delta(1, None, None, "2}"), call_delta(0, None, None, "1}"),
    )  # fmt: skip
    assert (first["name"], first["arguments"]) == ("alpha", {"p": 1})
    assert (second["name"], second["arguments"]) == ("beta", {"q": 2})


# Traps 44 and 45.
@pytest.mark.parametrize("vendor", FAMILY)
@pytest.mark.parametrize(
    ("arguments", "read"),
    [(None, {}), ("", {}), ("null", {}), ("{}", {}), ({"p": [1]}, {"p": [1]}), ('"{\\"p\\":1}"', {"p": 1})],
)
def test_arguments_of_all_shapes(vendor: str, arguments: Any, read: Any) -> None:
    (call, _) = check_calls(vendor, call_delta(0, "a", "run", arguments))
    assert (call["id"], call["name"], call["arguments"]) == ("a", "run", read)
    assert "metadata" not in call


@pytest.mark.parametrize("vendor", FAMILY)
@pytest.mark.parametrize("arguments", ['{"p":', "[1]", '"words"', "7"])
def test_arguments_that_nobody_may_run(vendor: str, arguments: str) -> None:
    (call, _) = check_calls(vendor, call_delta(0, "a", "run", arguments))
    assert call["arguments"] == {}
    assert call["metadata"]["arguments_raw"] == arguments


def check_calls(vendor: str, *deltas: Any) -> list[Json]:
    events = events_of(vendor, answer(sse(*deltas, CALLS, DONE)))
    assert violations(events) == []
    return built(events)


# Thoughts


@pytest.mark.requirement("F11")
@pytest.mark.parametrize("vendor", ["compatible", "lmstudio", "llamacpp"])
@pytest.mark.parametrize(
    ("pieces", "reasoning", "message"),
    [
        (["<think>\nhm\n</think>\nHi"], "hm\n", "Hi"),
        (["<", "think", ">", "\n", "hm", "</", "think", ">\n", "Hi"], "hm", "Hi"),
        (["<think>\n", "größer als 🙂 </thi", "nk>\n", "ja – 🙂"], "größer als 🙂 ", "ja – 🙂"),
        (["<think>\nhm</think>"], "hm", None),
        (["<think>\nnever closed"], "never closed", None),
        (["a < b and </think>"], None, "a < b and </think>"),
        (["<thinking>\nHi"], None, "<thinking>\nHi"),
    ],
)
def test_tags_in_the_content(
    vendor: str, pieces: list[str], reasoning: str | None, message: str | None
) -> None:
    payloads = [*(delta(content=piece) for piece in pieces), STOP, DONE]
    said = built(events_of(vendor, answer(sse(*payloads))))
    thoughts = "".join(entry["reasoning"] for entry in said if "reasoning" in entry)
    texts = "".join(entry["message"] for entry in said if "message" in entry)
    assert (thoughts or None, texts or None) == (reasoning, message)


@pytest.mark.requirement("F11")
@pytest.mark.parametrize("vendor", ["cerebras", "deepseek", "openrouter", "xai"])
def test_tags_are_text_where_the_server_takes_thoughts_apart(vendor: str) -> None:
    said = built(events_of(vendor, answer(sse(delta(content="<think>\nhm\n</think>\n"), STOP, DONE))))
    assert said[0]["message"] == "<think>\nhm\n</think>\n"


@pytest.mark.parametrize("vendor", FAMILY)
@pytest.mark.parametrize("member", ["reasoning", "reasoning_content"])
def test_thoughts_have_either_name(vendor: str, member: str) -> None:
    payloads = [
        delta(role="assistant", content=None, **{member: "hm"}),
        delta(content="Hi", **{member: None}),
    ]
    thought, message, _ = built(events_of(vendor, answer(sse(*payloads, STOP, DONE))))
    assert (thought["reasoning"], message["message"]) == ("hm", "Hi")


# Structured answers


@pytest.mark.requirement("R225", "R258")
@pytest.mark.parametrize("vendor", FAMILY)
def test_a_structured_answer_in_pieces(vendor: str) -> None:
    payloads = [delta(content='{"a'), delta(content='":[1,'), delta(content="2]}"), STOP, DONE]
    value, _ = built(events_of(vendor, answer(sse(*payloads)), structured=True))
    assert (value["kind"], value["data"]) == ("structured", {"a": [1, 2]})


def test_thoughts_do_not_spoil_a_structured_answer() -> None:
    payloads = [delta(content="<think>\nhm\n</think>\n"), delta(content='{"a":1}'), STOP, DONE]
    said = check(
        "llamacpp", payloads, "r0:hm\n", 'd1:{"a":1}', "f0", "f1", "completed", structured=True
    )  # fmt: skip
    assert said[1]["data"] == {"a": 1}


# Errors inside the stream


@pytest.mark.requirement("R57", "R58", "F06")
@pytest.mark.parametrize(
    ("vendor", "chunk", "kind", "message"),
    [
        # Cerebras writes the status beside the error.
        (
            "cerebras",
            {"error": {"message": "Too many", "type": "x", "code": "y"}, "status_code": 429},
            "rate_limit",
            "Too many",
        ),
        ("cerebras", {"message": "Busy", "type": "t", "code": "queue_exceeded"}, "rate_limit", "Busy"),
        ("cerebras", {"message": "Wrong", "code": "wrong_api_key"}, "auth", "Wrong"),
        # vLLM does not wrap it, and says that all is done behind it.
        (
            "compatible",
            {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400},
            "malformed",
            "too long",
        ),
        ("compatible", {"error": True, "message": "gone"}, "transient", "gone"),
        ("xai", {"code": "The service is at capacity", "error": "At capacity"}, "transient", "At capacity"),
        ("deepseek", {"error": {"message": "Insufficient Balance"}}, "quota", None),
        ("openrouter", {"error": {"code": 401, "message": "User not found."}}, "auth", "User not found."),
        (
            "openrouter",
            {"error": {"code": 400, "message": "z/z is not a valid model ID"}},
            "unknown_model",
            None,
        ),
        ("openrouter", {"error": {"code": 524, "message": "Edge"}}, "transient", "Edge"),
        ("openrouter", {"id": "x", "error": {"code": 502}}, "transient", '{"error":{"code":502}}'),
    ],
)
def test_errors_in_the_words_of_each_vendor(vendor: str, chunk: Json, kind: str, message: str | None) -> None:
    # The text before it stays, and what follows it, such as the sentinel, makes no success of it.
    events = events_of(vendor, answer(sse(delta(content="Hi"), chunk, delta(content="more"), DONE)))
    failure = events[-1]
    assert isinstance(failure, StreamFailure)
    assert failure.kind == kind
    assert message is None or failure.message == message
    assert "".join(event.text for event in events[:-1] if hasattr(event, "text")) == "Hi"


def test_an_error_event_of_lmstudio_may_hold_only_words() -> None:
    body = b'event: error\ndata: {"error":"The model has crashed without additional information."}\n\n'
    assert failure_of("lmstudio", answer(body)) == (
        "transient",
        "The model has crashed without additional information.",
    )


def test_openrouters_bare_word_for_an_error_is_a_failure_behind_the_text() -> None:
    check("openrouter", [delta(content="Hi"), delta("error"), DONE], "m1:Hi", "f1", "error transient")


# Refusals


JSON = "application/json"
BUSY_PAGE = b"<html><head><title>524: A timeout occurred</title></head><body><h1>Ray</h1></body></html>"


@pytest.mark.requirement("R57", "R58", "F06")
@pytest.mark.parametrize(
    ("vendor", "status", "content_type", "body", "kind", "message"),
    [
        (
            "deepseek",
            400,
            JSON,
            b'{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}',
            "unknown_model",
            "Model Not Exist (HTTP 400)",
        ),
        (
            "deepseek",
            401,
            JSON,
            b'{"error":{"message":"Authentication Fails","type":"authentication_error"}}',
            "auth",
            "Authentication Fails (HTTP 401)",
        ),
        (
            "xai",
            429,
            JSON,
            b'{"code":"Some resource has been exhausted","error":"Too many requests"}',
            "rate_limit",
            "Too many requests (HTTP 429)",
        ),
        (
            "cerebras",
            422,
            JSON,
            b'{"detail":[{"msg":"field required"}]}',
            "malformed",
            "field required (HTTP 422)",
        ),
        (
            "llamacpp",
            500,
            JSON,
            b'{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}',
            "context_length",
            "Context size has been exceeded. (HTTP 500)",
        ),
        ("openrouter", 524, "text/html", BUSY_PAGE, "transient", "524: A timeout occurred (HTTP 524)"),
        (
            "compatible",
            502,
            "text/plain",
            b"upstream unreachable",
            "transient",
            "upstream unreachable (HTTP 502)",
        ),
        ("compatible", 404, JSON, b'{"detail":"Not Found"}', "unknown_model", "Not Found (HTTP 404)"),
        ("compatible", 200, JSON, b'{"error":"boom"}', "transient", "boom (HTTP 500)"),
        # A whole answer where a stream was asked for, whose empty `error` is none.
        (
            "compatible",
            200,
            JSON,
            b'{"error":null,"message":"whole"}',
            "transient",
            "unexpected content type 'application/json' instead of a stream: whole",
        ),
        ("compatible", 307, "text/plain", b"", "other", None),
    ],
)
def test_refusals(
    vendor: str, status: int, content_type: str, body: bytes, kind: str, message: str | None
) -> None:
    found = failure_of(vendor, answer(body, status=status, content_type=content_type))
    assert found == (kind, found[1] if message is None else message)


# Ends


@pytest.mark.requirement("F01", "F02", "R25")
@pytest.mark.parametrize("vendor", FAMILY)
@pytest.mark.parametrize(
    ("body", "end"),
    [
        (b": ping\n\ndata:[DONE]\n\n", "completed"),
        (b"\xef\xbb\xbfdata: [DONE]", "completed"),
        (b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}', "completed"),
        (b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n', "max_tokens"),
        (b'data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}\n\n', "other content_filter"),
        (b'data: {"choices":[{"delta":{"content":null},"finish_reason":null}]}\n\n', "error transient"),
        (b'data: {"choices":[{"delta":{},"finish_reas', "error transient"),
        (b"", "error transient"),
        (b": only comments\n\n", "error transient"),
    ],
)
def test_ends(vendor: str, body: bytes, end: str) -> None:
    events = events_of(vendor, answer(body))
    assert shown([to_json(events[-1])]) == [end]
    assert violations(events) == []
