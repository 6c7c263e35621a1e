"""Text of one region, from pieces as they arrive to pieces of the transcript.

A region is what one speaker says in one kind of text without interruption; borders of stored events, retries
and menus do not end it. `BlockRegion` cuts text into markdown blocks, `RawRegion` passes it on as it comes.
"""

from dataclasses import dataclass
from typing import Protocol

from jp_lsp.render.block_event import Block, BlockEvent, BlockKind, CodeClose, CodeLine, CodeOpen, Slice, Tail
from jp_lsp.render.blocks import BlockBuffer
from jp_lsp.render.chunk import CodePart, TextPart
from jp_lsp.render.fixups import Fixups
from jp_lsp.render.join import Joiner
from jp_lsp.render.options import Granularity


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text outside of fences. A `separator` of `None` means that this is the first of its region."""

    separator: str | None
    body: str
    block: BlockKind
    part: TextPart
    indent: int = 0


@dataclass(frozen=True, slots=True)
class CodePiece:
    """The opening of a fence, a line in it, or its end."""

    separator: str | None
    body: str
    part: CodePart
    language: str | None
    indent: int


Piece = TextPiece | CodePiece


class Region(Protocol):
    """How the text of a region is written."""

    def write(self, text: str) -> list[Piece]:
        """Take the next text, its line ends already made one."""
        ...

    def finish(self) -> list[Piece]:
        """End the region: give what was held back, close an open fence."""
        ...


class BlockRegion:
    """Gives finished blocks, slices of long paragraphs and lines of code."""

    def __init__(self) -> None:
        self._buffer = BlockBuffer()
        self._fixups = Fixups()
        self._joiner = Joiner()
        self._language: str | None = None

    def write(self, text: str) -> list[Piece]:
        """See `Region`."""
        self._buffer.push(text)
        return self._pieces(self._buffer.pop_events())

    def finish(self) -> list[Piece]:
        """See `Region`."""
        return self._pieces(self._buffer.flush())

    def _pieces(self, events: list[BlockEvent]) -> list[Piece]:
        if not events:
            return []
        pieces: list[Piece] = []
        for event in self._fixups.repair(events):
            joined = self._joiner.join(event)
            if joined is not None:
                pieces.append(self._piece(event, joined.separator, joined.body))
        return pieces

    def _piece(self, event: BlockEvent, separator: str | None, body: str) -> Piece:
        match event:
            case Block() | Tail():
                return TextPiece(separator, body, event.kind, "whole", event.indent)
            case Slice():
                return TextPiece(separator, body, event.kind, _slice_part(event))
            case CodeOpen():
                self._language = event.language
                return CodePiece(separator, body, "open", event.language, event.indent)
            case CodeLine():
                return CodePiece(separator, body, "line", self._language, event.indent)
            case CodeClose():
                return CodePiece(separator, body, "close", self._language, event.indent)


def _slice_part(event: Slice) -> TextPart:
    if event.is_first:
        return "whole" if event.is_last else "first"
    return "last" if event.is_last else "more"


class RawRegion:
    """Gives each piece of text as it comes, but for line ends at the borders of the region.

    Only one thing must be known about the text: whether it leaves something open, such as a fence, that
    would swallow what comes behind the region.
    """

    def __init__(self) -> None:
        self._buffer = BlockBuffer()
        self._held: list[str] = []
        self._has_begun = False

    def write(self, text: str) -> list[Piece]:
        """See `Region`."""
        self._buffer.push(text)
        self._buffer.pop_events()
        if not text.strip("\n" if self._has_begun else " \t\n"):
            self._held.append(text)
            return []
        text = "".join([*self._held, text])
        if not self._has_begun:
            text = _without_blank_lines(text)
        body = text.rstrip("\n")
        self._held = [text[len(body) :]]
        separator = "" if self._has_begun else None
        part: TextPart = "more" if self._has_begun else "first"
        self._has_begun = True
        return [TextPiece(separator, body, "other", part)]

    def finish(self) -> list[Piece]:
        """See `Region`."""
        self._held = []
        missing = [_missing_end(event) for event in self._buffer.flush()]
        return [TextPiece("\n", end, "other", "last") for end in missing if end]


def _missing_end(event: BlockEvent) -> str:
    """Give what must be added so that nothing stays open behind the event."""
    match event:
        case CodeClose(is_missing=True):
            return " " * event.indent + event.run
        case Tail():
            return event.missing_end
        case _:
            return ""


def _without_blank_lines(text: str) -> str:
    """Remove blank lines before the first line that is none."""
    start = len(text) - len(text.lstrip(" \t\n"))
    return text[text.rfind("\n", 0, start) + 1 :]


def new_region(granularity: Granularity) -> Region:
    """Begin a region."""
    return RawRegion() if granularity == "raw" else BlockRegion()


def settle(text: str) -> str:
    """Write a whole text as one region, so that nothing in it stays open."""
    region = BlockRegion()
    pieces = region.write(text) + region.finish()
    return "".join((piece.separator or "") + piece.body for piece in pieces)
