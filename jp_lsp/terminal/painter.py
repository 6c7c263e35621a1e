"""From operations to bytes for a terminal: text, one status line below it, and questions that come and go.

The text is never touched again once it is written. What is shown *below* it, a status or a question, is
removed before more text comes, and the cursor goes back to where the text stopped, even in the middle of a
line. That needs the column at which the text stopped. Where it is not known, because the window changed or
because nobody knows how wide an emoji is, nothing is drawn below an unfinished line.

Pure: operations in, pieces of output out. Nothing here knows a file descriptor.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, assert_never

from jp_lsp.terminal.operations import (
    EndLine,
    HideStatus,
    Kind,
    Level,
    Link,
    Operation,
    Say,
    ShowStatus,
    Write,
)
from jp_lsp.terminal.width import advance, fit, row_count
from jp_lsp.terminal.words import plain

Stream = Literal["answer", "aside", "screen"]
"""Standard output, standard error, and the terminal itself whatever it is reached by."""

_CLEAR_LINE = "\r\x1b[K"
_CLEAR_BELOW = "\r\x1b[J"
_UP = "\x1b[A"
_LINK, _LINK_END = "\x1b]8;;", "\x1b\\"
_URI = re.compile(r"[!-~]{1,2000}")
"""What terminals take for a link: characters that are printed, and not too many of them."""

_STYLES: dict[str, str] = {"dim": "2", "bold": "1", "warning": "33", "error": "31"}
_STYLE_OF_KIND: dict[Kind, str | None] = {"answer": None, "thought": "dim", "tool": "dim"}
_STYLE_OF_LEVEL: dict[Level, str] = {"info": "dim", "warning": "warning", "error": "error"}


@dataclass(frozen=True, slots=True)
class Look:
    """What the output is connected to, and what it can do.

    Attributes:
        is_answer_on_screen: standard output is the terminal.
        is_aside_on_screen: standard error is the terminal.
        shows_status: there is a terminal on which a status line may be drawn.
        can_erase: it understands the few sequences that are needed to take something away again.
        has_colour: styles are wanted.
    """

    is_answer_on_screen: bool = True
    is_aside_on_screen: bool = True
    shows_status: bool = True
    can_erase: bool = True
    has_colour: bool = True


@dataclass(frozen=True, slots=True)
class Output:
    """Text for one of the streams."""

    stream: Stream
    text: str


@dataclass(slots=True)
class _Below:
    """What is drawn below the text: in how many rows, and at which column of its line the text waits."""

    rows: int
    text_column: int
    columns: int


@dataclass(slots=True)
class Painter:
    """Keeps track of one terminal. `columns` is its width."""

    look: Look
    columns: int = 80
    _column: int | None = field(default=0, init=False)
    _is_line_broken: bool = field(default=False, init=False)
    """Whether a line of the text was broken for something else, so that its own line feed is there already."""
    _below: _Below | None = field(default=None, init=False)
    _status: str = field(default="", init=False)
    _is_line_open: dict[Stream, bool] = field(default_factory=lambda: {}, init=False)
    """Whether what was written last to a stream that is not the terminal stopped within a line."""
    is_typing: bool = field(default=False, init=False)
    """Whether the user types a line behind the question, so that nothing may be drawn."""
    _question: Sequence[str] | None = field(default=None, init=False)
    _out: list[Output] = field(default_factory=lambda: [], init=False)

    def paint(self, operation: Operation) -> list[Output]:
        """Do one operation."""
        match operation:
            case Write(text, kind):
                self._write(plain(text), kind)
            case Link(title, uri, kind):
                self._link(plain(title), plain(uri), kind)
            case Say(text, level):
                self._say(plain(text), level)
            case ShowStatus(text):
                self._show_status(text)
            case HideStatus():
                self._clear_below()
            case EndLine():
                self._end_line()
            case _:
                assert_never(operation)
        self._draw_question()
        return self._taken()

    def open_question(
        self, title: str, lines: Sequence[str], prompt: str, *, is_typing: bool
    ) -> list[Output]:
        """Draw a question below the text and leave the cursor behind `prompt`.

        Args:
            title: the question.
            lines: what belongs to it.
            prompt: what stands before the cursor.
            is_typing: the answer is a line, typed with the terminal's own echo; until it ends with
                `leave_question` nothing may be painted. Else text goes on above the question, until
                `close_question`.
        """
        self._clear_below()
        shown = [*(plain(line) for line in (title, *lines)), prompt]
        self._question = shown
        self.is_typing = is_typing
        self._draw_question()
        return self._taken()

    def close_question(self, trace: str | None) -> list[Output]:
        """Take the question away again, and leave `trace` in its place if there is one."""
        self._question = None
        self._clear_below()
        if trace is not None:
            self._say_on_screen(self._styled(plain(trace), "dim"))
        return self._taken()

    def leave_question(self, *, is_line_complete: bool) -> list[Output]:
        """Leave the question on the screen, because the user typed behind it, perhaps to the end of a line."""
        self._question = self._below = None
        self.is_typing = False
        if not is_line_complete:
            self._emit("screen", "\n")
        self._break_line()
        return self._taken()

    def redraw(self) -> list[Output]:
        """Draw the question again, after somebody else had the terminal; cursor at the margin."""
        self._below = None
        self._break_line()
        self._draw_question()
        return self._taken()

    def resize(self, columns: int) -> None:
        """Note that the window has another width; where the cursor is in an unfinished line is not known."""
        if columns != self.columns:
            self.columns = columns
            if self._column:
                self._column = None

    def tidy(self) -> list[Output]:
        """Leave the terminal so that somebody else may write: nothing below the text, cursor at a margin."""
        self._clear_below()
        if self._column != 0:
            self._emit("screen", "\n")
            self._break_line()
        return self._taken()

    # The transcript.

    def _write(self, text: str, kind: Kind) -> None:
        if not text:
            return
        is_aside = kind == "thought" and not self.look.is_answer_on_screen
        stream: Stream = "aside" if is_aside else "answer"
        if not (self.look.is_aside_on_screen if is_aside else self.look.is_answer_on_screen):
            self._emit(stream, text)
            self._is_line_open[stream] = not text.endswith("\n")
            return
        self._clear_below()
        if self._is_line_broken:
            self._is_line_broken = False
            text = text.removeprefix("\n")
        self._emit(stream, self._styled(text, _STYLE_OF_KIND[kind]))
        self._column = advance(self._column, text, self.columns)

    def _link(self, title: str, uri: str, kind: Kind) -> None:
        """Write a title that the terminal itself links, which takes a sequence of OSC 8 around it."""
        can_link = self.look.is_answer_on_screen and self.look.can_erase and _URI.fullmatch(uri) is not None
        if not can_link:
            self._write(f"[{title}]({uri})", kind)
            return
        self._clear_below()
        self._is_line_broken = False
        self._emit(
            "answer", f"{_LINK}{uri}{_LINK_END}{self._styled(title, _STYLE_OF_KIND[kind])}{_LINK}{_LINK_END}"
        )
        self._column = advance(self._column, title, self.columns)

    def _end_line(self) -> None:
        self._clear_below()
        for stream, is_open in self._is_line_open.items():
            if is_open:
                self._emit(stream, "\n")
        self._is_line_open.clear()
        if self._column != 0:
            self._emit("answer" if self.look.is_answer_on_screen else "aside", "\n")
            self._column = 0
        self._is_line_broken = False

    # Beside it.

    def _say(self, text: str, level: Level) -> None:
        if self.look.is_aside_on_screen:
            self._say_on_screen(self._styled(text, _STYLE_OF_LEVEL[level]), "aside")
        else:
            begin = "\n" if self._is_line_open.pop("aside", False) else ""
            self._emit("aside", f"{begin}{text}\n")

    def _say_on_screen(self, text: str, stream: Stream = "screen") -> None:
        self._clear_below()
        begin = "" if self._column == 0 else "\n"
        self._emit(stream, f"{begin}{text}\n")
        self._break_line()

    # Below it.

    def _show_status(self, text: str) -> None:
        if self._question is not None or not (self.look.shows_status and self.look.can_erase):
            return
        line = fit(text, self.columns - 1)
        if self._below is not None:
            if line != self._status:
                self._emit("screen", _CLEAR_LINE + self._styled(line, "dim"))
        elif self._column is not None:
            self._draw_below(self._styled(line, "dim"), 1)
        self._status = line

    def _draw_below(self, text: str, rows: int) -> None:
        """Write below the text. An unfinished line is left by a line feed, to be gone back to later."""
        begin = "" if self._column == 0 else "\r\n"
        self._emit("screen", begin + text)
        waits_at = self.columns if self._column is None else self._column
        self._below = _Below(rows, waits_at, self.columns)

    def _draw_question(self) -> None:
        if self._question is not None and self._below is None:
            text = "\n".join([self._styled(self._question[0], "bold"), *self._question[1:]])
            self._draw_below(text, sum(row_count(line, self.columns) for line in self._question))

    def _clear_below(self) -> None:
        """Remove what is below the text, and go back to where the text goes on."""
        below, self._below = self._below, None
        self._status = ""
        if below is None:
            return
        if not self.look.can_erase:
            self._emit("screen", "\n")
            self._break_line()
        elif below.columns != self.columns:
            # The window changed: rows may have been wrapped anew. Better to go on below than to guess.
            self._emit("screen", _CLEAR_BELOW)
            self._break_line()
        else:
            self._emit("screen", _UP * (below.rows - 1) + _CLEAR_BELOW)
            if 0 < below.text_column < self.columns:
                self._emit("screen", f"{_UP}\x1b[{below.text_column + 1}G")
                self._column = below.text_column
            else:  # the text stood at the margin, or its line was full and goes on here
                self._break_line()

    def _break_line(self) -> None:
        """Note that the text goes on at the margin, wherever it was."""
        self._is_line_broken = self._is_line_broken or self._column != 0
        self._column = 0

    # Output.

    def _styled(self, text: str, style: str | None) -> str:
        if style is None or not self.look.has_colour or not text.strip():
            return text
        begin = f"\x1b[{_STYLES[style]}m"
        # A style must not run over a line's end: some terminals fill the next line with it.
        return "\n".join(f"{begin}{line}\x1b[0m" if line else line for line in text.split("\n"))

    def _emit(self, stream: Stream, text: str) -> None:
        if self._out and self._out[-1].stream == stream:
            self._out[-1] = Output(stream, self._out[-1].text + text)
        else:
            self._out.append(Output(stream, text))

    def _taken(self) -> list[Output]:
        out, self._out = self._out, []
        return out
