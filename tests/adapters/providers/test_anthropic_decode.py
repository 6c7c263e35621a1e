"""The Messages decoder where the recordings are silent."""

from typing import Any

import pytest

from jp_lsp.providers.anthropic.adapter import ERRORS
from jp_lsp.providers.anthropic.decode import MessagesDecoder
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import block_delta, block_start, block_stop, sse, stop, text_block
from tests.adapters.providers.recorded_events import to_json
from tests.adapters.providers.replay import Json

LOST = StreamFailure(FailureKind.TRANSIENT, "connection reset")


def decode(*payloads: Any, end: str = "close", structured: bool = False) -> list[Json]:
    decoder = MessagesDecoder(ERRORS, structured=structured)
    events = decoder.feed(sse(*payloads))
    events += decoder.end() if end == "close" else decoder.broken(LOST)
    assert violations(events) == []
    return [to_json(event) for event in events]


def part(kind: str, text: str, index: int = 0, **metadata: str) -> Json:
    event = {"type": "part", "index": index, "kind": kind, "text": text}
    return {**event, "metadata": metadata} if metadata else event


def flush(index: int = 0) -> Json:
    return {"type": "flush", "index": index}


def failure(kind: str, wait: float | None = None, *, retryable: bool = True) -> Json:
    return {"type": "error", "kind": kind, "retryable": retryable, "retry_after": wait}


COMPLETED = {"type": "finished", "reason": "completed"}
HI = [part("message", "Hi"), flush()]
SAID = text_block(0, "Hi")


@pytest.mark.requirement("F09")
@pytest.mark.parametrize(
    "strange",
    [
        [{"type": "response.glitter", "n": 1}],
        [{}],
        ["[1]"],
        ["  "],
        [block_delta(0, "glitter_delta", text="x"), block_delta(0, "citations_delta", citation={})],
        [block_start(1, type="server_tool_use", id="x", name="web_search"),
         block_delta(1, "input_json_delta", partial_json="{}")],
        [block_start(1)],
        [{"type": "content_block_start"}, {"type": "content_block_stop"}],
        [{"type": "content_block_delta", "index": "0", "delta": {"type": "text_delta", "text": "x"}}],
        [block_start(9999, type="text", text="x"), block_delta(10**30, "text_delta", text="x")],
        [{"type": "message_delta"}, {"type": "message_delta", "delta": {"stop_reason": None}}],
    ],
)  # fmt: skip
def test_what_we_do_not_know_is_passed_over(strange: list[Any]) -> None:
    begun, more, ended = SAID[0], block_delta(0, "text_delta", text="!"), SAID[-1]
    payloads = [begun, SAID[1], *strange, more, ended, *stop()]
    assert decode(*payloads) == [part("message", "Hi"), part("message", "!"), flush(), COMPLETED]


def test_an_index_may_be_used_again_for_a_known_block() -> None:
    strange = [block_start(0, type="fallback"), block_delta(0, "text_delta", text="gone"), block_stop(0)]
    # Every end of a block is told; that of one that was passed over completes nothing.
    assert decode(*strange, *SAID, *stop()) == [flush(), *HI, COMPLETED]


@pytest.mark.requirement("F01", "F02")
@pytest.mark.parametrize("end", ["close", "abort"])
def test_without_an_end_the_stream_is_lost(end: str) -> None:
    assert decode(*SAID, end=end) == [*HI, failure("transient")]
    assert decode(end=end) == [failure("transient")]


@pytest.mark.requirement("F02")
@pytest.mark.parametrize("end", ["close", "abort"])
def test_the_reason_to_stop_is_enough(end: str) -> None:
    assert decode(*SAID, stop()[0], end=end) == [*HI, COMPLETED]
    assert decode(*SAID, *stop(), *SAID, end=end) == [*HI, COMPLETED]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", {"reason": "completed"}),
        ("stop_sequence", {"reason": "completed"}),
        ("tool_use", {"reason": "completed"}),
        (None, {"reason": "completed"}),
        ("max_tokens", {"reason": "max_tokens"}),
        ("refusal", {"reason": "refused", "category": None, "explanation": None}),
        ("pause_turn", {"reason": "other", "value": "pause_turn"}),
        ("model_context_window_exceeded", {"reason": "other", "value": "model_context_window_exceeded"}),
        ("glitter", {"reason": "other", "value": "glitter"}),
    ],
)
def test_reasons_to_stop(reason: str | None, finish: Json) -> None:
    assert decode(*SAID, *stop(reason)) == [*HI, {"type": "finished", **finish}]


