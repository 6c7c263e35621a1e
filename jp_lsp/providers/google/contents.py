"""A thread as Gemini's contents: parts, merged by speaker (providers 6.3.1)."""

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
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, Thread, ThreadEvent
from jp_lsp.providers.attachments import base64_text, label, text_documents
from jp_lsp.providers.continuation import CONTINUE
from jp_lsp.providers.untrusted import as_text, compact_json

PROVIDER = "google"
SIGNATURE_KEY = "google_thought_signature"
SIGNATURE_MEMBER = "thoughtSignature"
FILLER = "skip_thought_signature_validator"
"""Stands in for the signature of a call that this vendor did not make; it accepts the word."""

Part = dict[str, JsonValue]


@dataclass(slots=True)
class Content:
    """What one speaker says in a row."""

    role: str
    parts: list[Part] = field(default_factory=list[Part])

    def to_json(self) -> dict[str, JsonValue]:
        """Give the content as it is sent."""
        return {"role": self.role, "parts": self.parts}


def build_contents(thread: Thread, *, prefills: bool) -> list[Content]:
    """Turn the thread's attachments and events into contents.

    `prefills`: the model writes on from its own words at the end; otherwise it is asked to go on.
    """
    history = _History()
    for item in thread.events:
        history.add(item)
    contents = history.contents
    for content in contents:
        _sign_first_call(content)
    if contents and contents[-1].role == "model" and not prefills and not _calls(contents[-1]):
        contents.append(Content("user", [{"text": CONTINUE}]))
    attached = _attached(thread.attachments)
    # A content of its own, so that what the user says first stays as it was said.
    return [attached, *contents] if attached.parts else contents


def _attached(attachments: Sequence[Attachment]) -> Content:
    content = Content("user")
    if documents := text_documents(attachments):
        content.parts.append({"text": documents})
    for item in attachments:
        if isinstance(item, BinaryAttachment):
            content.parts.append({"text": label(item)})
            data: Part = {"mimeType": item.media_type, "data": base64_text(item)}
            content.parts.append({"inlineData": data})
    return content


class _History:
    """Collects the parts of the conversation."""

    def __init__(self) -> None:
        self.contents: list[Content] = []
        self._names: dict[CallId, str] = {}

    def add(self, item: ThreadEvent) -> None:
        """Add an event; kinds that no provider sees are passed over."""
        signature = as_text(item.event.metadata.get(SIGNATURE_KEY))
        signed: Part = {SIGNATURE_MEMBER: signature} if signature else {}
        match item.event.kind:
            case ChatRequest(content=text):
                self._append("user", {"text": text})
            case MessageResponse(text=text):
                self._append("model", {"text": text, **signed})
            case StructuredResponse(data=data):
                self._append("model", {"text": compact_json(data), **signed})
            case ReasoningResponse(text=text):
                # The API refuses a part without content: thinking that another vendor kept to itself.
                if text:
                    self._append("model", {"text": text, "thought": True, **signed})
            case ToolCallRequest(id=call_id, name=name, arguments=arguments):
                self._names[call_id] = name
                call: Part = {"id": call_id, "name": name, "args": arguments}
                self._append("model", {"functionCall": call, **signed})
            case ToolCallResponse(id=call_id, content=text):
                response: Part = {
                    "id": call_id,
                    "name": self._names.get(call_id, ""),
                    "response": {"content": text},
                }
                self._append("user", {"functionResponse": response})
            case _:
                pass

    def _append(self, role: str, part: Part) -> None:
        if not self.contents or self.contents[-1].role != role:
            self.contents.append(Content(role))
        self.contents[-1].parts.append(part)


def _calls(content: Content) -> list[Part]:
    return [part for part in content.parts if "functionCall" in part]


def _sign_first_call(content: Content) -> None:
    """Give calls without any signature the filler: of parallel calls, the vendor signs and checks the first."""
    calls = _calls(content)
    if calls and not any(SIGNATURE_MEMBER in call for call in calls):
        calls[0][SIGNATURE_MEMBER] = FILLER
