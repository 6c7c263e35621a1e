"""The running text of one turn: regions, headers and separators (query pipeline 5.3 and 5.5).

The flow tells apart the `kind` of text that arrives, shown or not, and what was last written. Text of another
kind ends the region of the one before. What was last written decides on the separator, which is put before
the next thing and so only when there is one: whatever turns out to be invisible leaves no trace (trap 105).

All that a retracted attempt must take back is in here, so a copy of the flow is a place to go back to.
"""

import copy
from typing import Literal, Self, assert_never

from jp_lsp.render.chunk import (
    Chunk,
    Code,
    Notice,
    ReasoningIndicator,
    RegionKind,
    Role,
    Status,
    Structured,
    Text,
)
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.reasoning import CUT_MARK, STATIC_TEXT, ReasoningView
from jp_lsp.render.region import Piece, TextPiece, new_region
from jp_lsp.render.structured import OPENING, StructuredText
from jp_lsp.render.text import TextCleaner, clean_line, has_bidi_override
from jp_lsp.render.tool_batch import ToolBatches
from jp_lsp.render.transition import NEEDS_NO_HEADER, Written, separator

TextKind = Literal["message", "reasoning", "structured"]
FlowKind = Literal["message", "reasoning", "structured", "request", "tool"]

_BIDI_TEXT = (
    "This turn has characters that change the direction of text; it may not say what it seems to say."
)


