"""The blocks that hold lines and no other blocks: paragraphs, fences, indented code, HTML."""

from dataclasses import dataclass, field

from jp_lsp.render.block_event import (
    Block,
    BlockEvent,
    BlockKind,
    CodeClose,
    CodeLine,
    Slice,
    Tail,
)
from jp_lsp.render.inline import InlineTracker
from jp_lsp.render.line import HtmlEnd, fence_opening, is_blank, measure, strip_spaces

STREAM_FROM = 128
"""How many bytes of a paragraph must be there before it is shown in slices (query pipeline 5.4)."""


class Paragraph:
    """A paragraph at the top level, a table or a quotation included.

    It streams once it has `STREAM_FROM` bytes, counted to the character, so that it does not matter how the
    text was cut. While its first line is open everything up to the last safe place may go out; later only
    whole lines, since the next line may end the paragraph. A table never streams: its columns are laid out
    as a whole.
    """

    def __init__(self, first: str) -> None:
        rest = measure(first)[1]
        self.kind: BlockKind = (
            "table" if rest.startswith("|") else "other" if rest.startswith(">") else "paragraph"
        )
        self.is_first_line_open = True
        self.is_streaming = False
        self._pieces: list[str] = []
        self._bytes = 0
        self._written = 0
        # White space before the first word is no slice by itself.
        self._indent = len(first) - len(first.lstrip(" \t"))
        self._line_end = 0
        self._tracker = InlineTracker()
        self.append(first)

    def append(self, text: str) -> None:
        """Take a piece of the open first line, or a whole later line."""
        self._pieces.append(text)
        self._bytes += len(text.encode("utf-8", "surrogatepass"))
        self._tracker.feed(text)
        if text.endswith("\n"):
            self.is_first_line_open = False
            self._line_end = self._tracker.size

    def reach(self, open_bytes: int) -> None:
        """Note that `open_bytes` of a line that is not yet part of it have arrived."""
        if self.kind != "table" and self._bytes + open_bytes >= STREAM_FROM:
            self.is_streaming = True

    def slice(self) -> Slice | None:
        """Take what may be shown now."""
        if not self.is_streaming:
            return None
        limit = self._tracker.size if self.is_first_line_open else self._line_end
        safe = min(self._tracker.safe, limit)
        if safe <= (self._written or self._indent):
            return None
        text = "".join(self._pieces)
        count = safe - self._written
        self._pieces = [text[count:]]
        is_first, self._written = self._written == 0, safe
        return Slice(text[:count], self.kind, is_first, is_last=False)

    def end(self, *, is_tail: bool = False) -> BlockEvent:
        """Give what was not shown yet; the paragraph is over."""
        text = "".join(self._pieces)
        open_run = self._tracker.open_run
        if self.is_streaming:
            return Slice(text, self.kind, self._written == 0, is_last=True, open_run=open_run)
        if is_tail:
            return Tail(text, self.kind, open_run=open_run)
        return Block(text, self.kind, open_run=open_run)

    def end_as_heading(self, underline: str) -> Block:
        """Give all of it as a heading with this underline."""
        return Block("".join([*self._pieces, underline]), "heading")

    def __str__(self) -> str:
        """Describe it for people who look into a buffer."""
        return f"{self.kind}({'streaming' if self.is_streaming else 'held'})"


@dataclass(slots=True)
class Fence:
    """An open fence: `column` is where its source stands, `indent` where its lines are written.

    Models put fences into fences of the same size, so a line that opens another one is counted.
    """

    run: str
    column: int
    indent: int
    list_id: int | None = None
    depth: int = 0

    def read(self, line: str) -> CodeLine | CodeClose:
        """Take a line; it is code, or it ends the fence."""
        column, rest = measure(line)
        if column <= self.column + 3:
            opening = fence_opening(rest)
            if opening is not None and opening.run.startswith(self.run):
                if opening.info:
                    self.depth += 1
                elif self.depth == 0:
                    return self.close()
                else:
                    self.depth -= 1
        return CodeLine(strip_spaces(line, self.column), self.indent)

    def close(self, *, is_missing: bool = False) -> CodeClose:
        """End it."""
        return CodeClose(self.run, self.indent, self.list_id, is_missing)

    def __str__(self) -> str:
        """Describe it for people who look into a buffer."""
        return f"fence({self.run}, column {self.column}, depth {self.depth})"


@dataclass(slots=True)
class IndentedCode:
    """Code by indentation. Blank lines belong to it only when more code follows."""

    lines: list[str] = field(default_factory=lambda: [])
    blanks: list[str] = field(default_factory=lambda: [])

    def append(self, line: str) -> None:
        """Take a line of code, and the blank lines before it."""
        self.lines += self.blanks
        self.lines.append(line)
        self.blanks = []

    def end(self) -> Block:
        """Give the code."""
        return Block("".join(self.lines), "code_indented")

    def __str__(self) -> str:
        """Describe it for people who look into a buffer."""
        return "code_indented"


@dataclass(slots=True)
class Html:
    """A block of HTML and what ends it."""

    ends: HtmlEnd
    lines: list[str] = field(default_factory=lambda: [])

    def append(self, line: str) -> bool:
        """Take a line and tell whether it was the last one."""
        self.lines.append(line)
        if self.ends.pattern is None:
            return is_blank(line)
        return self.ends.pattern.search(line) is not None

    def end(self) -> Block:
        """Give the block."""
        return Block("".join(self.lines), "html")

    def end_as_tail(self) -> Tail:
        """Give what there is of it."""
        return Tail("".join(self.lines), "html", missing_end=self.ends.missing)

    def __str__(self) -> str:
        """Describe it for people who look into a buffer."""
        return f"html(until {self.ends.missing or 'blank line'})"


Leaf = Paragraph | Fence | IndentedCode | Html
