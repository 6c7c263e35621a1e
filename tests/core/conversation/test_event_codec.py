"""The seven kinds, as chapter 3.6 of the format shows them."""

import pytest

from jp_lsp.conversation.event import (
    Answered,
    AnswerType,
    Cancelled,
    ChatRequest,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    InquirySource,
    MessageResponse,
    Question,
    ReasoningResponse,
    Redacted,
    SelectOption,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.event_codec import decode, encode
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.shape import ShapeError
from tests.support.streams import Raw, at, raw

YES_OR_NO = AnswerType("boolean")

EXAMPLES: list[tuple[Raw, EventKind]] = [
    (raw("turn_start"), TurnStart()),
    (raw("chat_request", content=""), ChatRequest("")),
    (
        raw("chat_request", content="hi", schema={"type": "object"}, author="Ada"),
        ChatRequest("hi", {"type": "object"}, "Ada"),
    ),
    (raw("chat_response", message="The token expired."), MessageResponse("The token expired.")),
    (raw("chat_response", reasoning=""), ReasoningResponse("")),
    (raw("chat_response", data={"ok": True}), StructuredResponse({"ok": True})),
    (raw("chat_response", data=None), StructuredResponse(None)),
    (
        raw(
            "tool_call_request",
            id="call_9",
            name="fs_read",
            arguments={"path": "c3JjL21haW4ucnM=", "lines": 40},
        ),
        ToolCallRequest(CallId("call_9"), "fs_read", {"path": "src/main.rs", "lines": 40}),
    ),
    (
        raw("tool_call_response", id="call_9", content="aGVsbG8=", is_error=False),
        ToolCallResponse(CallId("call_9"), "hello", is_error=False),
    ),
    (
        raw(
            "inquiry_request",
            id="call_9.overwrite",
            source={"source": "tool", "name": "fs_write"},
            question={"text": "Overwrite?", "answer_type": {"type": "boolean"}, "default": False},
        ),
        InquiryRequest(
            InquiryId("call_9.overwrite"),
            InquirySource("tool", "fs_write"),
            Question("Overwrite?", YES_OR_NO, default=False),
        ),
    ),
    (
        raw(
            "inquiry_request",
            id="q",
            source={"source": "assistant"},
            question={
                "text": "Which?",
                "answer_type": {
                    "type": "select",
                    "options": [{"value": 1}, {"value": "b", "description": "the second"}],
                },
            },
        ),
        InquiryRequest(
            InquiryId("q"),
            InquirySource("assistant"),
            Question("Which?", AnswerType("select", (SelectOption(1), SelectOption("b", "the second")))),
        ),
    ),
    (raw("inquiry_response", id="q", answer=None), InquiryResponse(InquiryId("q"), Answered(None))),
]


@pytest.mark.parametrize(("stored", "kind"), EXAMPLES)
@pytest.mark.requirement("R30", "R31", "R32", "C21")
def test_a_kind_is_read_and_written_back(stored: Raw, kind: EventKind) -> None:
    event = decode(stored)
    assert event == ConversationEvent(at(0), kind)
    written = encode(event, newer_format=False)
    assert written == stored
    assert list(written) == list(stored)


@pytest.mark.requirement("R29", "C40")
def test_metadata_come_last_and_their_strings_are_encoded() -> None:
    stored = raw(
        "chat_response", reasoning="", metadata={"anthropic_redacted_thinking": "c2ln", "nested": {"n": 1}}
    )
    event = decode(stored)
    assert event.metadata == {"anthropic_redacted_thinking": "sig", "nested": {"n": 1}}
    assert list(encode(event, newer_format=False).items()) == list(stored.items())


@pytest.mark.requirement("C28")
def test_rendered_arguments_are_decoded_once_when_read() -> None:
    stored = raw("turn_start", metadata={"rendered_arguments": "WVdKag=="})
    assert decode(stored).metadata == {"rendered_arguments": "YWJj"}


OUTCOMES: list[tuple[Answered | Cancelled | Redacted, Raw, Raw]] = [
    (Answered("x"), {"id": "q", "answer": "x"}, {"outcome": "answered", "id": "q", "answer": "x"}),
    (
        Cancelled("user"),
        {"outcome": "cancelled", "id": "q", "reason": "user", "answer": None},
        {"outcome": "cancelled", "id": "q", "reason": "user"},
    ),
    (Redacted(), {"outcome": "redacted", "id": "q", "answer": None}, {"outcome": "redacted", "id": "q"}),
]


@pytest.mark.parametrize(("outcome", "older", "newer"), OUTCOMES)
def test_outcomes_are_written_so_that_older_readers_load_them(
    outcome: Answered | Cancelled | Redacted, older: Raw, newer: Raw
) -> None:
    event = ConversationEvent(at(0), InquiryResponse(InquiryId("q"), outcome))
    for newer_format, fields in ((False, older), (True, newer)):
        written = encode(event, newer_format=newer_format)
        assert written == {**raw("inquiry_response"), **fields}
        assert decode(written) == event


@pytest.mark.parametrize("fields", [{}, {"reason": None}, {"reason": 7}])
def test_a_cancellation_without_a_reason_has_an_unspecified_one(fields: Raw) -> None:
    stored = {**raw("inquiry_response", id="q", outcome="cancelled"), **fields}
    assert decode(stored).kind == InquiryResponse(InquiryId("q"), Cancelled("unspecified"))


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        (raw("chat_request", content="a", schema=None, author=None), ChatRequest("a")),
        (raw("tool_call_request", id="c", name="t"), ToolCallRequest(CallId("c"), "t", {})),
        (raw("chat_response", message=None, reasoning="x"), ReasoningResponse("x")),
        (raw("chat_response", data=1, message="m", reasoning="x"), MessageResponse("m")),
        (raw("chat_response", message=1, data=2), StructuredResponse(2)),
    ],
)
@pytest.mark.requirement("C20", "C33")
def test_missing_and_null_are_the_same_where_the_format_says_so(stored: Raw, kind: EventKind) -> None:
    assert decode(stored).kind == kind


