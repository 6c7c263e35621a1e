"""Where in a paragraph nothing is open: no code span, no emphasis, no link, no tag (query pipeline 5.4).

A long paragraph is shown in slices, and a slice may end only where the text so far means what it will mean
when all of it is there. `InlineTracker` reads the paragraph once, in pieces of any size, and knows the last
such place. It may hold back too much, never too little. Two things make that simple:

- Where it cannot tell which of two readings is right (a link target that turns out to be none, but holds
  characters that would mean something outside of one), it gives up until the paragraph ends.
- What never closes is held until the paragraph ends, so the meaning of text behind it does not matter.

Each character is looked at once, and the work for a run is bounded by the limit on open runs.
"""

import re
import string
from collections.abc import Callable
from dataclasses import dataclass

from jp_lsp.render.delimiters import DelimiterStack
from jp_lsp.render.html_tag import TagReader

_SPECIAL = re.compile(r"[`*_~^\[\]<\\!]")
_AMBIGUOUS = re.compile(r"[`*_~^\[\]<\\]")
_TARGET_STOP = re.compile(r"""[()\\"'<>]""")
_TARGET = re.compile(
    r"""(?:<(?:[^<>\n\\]|\\.)*>|(?!<)[^\s\x00-\x1f\x7f]*)"""
    r"""(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\Z""",
    re.DOTALL,
)
_PUNCTUATION = frozenset(string.punctuation)
_OPEN_MAX = 64
_TARGET_SIZE_MAX = 4096


@dataclass(slots=True)
class _Bracket:
    """An open `[`, or `![` of an image.

    `may_link` is false once a link was made inside it, `is_doubtful` true once there may have been one.
    `has_closer` is true when emphasis outside of it may end in it.
    """

    start: int
    is_image: bool
    bottom: int
    may_link: bool = True
    is_doubtful: bool = False
    has_closer: bool = False


