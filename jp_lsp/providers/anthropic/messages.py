"""A thread as Anthropic messages: blocks, merged by speaker (providers 6.1.1)."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

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
from jp_lsp.conversation.thread import Attachment, TextAttachment, Thread, ThreadEvent
from jp_lsp.providers.attachments import IMAGE_TYPES, base64_text, skipped
from jp_lsp.providers.continuation import CONTINUE, think_text
from jp_lsp.providers.untrusted import as_text, compact_json

PROVIDER = "anthropic"
SIGNATURE_KEY = "anthropic_thinking_signature"
REDACTED_KEY = "anthropic_redacted_thinking"
BREAKPOINT_KEY = "cache_breakpoint"
_MARKABLE_TYPES = frozenset({"text", "tool_use", "tool_result"})
"""Blocks that may carry a cache mark; the API refuses one on thinking."""
_LONGEST_TITLE = 500
"""Characters; the API refuses a request over a longer one, and the address of a command can be that long."""

Block = dict[str, JsonValue]


@dataclass(slots=True)
class Message:
    """What one speaker says in a row."""

    role: str
    blocks: list[Block]

    def to_json(self) -> dict[str, JsonValue]:
        """Give the message as it is sent."""
        return {"role": self.role, "content": self.blocks}


@dataclass(slots=True)
class BuiltMessages:
    """All messages. `documents` and `marked` are blocks among them that may carry a cache mark.

    `is_prefilled`: the last message is the assistant's, and the model shall write on from it.
    """

    messages: list[Message] = field(default_factory=list[Message])
    documents: list[Block] = field(default_factory=list[Block])
    marked: list[Block] = field(default_factory=list[Block])
    left_out: list[str] = field(default_factory=list[str])
    is_prefilled: bool = False

    def add(self, role: str, block: Block) -> None:
        """Add a block to the last message, or begin a new one."""
        if not self.messages or self.messages[-1].role != role:
            self.messages.append(Message(role, []))
        self.messages[-1].blocks.append(block)


def build_messages(thread: Thread, *, prefills: bool) -> BuiltMessages:
    """Turn the thread's events and attachments into messages.

    An assistant message at the end is where the model goes on. Its thinking becomes plain text, since a
    signature covers a whole message and this one is not whole; then it is either written on from
    (`prefills`) or followed by a request to go on.
    """
    built = BuiltMessages()
    ids = _CallIds()
    open_end = _position_of_open_end(thread.events)
    for position, item in enumerate(thread.events):
        for role, block in _blocks(item, ids, is_open=position >= open_end):
            built.add(role, block)
            if block["type"] in _MARKABLE_TYPES and item.event.metadata.get(BREAKPOINT_KEY) is True:
                built.marked.append(block)
    _add_documents(built, thread.attachments)
    if open_end < len(thread.events):
        _continue_last_message(built, prefills=prefills)
    return built


def _position_of_open_end(events: Sequence[ThreadEvent]) -> int:
    """Find where the assistant's message at the end begins; the end itself when there is none to continue."""
    position = len(events)
    while position and not isinstance(events[position - 1].event.kind, ChatRequest | ToolCallResponse):
        position -= 1
        if isinstance(events[position].event.kind, ToolCallRequest):
            return len(events)
    return position


def _blocks(item: ThreadEvent, ids: "_CallIds", *, is_open: bool) -> list[tuple[str, Block]]:
    match item.event.kind:
        case ChatRequest(content=content):
            return _text("user", content)
        case MessageResponse(text=text):
            return _text("assistant", text)
        case StructuredResponse(data=data):
            return _text("assistant", compact_json(data))
        case ReasoningResponse(text=text):
            return _reasoning(item, text, is_open=is_open)
        case ToolCallRequest(id=call_id, name=name, arguments=arguments):
            wire_id = ids.for_request(call_id)
            return [("assistant", {"type": "tool_use", "id": wire_id, "name": name, "input": arguments})]
        case ToolCallResponse(id=call_id, content=content, is_error=is_error):
            wire_id = ids.for_response(call_id)
            block: Block = {"type": "tool_result", "tool_use_id": wire_id, "content": content}
            return [("user", {**block, "is_error": is_error})]
        case _:
            return []


