"""Between offsets in a text, in code points, and the lines and units that a client counts in.

Lines end where the protocol says, which is at fewer characters than Python's `splitlines` knows.
"""

import bisect
import re
from dataclasses import dataclass
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text; `end` is behind it."""

    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Tell whether a cursor at the offset stands in the piece or at one of its ends."""
        return self.start <= offset <= self.end

    def touches(self, other: "Span") -> bool:
        """Tell whether two pieces have a place in common; ends that meet do."""
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Position:
    """A place as the protocol counts it: both from 0, `character` in the units of the encoding."""

    line: int
    character: int


class Lines:
    """The lines of a text.

    Args:
        text: the text.
        encoding: the units that were agreed on with the client.
    """

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._text = text
        self._encoding: Encoding = encoding
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(text)]

    @property
    def count(self) -> int:
        """How many lines there are; at least one."""
        return len(self._starts)

    def span_of_line(self, line: int) -> Span:
        """Give a line without its end; one that does not exist counts as the nearest."""
        line = min(max(line, 0), self.count - 1)
        return Span(self._starts[line], self._ends[line])

    def line_of(self, offset: int) -> int:
        """Give the number of the line that an offset lies in."""
        return max(bisect.bisect_right(self._starts, offset) - 1, 0)

    def position(self, offset: int) -> Position:
        """Give the position of an offset."""
        line = self.line_of(offset)
        return Position(line, _units(self._text[self._starts[line] : offset], self._encoding))

    def offset(self, line: int, character: int) -> int:
        """Give the offset of a position; one beyond the text or in the middle of a character is moved back."""
        if line >= self.count:
            return len(self._text)
        here = self.span_of_line(line)
        text = self._text[here.start : here.end]
        if self._encoding == "utf-32" or text.isascii():
            return min(here.start + max(character, 0), here.end)
        used = 0
        for index, letter in enumerate(text):
            used += _units(letter, self._encoding)
            if used > character:
                return here.start + index
        return here.end


def _units(text: str, encoding: Encoding) -> int:
    match encoding:
        case "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        case "utf-16":
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case "utf-32":
            return len(text)
