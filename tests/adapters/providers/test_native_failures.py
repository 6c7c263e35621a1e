"""What goes wrong at the four vendors with an API of their own, as data (providers 3.2 to 3.4, 6.3.3).

Each case is an answer and the kind of failure that it is, with the seconds that the vendor asks us to wait.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Finished
from tests.adapters.providers.making import block_delta, block_start, model, request, sse
from tests.adapters.providers.replay import EXCHANGES, Json, play, whole

K = FailureKind
JSON_TYPE = "application/json"
STREAM_TYPES = {"ollama": "application/x-ndjson"}


def failure_of(vendor: str, answer: Json) -> StreamFailure:
    played = play(EXCHANGES[vendor](request(of=model(f"{vendor}/x"))), [answer], whole)
    *before, failure = played.events
    assert not any(isinstance(event, StreamFailure | Finished) for event in before)
    assert isinstance(failure, StreamFailure)
    return failure


def refused(vendor: str, status: int, body: Any, headers: Mapping[str, str] | None = None) -> StreamFailure:
    text = body if isinstance(body, str) else json.dumps(body)
    media_type = "text/html" if text.startswith("<") else JSON_TYPE
    all_headers = {"content-type": media_type, **(headers or {})}
    return failure_of(vendor, {"status": status, "headers": all_headers, "body": text})


def broken_off(vendor: str, *payloads: Any, name: str = "") -> StreamFailure:
    """The failure of a stream that began well, whose events bear that name."""
    body = "".join(f"{json.dumps(p)}\n" for p in payloads) if vendor == "ollama" else sse(*payloads).decode()
    if name:
        body = body.replace("data:", f"event: {name}\ndata:")
    headers = {"content-type": STREAM_TYPES.get(vendor, "text/event-stream")}
    return failure_of(vendor, {"status": 200, "headers": headers, "body": body})


def anthropic(kind: str, message: str = "x") -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai(**members: Any) -> Json:
    return {"error": {"message": "x", "param": None, **members}}


def google(code: int, status: str, message: str = "x", *details: Json) -> Json:
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def per(window: str) -> Json:
    """The detail that names the limit which was reached."""
    return {"violations": [{"quotaId": f"GenerateRequests{window}PerProjectPerModel-FreeTier"}]}


def retry_info(delay: str) -> Json:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def reason(word: str) -> Json:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": word}


@pytest.mark.requirement("F12", "R58")
@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "wait"),
    [
        (500, anthropic("api_error"), {}, K.TRANSIENT, 3),
        (503, anthropic("overloaded_error"), {"retry-after": "9"}, K.TRANSIENT, 9),
        (529, anthropic("overloaded_error"), {}, K.RATE_LIMIT, None),
        (429, anthropic("rate_limit_error"), {"retry-after": "0"}, K.RATE_LIMIT, None),
        (429, anthropic("rate_limit_error", "try again in 1m2s."), {}, K.RATE_LIMIT, 62),
        (413, anthropic("request_too_large"), {}, K.CONTEXT_LENGTH, None),
        (403, anthropic("permission_error"), {"retry-after": "9"}, K.PERMISSION, None),
        (400, anthropic("invalid_request_error", "Your credit balance is too low"), {}, K.QUOTA, None),
        (400, anthropic("invalid_request_error", "max_tokens: too large"), {}, K.MALFORMED, None),
        (400, anthropic("invalid_request_error"), {"x-should-retry": "true"}, K.TRANSIENT, None),
        (500, anthropic("api_error"), {"x-should-retry": "false"}, K.OTHER, None),
        (200, anthropic("overloaded_error"), {}, K.TRANSIENT, 3),
        (524, "<html><title>524: A timeout occurred</title></html>", {}, K.TRANSIENT, None),
        (200, "<html><title>Log in</title></html>", {}, K.TRANSIENT, None),
        (302, "", {"location": "https://portal.example"}, K.OTHER, None),
    ],
)
def test_anthropic_refuses(status: int, body: Any, headers: Any, kind: FailureKind, wait: float) -> None:
    failure = refused("anthropic", status, body, headers)
    assert (failure.kind, failure.retry_after) == (kind, wait)


@pytest.mark.requirement("F12", "R58")
@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "wait"),
    [
        (429, openai(code="rate_limit_exceeded"), {"x-ratelimit-reset-requests": "1m30s"}, K.RATE_LIMIT, 90),
        (429, openai(type="insufficient_quota"), {"retry-after": "9"}, K.QUOTA, None),
        (429, openai(message="Please try again in 20ms."), {}, K.RATE_LIMIT, 1),
        (
            404,
            openai(code="model_not_found", message="The model `x` does not exist"),
            {},
            K.UNKNOWN_MODEL,
            None,
        ),
        (400, openai(message="Unsupported parameter: 'temperature'"), {}, K.MALFORMED, None),
        (403, openai(message="Country, region, or territory not supported"), {}, K.PERMISSION, None),
        (401, openai(code="invalid_api_key"), {}, K.AUTH, None),
        (500, openai(type="server_error"), {}, K.TRANSIENT, None),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", {}, K.TRANSIENT, None),
        (503, openai(message="overloaded"), {"retry-after-ms": "250"}, K.TRANSIENT, 0.25),
        (403, "upstream connect error", {}, K.OTHER, None),
        (400, {"error": "upstream unreachable"}, {}, K.OTHER, None),
        (400, None, {}, K.MALFORMED, None),
        (400, [], {}, K.MALFORMED, None),
        (500, {"error": [[[]]]}, {}, K.TRANSIENT, None),
    ],
)
def test_openai_refuses(status: int, body: Any, headers: Any, kind: FailureKind, wait: float) -> None:
    failure = refused("openai", status, body, headers)
    assert (failure.kind, failure.retry_after) == (kind, wait)
    assert failure.is_retryable == (kind in {K.TRANSIENT, K.RATE_LIMIT, K.OTHER})


MODEL_GONE = "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."


@pytest.mark.requirement("F12", "F13")
@pytest.mark.parametrize(
    ("status", "body", "kind", "wait"),
    [
        (429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded", per("PerMinute"), retry_info("22.5s")), K.RATE_LIMIT, 22.5),
        (429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded", per("PerDay"), retry_info("9s")), K.QUOTA, None),
        (429, google(429, "RESOURCE_EXHAUSTED", "Check your plan and billing details"), K.QUOTA, None),
        (429, google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted"), K.RATE_LIMIT, None),
        (429, google(429, "RESOURCE_EXHAUSTED", "Check your plan", retry_info("4s")), K.RATE_LIMIT, 4),
        (404, google(404, "NOT_FOUND", MODEL_GONE), K.UNKNOWN_MODEL, None),
        (404, "<html><title>Not Found</title></html>", K.OTHER, None),
        (400, google(400, "INVALID_ARGUMENT", "x", reason("API_KEY_INVALID")), K.AUTH, None),
        (400, google(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."), K.AUTH, None),
        (400, google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"), K.CONTEXT_LENGTH, None),
        (400, google(400, "FAILED_PRECONDITION", "User location is not supported"), K.MALFORMED, None),
        (403, google(403, "PERMISSION_DENIED"), K.PERMISSION, None),
        (499, google(499, "CANCELLED"), K.TRANSIENT, None),
        (503, google(503, "UNAVAILABLE", "The model is overloaded."), K.TRANSIENT, None),
        (504, google(504, "DEADLINE_EXCEEDED"), K.TRANSIENT, None),
        (503, [google(503, "UNAVAILABLE")], K.TRANSIENT, None),
        (200, google(429, "RESOURCE_EXHAUSTED", "x", per("PerDay")), K.QUOTA, None),
    ],
)  # fmt: skip
def test_google_refuses(status: int, body: Any, kind: FailureKind, wait: float) -> None:
    failure = refused("google", status, body)
    assert (failure.kind, failure.retry_after) == (kind, wait)


@pytest.mark.requirement("F12")
@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, '"llama2" does not support thinking', K.MALFORMED),
        (400, "registry.ollama.ai/library/x does not support tools", K.MALFORMED),
        (401, "unauthorized", K.AUTH),
        (404, 'model "x" not found, try pulling it first', K.UNKNOWN_MODEL),
        (500, "model requires more system memory (9 GiB) than is available", K.TRANSIENT),
        (503, "server busy, please try again. maximum pending requests exceeded", K.TRANSIENT),
    ],
)
def test_ollama_refuses(status: int, text: str, kind: FailureKind) -> None:
    assert refused("ollama", status, {"error": text}).kind is kind


BEGUN = [block_start(0, type="text", text=""), block_delta(0, "text_delta", text="Hi")]


@pytest.mark.requirement("F06", "F12")
@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [
        (anthropic("overloaded_error"), K.TRANSIENT, 3),
        (anthropic("api_error", "retry after 7 seconds"), K.TRANSIENT, 7),
        (anthropic("rate_limit_error"), K.TRANSIENT, 3),
        (anthropic("billing_error"), K.QUOTA, None),
        (anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), K.CONTEXT_LENGTH, None),
        (anthropic("permission_error"), K.PERMISSION, None),
        # The bare object, without its wrapping.
        ({"type": "overloaded_error", "message": "Overloaded"}, K.TRANSIENT, 3),
        ({"type": "authentication_error", "message": "x"}, K.AUTH, None),
        # A relay's own: words, with the status beside them.
        ({"error": "slow down", "status": 429}, K.RATE_LIMIT, None),
        ({"type": "error", "error": "gone", "status": 503}, K.TRANSIENT, None),
        ({"type": "error", "error": None}, K.TRANSIENT, None),
    ],
)  # fmt: skip
def test_anthropic_breaks_off(error: Json, kind: FailureKind, wait: float) -> None:
    for name in ("", "error"):
        failure = broken_off("anthropic", *BEGUN, error, name=name)
        assert (failure.kind, failure.retry_after) == (kind, wait)


def test_an_event_that_is_named_an_error_is_one() -> None:
    assert "strange words" in broken_off("anthropic", {"message": "strange words"}, name="error").message
    assert "strange words" in broken_off("openai", {"message": "strange words"}, name="error").message


@pytest.mark.requirement("F06", "F12")
@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [
        (
            {"type": "requests", "code": "rate_limit_exceeded", "message": "try again in 1.5s"},
            K.RATE_LIMIT,
            2,
        ),
        ({"type": "server_error", "code": "rate_limit_exceeded"}, K.RATE_LIMIT, None),
        ({"type": "insufficient_quota", "code": "insufficient_quota"}, K.QUOTA, None),
        ({"code": "server_is_overloaded"}, K.TRANSIENT, None),
        ({"code": "server_error"}, K.TRANSIENT, None),
        ({"code": "vector_store_timeout"}, K.TRANSIENT, None),
        ({"type": "service_unavailable_error"}, K.TRANSIENT, None),
        ({"type": "strange", "message": "wait 5 seconds"}, K.TRANSIENT, 5),
        ({"code": "context_length_exceeded"}, K.CONTEXT_LENGTH, None),
        ({"message": "Incorrect API key provided"}, K.AUTH, None),
        ({"code": "invalid_prompt"}, K.OTHER, None),
    ],
)
def test_openai_breaks_off(error: Json, kind: FailureKind, wait: float) -> None:
    shapes: list[Json] = [
        {"type": "error", "error": error},
        {"type": "response.failed", "response": {"status": "failed", "error": error}},
    ]
    if "type" not in error:
        shapes.append({"type": "error", "sequence_number": 3, **error})
    for shape in shapes:
        failure = broken_off("openai", shape)
        assert (failure.kind, failure.retry_after) == (kind, wait)


@pytest.mark.requirement("F06", "F12")
@pytest.mark.parametrize(
    ("vendor", "last", "kind", "wait"),
    [
        ("google", google(503, "UNAVAILABLE"), K.TRANSIENT, None),
        ("google", [google(429, "RESOURCE_EXHAUSTED", "x", retry_info("0.5s"))], K.RATE_LIMIT, 0.5),
        ("google", google(400, "INVALID_ARGUMENT"), K.MALFORMED, None),
        ("google", {"error": "words"}, K.TRANSIENT, None),
        ("ollama", {"error": "an error was encountered while running the model"}, K.TRANSIENT, None),
        ("ollama", {"error": {"message": "context window is full"}}, K.CONTEXT_LENGTH, None),
        ("ollama", {"error": "unauthorized", "status": 401}, K.AUTH, None),
    ],
)
def test_others_break_off(vendor: str, last: Any, kind: FailureKind, wait: float) -> None:
    failure = broken_off(vendor, last)
    assert (failure.kind, failure.retry_after) == (kind, wait)
