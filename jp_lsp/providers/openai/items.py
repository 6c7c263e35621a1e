"""A thread as the input items of a response (providers 6.2.1).

What the vendor said comes back to it as the items that it made, with their ids and encrypted reasoning, which
is how a model goes on with thoughts that nobody else can read. Everything else is plain messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from jp_lsp.conversation.event import (
    ChatRequest,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, Thread, ThreadEvent
from jp_lsp.providers.attachments import IMAGE_TYPES, data_url, label, skipped, text_documents
from jp_lsp.providers.continuation import CONTINUE, think_text
from jp_lsp.providers.openai.errors import PROVIDER
from jp_lsp.providers.untrusted import as_text, compact_json

ITEM_ID_KEY = "openai_item_id"
ENCRYPTED_KEY = "openai_encrypted_content"
PHASE_KEY = "openai_phase"
_PDF = "application/pdf"
_LONGEST_CALL_ID = 64

Item = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class BuiltInput:
    """All items. `system` and `attachments` are the texts and files among them that may carry a cache mark."""

    items: list[Item]
    system: list[Item]
    attachments: list[Item]
    left_out: list[str]


def build_input(thread: Thread, *, instructions: Sequence[str] = ()) -> BuiltInput:
    """Turn a thread into items; `instructions` stand behind the system parts and come and go with queries."""
    system: list[Item] = [_input_text(part) for part in thread.system_parts]
    passing = [_input_text(text) for text in instructions]
    items: list[Item] = [{"type": "message", "role": "system", "content": [*system, *passing]}]
    left_out: list[str] = []
    attachments = _attachments(thread.attachments, left_out)
    if attachments:
        items.append({"type": "message", "role": "user", "content": [*attachments]})
    history = [item for i in range(len(thread.events)) for item in _history_item(thread.events, i)]
    if history and _is_assistants_text(history[-1]):
        history.append(_message("user", CONTINUE))
    return BuiltInput([*items, *history], system, attachments, left_out)


def _input_text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _message(role: str, content: str) -> Item:
    return {"type": "message", "role": role, "content": content}


def _is_assistants_text(item: JsonObject) -> bool:
    return item["type"] == "reasoning" or item.get("role") == "assistant"


def _attachments(attachments: Sequence[Attachment], left_out: list[str]) -> list[Item]:
    items: list[Item] = []
    if documents := text_documents(attachments):
        items.append(_input_text(documents))
    for attachment in attachments:
        if not isinstance(attachment, BinaryAttachment):
            continue
        items.append(_input_text(label(attachment)))
        if attachment.media_type in IMAGE_TYPES:
            items.append({"type": "input_image", "detail": "auto", "image_url": data_url(attachment)})
        elif attachment.media_type == _PDF:
            file: Item = {"file_data": data_url(attachment), "filename": attachment.source}
            items.append({"type": "input_file", **file})
        else:
            left_out.append(skipped(attachment, PROVIDER))
    return items


def _history_item(events: Sequence[ThreadEvent], position: int) -> list[Item]:
    event = events[position].event
    phase = {"phase": name} if (name := as_text(event.metadata.get(PHASE_KEY))) else {}
    match event.kind:
        case ChatRequest(content=content):
            return [_message("user", content)]
        case ReasoningResponse(text=text):
            return _reasoning(events, position, text)
        case MessageResponse(text=text) if item_id := as_text(event.metadata.get(ITEM_ID_KEY)):
            said: JsonValue = [{"type": "output_text", "text": text, "annotations": []}]
            message: Item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed"}
            return [{**message, "content": said, **phase}]
        case MessageResponse(text=text):
            return [{**_message("assistant", text), **phase}]
        case StructuredResponse(data=data):
            return [{**_message("assistant", compact_json(data)), **phase}]
        case ToolCallRequest(id=call_id, name=name, arguments=arguments):
            call: Item = {"call_id": _fit(call_id), "name": name, "arguments": compact_json(arguments)}
            return [{"type": "function_call", **call}]
        case ToolCallResponse(id=call_id, content=content):
            return [{"type": "function_call_output", "call_id": _fit(call_id), "output": content}]
        case _:
            return []


def _fit(call_id: CallId) -> str:
    """Give an id as this API takes it: other vendors make longer ones, and their ends tell them apart."""
    if len(call_id) <= _LONGEST_CALL_ID:
        return call_id
    digest = sha256(call_id.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{call_id[: _LONGEST_CALL_ID - 17]}_{digest}"


def _reasoning(events: Sequence[ThreadEvent], position: int, text: str) -> list[Item]:
    metadata = events[position].event.metadata
    item_id = as_text(metadata.get(ITEM_ID_KEY))
    if not item_id or not _has_follower(events, position):
        return [_message("assistant", think_text(text))] if text.strip() else []
    return [
        {
            "type": "reasoning",
            "id": item_id,
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": as_text(metadata.get(ENCRYPTED_KEY)) or None,
        }
    ]


def _has_follower(events: Sequence[ThreadEvent], position: int) -> bool:
    """Whether the item that the thought led to comes next.

    The API refuses reasoning without it: after an interrupt there may be half a message, which never was an
    item, and a compaction may have removed the call.
    """
    for following in events[position + 1 :]:
        has_id = bool(as_text(following.event.metadata.get(ITEM_ID_KEY)))
        match following.event.kind:
            case ReasoningResponse() if has_id:
                continue
            case ToolCallRequest() | StructuredResponse():
                return True
            case MessageResponse():
                return has_id
            case _:
                return False
    return False
