"""A stream of markdown cut into finished blocks and a live tail (query pipeline 5.4).

`BlockBuffer` is pure: text goes in with `push`, events come out of `pop_events`, `flush` ends the text.
A line is classified when it is complete. The one exception is a line that cannot be anything but a
paragraph; its text may be shown at once.

What comes out does not depend on how the text was cut into pieces: every decision is made as if the
characters came one by one. Only the slices of a long paragraph are as long as what had arrived; put together
they are the same text, in the same place. So an answer that is read again from disk looks as it did live.

The state is a stack of open lists and at most one leaf (paragraph, fence, indented code, HTML) inside them.
Only fences stand in lists as leaves of their own; other content of an item is part of its text.
"""

from dataclasses import replace

from jp_lsp.render.block_event import Block, BlockEvent, CodeClose, CodeOpen, Slice, Tail
from jp_lsp.render.leaf import Fence, Html, IndentedCode, Leaf, Paragraph
from jp_lsp.render.line import (
    CODE_INDENT,
    PREFIX_SIZE,
    FenceOpening,
    Marker,
    fence_opening,
    html_start,
    interrupts_paragraph,
    is_blank,
    is_definition,
    is_heading,
    is_rule,
    is_underline,
    list_marker,
    measure,
    opens_paragraph,
)
from jp_lsp.render.lists import ListFrame


