"""The Responses decoder where the recordings are silent: faults of servers, odd items, endings."""

import json
from typing import Any

import pytest

from jp_lsp.providers.openai.decode import ResponsesDecoder
from jp_lsp.providers.openai.errors import ERRORS
from jp_lsp.providers.openai.whole import events_of
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Flush, Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import sse
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import Json
from tests.adapters.providers.words import shown

LOST = StreamFailure(FailureKind.TRANSIENT, "connection reset")


def decode(*payloads: Any, end: str = "close", **options: Any) -> list[Json]:
    """Decode a body; the contract holds."""
    decoder = ResponsesDecoder(ERRORS, **options)
    events = decoder.feed(sse(*payloads))
    events += decoder.end() if end == "close" else decoder.broken(LOST)
    assert violations(events) == []
    return [to_json(event) for event in events]


def check(payloads: list[Any], *expected: str, **options: Any) -> None:
    assert shown(decode(*payloads, **options)) == list(expected)


def added(kind: str, index: int = 0, **members: Any) -> Json:
    item = {"type": kind, "id": f"i{index}", **members}
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(kind: str, index: int = 0, **members: Any) -> Json:
    item = {"type": kind, "id": f"i{index}", **members}
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def said(kind: str, delta: Any, index: int = 0, **members: Any) -> Json:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": delta, **members}


def text(delta: Any, index: int = 0) -> Json:
    return said("output_text", delta, index)


def ended(status: str = "completed", **members: Any) -> Json:
    return {"type": f"response.{status}", "response": {"status": status, **members}}


MESSAGE = [added("message"), text("Hi"), done("message")]


# Endings


# Traps 16, 17, 22: only the vendor's own last event ends an answer.
@pytest.mark.requirement("F01", "F02", "R25")
@pytest.mark.parametrize("end", ["close", "abort"])
def test_an_answer_ends_with_its_last_event(end: str) -> None:
    words = ["m0:", "m0:Hi", "f0"]
    check(MESSAGE, *words, "error transient", end=end)
    check([*MESSAGE, ended(), text("more"), ended("failed")], *words, "completed", end=end)
    check([*MESSAGE, "[DONE]"], *words, "error transient", end=end)


# Trap 24.
@pytest.mark.parametrize(
    ("last", "word"),
    [
        (ended("incomplete", incomplete_details={"reason": "max_output_tokens"}), "max_tokens"),
        (ended("incomplete", incomplete_details={"reason": "max_tokens"}), "max_tokens"),
        (ended("incomplete", incomplete_details={"reason": "content_filter"}), "other content_filter"),
        (ended("incomplete"), "other incomplete"),
        (ended("cancelled"), "other cancelled"),
        ({"type": "response.completed"}, "completed"),
        ({"type": "response.completed", "response": {"status": "paused"}}, "other paused"),
        ({"type": "response.incomplete", "response": None}, "other incomplete"),
    ],
)
def test_reasons_to_end(last: Json, word: str) -> None:
    check([last], word)


# Trap 51.
@pytest.mark.requirement("F04")
def test_a_call_that_the_limit_cut_off_is_never_complete() -> None:
    cut = ended("incomplete", incomplete_details={"reason": "max_output_tokens"})
    call = added("function_call", call_id="c1", name="run")
    arguments = said("function_call_arguments", '{"a":')
    check([call, arguments, cut], "s0:c1,run", 'a0:{"a":', "max_tokens")


# What is not needed


@pytest.mark.requirement("F09")
@pytest.mark.parametrize(
    "strange",
    [
        {"type": "keepalive"},
        {"type": "response.glitter", "n": 1},
        {"type": "response.output_text.annotation.added", "annotation": {}},
        added("web_search_call", 1),
        done("web_search_call", 1),
        text("lost", -1),
        text("lost", 10**9),
        {**text("lost"), "output_index": "zero"},
        {"type": 5},
        {},
        [],
        None,
        "",
    ],
)
def test_events_that_nobody_needs_are_passed_over(strange: Any) -> None:
    payload = strange if strange == "" else json.dumps(strange)
    check(
        [added("message"), text("Hi"), payload, text(" there"), done("message"), ended()],
        *("m0:", "m0:Hi", "m0: there", "f0", "completed"),
    )