class InlineTracker:
    """Follows the inline constructs of one paragraph."""

    def __init__(self) -> None:
        self.size = 0
        """How many characters were read."""
        self._mode: Callable[[str, int], int] = self._text
        self._start = 0
        self._before = ""
        self._run = ""
        self._count = 0
        self._code_size = 0
        self._delimiters = DelimiterStack()
        self._brackets: list[_Bracket] = []
        self._closed: _Bracket | None = None
        self._tag: TagReader | None = None
        self._target: list[str] = []
        self._target_size = 0
        self._depth = 0
        self._quote = ""
        self._skips = False

    @property
    def safe(self) -> int:
        """How many characters may be shown: all before the first construct that is open."""
        places = [self.size]
        if self._mode != self._text:
            places.append(self._start)
        if self._delimiters.first is not None:
            places.append(self._delimiters.first)
        if self._brackets:
            places.append(self._brackets[0].start)
        if self._closed is not None:
            places.append(self._closed.start)
        return min(places)

    @property
    def open_run(self) -> int:
        """The size of the backtick run of the code span that is open, or zero."""
        if self._mode == self._backticks:
            return self._count
        if self._mode == self._code:
            return self._code_size
        if self._mode == self._code_end and self._count != self._code_size:
            return self._code_size
        return 0

    def feed(self, text: str) -> None:
        """Read the next piece."""
        base, position = self.size, 0
        while position < len(text):
            self.size = base + position
            position = self._mode(text, position)
        self.size = base + len(text)

    # Each mode reads from `position` and gives the place where it stopped; `self.size` is the place of
    # `position` in the paragraph.

    def _text(self, text: str, position: int) -> int:
        found = _SPECIAL.search(text, position)
        if found is None:
            self._before = text[-1]
            return len(text)
        if found.start() > position:
            self._before = text[found.start() - 1]
        self._start = self.size + found.start() - position
        character = found[0]
        match character:
            case "`":
                self._count = 0
                self._mode = self._backticks
                return found.start()
            case "*" | "_" | "~" | "^":
                self._run, self._count = character, 0
                self._mode = self._delimiter_run
                return found.start()
            case "[":
                self._open_bracket(is_image=False)
            case "]":
                self._close_bracket()
            case "<":
                self._tag = TagReader()
                self._mode = self._in_tag
            case "\\":
                self._mode = self._escape
            case _:
                self._mode = self._bang
        return found.end()

    def _until_the_end(self, text: str, _position: int) -> int:
        return len(text)

    def _back_to_text(self, before: str) -> None:
        self._mode = self._text
        self._before = before

    def _give_up(self) -> None:
        """Hold everything from the first open construct on until the paragraph ends."""
        self._start = min(self._start, self.safe)
        self._mode = self._until_the_end

    # Code spans: a run of backticks up to the next run of the same size.

    def _backticks(self, text: str, position: int) -> int:
        end = self._count_run("`", text, position)
        if end < len(text):
            self._code_size = self._count
            self._mode = self._code
        return end

    def _code(self, text: str, position: int) -> int:
        found = text.find("`", position)
        if found < 0:
            return len(text)
        self._count = 0
        self._mode = self._code_end
        return found

    def _code_end(self, text: str, position: int) -> int:
        end = self._count_run("`", text, position)
        if end < len(text):
            if self._count == self._code_size:
                self._back_to_text("`")
            else:
                self._mode = self._code
        return end

    def _count_run(self, character: str, text: str, position: int) -> int:
        end = position
        while end < len(text) and text[end] == character:
            end += 1
        self._count += end - position
        return end

    # Emphasis and its relatives.

    def _delimiter_run(self, text: str, position: int) -> int:
        end = self._count_run(self._run, text, position)
        if end == len(text):
            return end
        is_footnote = self._run == "^" and self._before == "["
        if not is_footnote:
            bracket = self._brackets[-1] if self._brackets else None
            bottom = bracket.bottom if bracket is not None else 0
            closes = self._delimiters.add(
                self._run, self._start, self._count, self._before, text[end], bottom
            )
            if bracket is not None and closes:
                bracket.has_closer = True
        self._back_to_text(self._run)
        self._check_limit()
        return end

    def _check_limit(self) -> None:
        if len(self._delimiters) + len(self._brackets) > _OPEN_MAX:
            self._give_up()

    # Single characters that need to see the next one.

    def _escape(self, text: str, position: int) -> int:
        if text[position] in _PUNCTUATION:
            self._back_to_text(text[position])
            return position + 1
        self._back_to_text("\\")
        return position

    def _bang(self, text: str, position: int) -> int:
        if text[position] == "[":
            self._back_to_text("[")
            self._open_bracket(is_image=True)
            return position + 1
        self._back_to_text("!")
        return position

    # Links and images.

    def _open_bracket(self, *, is_image: bool) -> None:
        self._brackets.append(_Bracket(self._start, is_image, len(self._delimiters)))
        self._before = "["
        self._check_limit()

    def _close_bracket(self) -> None:
        self._before = "]"
        if self._brackets:
            self._closed = self._brackets.pop()
            self._start = self._closed.start
            self._mode = self._after_bracket

    def _after_bracket(self, text: str, position: int) -> int:
        closed = self._closed
        if closed is not None and closed.may_link and text[position] == "(":
            self._target = []
            self._target_size = 0
            self._depth = 0
            self._quote = ""
            self._skips = False
            self._mode = self._in_target
            return position + 1
        self._back_to_text("]")
        self._end_bracket(is_link=False)
        if closed is not None and text[position] == "[" and self._mode == self._text:
            # Perhaps `[text][label]`, which must not be cut in the middle.
            self._start = closed.start
            self._open_bracket(is_image=False)
            return position + 1
        return position

    def _end_bracket(self, *, is_link: bool) -> None:
        """Settle what the brackets just closed mean for what is open in them and around them."""
        closed, self._closed = self._closed, None
        if closed is None:
            return
        if is_link:
            self._delimiters.drop_from(closed.bottom)
            if not closed.is_image:
                # There are no links in links: what encloses this one stays text.
                for bracket in self._brackets:
                    bracket.may_link = bracket.may_link and bracket.is_image
            return
        # They are a link all the same if their text is defined somewhere.
        for bracket in self._brackets:
            bracket.is_doubtful = True
        if closed.has_closer or (closed.may_link and len(self._delimiters) > closed.bottom):
            self._start = closed.start
            self._give_up()

    def _in_target(self, text: str, position: int) -> int:
        """Read `(target "title")` up to its closing parenthesis."""
        if self._skips:
            self._skips = False
            return self._take_target(text[position], position + 1)
        found = _TARGET_STOP.search(text, position)
        if found is None:
            return self._take_target(text[position:], len(text))
        end, character = found.end(), found[0]
        if character == "\\":
            self._skips = True
        elif self._quote:
            if character == self._quote:
                self._quote = ""
        elif character in "\"'" and self._is_after_space(text[position : found.start()]):
            self._quote = character
        elif character == "<" and not self._target and found.start() == position:
            self._quote = ">"
        elif character == "(":
            self._depth += 1
        elif character == ")":
            self._depth -= 1
            if self._depth < 0:
                self._take_target(text[position : found.start()], end)
                self._end_target("".join(self._target))
                return end
        return self._take_target(text[position:end], end)

    def _take_target(self, piece: str, end: int) -> int:
        if piece:
            self._target.append(piece)
            self._target_size += len(piece)
        if self._target_size > _TARGET_SIZE_MAX:
            self._give_up()
        return end

    def _is_after_space(self, piece: str) -> bool:
        if piece:
            return piece[-1].isspace()
        return bool(self._target) and self._target[-1][-1].isspace()

    def _end_target(self, target: str) -> None:
        if self._mode == self._until_the_end:
            return
        is_valid = _TARGET.match(target.strip()) is not None
        is_link = is_valid and self._closed is not None and not self._closed.is_doubtful
        if not is_link and _AMBIGUOUS.search(target):
            self._give_up()
            return
        self._back_to_text(")")
        self._end_bracket(is_link=is_link)

    # Tags, autolinks, comments.

    def _in_tag(self, text: str, position: int) -> int:
        tag = self._tag
        if tag is None:
            self._back_to_text("<")
            return position
        end = tag.read(text, position)
        match tag.verdict:
            case "open":
                pass
            case "tag":
                self._back_to_text(">")
            case "text":
                self._back_to_text(tag.last)
            case "unknown":
                self._give_up()
        return end
