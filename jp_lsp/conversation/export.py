"""A conversation for other programs: plain JSON with nothing encoded, and times as RFC 3339 (7.12)."""

from collections.abc import Iterable

from jp_lsp.conversation import event_codec
from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.json_value import JsonObject, JsonValue


def event_view(event: ConversationEvent) -> JsonObject:
    """Give an event as it is stored, but with its texts decoded."""
    stored = dict(event_codec.encode(event, newer_format=True))
    stored["timestamp"] = event.timestamp.rfc3339()
    match event.kind:
        case ToolCallRequest():
            stored["arguments"] = event.kind.arguments
        case ToolCallResponse():
            stored["content"] = event.kind.content
        case _:
            pass
    if event.metadata:
        stored["metadata"] = dict(event.metadata)
    return stored


def events_view(events: Iterable[ConversationEvent]) -> list[JsonValue]:
    """Give all events of a conversation, in order."""
    return [event_view(event) for event in events]
