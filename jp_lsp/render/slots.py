"""Which ephemeral states are being shown, so that each is removed when its time is over (query pipeline 5.1)."""

from collections.abc import Callable
from itertools import count

from jp_lsp.render.chunk import (
    DURABLE,
    EPHEMERAL,
    Chunk,
    Ephemeral,
    Notice,
    Preview,
    ReasoningIndicator,
    Retry,
    Status,
    ToolPreparing,
    ToolProgress,
)
from jp_lsp.render.split import split_chunk

_REPLACED_BY_TEXT = ("status", "retry", "preview")


def tool_slot(call_id: str) -> str:
    """Name the slot of a call."""
    return f"tool:{call_id}"


def _cleared(chunk: Ephemeral) -> Ephemeral:
    match chunk:
        case ToolPreparing() | ToolProgress() | Notice():
            return type(chunk)(chunk.slot, is_clear=True)
        case Status() | ReasoningIndicator() | Retry() | Preview():
            return type(chunk)(is_clear=True)


class Slots:
    """The slots that show something, as the client sees them."""

    def __init__(self) -> None:
        self._shown: dict[str, Ephemeral] = {}

    def clearing(self, *slots: str) -> list[Chunk]:
        """Give the chunks that remove what these slots show."""
        return [_cleared(self._shown[slot]) for slot in slots if slot in self._shown]

    def clearing_where(self, is_meant: Callable[[str], bool]) -> list[Chunk]:
        """Give the chunks that remove what the slots show whose name is meant."""
        return self.clearing(*filter(is_meant, self._shown))

    def for_notice(self, code: str, text: str) -> str:
        """Name the slot that shows this notice, or the first that is free: no notice hides another of its code."""
        name = f"notice:{code}"
        for number in count(2):
            shown = self._shown.get(name)
            if shown is None or (isinstance(shown, Notice) and shown.text == text):
                break
            name = f"notice:{code}:{number}"
        return name

    def forget(self) -> None:
        """Note that the turn ended, which removes everything."""
        self._shown = {}

    def send(self, chunks: list[Chunk]) -> list[Chunk]:
        """Make chunks ready to go: text removes what it replaces, and none is too large."""
        ready: list[Chunk] = []
        for chunk in chunks:
            if isinstance(chunk, DURABLE):
                if self._shown and chunk.md:
                    ready += self._note(self.clearing(*_REPLACED_BY_TEXT))
                ready += split_chunk(chunk)
            else:
                ready += self._note([chunk])
        return ready

    def _note(self, chunks: list[Chunk]) -> list[Chunk]:
        for chunk in chunks:
            if isinstance(chunk, EPHEMERAL):
                if chunk.is_clear:
                    self._shown.pop(chunk.slot, None)
                else:
                    self._shown[chunk.slot] = chunk
        return chunks
