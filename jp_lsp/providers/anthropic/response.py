"""What the vendor has said in one response, as the blocks that a further request repeats (providers 6.1.7)."""

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.anthropic.messages import REDACTED_KEY, SIGNATURE_KEY, Block
from jp_lsp.providers.untrusted import as_text, parse_json
from jp_lsp.turn.stream_event import StreamEvent, TextPart, ToolCallArguments, ToolCallStart


class _RecordedBlock:
    """One block while it grows."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.signature = ""
        self.redacted = ""
        self.id = ""
        self.name = ""

    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def to_json(self) -> Block | None:
        """Give the block as it is sent back; nothing for one that the API would refuse."""
        if self.kind == "tool":
            return {"type": "tool_use", "id": self.id, "name": self.name, "input": _arguments(self.text())}
        if self.kind != "reasoning":
            return {"type": "text", "text": self.text()} if self.text().strip() else None
        if self.redacted:
            return {"type": "redacted_thinking", "data": self.redacted}
        if self.signature:
            return {"type": "thinking", "thinking": self.text(), "signature": self.signature}
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
                block.pieces.append(text)
                if metadata:
                    block.signature = as_text(metadata.get(SIGNATURE_KEY)) or block.signature
                    block.redacted = as_text(metadata.get(REDACTED_KEY)) or block.redacted
            case ToolCallStart(index=index, id=call_id, name=name):
                block = self._block(index, "tool")
                block.id, block.name = call_id, name
            case ToolCallArguments(index=index, text=text):
                self._block(index, "tool").pieces.append(text)
            case _:
                pass

    def _block(self, index: int, kind: str) -> _RecordedBlock:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _RecordedBlock(kind)
        self._last = block
        return block

    @property
    def called(self) -> tuple[str, ...]:
        """Name the tools that were called, or at least begun."""
        return tuple(block.name for block in self._blocks.values() if block.kind == "tool")

    @property
    def ends_in_text(self) -> bool:
        """Whether the last thing said is visible text."""
        return self._last is not None and self._last.kind == "message" and bool(self._last.text().strip())

    @property
    def last_text(self) -> str:
        """The text of the last block."""
        return self._last.text() if self._last is not None else ""

    def blocks(self) -> list[JsonValue]:
        """Give the response as the content of an assistant message."""
        return [json for block in self._blocks.values() if (json := block.to_json()) is not None]


def _arguments(text: str) -> JsonValue:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
