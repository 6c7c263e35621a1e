"""A terminal that understands just what ours is sent, and refuses everything else.

Rows are kept for ever, as by scrolling back. Written on purpose without the program's own tables, so that the
two can disagree.
"""

import re
import unicodedata

_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


class TerminalEmulator:
    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._rows: list[list[str]] = [[]]
        self.row = 0
        self.column = 0

    @property
    def lines(self) -> list[str]:
        """What is to be read, without blanks at the ends of lines and empty lines at the end."""
        shown = ["".join(row).rstrip() for row in self._rows]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, text: str) -> None:
        position = 0
        while position < len(text):
            character = text[position]
            if character == "\x1b":
                sequence = _SEQUENCE.match(text, position)
                assert sequence is not None, f"an unknown sequence: {text[position : position + 12]!r}"
                self._obey(sequence[1], sequence[2])
                position = sequence.end()
                continue
            self._take(character)
            position += 1

    def _obey(self, parameters: str, command: str) -> None:
        match command:
            case "m":
                assert parameters in {"0", "1", "2", "31", "33"}, parameters
            case "K" if parameters == "":
                del self._rows[self.row][self.column :]
            case "J" if parameters == "":
                del self._rows[self.row][self.column :]
                del self._rows[self.row + 1 :]
            case "A" if parameters == "":
                assert self.row > 0, "the cursor left the screen"
                self.row -= 1
            case "G":
                self.column = int(parameters) - 1
            case _:
                raise AssertionError(f"an unknown sequence: {parameters}{command}")

    def _take(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":  # as a terminal driver does, with the return
            self.column = 0
            self._next_row()
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character == "\t":
            self.column = min(self.column // 8 * 8 + 8, self.columns - 1)
        else:
            assert character.isprintable(), f"a control character: {character!r}"
            self._put(character)

    def _put(self, character: str) -> None:
        if unicodedata.combining(character):
            row = self._rows[self.row]
            row += [" "] * (self.column - len(row))
            if self.column:
                row[self.column - 1] += character
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self.column + width > self.columns:
            self.column = 0
            self._next_row()
        row = self._rows[self.row]
        row += [" "] * (self.column + width - len(row))
        row[self.column : self.column + width] = [character, *[""] * (width - 1)]
        self.column += width

    def _next_row(self) -> None:
        self.row += 1
        if self.row == len(self._rows):
            self._rows.append([])
