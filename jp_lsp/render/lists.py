"""One open list: its items, where they stand, and their numbers (query pipeline 5.4)."""

from dataclasses import dataclass, field

from jp_lsp.render.block_event import Block, Tail
from jp_lsp.render.line import Marker, is_blank, strip_columns


@dataclass(slots=True)
class ListFrame:
    """A list within what encloses it.

    `base` is the column where its container's content begins in the source, `output` the column where it
    is written; they differ below an item whose number became wider or narrower. `lines` is the part of the
    current item that was not given away yet.
    """

    base: int
    output: int
    list_id: int
    delimiter: str
    is_ordered: bool
    start: int
    item_count: int = 0
    content_column: int = 0
    shift: int = 0
    lines: list[str] = field(default_factory=lambda: [])
    is_after_blank: bool = False

    @property
    def content_output(self) -> int:
        """The column at which the content of the current item is written."""
        return self.output + self.content_column - self.base + self.shift

    def is_sibling(self, marker: Marker) -> bool:
        """Tell whether the marker begins another item of this list."""
        return marker.delimiter == self.delimiter and (marker.number is not None) == self.is_ordered

    def begin_item(self, marker: Marker) -> str:
        """Start an item and give its marker, with the indentation before it, as it is to be written.

        Ordered items are numbered anew, since models often write `1.` before each. A number that becomes
        wider moves the content of its item.
        """
        text = marker.text
        if marker.number is not None:
            number = self.start + self.item_count
            if number != marker.number:
                text = f"{number}{marker.delimiter}"
        self.item_count += 1
        self.shift = len(text) - len(marker.text)
        self.content_column = marker.content_column
        return " " * (marker.column - self.base) + text

    def add_first(self, line: str, *, is_after_blank: bool) -> None:
        """Take the first line of an item, already written as it should be."""
        self.lines = [line]
        self.is_after_blank = is_after_blank

    def add_content(self, line: str, *, is_after_blank: bool) -> None:
        """Take a line that is indented to the content of the current item."""
        if self.shift < 0:
            text = strip_columns(line, self.base - self.shift)
        else:
            text = " " * self.shift + strip_columns(line, self.base)
        self._add(text, is_after_blank)

    def add_lazy(self, line: str) -> None:
        """Take a line that goes on with the text of the item without being indented to it."""
        self._add(strip_columns(line, self.base), is_after_blank=False)

    def add_blank(self) -> None:
        """Take a blank line."""
        if self.lines:
            self.lines.append("\n")

    def _add(self, text: str, is_after_blank: bool) -> None:
        if not self.lines:
            self.is_after_blank = is_after_blank
        self.lines.append(text)

    def take(self) -> Block | None:
        """Give the part of the current item that was not given away yet."""
        text, self.lines = "".join(self.lines), []
        if is_blank(text):
            return None
        return Block(text, "list_item", self.output, self.list_id, self.is_after_blank)

    def take_tail(self) -> Tail | None:
        """Give it as the unfinished end of the text."""
        block = self.take()
        if block is None:
            return None
        return Tail(block.text, block.kind, block.indent, block.list_id, block.is_after_blank)

    def __str__(self) -> str:
        """Describe it for people who look into a buffer."""
        number = f"{self.start} + {self.item_count}" if self.is_ordered else "-"
        return f"list(column {self.base}, content {self.content_column}, {self.delimiter!r}, items {number})"