def _text(role: str, text: str) -> list[tuple[str, Block]]:
    # The API refuses text blocks without any visible character.
    return [(role, {"type": "text", "text": text})] if text.strip() else []


def _reasoning(item: ThreadEvent, text: str, *, is_open: bool) -> list[tuple[str, Block]]:
    is_ours = item.provider == PROVIDER
    signature = as_text(item.event.metadata.get(SIGNATURE_KEY)) if is_ours else ""
    redacted = as_text(item.event.metadata.get(REDACTED_KEY)) if is_ours else ""
    if signature and not is_open:
        return [("assistant", {"type": "thinking", "thinking": text, "signature": signature})]
    if redacted:
        return [] if is_open else [("assistant", {"type": "redacted_thinking", "data": redacted})]
    return _text("assistant", think_text(text)) if text.strip() else []


def _add_documents(built: BuiltMessages, attachments: Sequence[Attachment]) -> None:
    """Put the attachments in front of what the user said first."""
    for attachment in attachments:
        if (block := _document(attachment, built.left_out)) is not None:
            built.documents.append(block)
    if not built.documents:
        return
    # A request without words has no block. The next message of the user may hold results, which must stand
    # right behind their calls, so the attachments then get a message of their own.
    if not built.messages or built.messages[0].role != "user":
        built.messages.insert(0, Message("user", []))
    built.messages[0].blocks[:0] = built.documents


def _document(attachment: Attachment, left_out: list[str]) -> Block | None:
    source: Block
    if isinstance(attachment, TextAttachment):
        source = {"type": "text", "media_type": "text/plain", "data": attachment.text}
    elif attachment.media_type == "application/pdf" or attachment.media_type in IMAGE_TYPES:
        data: Block = {
            "type": "base64",
            "media_type": attachment.media_type,
            "data": base64_text(attachment),
        }
        is_image = attachment.media_type in IMAGE_TYPES
        source = {"type": "content", "content": [{"type": "image", "source": data}]} if is_image else data
    else:
        left_out.append(skipped(attachment, PROVIDER))
        return None
    block: Block = {"type": "document", "source": source, "title": _title(attachment.source)}
    if attachment.description:
        block["context"] = attachment.description
    return block


def _title(source: str) -> str:
    return source if len(source) <= _LONGEST_TITLE else source[: _LONGEST_TITLE - 1] + "…"


def _continue_last_message(built: BuiltMessages, *, prefills: bool) -> None:
    last = built.messages[-1] if built.messages else None
    if last is None or last.role != "assistant":
        return  # nothing of the broken answer is left to continue
    if not prefills:
        built.add("user", {"type": "text", "text": CONTINUE})
        return
    # The API refuses a message at the end that ends in blanks.
    last.blocks[-1]["text"] = as_text(last.blocks[-1].get("text")).rstrip()
    built.is_prefilled = True


class _CallIds:
    """Call ids as this API accepts them: certain characters only, and none twice in one conversation.

    Ids of other vendors may have any form, and servers that count from zero repeat theirs in every turn. The
    n-th response to an id belongs to its n-th request.
    """

    _FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._unanswered: dict[CallId, deque[str]] = {}

    def for_request(self, call_id: CallId) -> str:
        """Give the wire's id for a request."""
        wanted = self._FORBIDDEN.sub("_", call_id) or "call"
        unique, count = wanted, 1
        while unique in self._used:
            count += 1
            unique = f"{wanted}_{count}"
        self._used.add(unique)
        self._unanswered.setdefault(call_id, deque()).append(unique)
        return unique

    def for_response(self, call_id: CallId) -> str:
        """Give the wire's id for the response to the oldest request that still waits for one."""
        waiting = self._unanswered.get(call_id)
        return waiting.popleft() if waiting else self._FORBIDDEN.sub("_", call_id) or "call"
