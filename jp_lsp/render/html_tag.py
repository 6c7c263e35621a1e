"""Reads what follows a `<` inside a paragraph: a tag, an autolink, a comment, or just text.

The verdict is `tag` when the text up to its end is one of these and therefore inert, `text` when it is not
and holds nothing that would mean something in plain text, and `unknown` when it is not and does.
"""

import re
from typing import Literal

Verdict = Literal["open", "tag", "text", "unknown"]

_AMBIGUOUS = re.compile(r"[`*_~^\[\]\\]")
_STOP = re.compile("[<>\"']")
_TAG = re.compile(
    r"""<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*/?>\Z"""
    r"""|</[A-Za-z][A-Za-z0-9-]*\s*>\Z"""
    r"""|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>\Z"""
    r"""|<[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+>\Z"""
)
_AUTOLINK_HEAD = re.compile("<[A-Za-z][A-Za-z0-9+.-]{1,31}:")
_DECLARATION = re.compile("<![A-Za-z]")
_COMMENT, _CDATA = "<!--", "<![CDATA["
_SIZE_MAX = 4096


class TagReader:
    """Reads one construct that starts with `<`; it is given the text behind that character."""

    __slots__ = ("_kept", "_pieces", "_quote", "_size", "_terminator", "verdict")

    def __init__(self) -> None:
        self.verdict: Verdict = "open"
        self._pieces = ["<"]
        self._size = 1
        self._quote = ""
        self._terminator = ""
        self._kept = ""

    @property
    def last(self) -> str:
        """The last character that was read."""
        return self._pieces[-1][-1]

    def read(self, text: str, position: int) -> int:
        """Read on and give the place where this stopped; there is a verdict unless it is the end."""
        while position < len(text) and self.verdict == "open":
            position = self._step(text, position)
        return position

    def _step(self, text: str, position: int) -> int:
        if self._terminator:
            return self._until_terminator(text, position)
        if self._size == 1:
            return self._first(text, position)
        if self._pieces[1] == "!":
            return self._after_bang(text, position)
        if self._quote:
            return self._in_quotes(text, position)
        return self._in_tag(text, position)

    def _take(self, piece: str, end: int) -> int:
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        if self._size > _SIZE_MAX:
            self.verdict = "unknown"
        return end

    def _first(self, text: str, position: int) -> int:
        character = text[position]
        if character == "?":
            self._terminator = "?>"
            return position + 1
        if not ((character.isascii() and character.isalpha()) or character in "/!"):
            self.verdict = "text"
            return position
        return self._take(character, position + 1)

    def _after_bang(self, text: str, position: int) -> int:
        self._take(text[position], position + 1)
        head = "".join(self._pieces)
        if head == _COMMENT:
            self._terminator = "-->"
            # `<!-->` is whole already.
            self._kept = "--"
        elif head == _CDATA:
            self._terminator = "]]>"
        elif _DECLARATION.match(head):
            self._terminator = ">"
        elif not _COMMENT.startswith(head) and not _CDATA.startswith(head):
            self._decide_text()
        return position + 1

    def _until_terminator(self, text: str, position: int) -> int:
        # Only the end of what was read matters from here on, so nothing else is kept.
        overlap = len(self._terminator) - 1
        window = self._kept + text[position:]
        found = window.find(self._terminator)
        if found < 0:
            self._kept = window[-overlap:] if overlap else ""
            return len(text)
        self.verdict = "tag"
        return position + found + len(self._terminator) - len(self._kept)

    def _in_quotes(self, text: str, position: int) -> int:
        found = text.find(self._quote, position)
        if found < 0:
            return self._take(text[position:], len(text))
        self._quote = ""
        return self._take(text[position : found + 1], found + 1)

    def _in_tag(self, text: str, position: int) -> int:
        found = _STOP.search(text, position)
        if found is None:
            return self._take(text[position:], len(text))
        if found[0] == "<":
            self._take(text[position : found.start()], found.start())
            self._decide_text()
            return found.start()
        self._take(text[position : found.end()], found.end())
        if found[0] == ">":
            if _TAG.match("".join(self._pieces)):
                self.verdict = "tag"
            else:
                self._decide_text()
        elif self._is_after_equals():
            self._quote = found[0]
        elif not _AUTOLINK_HEAD.match("".join(self._pieces)):
            self._decide_text()
        return found.end()

    def _is_after_equals(self) -> bool:
        """Tell whether the quote that was just read begins the value of an attribute."""
        before = self._pieces[-1][:-1].rstrip()
        for piece in reversed(self._pieces[:-1]):
            if before:
                break
            before = piece.rstrip()
        return before.endswith("=")

    def _decide_text(self) -> None:
        self.verdict = "unknown" if _AMBIGUOUS.search("".join(self._pieces)) else "text"