class BlockBuffer:
    """Turns markdown into block events as it arrives. Line ends must be single newlines (see `text`)."""

    def __init__(self) -> None:
        self._events: list[BlockEvent] = []
        self._leaf: Leaf | None = None
        self._lists: list[ListFrame] = []
        self._list_count = 0
        # The open line, as pieces, so that a long line that comes in many pieces is put together once.
        self._line: list[str] = []
        self._line_head = ""
        self._line_bytes = 0
        # In a list: whether the last line was blank, was text that a line may go on with, or was code.
        self._is_after_blank = False
        self._may_be_lazy = False
        self._is_in_code = False

    def push(self, text: str) -> None:
        """Take the next piece of the text."""
        start = 0
        while (end := text.find("\n", start)) >= 0:
            self._end_line(text[start : end + 1])
            start = end + 1
        if start < len(text):
            self._extend_line(text[start:])
        leaf = self._leaf
        if isinstance(leaf, Paragraph):
            leaf.reach(self._line_bytes)
            if (piece := leaf.slice()) is not None:
                self._emit(piece)

    def pop_events(self) -> list[BlockEvent]:
        """Take the events that are ready."""
        events, self._events = self._events, []
        return events

    def flush(self) -> list[BlockEvent]:
        """End the text: the open line counts as complete, what is unfinished comes out as a tail."""
        leaf = self._leaf
        if self._line:
            line = "".join(self._line)
            self._clear_line()
            # A line of code is a line also without its end; elsewhere the text stays as it is.
            self._take_line(line + "\n" if isinstance(leaf, Fence) else line)
        self._end_everything()
        self._leaf = None
        self._lists = []
        self._forget_last_line()
        return self.pop_events()

    def describe(self) -> str:
        """Say what is open, from the outside in; `boundary` when nothing is (R263)."""
        parts = [str(frame) for frame in self._lists]
        if self._leaf is not None:
            parts.append(str(self._leaf))
        return " > ".join(parts) or "boundary"

    # The open line.

    def _end_line(self, piece: str) -> None:
        leaf = self._leaf
        if isinstance(leaf, Paragraph) and leaf.is_first_line_open:
            leaf.append(piece)
            return
        if self._line:
            piece = "".join([*self._line, piece])
            self._clear_line()
        self._take_line(piece)

    def _extend_line(self, piece: str) -> None:
        leaf = self._leaf
        if isinstance(leaf, Paragraph) and leaf.is_first_line_open:
            leaf.append(piece)
            return
        self._line.append(piece)
        self._line_bytes += len(piece.encode("utf-8", "surrogatepass"))
        if len(self._line_head) < PREFIX_SIZE and (leaf is None or isinstance(leaf, IndentedCode)):
            self._line_head += piece[: PREFIX_SIZE - len(self._line_head)]
            if self._must_be_outside(self._line_head) and opens_paragraph(self._line_head):
                self._end_leaf()
                self._end_lists()
                self._leaf = Paragraph("".join(self._line))
                self._clear_line()

    def _must_be_outside(self, prefix: str) -> bool:
        """Tell whether a line of plain text that begins with `prefix` is in no list."""
        if not self._lists:
            return True
        return not self._may_be_lazy and measure(prefix)[0] < self._lists[0].content_column

    def _clear_line(self) -> None:
        self._line = []
        self._line_head = ""
        self._line_bytes = 0

    # Whole lines.

    def _take_line(self, line: str) -> None:
        match self._leaf:
            case Fence() as fence:
                self._fence_line(fence, line)
            case Html() as html:
                if html.append("\n" if html.ends.pattern is None and is_blank(line) else line):
                    self._end_leaf()
            case IndentedCode() as code:
                self._indented_line(code, line)
            case Paragraph() as paragraph:
                self._paragraph_line(paragraph, line)
            case None:
                if not self._lists or not self._list_line(line):
                    self._boundary_line(line)

    def _boundary_line(self, line: str) -> None:
        """Begin a block at the top level."""
        if is_blank(line):
            return
        column, rest = measure(line)
        if column >= CODE_INDENT:
            self._leaf = IndentedCode([line])
        elif is_heading(rest):
            self._emit(Block(line, "heading"))
        elif is_rule(rest):
            self._emit(Block(line, "rule"))
        elif is_definition(rest):
            self._emit(Block(line, "other"))
        elif (opening := fence_opening(rest)) is not None:
            self._open_fence(opening, column, column)
        elif (ends := html_start(rest)) is not None:
            self._leaf = Html(ends)
            self._take_line(line)
        elif (marker := list_marker(column, rest)) is not None:
            self._list_count += 1
            self._open_list(marker, line, base=0, output=0, list_id=self._list_count)
        else:
            self._leaf = Paragraph(line)

    def _paragraph_line(self, paragraph: Paragraph, line: str) -> None:
        column, rest = measure(line)
        paragraph.reach(len(line.rstrip("\n").encode("utf-8", "surrogatepass")))
        if is_blank(line):
            # What the line held besides its end would only trail behind the paragraph (trap 107).
            paragraph.append("\n")
            self._end_leaf()
        elif column >= CODE_INDENT:
            paragraph.append(line)
        elif paragraph.kind == "paragraph" and is_underline(rest):
            if paragraph.is_streaming:
                self._end_leaf()
                self._boundary_line(line)
            else:
                self._leaf = None
                self._emit(paragraph.end_as_heading(line))
        elif interrupts_paragraph(rest):
            self._end_leaf()
            self._boundary_line(line)
        else:
            paragraph.append(line)

    def _indented_line(self, code: IndentedCode, line: str) -> None:
        if is_blank(line):
            code.blanks.append(line)
        elif measure(line)[0] >= CODE_INDENT:
            code.append(line)
        else:
            self._end_leaf()
            self._boundary_line(line)

    # Fences.

    def _open_fence(self, opening: FenceOpening, column: int, indent: int, lead: str = "") -> None:
        list_id = self._lists[-1].list_id if self._lists else None
        self._leaf = Fence(opening.run, column, indent, list_id)
        written_at = self._lists[-1].output if lead else indent
        self._emit(
            CodeOpen(
                opening.run, opening.info, opening.language, written_at, lead, list_id, self._is_after_blank
            )
        )
        self._is_after_blank = False

    def _fence_line(self, fence: Fence, line: str) -> None:
        event = fence.read(line)
        self._emit(event)
        if isinstance(event, CodeClose):
            self._leaf = None
            # Behind a fence there is no text that a line could go on with.
            self._forget_last_line()

    # Lists.

    def _open_list(self, marker: Marker, line: str, *, base: int, output: int, list_id: int) -> None:
        frame = ListFrame(
            base, output, list_id, marker.delimiter, marker.number is not None, marker.number or 0
        )
        self._lists.append(frame)
        self._begin_item(frame, marker, line)

    def _begin_item(self, frame: ListFrame, marker: Marker, line: str) -> None:
        self._emit_part(frame)
        written = frame.begin_item(marker)
        content = marker.content.lstrip(" \t")
        opening = fence_opening(content)
        if opening is not None and len(marker.content) - len(content) <= CODE_INDENT:
            lead = written + marker.content[: len(marker.content) - len(content)]
            self._open_fence(opening, frame.content_column, frame.content_output, lead)
            return
        end = "\n" if line.endswith("\n") else ""
        frame.add_first(written + marker.content + end, is_after_blank=self._is_after_blank)
        self._forget_last_line()
        self._may_be_lazy = content != ""

    def _list_line(self, line: str) -> bool:
        """Take a line while a list is open; false when it ended all of them and belongs to none."""
        if is_blank(line):
            self._is_after_blank = True
            self._may_be_lazy = False
            self._lists[-1].add_blank()
            return True
        column, rest = measure(line)
        marker = list_marker(column, rest)
        is_plain = marker is None and not interrupts_paragraph(rest)
        while self._lists:
            frame = self._lists[-1]
            if column >= frame.content_column:
                self._item_line(frame, line, column, rest, marker)
                return True
            if marker is not None and 0 <= column - frame.base < CODE_INDENT:
                return self._marker_line(frame, marker, line)
            if self._may_be_lazy and (is_plain or column - frame.base >= CODE_INDENT):
                frame.add_lazy(line)
                return True
            self._emit_part(frame)
            self._lists.pop()
        self._forget_last_line()
        return False

    def _item_line(self, frame: ListFrame, line: str, column: int, rest: str, marker: Marker | None) -> None:
        """Take a line that is indented to the content of the current item."""
        relative = column - frame.content_column
        # Behind a blank line, four columns more make it code, whatever it looks like.
        is_code = (self._is_after_blank or self._is_in_code) and relative >= CODE_INDENT
        self._is_in_code = is_code
        if marker is not None and not is_code:
            self._emit_part(frame)
            output = frame.content_output
            self._open_list(marker, line, base=frame.content_column, output=output, list_id=frame.list_id)
        elif (opening := fence_opening(rest)) is not None and not is_code:
            self._emit_part(frame)
            self._open_fence(opening, column, frame.content_output + relative)
        else:
            frame.add_content(line, is_after_blank=self._is_after_blank)
            self._is_after_blank = False
            self._may_be_lazy = not is_code and not interrupts_paragraph(rest)

    def _marker_line(self, frame: ListFrame, marker: Marker, line: str) -> bool:
        """Take a marker that stands left of the content of the current item."""
        if frame.is_sibling(marker):
            self._begin_item(frame, marker, line)
            return True
        self._emit_part(frame)
        self._lists.pop()
        if not self._lists:
            self._forget_last_line()
            return False
        self._open_list(marker, line, base=frame.base, output=frame.output, list_id=frame.list_id)
        return True

    def _end_lists(self) -> None:
        while self._lists:
            self._emit_part(self._lists.pop())
        self._forget_last_line()

    def _forget_last_line(self) -> None:
        self._is_after_blank = self._may_be_lazy = self._is_in_code = False

    def _emit_part(self, frame: ListFrame) -> None:
        if (block := frame.take()) is not None:
            self._emit(block)

    # Events.

    def _emit(self, event: BlockEvent) -> None:
        previous = self._events[-1] if self._events else None
        if isinstance(event, Slice) and isinstance(previous, Slice) and not previous.is_last:
            self._events[-1] = replace(event, text=previous.text + event.text, is_first=previous.is_first)
        else:
            self._events.append(event)

    def _end_leaf(self) -> None:
        leaf, self._leaf = self._leaf, None
        if isinstance(leaf, (Paragraph, IndentedCode, Html)):
            self._emit(leaf.end())

    def _end_everything(self) -> None:
        """Emit what is still open, innermost first; outer lists hold no text of their own then."""
        match self._leaf:
            case Fence() as fence:
                self._emit(fence.close(is_missing=True))
            case Paragraph() as paragraph:
                self._emit(paragraph.end(is_tail=True))
            case Html() as html:
                self._emit(html.end_as_tail())
            case IndentedCode() as code:
                block = code.end()
                self._emit(Tail(block.text, block.kind))
            case None:
                if self._lists and (tail := self._lists[-1].take_tail()) is not None:
                    self._emit(tail)
