"""Makes text from outside fit to be shown (query pipeline 5.2, traps 6, 102 and 106).

A model, a tool, a server or a file may send escape sequences that would move a terminal's cursor, recolour
it or set its title, and line ends of three kinds. Here they are taken out and made one, while the text
arrives in pieces of any size. What is stored is never touched.

An escape sequence that is never finished ends at the next control character, a line end at the latest, so
a stray introducer costs at most one line. Nothing is buffered but the few characters of a colour sequence.
"""

import re
from typing import Literal

from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.render.options import ControlSequences

_INTERESTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_BIDI_OVERRIDE = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SGR_PARAMETERS = re.compile("[0-9:;]*", re.ASCII)
_SGR_PARAMETERS_MAX = 64
_WHITE_SPACE = re.compile(r"\s+")

_ESC = "\x1b"
_STRING_INTRODUCERS = frozenset("PX]^_")
_C1_STRINGS = frozenset("\x90\x98\x9d\x9e\x9f")
_C1_SEQUENCE = "\x9b"
_STRING_TERMINATOR = "\x9c"

_State = Literal["text", "escape", "intermediate", "sequence", "string", "string_escape"]


class TextCleaner:
    """Cleans one text that arrives in pieces."""

    __slots__ = ("_after_return", "_keeps_sgr", "_parameters", "_state", "_surrogate")

    def __init__(self, control_sequences: ControlSequences = "strip") -> None:
        self._keeps_sgr = control_sequences == "keep_sgr"
        self._state: _State = "text"
        self._parameters = ""
        self._after_return = False
        self._surrogate: str = ""

    def feed(self, text: str) -> str:
        """Take the next piece and give what of it is to be shown."""
        if self._surrogate:
            text, self._surrogate = self._surrogate + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            # The first half of a character; the next piece may have the second (providers trap 14).
            text, self._surrogate = text[:-1], text[-1]
        if self._state == "text" and not self._after_return and _INTERESTING.search(text) is None:
            return text
        return self._normalise_lines(self._strip(replace_surrogates(text)))

    def finish(self) -> str:
        """Give what was still held back at the end of the text, and start anew."""
        held = ("\n" if self._after_return else "") + ("\ufffd" if self._surrogate else "")
        self._state = "text"
        self._parameters = self._surrogate = ""
        self._after_return = False
        return held

    def _normalise_lines(self, text: str) -> str:
        if not text:
            return text
        if self._after_return:
            text = "\r" + text
        self._after_return = text.endswith("\r")
        if self._after_return:
            text = text[:-1]
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _strip(self, text: str) -> str:
        kept: list[str] = []
        position = 0
        while position < len(text):
            if self._state == "text":
                found = _INTERESTING.search(text, position)
                if found is None:
                    kept.append(text[position:])
                    break
                kept.append(text[position : found.start()])
                position = found.start() + 1
                kept.append(self._control(found[0]))
            elif self._consume(text[position], kept):
                position += 1
        return "".join(kept)

    def _control(self, character: str) -> str:
        """Handle a control character outside of any sequence; a return is left to the line ends."""
        if character == "\r":
            return "\r"
        if character == _ESC:
            self._state = "escape"
        elif character == _C1_SEQUENCE:
            self._begin_sequence()
        elif character in _C1_STRINGS:
            self._state = "string"
        return ""

    def _begin_sequence(self) -> None:
        self._state = "sequence"
        self._parameters = ""

    def _consume(self, character: str, kept: list[str]) -> bool:
        """Take a character of a sequence; false when it ends the sequence without being part of it."""
        match self._state:
            case "escape":
                return self._after_escape(character)
            case "intermediate":
                return self._after_intermediate(character)
            case "sequence":
                return self._in_sequence(character, kept)
            case "string" | "string_escape":
                return self._in_string(character)
            case "text":
                return False

    def _after_escape(self, character: str) -> bool:
        if character == "[":
            self._begin_sequence()
        elif character in _STRING_INTRODUCERS:
            self._state = "string"
        elif " " <= character <= "/":
            self._state = "intermediate"
        else:
            self._state = "text"
            return "0" <= character <= "~"
        return True

    def _after_intermediate(self, character: str) -> bool:
        if " " <= character <= "/":
            return True
        self._state = "text"
        return "0" <= character <= "~"

    def _in_sequence(self, character: str, kept: list[str]) -> bool:
        if " " <= character <= "?":
            if len(self._parameters) <= _SGR_PARAMETERS_MAX:
                self._parameters += character
            return True
        self._state = "text"
        if not "@" <= character <= "~":
            return False
        if self._keeps_sgr and character == "m" and self._is_sgr():
            kept.append(f"{_ESC}[{self._parameters}m")
        return True

    def _is_sgr(self) -> bool:
        parameters = self._parameters
        return len(parameters) <= _SGR_PARAMETERS_MAX and _SGR_PARAMETERS.fullmatch(parameters) is not None

    def _in_string(self, character: str) -> bool:
        if self._state == "string_escape":
            # ESC \ ends the string; any other ESC starts a sequence of its own.
            if character == "\\":
                self._state = "text"
                return True
            self._state = "escape"
            return False
        if character == _ESC:
            self._state = "string_escape"
            return True
        if character in {"\x07", _STRING_TERMINATOR}:
            self._state = "text"
            return True
        if character >= " " and not "\x7f" <= character <= "\x9f":
            return True
        if character == "\t":
            return True
        self._state = "text"
        return False


def clean(text: str, control_sequences: ControlSequences = "strip") -> str:
    """Clean a whole text."""
    cleaner = TextCleaner(control_sequences)
    return cleaner.feed(text) + cleaner.finish()


def clean_line(text: str) -> str:
    """Clean a name or a title and put it on one line."""
    return _WHITE_SPACE.sub(" ", clean(text)).strip()


def has_bidi_override(text: str) -> bool:
    """Tell whether a text has characters that change the direction in which it is drawn.

    Such characters are kept, since languages need them, but they can make code read other than it is.
    """
    return not text.isascii() and _BIDI_OVERRIDE.search(text) is not None
