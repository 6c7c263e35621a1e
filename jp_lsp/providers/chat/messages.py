"""A thread as chat messages (providers 6.5).

Order: one system message for each system part, text attachments as one more, images as a user message, then
the history. What the assistant said between two other speakers becomes one message, since the format has one
place for thinking, one for text and one for calls. Several texts in one place are paragraphs, or blocks where the
vendor takes those: nothing is run together, and nothing lost, when an answer came in two pieces.
"""

from collections.abc import Sequence

from jp_lsp.conversation.event import (
    ChatRequest,
    EventKind,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, Thread, ThreadEvent
from jp_lsp.providers.attachments import IMAGE_TYPES, data_url, skipped, text_documents
from jp_lsp.providers.chat.dialect import Dialect, WrittenMessages
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.untrusted import compact_json

Message = dict[str, JsonValue]

_PARAGRAPHS = "\n\n"


def build_messages(thread: Thread, dialect: Dialect, *, prefills: bool) -> WrittenMessages:
    """Write a thread; `prefills`: the model writes on from an assistant message, otherwise it is asked to."""
    messages: list[Message] = [{"role": "system", "content": part} for part in thread.system_parts]
    if documents := text_documents(thread.attachments):
        messages.append({"role": "system", "content": documents})
    images, left_out = _images(thread.attachments, dialect)
    if images:
        messages.append({"role": "user", "content": images})
    messages += history_messages(
        thread.events,
        reasoning_member=dialect.reasoning_member,
        keeps_reasoning_slot=dialect.keeps_reasoning_slot,
        prefills=prefills,
    )
    return WrittenMessages(messages, left_out)


def history_messages(
    events: Sequence[ThreadEvent],
    *,
    reasoning_member: str | None,
    keeps_reasoning_slot: bool = False,
    writes_blocks: bool = False,
    prefills: bool = False,
) -> list[Message]:
    """Write what was said, with a request to go on where it ends in the middle of an answer."""
    history = _History(
        reasoning_member, keeps_reasoning_slot=keeps_reasoning_slot, writes_blocks=writes_blocks
    )
    for item in events:
        history.add(item.event.kind)
    messages = history.finished()
    last = messages[-1] if messages else {}
    if (
        last.get("role") == "assistant"
        and "tool_calls" not in last
        and not (prefills and last.get("content"))
    ):
        messages.append({"role": "user", "content": _content([CONTINUE], writes_blocks=writes_blocks)})
    return messages


def _images(attachments: Sequence[Attachment], dialect: Dialect) -> tuple[list[JsonValue], list[str]]:
    images: list[JsonValue] = []
    left_out: list[str] = []
    for item in attachments:
        if not isinstance(item, BinaryAttachment):
            continue
        if dialect.takes_images and item.media_type in IMAGE_TYPES:
            images.append({"type": "image_url", "image_url": {"url": data_url(item)}})
        else:
            left_out.append(skipped(item, dialect.provider))
    return images, left_out


def text_block(text: str) -> Message:
    """Write a text for a vendor whose messages are lists of blocks."""
    return {"type": "text", "text": text}


def _content(texts: Sequence[str], *, writes_blocks: bool) -> JsonValue:
    return [text_block(text) for text in texts] if writes_blocks else _PARAGRAPHS.join(texts)


class _History:
    """Collects what one speaker says in a row."""

    def __init__(
        self, reasoning_member: str | None, *, keeps_reasoning_slot: bool, writes_blocks: bool
    ) -> None:
        self._reasoning_member = reasoning_member
        self._keeps_reasoning_slot = keeps_reasoning_slot
        self._writes_blocks = writes_blocks
        self._messages: list[Message] = []
        self._begin()

    def _begin(self) -> None:
        self._reasoning: list[str] = []
        self._texts: list[str] = []
        self._calls: list[JsonValue] = []

    def add(self, kind: EventKind) -> None:
        """Add an event; kinds that no provider sees are passed over."""
        match kind:
            case ChatRequest(content=content):
                self._end_assistant()
                said = _content([content], writes_blocks=self._writes_blocks)
                self._messages.append({"role": "user", "content": said})
            case ToolCallResponse(id=call_id, content=content):
                self._end_assistant()
                self._messages.append({"role": "tool", "tool_call_id": call_id, "content": content})
            case MessageResponse(text=text):
                self._texts.append(text)
            case StructuredResponse(data=data):
                self._texts.append(compact_json(data))
            case ReasoningResponse(text=text):
                self._reasoning.append(text)
            case ToolCallRequest(id=call_id, name=name, arguments=arguments):
                function: JsonValue = {"name": name, "arguments": compact_json(arguments)}
                self._calls.append({"id": call_id, "type": "function", "function": function})
            case _:
                pass

    def finished(self) -> list[Message]:
        """Give all messages."""
        self._end_assistant()
        return self._messages

    def _end_assistant(self) -> None:
        member = self._reasoning_member
        reasoning = _PARAGRAPHS.join(filter(None, self._reasoning)) if member else ""
        texts = [text for text in self._texts if text]
        if reasoning or texts or self._calls:
            message: Message = {"role": "assistant"}
            if member and (reasoning or (self._calls and self._keeps_reasoning_slot)):
                message[member] = reasoning
            if texts or not self._calls:
                # Servers refuse an assistant message with neither, such as one of reasoning alone.
                message["content"] = _content(texts, writes_blocks=self._writes_blocks)
            if self._calls:
                message["tool_calls"] = self._calls
            self._messages.append(message)
        self._begin()
