"""A thread as Ollama's messages (providers 6.4)."""

from collections.abc import Sequence

from jp_lsp.conversation.event import (
    ChatRequest,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, Thread, ThreadEvent
from jp_lsp.providers.attachments import IMAGE_TYPES, base64_text, skipped, text_documents
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.untrusted import compact_json

PROVIDER = "ollama"

Message = dict[str, JsonValue]


def build_messages(thread: Thread, *, prefills: bool) -> tuple[list[Message], list[str]]:
    """Give the messages, and a sentence for each attachment that the server cannot take.

    `prefills`: the model writes on from its own words at the end; otherwise it is asked to go on.
    """
    messages: list[Message] = [{"role": "system", "content": part} for part in thread.system_parts]
    if documents := text_documents(thread.attachments):
        messages.append({"role": "system", "content": documents})
    images, left_out = _images(thread.attachments)
    if images:
        messages.append({"role": "user", "content": "", "images": images})
    messages += _history(thread.events)
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and "tool_calls" not in last and not prefills:
        messages.append({"role": "user", "content": CONTINUE})
    return messages, left_out


def _images(attachments: Sequence[Attachment]) -> tuple[list[JsonValue], list[str]]:
    images: list[JsonValue] = []
    left_out: list[str] = []
    for item in attachments:
        if not isinstance(item, BinaryAttachment):
            continue
        if item.media_type in IMAGE_TYPES:
            images.append(base64_text(item))
        else:
            left_out.append(skipped(item, PROVIDER))
    return images, left_out


def _history(events: Sequence[ThreadEvent]) -> list[Message]:
    messages: list[Message] = []
    names: dict[CallId, str] = {}
    calls_in_a_row = 0
    for item in events:
        if isinstance(item.event.kind, ToolCallRequest):
            calls_in_a_row += 1
        elif not isinstance(item.event.kind, ToolCallResponse):
            calls_in_a_row = 0
        match item.event.kind:
            case ChatRequest(content=text):
                messages.append({"role": "user", "content": text})
            case MessageResponse(text=text):
                messages.append({"role": "assistant", "content": text})
            case StructuredResponse(data=data):
                messages.append({"role": "assistant", "content": compact_json(data)})
            case ReasoningResponse(text=text):
                _add_thinking(messages, text)
            case ToolCallRequest(id=call_id, name=name, arguments=arguments):
                names[call_id] = name
                function: JsonValue = {"name": name, "arguments": arguments}
                messages.append({"role": "assistant", "content": "", "tool_calls": [{"function": function}]})
            case ToolCallResponse(id=call_id, content=text):
                # The API has no ids: a name is what tells the results of several calls apart.
                named: Message = {"tool_name": names.get(call_id, "")} if calls_in_a_row > 1 else {}
                messages.append({"role": "tool", "content": text, **named})
            case _:
                pass
    return messages


def _add_thinking(messages: list[Message], text: str) -> None:
    """Add thinking to what the assistant said right before it, if that has none, else as words of its own."""
    if not text:
        return
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and "thinking" not in last:
        last["thinking"] = text
    else:
        messages.append({"role": "assistant", "content": "", "thinking": text})
