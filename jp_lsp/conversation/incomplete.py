"""Finds out whether a conversation ends in a turn that was cut off, and what that turn waits for (query pipeline 1.6)."""

from dataclasses import dataclass

from jp_lsp.conversation.event import (
    ChatRequest,
    InquiryRequest,
    InquiryResponse,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, InquiryId
from jp_lsp.conversation.stream import ConversationStream


@dataclass(frozen=True, slots=True)
class IncompleteTurn:
    """The last turn, when it never came to its end.

    `index` counts turns from 1. `calls` are all tool calls of the turn with whether each has its response,
    `inquiries` the questions that nobody answered.
    """

    index: int
    calls: tuple[tuple[ToolCallRequest, bool], ...]
    inquiries: tuple[InquiryRequest, ...]


def incomplete_turn(stream: ConversationStream) -> IncompleteTurn | None:
    """Check the last turn: it is whole when a response follows its request, and all its calls and their responses."""
    calls: dict[CallId, ToolCallRequest] = {}
    responses: set[CallId] = set()
    inquiries: dict[InquiryId, InquiryRequest] = {}
    is_answered = True
    for event in stream.events():
        match event.kind:
            case TurnStart():
                calls, responses, inquiries, is_answered = {}, set[CallId](), {}, True
            case ChatRequest():
                is_answered = False
            case MessageResponse() | StructuredResponse():
                is_answered = True
            case ReasoningResponse():
                pass
            case ToolCallRequest(id=call):
                calls[call] = event.kind
                is_answered = False
            case ToolCallResponse(id=call):
                responses.add(call)
                is_answered = False
            case InquiryRequest(id=inquiry):
                inquiries[inquiry] = event.kind
            case InquiryResponse(id=inquiry):
                inquiries.pop(inquiry, None)
    if is_answered:
        return None
    asked = tuple((request, call in responses) for call, request in calls.items())
    return IncompleteTurn(stream.turn_count, asked, tuple(inquiries.values()))
