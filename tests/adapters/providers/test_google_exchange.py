"""Answers of Gemini beyond what the recordings hold: odd streams, refusals, and requests that are sent again."""

import json
from typing import Any

import pytest

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import StreamEvent, Usage
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import calls, event, model, request, returns, says, sse, user
from tests.adapters.providers.recorded_events import built, to_json
from tests.adapters.providers.replay import EXCHANGES, Json, Played, each_byte, play, whole

GEMINI = model("google/gemini-2.5-flash")
UNEXPECTED = "UNEXPECTED_TOOL_CALL"


def chunk(*parts: Any, finish: str | None = None, index: int = 0, **members: Any) -> Json:
    candidate = {"index": index, "content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **members}


def text(words: str, **members: Any) -> Json:
    return {"text": words, **members}


def call(name: str = "run", signature: str | None = None, **members: Any) -> Json:
    return {"functionCall": {"name": name, **members}} | (
        {"thoughtSignature": signature} if signature else {}
    )


def answer(*payloads: Any) -> Json:
    return {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": sse(*payloads).decode()}


def refusal(status: int, message: str, word: str = "INVALID_ARGUMENT", details: Any = ()) -> Json:
    error = {"code": status, "message": message, "status": word, "details": list(details)}
    return {
        "status": status,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"error": error}),
    }


def converse(*answers: Json, asked: CycleRequest | None = None) -> Played:
    played = play(EXCHANGES["google"](asked or request(of=GEMINI)), answers, each_byte)
    assert violations(played.events) == []
    return played


def events(*payloads: Any, **options: Any) -> list[Json]:
    return [to_json(item) for item in converse(answer(*payloads), **options).events]


def failure(*answers: Json) -> StreamFailure:
    (last,) = converse(*answers).events
    assert isinstance(last, StreamFailure)
    return last


def said(found: list[StreamEvent]) -> list[Any]:
    return [
        entry.get("message") or entry.get("reasoning") or entry.get("name") for entry in built(found)[:-1]
    ]


FLUSH, COMPLETED = {"type": "flush", "index": 0}, {"type": "finished", "reason": "completed"}


def part(words: str, index: int = 0, kind: str = "message", **members: Any) -> Json:
    return {"type": "part", "index": index, "kind": kind, "text": words, **members}


# One stream


@pytest.mark.requirement("R20")
def test_every_change_of_kind_and_every_call_begins_an_event() -> None:
    played = converse(
        answer(
            chunk(text("think", thought=True), text("say")),
            chunk(text("think again", thought=True), call("a"), call("b", id=" ")),
            chunk(text("and say"), finish="STOP"),
        )
    )
    assert said(played.events) == ["think", "say", "think again", "a", "b", "and say"]
    assert [entry["id"] for entry in built(played.events) if "arguments" in entry] == ["a_3", "b_4"]


def test_the_last_chunk_may_be_blank() -> None:
    assert events(chunk(text("Hi")), chunk(text(""), finish="STOP")) == [part("Hi"), FLUSH, COMPLETED]


def test_a_signature_on_a_text_is_kept() -> None:
    assert events(chunk(text("Hi", thoughtSignature="s"), finish="STOP"))[0] == part(
        "Hi", metadata={"google_thought_signature": "s"}
    )


@pytest.mark.parametrize(
    ("arguments", "written"),
    [({}, "{}"), ({"args": None}, "{}"), ({"args": {"a": [1]}}, '{"a":[1]}'), ({"args": "x"}, '"x"')],
)
def test_arguments(arguments: Json, written: str) -> None:
    assert events(chunk(call(**arguments), finish="STOP"))[1]["text"] == written


def test_parts_that_we_do_not_know_are_passed_over() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert events(chunk(text("a"), code, 5, None, text("b"), finish="STOP")) == [
        part("a"),
        part("b"),
        FLUSH,
        COMPLETED,
    ]


def test_only_the_first_candidate_counts() -> None:
    assert events(chunk(text("no"), index=1, finish="STOP"), chunk(text("Hi"), finish="STOP"))[0] == part(
        "Hi"
    )


