"""Short ways to write down entries, streams and what became of them."""

import json
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    InquiryRequest,
    InquiryResponse,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import counting_event_ids
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stored import load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp

Raw = dict[str, JsonValue]


def at(second: int) -> Timestamp:
    """The time of an entry: so many seconds after an arbitrary moment."""
    return Timestamp((1_791_234_567 + second) * 1_000_000_000)


def raw(kind: str, second: int = 0, **fields: JsonValue) -> Raw:
    """A stored entry with its fields in the order given."""
    return {"timestamp": str(at(second)), "type": kind, **fields}


def turn(second: int = 0) -> Raw:
    return raw("turn_start", second)


def user(text: str, second: int = 0, **fields: JsonValue) -> Raw:
    return raw("chat_request", second, content=text, **fields)


def message(text: str, second: int = 0, **fields: JsonValue) -> Raw:
    return raw("chat_response", second, message=text, **fields)


def reasoning(text: str, second: int = 0, **fields: JsonValue) -> Raw:
    return raw("chat_response", second, reasoning=text, **fields)


def call(id: str, second: int = 0, name: str = "read", **arguments: JsonValue) -> Raw:
    return raw("tool_call_request", second, id=id, name=name, arguments=arguments)


def result(id: str, content: str = "", second: int = 0, *, is_error: bool = False) -> Raw:
    return raw("tool_call_response", second, id=id, content=content, is_error=is_error)


def question(id: str, second: int = 0) -> Raw:
    asked: Raw = {"text": "Sure?", "answer_type": {"type": "boolean"}}
    return raw("inquiry_request", second, id=id, source={"source": "tool", "name": "read"}, question=asked)


def answer(id: str, second: int = 0) -> Raw:
    return raw("inquiry_response", second, id=id, answer=True)


def delta(second: int = 0, **settings: JsonValue) -> Raw:
    return {"type": "config_delta", "timestamp": str(at(second)), "delta": settings}


def compaction(from_turn: int, to_turn: int, second: int = 0, **policies: JsonValue) -> Raw:
    return {
        "type": "compaction",
        "timestamp": str(at(second)),
        "from_turn": from_turn,
        "to_turn": to_turn,
        **policies,
    }


def file_text(value: object) -> str:
    """A value as the files hold it; an independent way to say what `json_text` must write."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def stream_of(
    *entries: Mapping[str, JsonValue],
    base: Mapping[str, JsonValue] | None = None,
    newer_format: bool = False,
) -> ConversationStream:
    """A stream as it is after loading these entries from disk."""
    return load(
        file_text(list(entries)),
        file_text(base or {}),
        created_at=at(0),
        mint=counting_event_ids(),
        newer_format=newer_format,
    )


def stored_entries(stream: ConversationStream) -> list[Raw]:
    """What the stream would write."""
    return json.loads(stream.events_text())  # type: ignore[no-any-return]


def summary(event: ConversationEvent) -> str:
    """One event as a short line."""
    match event.kind:
        case TurnStart():
            return "turn"
        case ChatRequest(content):
            return f"user: {content}"
        case MessageResponse(text):
            return f"message: {text}"
        case ReasoningResponse(text):
            return f"reasoning: {text}"
        case StructuredResponse(data):
            return f"data: {data!r}"
        case ToolCallRequest(id, name, arguments):
            return f"call {id}: {name}({dict(arguments)})"
        case ToolCallResponse(id, content, is_error):
            return f"{'error' if is_error else 'result'} {id}: {content}"
        case InquiryRequest(id):
            return f"question {id}"
        case InquiryResponse(id):
            return f"answer {id}"


def lines(events: Sequence[ConversationEvent]) -> list[str]:
    """Events as short lines."""
    return [summary(event) for event in events]


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """All entries as short lines, those that are no events by the name of their type."""
    return [
        summary(entry.content)
        if isinstance(entry.content, ConversationEvent)
        else type(entry.content).__name__
        for entry in entries
    ]
