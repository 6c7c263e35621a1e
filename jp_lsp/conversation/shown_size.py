"""How much models are shown of a conversation: whether a compaction is worth anything is measured with it."""

from jp_lsp.conversation import json_text
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.projection import is_provider_visible, project
from jp_lsp.conversation.stream import ConversationStream


def shown_size(stream: ConversationStream) -> int:
    """Give the bytes of text in all events that a model is shown, as compactions leave them."""
    return sum(_size(item.event) for item in project(stream.entries) if is_provider_visible(item.event))


def _size(event: ConversationEvent) -> int:
    match event.kind:
        case ChatRequest(text) | MessageResponse(text) | ReasoningResponse(text):
            return _bytes(text)
        case StructuredResponse(data):
            return _bytes(json_text.to_text(data))
        case ToolCallRequest(_, name, arguments):
            return _bytes(name) + _bytes(json_text.to_text(arguments))
        case ToolCallResponse(_, content, _):
            return _bytes(content)
        case _:
            return 0


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