@pytest.mark.requirement("F04", "T09")
def test_an_open_call_is_never_flushed() -> None:
    half = [block_start(1, type="tool_use", id="t", name="write_note", input={}),
            block_delta(1, "input_json_delta", partial_json='{"te')]  # fmt: skip
    start = {
        "type": "part",
        "index": 1,
        "kind": "tool_call",
        "stage": "start",
        "id": "t",
        "name": "write_note",
    }
    arguments = {"type": "part", "index": 1, "kind": "tool_call", "stage": "arguments", "text": '{"te'}
    assert decode(*SAID, *half, {"type": "message_stop"}) == [*HI, start, arguments, COMPLETED]
    assert decode(*SAID, *half) == [*HI, start, arguments, failure("transient")]


def test_signatures_come_with_the_block_or_after_it() -> None:
    assert decode(
        block_start(0, type="thinking", thinking="a", signature="early"),
        block_delta(0, "signature_delta", signature="late"),
        block_stop(0),
        *stop(),
    ) == [
        part("reasoning", "a", anthropic_thinking_signature="early"),
        part("reasoning", "", anthropic_thinking_signature="late"),
        flush(),
        COMPLETED,
    ]


def test_structured_text_opens_its_index_at_once() -> None:
    expected = [part("structured", ""), part("structured", "{}"), flush(), COMPLETED]
    assert decode(*text_block(0, "{}"), *stop(), structured=True) == expected


@pytest.mark.requirement("F06", "F12", "R58")
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, failure("transient", 3)),
        ({"type": "rate_limit_error", "message": "try again in 7s"}, failure("transient", 7)),
        ({"type": "timeout_error"}, failure("transient", 3)),
        ({"type": "api_error"}, failure("transient", 3)),
        ({"type": "invalid_request_error", "message": "no"}, failure("malformed", retryable=False)),
        ({"type": "billing_error", "message": "no"}, failure("quota", retryable=False)),
        ({"type": "authentication_error"}, failure("auth", retryable=False)),
        ({"type": "glitter_error"}, failure("transient")),
        ("just words", failure("transient")),
    ],
)
def test_errors_inside_the_stream(error: Any, expected: Json) -> None:
    for wrapped in ({"type": "error", "error": error}, {"error": error}):
        assert decode(*SAID, wrapped, *stop()) == [*HI, expected]


def test_a_bare_error_object() -> None:
    assert decode({"type": "error", "message": "no reason"}) == [failure("transient")]


def test_the_json_is_right_when_the_name_of_the_event_differs() -> None:
    decoder = MessagesDecoder(ERRORS)
    body = sse(*SAID, *stop()).replace(b"data:", b"event: error\ndata:")
    assert [to_json(event) for event in decoder.feed(body)] == [*HI, COMPLETED]


def test_data_that_is_no_json_is_a_broken_stream() -> None:
    assert decode(*SAID, "{oops", *stop()) == [*HI, failure("transient")]


def test_an_endless_event_ends_the_stream() -> None:
    decoder = MessagesDecoder(ERRORS)
    events = [event for _ in range(40) for event in decoder.feed(b"x" * 1024 * 1024)]
    assert [event.kind for event in events if isinstance(event, StreamFailure)] == [FailureKind.OTHER]


def test_usage_is_the_last_that_was_told() -> None:
    decoder = MessagesDecoder(ERRORS)
    begun = {
        "input_tokens": 5,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3,
        "output_tokens": 1,
    }
    decoder.feed(sse({"type": "message_start", "message": {"usage": begun}}, *SAID))
    assert decoder.usage == Usage(28, 1, 20)
    decoder.feed(sse(*stop(output_tokens=9)))
    assert decoder.usage == Usage(28, 9, 20)
