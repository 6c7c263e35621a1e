"""Turns that were cut off are found, with what they wait for."""

import pytest

from jp_lsp.conversation.event import (
    Answered,
    AnswerType,
    ChatRequest,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    InquirySource,
    MessageResponse,
    Question,
    ReasoningResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp

HI = (TurnStart(), ChatRequest("hi"))
DONE = (*HI, MessageResponse("done"))
CALL_A, CALL_B = (ToolCallRequest(CallId(name), "t", {}) for name in "ab")
RESULT_A = ToolCallResponse(CallId("a"), "ok", is_error=False)
ASKED = InquiryRequest(
    InquiryId("q"), InquirySource("tool", "t"), Question("Sure?", AnswerType("boolean", ()), None)
)


def stream_of(*kinds: EventKind) -> ConversationStream:
    stream = ConversationStream.new(Timestamp(0), {})
    for kind in kinds:
        stream.append(ConversationEvent(Timestamp(0), kind))
    return stream


@pytest.mark.parametrize("whole", [(), DONE, (*HI, CALL_A, RESULT_A, MessageResponse("done"))])
def test_a_whole_turn_is_none(whole: tuple[EventKind, ...]) -> None:
    assert incomplete_turn(stream_of(*whole)) is None


@pytest.mark.requirement("R179")
@pytest.mark.parametrize(
    ("kinds", "index", "calls", "inquiries"),
    [
        (HI, 1, [], []),
        ((*DONE, *HI, ReasoningResponse("hm")), 2, [], []),
        ((*DONE, *HI, MessageResponse("I look."), CALL_A, CALL_B, RESULT_A), 2, [True, False], []),
        ((*HI, CALL_A, RESULT_A), 1, [True], []),
        ((*HI, CALL_A, ASKED), 1, [False], ["q"]),
        ((*HI, CALL_A, ASKED, InquiryResponse(InquiryId("q"), Answered(True))), 1, [False], []),
    ],
)
def test_what_a_turn_waits_for(
    kinds: tuple[EventKind, ...], index: int, calls: list[bool], inquiries: list[str]
) -> None:
    found = incomplete_turn(stream_of(*kinds))
    assert found is not None
    assert found.index == index
    assert [is_answered for _, is_answered in found.calls] == calls
    assert [inquiry.id for inquiry in found.inquiries] == inquiries