def test_nothing_counts_behind_the_finish() -> None:
    assert events(chunk(text("Hi"), finish="STOP"), chunk(text("more"), finish="SAFETY")) == [
        part("Hi"),
        FLUSH,
        COMPLETED,
    ]


@pytest.mark.parametrize("word", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "A_NEW_WORD", UNEXPECTED])
def test_other_ends_say_their_word(word: str) -> None:
    answers = [answer(chunk(finish=word))] * 4
    assert to_json(converse(*answers).events[-1]) == {"type": "finished", "reason": "other", "value": word}


def test_a_blocked_prompt_is_a_refusal() -> None:
    feedback = {"promptFeedback": {"blockReason": "BLOCKLIST", "blockReasonMessage": "a word"}}
    assert events({"usageMetadata": {}}, feedback) == [
        {"type": "finished", "reason": "refused", "category": "BLOCKLIST", "explanation": "a word"}
    ]


def test_a_call_that_the_vendor_could_not_read_is_tried_again() -> None:
    broken = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call:run{"}]}
    found = failure(answer(broken))
    assert (found.kind, found.is_retryable) == ("transient", True)
    assert found.message == "the model wrote a tool call that cannot be read: call:run{"
    assert (
        to_json(converse(answer(chunk(text("Hi")), broken)).events[-1])["value"] == "MALFORMED_FUNCTION_CALL"
    )


@pytest.mark.parametrize("end", ["close", "abort"])
def test_without_a_finish_all_is_lost(end: str) -> None:
    found = converse({**answer(chunk(text("Ha")), chunk(call())), "end": end}).events
    assert isinstance(found[-1], StreamFailure)
    assert found[-1].kind == "transient"


def test_usage_counts_thoughts_as_output() -> None:
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5}
    exchange = EXCHANGES["google"](request(of=GEMINI))
    last = chunk(finish="STOP", usageMetadata={**counts, "cachedContentTokenCount": 4})
    play(exchange, [answer(chunk(text("a"), usageMetadata={"promptTokenCount": 1}), last)], whole)
    assert exchange.usage == Usage(9, 7, 4, 5)


# Errors


PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
WAIT = {"retryDelay": "3.5s"}
QUOTA = "Quota exceeded for metric: generate_content_requests"


@pytest.mark.requirement("R55", "F13")
@pytest.mark.parametrize(
    ("response", "kind", "wait"),
    [
        (refusal(429, QUOTA, "RESOURCE_EXHAUSTED", [PER_MINUTE, WAIT]), "rate_limit", 3.5),
        (refusal(429, QUOTA, "RESOURCE_EXHAUSTED", [PER_MINUTE, PER_DAY, WAIT]), "quota", None),
        (refusal(429, QUOTA, "RESOURCE_EXHAUSTED"), "rate_limit", None),
        (refusal(429, "Check your plan and billing details.", "RESOURCE_EXHAUSTED"), "quota", None),
        (refusal(403, "Method doesn't allow unregistered callers", "PERMISSION_DENIED"), "permission", None),
        (refusal(400, "API key expired. Please renew the API key."), "auth", None),
        (refusal(404, "models/x is not found for API version v1beta", "NOT_FOUND"), "unknown_model", None),
        ({"status": 404, "headers": {}, "body": "<html><title>404</title>"}, "other", None),
        (refusal(499, "The operation was cancelled.", "CANCELLED"), "transient", None),
        (refusal(500, "An internal error has occurred.", "INTERNAL"), "transient", None),
        (refusal(504, "Deadline expired.", "DEADLINE_EXCEEDED"), "transient", None),
        (refusal(400, "The input token count (2000000) exceeds the maximum"), "context_length", None),
        (refusal(400, "Unknown name 'x'"), "malformed", None),
    ],
)
def test_refusals(response: Json, kind: str, wait: float | None) -> None:
    found = failure(response)
    assert (found.kind, found.retry_after) == (kind, wait)
    assert ("https://" in found.message) is (kind == "quota")


