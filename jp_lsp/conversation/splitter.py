"""Cuts the array of `events.json` into its elements while the text arrives, so that no file is too large to look at.

`stored.load` has the whole text and keeps the text of each entry. Here only what an element says is wanted,
one after the other.
"""

from collections.abc import Iterator
from typing import cast

from jp_lsp.conversation import json_text
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stored import StreamFormatError

LARGEST_ELEMENT = 1 << 26
"""Characters; a single element that is larger is not waited for."""

_BLANKS = " \t\n\r"


class ElementSplitter:
    """Takes a text in pieces of any size, and gives each element as soon as the end of it has come."""

    def __init__(self) -> None:
        self._text = ""
        self._position = 0
        self._wanted_size = 1
        self._expected = "["
        self._is_done = False

    def feed(self, piece: str) -> Iterator[JsonValue]:
        """Take the next piece; gives the elements that are whole now.

        Raises:
            StreamFormatError: the text is no JSON array, or an element is too large.
        """
        self._text = self._text[self._position :] + piece
        self._position = 0
        # An element in many pieces is tried again only when twice as much of it is there: trying costs its size.
        if len(self._text) < self._wanted_size:
            return
        self._wanted_size = 1
        while self._steps_to_element():
            start = self._position
            try:
                value, end = json_text.DECODER.raw_decode(self._text, start)
            except RecursionError as error:
                raise StreamFormatError("events.json: an entry is nested too deep") from error
            except ValueError as error:
                self._wait_for_more(error)
                return
            self._position = end
            # A number may go on in the next piece.
            if not self._skip_blanks() or self._text[self._position] in ".eE":
                self._position = start
                self._wait_for_more(None)
                return
            self._expected = ",]"
            yield cast(JsonValue, value)

    def finish(self) -> Iterator[JsonValue]:
        """Say that there is no more; gives the elements that were still waited for.

        Raises:
            StreamFormatError: the array is not whole.
        """
        self._wanted_size = 0
        yield from self.feed("")
        if not self._is_done:
            raise StreamFormatError("events.json: the file is not a whole JSON array")

    def _steps_to_element(self) -> bool:
        """Step over what stands between elements; tells whether an element begins at the position."""
        while self._skip_blanks():
            found = self._text[self._position]
            if self._is_done:
                raise StreamFormatError("events.json: there is more after the array")
            if self._expected == "element":
                return True
            if self._expected == "first" and found != "]":
                return True
            if self._expected != "first" and found not in self._expected:
                raise StreamFormatError(f"events.json: expected one of {self._expected!r}, not {found!r}")
            self._position += 1
            self._is_done = found == "]"
            self._expected = "first" if found == "[" else "element"
        return False

    def _skip_blanks(self) -> bool:
        """Step over blanks; tells whether something else is there."""
        while self._position < len(self._text) and self._text[self._position] in _BLANKS:
            self._position += 1
        return self._position < len(self._text)

    def _wait_for_more(self, error: ValueError | None) -> None:
        size = len(self._text) - self._position
        if size > LARGEST_ELEMENT:
            raise StreamFormatError(f"events.json: {error or 'an entry is too large'}") from error
        self._wanted_size = 2 * size
