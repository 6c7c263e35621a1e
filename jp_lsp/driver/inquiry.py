"""A question of a tool, answered by a model in the background (query pipeline 3.7).

The model sees the conversation as it stands, with the waiting call answered by a note, and the question as a
last request with a schema. Nothing of it is stored or shown.
"""

import logging
from collections.abc import Callable

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    StructuredResponse,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.thread import build_thread
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.prepare import CycleParts
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.tools.actions import AskAssistant
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.turn.arguments import parse_structured
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.cycle import GiveUp, ResilientCycle
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import InquiryAnswered
from jp_lsp.turn.options import RetryPolicy
from jp_lsp.turn.stream_event import Finished, Flush, TextPart, ToolCallArguments, ToolCallStart, Usage

_log = logging.getLogger(__name__)

RETRIES = RetryPolicy(max_retries=3, base_backoff=1.0, max_backoff=30.0)
"""Background requests have their own, smaller budget (query pipeline 6.2)."""


async def ask_assistant(
    action: AskAssistant,
    stream: ConversationStream,
    parts: CycleParts,
    clock: Clock,
    post: Callable[[InquiryAnswered], None],
) -> None:
    """Ask, and post the answer or why there is none."""
    request = _request(action, stream, parts, Timestamp(clock.now().nanoseconds))
    cycle = ResilientCycle(RETRIES, lambda: 0.0)
    while True:
        cycle.attempt_began()
        events, failure = await _collect(request, parts)
        if failure is None:
            answer, problem = _answer(events)
            post(InquiryAnswered(action.call, action.pass_number, answer, problem))
            return
        decision = cycle.after_failure(failure)
        if isinstance(decision, GiveUp):
            post(InquiryAnswered(action.call, action.pass_number, None, failure.message))
            return
        await clock.sleep(decision.delay)


def _request(
    action: AskAssistant, stream: ConversationStream, parts: CycleParts, now: Timestamp
) -> CycleRequest:
    copy = stream.copy()
    note = ToolCallResponse(action.call, f"Tool paused: {action.question.text}", is_error=False)
    copy.append(ConversationEvent(now, note))
    copy.append(ConversationEvent(now, TurnStart()))
    text = (
        f"The tool {action.tool!r} asks: {action.question.text}\n"
        f"{action.question.context or ''}\n"
        "Answer from what this conversation is about, on behalf of its user."
    )
    copy.append(ConversationEvent(now, ChatRequest(text, _schema(action.question))))
    thread = build_thread(copy, system_prompt=parts.system_prompt, sections=parts.sections, attachments=())
    return CycleRequest(parts.model, thread, parts.parameters, parts.tools, "none")


def _schema(question: ToolQuestion) -> JsonObject:
    answer: JsonObject
    match question.kind:
        case "boolean":
            answer = {"type": "boolean"}
        case "select":
            answer = {"type": "string", "enum": list(question.options)}
        case _:
            answer = {"type": "string"}
    return {
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": False,
    }


async def _collect(
    request: CycleRequest, parts: CycleParts
) -> tuple[list[ConversationEvent], StreamFailure | None]:
    """Read one response to its end."""
    builder = EventBuilder()
    at = Timestamp(0)
    events: list[ConversationEvent] = []
    stream = parts.provider.stream(request, _NobodyWatches())
    try:
        async for item in stream:
            match item:
                case TextPart() | ToolCallStart() | ToolCallArguments():
                    builder.accept(item)
                case Flush(index, metadata):
                    events += builder.flush(index, metadata, at)
                case StreamFailure():
                    return events, item
                case Finished():
                    return events + builder.finish(at), None
                case _:
                    pass
    finally:
        await stream.aclose()
    return events, StreamFailure(FailureKind.TRANSIENT, "the stream ended without a terminal event")


def _answer(events: list[ConversationEvent]) -> tuple[JsonValue, str | None]:
    """Find the value; a model without structured output may have written it as text."""
    for event in reversed(events):
        value: JsonValue = None
        if isinstance(event.kind, StructuredResponse):
            value = event.kind.data
        elif isinstance(event.kind, MessageResponse):
            value = parse_structured(event.kind.text)
        if isinstance(value, dict) and "answer" in value:
            return value["answer"], None
    return None, "it gave no answer in the form that was asked for"


class _NobodyWatches:
    """Usage of background requests is not part of the turn's."""

    def bytes_received(self) -> None:
        """Nothing to note."""

    def usage_reported(self, usage: Usage) -> None:
        """Log it."""
        _log.debug("an inquiry took %s", usage)
