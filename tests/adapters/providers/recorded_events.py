"""Stream events as the recordings of vendors write them, and what the event builder makes of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from jp_lsp.conversation.event import (
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
)
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)
from tests.adapters.providers.making import AT
from tests.adapters.providers.replay import Json


def to_json(event: StreamEvent) -> Json:
    """Write an event as the recordings do."""
    match event:
        case TextPart(index, kind, text, metadata):
            return _with_metadata({"type": "part", "index": index, "kind": kind, "text": text}, metadata)
        case ToolCallStart(index, call_id, name, metadata):
            start = {"type": "part", "index": index, "kind": "tool_call", "stage": "start"}
            return _with_metadata({**start, "id": call_id, "name": name}, metadata)
        case ToolCallArguments(index, text):
            return {"type": "part", "index": index, "kind": "tool_call", "stage": "arguments", "text": text}
        case Flush(index, metadata):
            return _with_metadata({"type": "flush", "index": index}, metadata)
        case KeepAlive():
            return {"type": "keep_alive"}
        case Patch(patches):
            return {"type": "patch", "patches": [_patch(patch) for patch in patches]}
        case Finished(reason):
            return {"type": "finished", **_reason(reason)}
        case StreamFailure():
            return {
                "type": "error",
                "kind": str(event.kind),
                "retryable": event.is_retryable,
                "retry_after": event.retry_after,
            }


def _patch(patch: MetadataPatch) -> Json:
    return {
        "match": {"metadata": patch.key, "equals": patch.value},
        "action": {"remove_metadata": patch.key},
    }


def _reason(reason: object) -> Json:
    match reason:
        case Completed():
            return {"reason": "completed"}
        case MaxTokens():
            return {"reason": "max_tokens"}
        case RetryRequested():
            return {"reason": "retry"}
        case Refused(category, explanation):
            return {"reason": "refused", "category": category, "explanation": explanation}
        case OtherReason(value):
            return {"reason": "other", "value": value}
        case _:
            raise AssertionError(f"unknown reason {reason}")


def _with_metadata(event: Json, metadata: Mapping[str, Any]) -> Json:
    return {**event, "metadata": dict(metadata)} if metadata else event


def taken(builder: EventBuilder, event: StreamEvent) -> list[ConversationEvent]:
    """Let a builder take a part or a flush, as a turn does; gives what may be stored then."""
    match event:
        case TextPart() | ToolCallStart() | ToolCallArguments():
            builder.accept(event)
            return []
        case Flush(index, metadata):
            return builder.flush(index, metadata, AT)
        case _:
            return []


def built(events: Iterable[StreamEvent]) -> list[Json]:
    """Feed events to the event builder and give what it stores, and the end, as the recordings write it."""
    builder = EventBuilder()
    result: list[Json] = []
    for event in events:
        result += map(_entry, taken(builder, event))
        if isinstance(event, Finished):
            if isinstance(event.reason, Refused):
                builder.clear()
            result += [*map(_entry, builder.finish(AT)), to_json(event)]
    return result


def _entry(event: ConversationEvent) -> Json:
    match event.kind:
        case MessageResponse(text):
            entry = {"type": "chat_response", "kind": "message", "message": text}
        case ReasoningResponse(text):
            entry = {"type": "chat_response", "kind": "reasoning", "reasoning": text}
        case StructuredResponse(data):
            entry = {"type": "chat_response", "kind": "structured", "data": data}
        case ToolCallRequest(call_id, name, arguments):
            entry = {"type": "tool_call_request", "id": call_id, "name": name, "arguments": arguments}
        case kind:
            raise AssertionError(f"a provider cannot say {kind}")
    return _with_metadata(entry, event.metadata)


def joined(events: Iterable[Json]) -> list[Json]:
    """Join consecutive parts of one index and kind, where their split points are free."""
    result: list[Json] = []
    for event in events:
        previous = result[-1] if result else {}
        is_same = all(previous.get(key) == event.get(key) for key in ("type", "index", "kind", "stage"))
        if is_same and event["type"] == "part" and event.get("stage") != "start":
            result[-1] = {**previous, "text": previous["text"] + event["text"]}
        else:
            result.append(event)
    return result
