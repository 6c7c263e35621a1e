"""Refused requests and errors inside streams become the right kind of failure, with the vendor's words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.providers.error_report import report_of_body, report_of_value
from jp_lsp.providers.failure import VendorErrors, classify_in_band, classify_response, lost_stream
from jp_lsp.turn.failure import FailureKind, StreamFailure

NOW = 1_800_000_000.0
VENDOR = VendorErrors("vendor", billing_url="https://vendor.example/billing")
PATIENT = VendorErrors("vendor", patient_types=frozenset({"api_error", "overloaded_error"}), patience=3.0)

QUOTA = FailureKind.QUOTA
RATE = FailureKind.RATE_LIMIT
TRANSIENT = FailureKind.TRANSIENT
AUTH = FailureKind.AUTH
CONTEXT = FailureKind.CONTEXT_LENGTH
MODEL = FailureKind.UNKNOWN_MODEL
OTHER = FailureKind.OTHER
PERMISSION = FailureKind.PERMISSION
MALFORMED = FailureKind.MALFORMED


def classify(status: int, body: Any = None, vendor: VendorErrors = VENDOR, **headers: str) -> StreamFailure:
    data = (
        body
        if isinstance(body, bytes)
        else body.encode()
        if isinstance(body, str)
        else json.dumps(body).encode()
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify_response(status, named, data, vendor=vendor, now=NOW)


def error(message: str = "Some words", **members: Any) -> dict[str, Any]:
    return {"error": {"message": message, **members}}


@pytest.mark.requirement("R256", "R51", "R56", "R57", "R58", "R59", "F12", "F13")
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # 1: a spent quota, whatever the status
        (429, error(code="insufficient_quota"), QUOTA),
        (429, error("You exceeded your current quota exceeded"), QUOTA),
        (400, error("Your credit balance is too low to access the API"), QUOTA),
        (402, error("Payment required"), QUOTA),
        (403, error(type="billing_error"), QUOTA),
        (429, "quota exceeded, sorry", QUOTA),
        (500, error("Insufficient Balance"), QUOTA),
        # … but not when other members of the body hold the words, such as a prompt that is echoed back
        (429, {**error("Slow down"), "request": "why is my quota exceeded?"}, RATE),
        (400, {**error("Bad field"), "input": "insufficient credits"}, MALFORMED),
        # 3: try again
        (429, error("Too many requests"), RATE),
        (529, error("Overloaded", type="overloaded_error"), RATE),
        (408, error(), TRANSIENT),
        (409, error(), TRANSIENT),
        *((status, error(), TRANSIENT) for status in (500, 502, 503, 504, 520, 522, 524, 599)),
        (503, error("Loading model", code=503, type="unavailable_error"), TRANSIENT),
        # 4: the key
        (401, error("invalid x-api-key"), AUTH),
        (400, error("Incorrect API key provided: xai-***"), AUTH),
        (400, error("API key not valid. Please pass a valid API key."), AUTH),
        (403, error("Your api_key has expired"), AUTH),
        (400, error("Bad request", status="INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}]), AUTH),
        # 5: the context
        (400, error("prompt is too long: 205351 tokens > 200000 maximum"), CONTEXT),
        (400, error("no", code="context_length_exceeded"), CONTEXT),
        (413, error("Request too large"), CONTEXT),
        (500, error("Context size has been exceeded."), CONTEXT),
        (500, error("no", type="exceed_context_size_error"), CONTEXT),
        (503, error("Context size has been exceeded."), TRANSIENT),
        (400, error("The input token count (9) exceeds the maximum"), CONTEXT),
        # 6: the model
        (404, error("model: claude-nope", type="not_found_error"), MODEL),
        (400, error("The model `gpt-x` does not exist"), MODEL),
        (400, error("gpt-x is not a valid model ID"), MODEL),
        (400, error("no", code="model_not_found"), MODEL),
        (400, error("The file does not exist"), MALFORMED),
        # 7: gateways
        (400, "no healthy upstream", OTHER),
        (403, error("Backend unreachable"), OTHER),
        # 8: the rest
        (403, error("Country not supported"), PERMISSION),
        *((status, error(), MALFORMED) for status in (400, 405, 415, 422)),
        (418, error(), OTHER),
        (302, "", OTHER),
    ],
)
def test_status_and_body(status: int, body: Any, kind: FailureKind) -> None:
    failure = classify(status, body)
    assert failure.kind is kind
    assert failure.status == status
    assert failure.provider == "vendor"


@pytest.mark.requirement("F12")
def test_gateway_texts_may_be_tried_again() -> None:
    assert classify(400, "no healthy upstream").is_retryable
    assert not classify(418, "I am a teapot").is_retryable


@pytest.mark.requirement("F13", "R256")
@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, error("max_tokens must be below 8192"), "max_tokens must be below 8192 (HTTP 400)"),
        (400, {"error": "just words"}, "just words (HTTP 400)"),
        (400, {"error": ["a", "b"]}, '{"error":["a","b"]} (HTTP 400)'),
        (400, {"error": [{"message": "in a list"}]}, "in a list (HTTP 400)"),
        (400, [{"error": {"message": "all in a list"}}], "all in a list (HTTP 400)"),
        (400, {"error": {"error": {"message": "nested"}}}, "nested (HTTP 400)"),
        (400, {"error": {"message": '{"error":{"message":"in a string"}}'}}, "in a string (HTTP 400)"),
        (400, {"message": "bare"}, "bare (HTTP 400)"),
        (400, {"code": "bad", "error": "xAI words"}, "xAI words (HTTP 400)"),
        (422, {"detail": "FastAPI words"}, "FastAPI words (HTTP 422)"),
        (422, {"detail": [{"msg": "one"}, {"msg": "two"}]}, "one; two (HTTP 422)"),
        (400, '"a string"', "a string (HTTP 400)"),
        (400, "plain words", "plain words (HTTP 400)"),
        (400, "", "the server gave no explanation (HTTP 400)"),
        (400, "null", "null (HTTP 400)"),
        (400, b"\xff\xfe", "\ufffd\ufffd (HTTP 400)"),
        (400, {"error": {"message": 5}}, '{"error":{"message":5}} (HTTP 400)'),
        (
            502,
            "<html><head><title>502 Bad  Gateway</title></head><body><h1>x</h1></body></html>",
            "502 Bad Gateway (HTTP 502)",
        ),
        (502, "<p>Caf&eacute; <script>alert(1)</script>closed</p>", "Café closed (HTTP 502)"),
        (
            402,
            error("No money."),
            "No money. (HTTP 402). Check plan and billing at https://vendor.example/billing",
        ),
    ],
)
def test_the_vendors_words_reach_the_user(status: int, body: Any, message: str) -> None:
    assert classify(status, body).message == message


def test_long_texts_are_cut() -> None:
    assert len(classify(400, "x" * 100_000).message) < 600
    assert len(classify(400, error("y" * 100_000)).message) < 2100
    assert len(classify(400, "<" * 100_000).message) < 600


def test_a_redirect_says_where_to_look() -> None:
    failure = classify(301, "<html>Moved</html>", location="https://new.example/")
    assert failure.message == (
        "the server redirects to https://new.example/; set base_url to where the API really is (HTTP 301)"
    )


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    ("status", "said", "kind", "retries"),
    [
        (400, "true", TRANSIENT, True),
        (429, "true", RATE, True),
        (503, "false", OTHER, False),
        (429, "false", OTHER, False),
        (500, "maybe", TRANSIENT, True),
    ],
)
def test_the_vendor_may_say_itself_whether_to_retry(
    status: int, said: str, kind: FailureKind, retries: bool
) -> None:
    failure = classify(status, error(), x_should_retry=said, retry_after="5")
    assert (failure.kind, failure.is_retryable) == (kind, retries)


@pytest.mark.requirement("R52")
def test_waits_stand_only_on_what_may_be_tried_again() -> None:
    assert classify(429, error(), retry_after="12").retry_after == 12
    assert classify(503, error("try again in 2.5s")).retry_after == 3
    assert classify(418, error(), retry_after="4").is_retryable
    for status, body in ((401, error()), (402, error()), (400, error()), (404, error()), (413, error())):
        failure = classify(status, body, retry_after="12")
        assert failure.retry_after is None
        assert not failure.is_retryable


def test_some_vendors_want_patience() -> None:
    assert classify(500, error(type="api_error"), PATIENT).retry_after == 3
    assert classify(500, error(type="api_error"), PATIENT, retry_after="9").retry_after == 9
    assert classify(500, error(type="strange_error"), PATIENT).retry_after is None
    assert classify(529, error(type="overloaded_error"), PATIENT).retry_after is None
    assert classify(401, error(type="api_error"), PATIENT).retry_after is None


@pytest.mark.parametrize(
    ("body", "content_type", "kind", "message"),
    [
        (error("slow", code=429), "application/json", RATE, "slow (HTTP 429)"),
        (error("odd", status="INVALID"), "application/json", TRANSIENT, "odd (HTTP 500)"),
        (error("no", type="authentication_error"), "application/json", AUTH, "no (HTTP 401)"),
        (
            "<html><title>Log in</title></html>",
            "text/html",
            TRANSIENT,
            "unexpected content type 'text/html' instead of a stream: Log in",
        ),
        (
            {"choices": []},
            "application/json",
            TRANSIENT,
            "unexpected content type 'application/json' instead of a stream: {\"choices\":[]}",
        ),
        ("", "text/plain", TRANSIENT, "unexpected content type 'text/plain' instead of a stream"),
    ],
)
def test_success_without_a_stream_is_a_failure(
    body: Any, content_type: str, kind: FailureKind, message: str
) -> None:
    failure = classify(200, body, content_type=content_type)
    assert (failure.kind, failure.message) == (kind, message)


@pytest.mark.requirement("F12", "R58")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"code": 400, "type": "exceed_context_size_error", "message": "too big"}, CONTEXT),
        ({"code": "429", "message": "slow"}, RATE),
        ({"status_code": 401, "message": "who"}, AUTH),
        ({"type": "service_unavailable_error", "code": "server_is_overloaded"}, TRANSIENT),
        ({"type": "overloaded_error"}, RATE),
        ({"code": "server_is_overloaded"}, TRANSIENT),
        ({"type": "invalid_request_error", "message": "bad field"}, MALFORMED),
        ({"type": "invalid_request_error", "code": "model_not_found"}, MODEL),
        ({"type": "overloaded_error", "code": "insufficient_quota"}, QUOTA),
        ("Model unloaded.", TRANSIENT),
        ("upstream gone", TRANSIENT),
        ({"message": "slot crashed"}, TRANSIENT),
        ([], TRANSIENT),
        (17, TRANSIENT),
        ({"error": {"message": "quota exceeded"}}, QUOTA),
    ],
)
def test_errors_inside_a_stream(said: Any, kind: FailureKind) -> None:
    failure = classify_in_band(said, vendor=VENDOR)
    assert failure.kind is kind
    assert failure.message


def test_errors_inside_a_stream_carry_waits() -> None:
    assert classify_in_band({"code": 429, "message": "try again in 4s"}, vendor=VENDOR).retry_after == 4
    assert classify_in_band({"code": 401, "message": "try again in 4s"}, vendor=VENDOR).retry_after is None
    table = VendorErrors(
        "v", patient_types=frozenset({"x_error"}), patience=3.0, in_band_status={"x_error": 500}
    )
    assert classify_in_band({"type": "x_error"}, vendor=table).retry_after == 3


@pytest.mark.requirement("F01")
def test_a_stream_without_an_end_is_worth_another_try() -> None:
    failure = lost_stream(VENDOR)
    assert (failure.kind, failure.is_retryable) == (TRANSIENT, True)
    assert failure.message == "the response ended without a terminal event"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "status", "type", "detail", "details", "reason", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.requirement("F13")
@given(value=_JSON, status=st.integers(200, 599))
def test_reading_an_error_never_fails(value: Any, status: int) -> None:
    assert classify(status, value).message
    assert classify_in_band(value, vendor=VENDOR).message
    assert isinstance(report_of_value(value).text, str)


@given(body=st.binary(max_size=200), status=st.integers(200, 599))
def test_reading_any_bytes_never_fails(body: bytes, status: int) -> None:
    assert classify(status, body).message
    assert len(report_of_body(body).text) <= 2000