# Trap 15.
def test_the_json_is_right_where_the_name_differs() -> None:
    body = b"event: error\n" + sse(text("Hi")) + b"event: response.failed\n" + sse(ended())
    decoder = ResponsesDecoder(ERRORS)
    assert shown([to_json(event) for event in decoder.feed(body)]) == ["m0:Hi", "completed"]


def test_an_event_that_is_not_json_ends_the_stream() -> None:
    check([text("Hi"), '{"type": "response.outp', text("lost")], "m0:Hi", "error transient")


# Items


# Trap 41.
def test_a_message_without_any_text_opens_its_place() -> None:
    payloads = [added("message"), done("message"), ended()]
    check(payloads, "m0:", "f0", "completed")
    decoder = ResponsesDecoder(ERRORS)
    assert built(decoder.feed(sse(*payloads))) == [{"type": "finished", "reason": "completed"}]


@pytest.mark.requirement("F10")
def test_summaries_are_paragraphs_streamed_or_whole() -> None:
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    first, second = "I read the lock file.", "**Next**\n\nCompare versions."
    streamed = [
        added("reasoning"),
        {**part, "summary_index": 0},
        said("reasoning_summary_text", first),
        {**part, "summary_index": 1},
        said("reasoning_summary_text", second),
        done("reasoning", encrypted_content="enc"),
        ended(),
    ]
    summary = [{"type": "summary_text", "text": value} for value in (first, second)]
    item = {"type": "reasoning", "id": "i0", "summary": summary, "encrypted_content": "enc"}
    whole = list(events_of({"status": "completed", "output": [item]}))
    assert decode(*streamed) == decode(*whole)
    (thought, _) = built(ResponsesDecoder(ERRORS).feed(sse(*streamed)))
    assert thought["reasoning"] == f"{first}\n\n{second}"
    assert thought["metadata"] == {"openai_item_id": "i0", "openai_encrypted_content": "enc"}


def test_open_models_think_in_plain_text() -> None:
    payloads = [added("reasoning"), said("reasoning_text", "hm"), done("reasoning"), ended()]
    check(payloads, "r0:", "r0:hm", "f0", "completed")


def test_thoughts_that_were_not_asked_for_are_left_out() -> None:
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}
    thoughts = [added("reasoning"), part, said("reasoning_summary_text", "hm"), done("reasoning")]
    message = [added("message", 1), text("Hi", 1), done("message", 1)]
    check([*thoughts, *message, ended()], "m1:", "m1:Hi", "f1", "completed", reasons=False)


def test_a_refusal_is_text_and_a_schema_makes_values() -> None:
    check(
        [added("message"), said("refusal", "No."), done("message"), ended()],
        "m0:",
        "m0:No.",
        "f0",
        "completed",
    )
    payloads = [added("message"), text('{"a":1}'), done("message"), ended()]
    check(payloads, "d0:", 'd0:{"a":1}', "f0", "completed", structured=True)


def test_arguments_that_come_only_at_the_end_are_not_lost() -> None:
    call: Json = {"call_id": "c1", "name": "run"}
    end = done("function_call", arguments='{"a":1}', **call)
    check([added("function_call", **call), end, ended()], "s0:c1,run", 'a0:{"a":1}', "f0", "completed")
    streamed = said("function_call_arguments", '{"a":1}')
    check(
        [added("function_call", **call), streamed, end, ended()], "s0:c1,run", 'a0:{"a":1}', "f0", "completed"
    )


def test_items_without_numbers_are_counted() -> None:
    def bare(event: Json) -> Json:
        item = event.get("item")
        event = {**event, "item_id": f"i{event['output_index']}"} if item is None else event
        return {name: value for name, value in event.items() if name != "output_index"}

    message = [added("message", 1), text("Hi", 1), done("message", 1)]
    thought = [added("reasoning"), said("reasoning_text", "hm"), done("reasoning")]
    payloads = [*map(bare, thought), *map(bare, message), ended()]
    check(payloads, "r0:", "r0:hm", "f0", "m1:", "m1:Hi", "f1", "completed")