class TextFlow:
    """Collects the chunks of one turn; `take` gives those that came together."""

    def __init__(self, options: DisplayOptions, labels: Labels, written: Written | None = None) -> None:
        self.kind: FlowKind | None = None
        self.written: Written | None = written
        self.spoke_last: TextKind | None = None
        self.reasoning = ReasoningView(options.reasoning)
        self.tools = ToolBatches()
        self.value_mark: TextFlow | None = None
        """The flow as it was before the value that is being written."""
        self._options = options
        self._labels = labels
        self._region = new_region(options.granularity)
        self._cleaner = TextCleaner(options.control_sequences)
        self._structured = StructuredText()
        self._has_header = False
        self._has_reported_bidi = False
        self._out: list[Chunk] = []

    def copy(self) -> Self:
        """Copy all that can change."""
        return copy.deepcopy(self, {id(self._options): self._options})

    def take(self) -> list[Chunk]:
        """Take the chunks that were collected."""
        chunks, self._out = self._out, []
        return chunks

    def add(self, *chunks: Chunk) -> None:
        """Collect chunks that are no text."""
        self._out += chunks

    # Text.

    def speak(self, kind: TextKind, text: str, elapsed_ms: int) -> None:
        """Take a piece of what the model says."""
        if self.kind != kind:
            self.end_region()
            self.kind = kind
            if kind == "reasoning":
                self._begin_reasoning(elapsed_ms)
        shown = self._clean(text)
        match kind:
            case "message":
                self._write("message", shown)
            case "reasoning":
                if (indicator := self.reasoning.tick(elapsed_ms)) is not None:
                    self.add(indicator)
                self._reason(shown)
            case "structured":
                self._structure(shown)
            case _:
                assert_never(kind)

    def say(self, text: str) -> None:
        """Take a message of the model that is complete, and a region of its own."""
        self.end_region()
        self.kind = None
        self.speak("message", text, 0)
        self.end_region()
        self.kind = None

    def request(self, text: str, detail: str | None, author: str | None) -> None:
        """Take all of what the user says, under the name of its author if that is known.

        The assistant gets a new header behind it.
        """
        self.end_region()
        self.kind = "request"
        if text.strip():
            self._role("user", clean_line(author or "") or self._labels.user, None, detail)
            self._write("request", self._clean(text))
            self.end_region()
        self._has_header = False

    def end_region(self) -> None:
        """Write everything that is held back; text that follows is a region of its own."""
        rest = self._cleaner.finish()
        match self.kind:
            case "structured":
                self._close_structured(rest)
            case "reasoning":
                self._reason(rest)
                self._finish_text("reasoning")
                if self.reasoning.end_region():
                    self.add(ReasoningIndicator(is_clear=True))
            case "message" | "request":
                self._write(self.kind, rest)
                self._finish_text(self.kind)
            case "tool" | None:
                pass

    def open(self, written: Written) -> str:
        """Get ready to write something and give the separator before it."""
        if written not in NEEDS_NO_HEADER:
            self._head()
        answer = self._options.reasoning_separator if self.reasoning.is_persistent else None
        before, self.written = self.written, written
        if written == "message" or written == "reasoning" or written == "structured":
            self.spoke_last = written
        return separator(before, written, answer)

    def report_bidi(self, text: str) -> None:
        """Tell the user, once in a turn, when text that is shown may read other than it is."""
        if not self._has_reported_bidi and has_bidi_override(text):
            self._has_reported_bidi = True
            self.add(Notice("notice:bidi_override", "warning", "bidi_override", _BIDI_TEXT))

    def _clean(self, text: str) -> str:
        shown = self._cleaner.feed(text)
        if self.kind != "reasoning" or self.reasoning.is_persistent:
            self.report_bidi(shown)
        return shown

    def _write(self, written: Written, text: str) -> None:
        if text:
            self._write_pieces(written, self._region.write(text))

    def _finish_text(self, written: Written) -> None:
        pieces = self._region.finish()
        self._region = new_region(self._options.granularity)
        self._write_pieces(written, pieces)

    def _write_pieces(self, written: Written, pieces: list[Piece]) -> None:
        region: RegionKind = "reasoning" if written == "reasoning" else "message"
        for piece in pieces:
            before = self.open(written) if piece.separator is None else piece.separator
            md = before + piece.body
            if isinstance(piece, TextPiece):
                self.add(Text(md, region, piece.block, piece.part, piece.indent))
            else:
                self.add(Code(md, region, piece.part, piece.language, piece.indent))

    # Reasoning.

    def _begin_reasoning(self, elapsed_ms: int) -> None:
        self.reasoning.begin_region(elapsed_ms)
        if self.reasoning.is_hidden:
            self.add(Status("streaming", "thinking"))
        elif not self.reasoning.is_persistent and not self._options.shows_ephemeral:
            self._write_pieces("reasoning", [TextPiece(None, STATIC_TEXT, "paragraph", "whole")])

    def _reason(self, text: str) -> None:
        allowance = self.reasoning.allow(text)
        self._write("reasoning", allowance.text)
        if allowance.is_cut:
            self._finish_text("reasoning")
            self._write_pieces("reasoning", [TextPiece(None, CUT_MARK, "paragraph", "whole")])

    # Structured values.

    def _structure(self, text: str) -> None:
        if not self._structured.is_open and text.strip():
            self._head()
            self.value_mark = self.copy()
            self.value_mark.take()
            self.add(Structured(self.open("structured") + OPENING, "open"))
        if shown := self._structured.feed(text):
            self.add(Structured(shown, "more"))

    def _close_structured(self, rest: str) -> None:
        if self._structured.is_open:
            self._structure(rest)
            self.add(Structured(self._structured.close(), "close"))
            self.value_mark = None

    # Headers.

    def _head(self) -> None:
        """Write the assistant's header, once, before the first that it shows."""
        if not self._has_header:
            self._has_header = True
            self._role("assistant", self._labels.assistant, self._labels.model, None)

    def _role(
        self, role: Literal["user", "assistant"], label: str, model: str | None, detail: str | None
    ) -> None:
        label = clean_line(label)
        model = None if model is None else clean_line(model)
        aside = f" ({model or detail})" if model or detail else ""
        before, self.written = self.written, "role"
        self.add(Role(f"{separator(before, 'role', None)}## {label}{aside}", role, label, model, detail))
