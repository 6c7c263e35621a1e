"""A thread as OpenRouter wants it (providers 6.7).

Texts are lists of blocks, the system parts are one message that may carry cache marks, and files stand with
their names in a message of the user. Reasoning is not sent back, unless the user asks for it.
"""

from collections.abc import Sequence

from jp_lsp.conversation.event import ChatRequest, ReasoningResponse, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, ThreadEvent
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.attachments import IMAGE_TYPES, data_url, label, text_documents
from jp_lsp.providers.chat.dialect import WrittenMessages
from jp_lsp.providers.chat.messages import Message, history_messages, text_block
from jp_lsp.providers.chat.reasoning_details import written_details
from jp_lsp.providers.untrusted import as_list, as_object, as_text

RETURNS_REASONING = "return_reasoning"
"""The member of the user's `other` parameters that has signed thoughts sent back."""

_MARKED_VENDORS = ("anthropic", "google")
"""Whose models keep what is marked; the others cache by themselves and need no marks."""


def write_messages(request: CycleRequest, prefills: bool) -> WrittenMessages:
    """Write the thread of a request."""
    thread = request.thread
    messages: list[Message] = []
    if thread.system_parts:
        is_marked = request.parameters.cache.seconds > 0 and request.model.id.name.startswith(_MARKED_VENDORS)
        messages.append({"role": "system", "content": _system(thread.system_parts, is_marked=is_marked)})
    if files := _files(thread.attachments):
        messages.append({"role": "user", "content": files})
    history = history_messages(thread.events, reasoning_member=None, writes_blocks=True, prefills=prefills)
    messages += [_with_numbered_calls(message) for message in history]
    if request.parameters.other.get(RETURNS_REASONING) is True:
        _add_details(messages, thread.events)
    return WrittenMessages(messages, [])


def _system(parts: Sequence[str], *, is_marked: bool) -> list[JsonValue]:
    blocks = [text_block(part) for part in parts]
    if is_marked:
        for block in (blocks[0], blocks[-1]):
            block["cache_control"] = {"type": "ephemeral"}
    return [*blocks]


def _files(attachments: Sequence[Attachment]) -> list[JsonValue]:
    blocks: list[JsonValue] = []
    if documents := text_documents(attachments):
        blocks.append(text_block(documents))
    for item in attachments:
        if not isinstance(item, BinaryAttachment):
            continue
        blocks.append(text_block(label(item)))
        url = data_url(item)
        if item.media_type in IMAGE_TYPES:
            blocks.append({"type": "image_url", "image_url": {"url": url}})
        else:
            blocks.append({"type": "file", "file": {"filename": item.source, "file_data": url}})
    return blocks


def _with_numbered_calls(message: Message) -> Message:
    """Number the calls of a message: without numbers results get lost on the way to the vendor behind."""
    if "tool_calls" not in message:
        return message
    calls = as_list(message["tool_calls"])
    return {**message, "tool_calls": [{**as_object(call), "index": i} for i, call in enumerate(calls)]}


def _add_details(messages: Sequence[Message], events: Sequence[ThreadEvent]) -> None:
    """Give the thoughts that led to calls back to the messages with these calls."""
    thoughts: list[JsonValue] = []
    of_call: dict[str, list[JsonValue]] = {}
    for item in events:
        match item.event.kind:
            case ReasoningResponse(text=text):
                thoughts += written_details(text, item.event.metadata)
            case ToolCallRequest(id=call_id):
                of_call[call_id] = thoughts
            case ChatRequest() | ToolCallResponse():
                thoughts = []
            case _:
                pass
    for message in messages:
        calls: Sequence[JsonObject] = [as_object(call) for call in as_list(message.get("tool_calls"))]
        if calls and (details := of_call.get(as_text(calls[0].get("id")))):
            message["reasoning_details"] = details
