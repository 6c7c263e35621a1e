"""Plays a script to a `TurnView` and keeps what it sends, as an outbox would."""

from collections.abc import Sequence
from typing import Literal

from jp_lsp.render.chat import Mark, TurnView
from jp_lsp.render.chunk import DURABLE, EPHEMERAL, Chunk, Durable, Ephemeral, RetractReason, Structured
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.transcript import standing, transcript

Kind = Literal["message", "reasoning", "structured"]


class Watcher:
    """A view and everything that it has sent so far, numbered from 1."""

    def __init__(self, options: DisplayOptions | None = None, labels: Labels | None = None) -> None:
        self.view = TurnView(options or DisplayOptions(), labels or Labels())
        self.chunks: list[Chunk] = []

    def see(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Take what the view sends."""
        self.chunks += chunks
        return list(chunks)

    def begin(self, text: str = "go", index: int = 1) -> None:
        self.see(self.view.turn_begin(index, text))

    def end(self) -> None:
        self.see(self.view.turn_end("completed", is_persisted=True))

    def message(self, *parts: str) -> None:
        for text in parts:
            self.see(self.view.part("message", text))

    def reasoning(self, *parts: str) -> None:
        for text in parts:
            self.see(self.view.part("reasoning", text))

    def value(self, *parts: str) -> None:
        for text in parts:
            self.see(self.view.part("structured", text))

    def mark(self) -> tuple[Mark, int]:
        """Remember the place, as an outbox does at the begin of an attempt."""
        return self.view.mark(), len(self.chunks) + 1

    def retract(self, place: tuple[Mark, int], reason: RetractReason = "empty") -> None:
        mark, seq = place
        self.see(self.view.retract(mark, seq, reason))

    def retract_value(self) -> None:
        """Retract from the last opening fence on, whose number an outbox sees go by."""
        opening = [
            seq for seq, c in enumerate(self.chunks, 1) if isinstance(c, Structured) and c.part == "open"
        ]
        self.see(self.view.retract_structured(opening[-1]))

    @property
    def text(self) -> str:
        """The transcript without the user's part."""
        whole = transcript(self.chunks)
        return whole.partition("\n\n## Assistant\n\n")[2] or whole

    @property
    def durable(self) -> list[Durable]:
        return standing(self.chunks)

    @property
    def slots(self) -> dict[str, Ephemeral]:
        """What a client shows in its slots now."""
        shown: dict[str, Ephemeral] = {}
        for chunk in self.chunks:
            if isinstance(chunk, EPHEMERAL):
                if chunk.is_clear:
                    shown.pop(chunk.slot, None)
                else:
                    shown[chunk.slot] = chunk
            elif isinstance(chunk, DURABLE):
                continue
            elif chunk.type == "turn_end":
                shown = {}
        return shown
