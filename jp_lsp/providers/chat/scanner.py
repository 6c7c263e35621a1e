"""Finds thinking between tags in the content of local models (providers 6.5, tag scanner).

Servers that do not parse a model's thinking pass it on as `<think>`, a line, …, `</think>`, a line. The
scanner splits such text while it streams. It holds back as many bytes as a tag could need, so that a tag
which arrives in pieces is never shown.
"""

from typing import Literal, NamedTuple

_OPEN = "<think>"
_CLOSE = "</think>"


class Scanned(NamedTuple):
    """What became certain, in this order."""

    reasoning: str
    content: str


class TagScanner:
    """States: idle until the opening tag, thinking until the closing one, then done."""

    def __init__(self) -> None:
        self._state: Literal["idle", "thinking", "done"] = "idle"
        self._buffer = ""

    def feed(self, text: str) -> Scanned:
        """Take a piece of content."""
        self._buffer += text
        before, reasoning, content = "", "", ""
        if self._state == "idle":
            before = self._advance(_OPEN + "\n", len(_OPEN), "thinking")
        if self._state == "thinking":
            reasoning = self._advance(_CLOSE + "\n", len(_CLOSE), "done")
        if self._state == "done":
            content, self._buffer = self._buffer, ""
        return Scanned(reasoning, before + content)

    def release(self) -> Scanned:
        """Give up what is held back: the content ends, or something else interrupts it.

        Tags that lack only their line end are accepted here.
        """
        held, self._buffer = self._buffer, ""
        if self._state == "idle":
            content, tag, reasoning = held.partition(_OPEN)
            if tag:
                self._state = "thinking"
            return Scanned(reasoning, content)
        if self._state == "thinking":
            reasoning, tag, content = held.partition(_CLOSE)
            if tag:
                self._state = "done"
            return Scanned(reasoning, content)
        return Scanned("", held)

    def _advance(self, tag: str, hold: int, following: Literal["thinking", "done"]) -> str:
        """Give what is surely before the tag; move on when the tag is there."""
        text, found, rest = self._buffer.partition(tag)
        if found:
            self._state = following
            self._buffer = rest
            return text
        cut = _cut_before_last_bytes(self._buffer, hold)
        text, self._buffer = self._buffer[:cut], self._buffer[cut:]
        return text


def _cut_before_last_bytes(text: str, count: int) -> int:
    """Find where the last `count` bytes of UTF-8 begin, moved forward to a whole character."""
    tail = text[-count:]
    position = len(text)
    if tail.isascii():
        return position - len(tail)
    for character in reversed(tail):
        count -= _utf8_size(character)
        if count < 0:
            break
        position -= 1
    return position


def _utf8_size(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