def inquiry(**changes: JsonValue) -> Raw:
    fields: Raw = {
        "id": "q",
        "source": {"source": "user"},
        "question": {"text": "t", "answer_type": {"type": "text"}},
        **changes,
    }
    return {**raw("inquiry_request"), **fields}


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        ({"type": "turn_start"}, "'timestamp' is missing"),
        ({"type": "turn_start", "timestamp": "2026-10-05T21:09:27"}, "'timestamp'"),
        ({"type": "turn_start", "timestamp": "2026-99-05 21:09:27.0"}, "'timestamp'"),
        (raw("turn_start", metadata=None), "'metadata' must be an object, not null"),
        (raw("chat_request"), "'content' is missing"),
        (raw("chat_request", content=1), "'content' must be a string, not a number"),
        (raw("chat_request", content="a", schema=[]), "'schema' must be an object, not an array"),
        (raw("chat_response"), "none of"),
        (raw("chat_response", message=1), "none of"),
        (
            raw("tool_call_request", id="c", name="t", arguments=None),
            "'arguments' must be an object, not null",
        ),
        (raw("tool_call_request", name="t"), "'id' is missing"),
        (raw("tool_call_response", id="c", content="x"), "'is_error' is missing"),
        (raw("tool_call_response", id="c", content="x", is_error="no"), "'is_error' must be true or false"),
        (raw("inquiry_response", id="q"), "'answer' is missing"),
        (raw("inquiry_response", id="q", outcome="answered"), "'answer' is missing"),
        (raw("inquiry_response", id="q", outcome="lost", answer=1), "'outcome' 'lost'"),
        (inquiry(source={"source": "tool"}), "'name' is missing"),
        (inquiry(source={"source": "cat"}), "'source' 'cat'"),
        (inquiry(question={"text": "t", "answer_type": {"type": "date"}}), "'answer_type' 'date'"),
        (inquiry(question={"text": "t", "answer_type": {"type": "select"}}), "'options' is missing"),
        (
            inquiry(question={"text": "t", "answer_type": {"type": "select", "options": [1]}}),
            "'options' must hold objects, not a number",
        ),
    ],
)
@pytest.mark.requirement("C15", "C20", "C21", "C33")
def test_a_wrong_shape_is_refused_and_named(stored: Raw, problem: str) -> None:
    with pytest.raises(ShapeError, match=problem):
        decode(stored)