@pytest.mark.parametrize("shape", [lambda error: error, lambda error: [error]])
def test_errors_inside_a_stream_are_what_the_response_would_have_been(shape: Any) -> None:
    spent = json.loads(refusal(429, QUOTA, "RESOURCE_EXHAUSTED", [PER_DAY])["body"])
    found = converse(answer(chunk(text("Ha")), shape(spent))).events
    assert isinstance(found[-1], StreamFailure)
    assert (found[-1].kind, found[-1].status) == ("quota", 429)
    bare = converse(answer(shape({"error": "it broke"}))).events[-1]
    assert isinstance(bare, StreamFailure)
    assert (bare.kind, bare.message) == ("transient", "it broke (HTTP 500)")


@pytest.mark.parametrize("payload", ["{not json", '{"candidates": [{"content"'])
def test_what_is_no_json_is_lost(payload: str) -> None:
    assert failure(answer(payload)).kind == "transient"


# Signatures


def signed(call_id: str, signature: str) -> Any:
    return event(calls(call_id).event.kind, google_thought_signature=signature)


THREE_TURNS = (
    *(user("one"), signed("1", "s1"), returns("1"), says("done")),
    *(user("two"), signed("2", "s2"), returns("2"), says("done")),
    *(user("three"), signed("3", "s3"), returns("3")),
)


@pytest.mark.requirement("F16", "F15")
@pytest.mark.parametrize(
    ("items", "message", "removed"),
    [
        (THREE_TURNS, "Corrupted thought signature.", "s3"),
        (THREE_TURNS, "Invalid thought signature", "s3"),
        (THREE_TURNS, "Function call is missing a thought_signature in functionCall parts", "s3"),
        ((*THREE_TURNS, signed("4", "s4"), returns("4")), "Corrupted thought signature.", "s3"),
        ((*THREE_TURNS[:-2], calls("3"), returns("3")), "Corrupted thought signature.", None),
        ((*THREE_TURNS, calls("4"), returns("4")), "missing a thought_signature", None),
        (THREE_TURNS, "Something else", None),
    ],
)
def test_the_oldest_signature_of_the_turn_is_taken_out(items: Any, message: str, removed: str | None) -> None:
    played = converse(refusal(400, message), asked=request(*items, of=GEMINI))
    assert len(played.bodies) == 1
    if removed is None:
        assert isinstance(played.events[0], StreamFailure)
        assert played.events[0].kind == "malformed"
        return
    match = {"metadata": "google_thought_signature", "equals": removed}
    assert [to_json(item) for item in played.events] == [
        {
            "type": "patch",
            "patches": [{"match": match, "action": {"remove_metadata": "google_thought_signature"}}],
        },
        {"type": "finished", "reason": "retry"},
    ]


# Sent again


def test_an_unexpected_call_is_asked_for_again() -> None:
    played = converse(
        answer(chunk(text("Let me see"), finish=UNEXPECTED)),
        answer(chunk(finish=UNEXPECTED)),
        answer(chunk(text("Done"), finish="STOP")),
    )
    assert [json.dumps(body) for body in played.bodies] == [json.dumps(played.bodies[0])] * 3
    assert said(played.events) == ["Let me see", "Done"]
    assert to_json(played.events[-1]) == COMPLETED


def test_it_is_asked_for_three_times_and_no_more() -> None:
    played = converse(*[answer(chunk(finish=UNEXPECTED))] * 4)
    assert len(played.bodies) == 4
    assert to_json(played.events[-1])["value"] == UNEXPECTED


def test_all_requests_are_paid_for() -> None:
    exchange = EXCHANGES["google"](request(of=GEMINI))
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 1}
    first = answer(chunk(finish=UNEXPECTED, usageMetadata=usage))
    play(exchange, [first, answer(chunk(text("a"), finish="STOP", usageMetadata=usage))], whole)
    assert exchange.usage == Usage(10, 2)