def test_nothing_grows_with_items_that_nobody_numbered() -> None:
    decoder = ResponsesDecoder(ERRORS)
    for i in range(20_000):
        decoder.feed(sse({"type": "response.output_text.delta", "item_id": f"i{i}", "delta": ""}))
    assert len(decoder._counted) == 10_000


def test_metadata_is_what_the_vendor_sent() -> None:
    decoder = ResponsesDecoder(ERRORS)
    events = decoder.feed(
        sse(done("message", phase="commentary"), done("reasoning", 1), done("message", 2, id=""))
    )
    assert [event.metadata for event in events if isinstance(event, Flush)] == [
        {"openai_item_id": "i0", "openai_phase": "commentary"},
        {"openai_item_id": "i1", "openai_encrypted_content": None},
        {},
    ]


# Errors


# Trap 25; F12 is about names that nobody expected.
@pytest.mark.requirement("F12", "R52", "R57", "R58", "R59")
@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [
        ({"type": "service_unavailable_error", "code": "server_is_overloaded"}, "transient", None),
        ({"type": "overloaded_error", "code": "server_is_overloaded"}, "transient", None),
        ({"type": "overloaded_error"}, "transient", None),
        ({"code": "server_is_overloaded"}, "transient", None),
        ({"code": "server_error"}, "transient", None),
        ({"code": "vector_store_timeout"}, "transient", None),
        ({"type": "tokens", "code": "rate_limit_exceeded"}, "rate_limit", None),
        ({"code": "rate_limit_exceeded", "message": "try again in 2.1s"}, "rate_limit", 3),
        ({"code": "strange", "message": "Please try again in 4s."}, "transient", 4),
        ({"type": "invalid_request_error", "message": "Please try again in 4s."}, "transient", 4),
        ({"type": "insufficient_quota", "message": "try again in 4s"}, "quota", None),
        ({"code": "insufficient_quota"}, "quota", None),
        ({"code": "context_length_exceeded"}, "context_length", None),
        ({"type": "invalid_request_error", "code": "model_not_found"}, "unknown_model", None),
        ({"type": "invalid_request_error", "code": "invalid_image"}, "malformed", None),
        ({"code": "invalid_prompt"}, "other", None),
        ({"code": "strange", "message": "no healthy upstream"}, "other", None),
    ],
)
def test_errors_inside_the_stream(error: Json, kind: str, wait: float | None) -> None:
    wrapped = {"type": "error", "error": error}
    failed = ended("failed", error=error)
    # Flat, the event's own type takes the place of the error's.
    flat = {**error, "type": "error"} if "code" in error and "type" not in error else wrapped
    for last in (wrapped, failed, flat):
        *_, event = decode(text("Hi"), last, text("lost"))
        assert (event["type"], event["kind"], event["retry_after"]) == ("error", kind, wait)


@pytest.mark.parametrize("error", [None, {}, ""])
def test_a_failure_without_an_explanation_passes(error: Any) -> None:
    check([ended("failed", error=error)], "error transient")


def test_what_an_error_says_is_shown() -> None:
    decoder = ResponsesDecoder(ERRORS)
    (failure,) = decoder.feed(
        sse({"type": "error", "code": "insufficient_quota", "message": "You are broke."})
    )
    assert isinstance(failure, StreamFailure)
    assert failure.message == (
        "You are broke. Check plan and billing at https://platform.openai.com/settings/organization/billing"
    )


# Usage


def test_usage_is_kept() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    decoder = ResponsesDecoder(ERRORS)
    decoder.feed(sse(ended(usage=usage)))
    assert decoder.usage == Usage(10, 5, 4, 3)
    decoder = ResponsesDecoder(ERRORS)
    decoder.feed(sse(ended(usage=None)))
    assert decoder.usage is None
