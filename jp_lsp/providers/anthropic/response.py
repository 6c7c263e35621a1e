"""What the vendor has said in one response, as the blocks that a further request repeats (providers 6.1.7)."""

from typing import Literal

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.anthropic.messages import REDACTED_KEY, SIGNATURE_KEY, Block
from jp_lsp.providers.untrusted import as_text
from jp_lsp.turn.stream_event import StreamEvent, TextPart, ToolCallArguments, ToolCallStart


class _RecordedBlock:
    """One block while it grows."""

    def __init__(self, kind: Literal["message", "reasoning", "structured", "tool_call"]) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.signature = ""
        self.redacted = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def to_json(self) -> Block | None:
        """Give the block as it is sent back; nothing for one that the API would refuse."""
        if self.kind == "tool_call":
            return None  # a response with a call is never followed up: its result is still to come
        if self.kind != "reasoning":
            return {"type": "text", "text": self.text} if self.text.strip() else None
        if self.redacted:
            return {"type": "redacted_thinking", "data": self.redacted}
        if self.signature:
            return {"type": "thinking", "thinking": self.text, "signature": self.signature}
        return None


class ResponseRecord:
    """Listens to the decoder's events."""

    def __init__(self) -> None:
        self._blocks: dict[int, _RecordedBlock] = {}
        self._last: _RecordedBlock | None = None

    def note(self, event: StreamEvent) -> None:
        """Take an event as the decoder gave it."""
        match event:
            case TextPart(index=index, kind=kind, text=text, metadata=metadata):
                block = self._block(index, kind)
                if text:
                    block.pieces.append(text)
                if metadata:
                    block.signature = as_text(metadata.get(SIGNATURE_KEY)) or block.signature
                    block.redacted = as_text(metadata.get(REDACTED_KEY)) or block.redacted
            case ToolCallStart(index=index) | ToolCallArguments(index=index):
                self._block(index, "tool_call")
            case _:
                pass

    def _block(
        self, index: int, kind: Literal["message", "reasoning", "structured", "tool_call"]
    ) -> _RecordedBlock:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _RecordedBlock(kind)
        self._last = block
        return block

    @property
    def has_calls(self) -> bool:
        """Whether a tool was called, or a call at least begun."""
        return any(block.kind == "tool_call" for block in self._blocks.values())

    @property
    def ends_in_text(self) -> bool:
        """Whether the last thing said is visible text."""
        return self._last is not None and self._last.kind == "message" and bool(self._last.text.strip())

    @property
    def last_text(self) -> str:
        """The text of the last block."""
        return self._last.text if self._last is not None else ""

    def blocks(self) -> list[JsonValue]:
        """Give the response as the content of an assistant message."""
        return [json for block in self._blocks.values() if (json := block.to_json()) is not None]
