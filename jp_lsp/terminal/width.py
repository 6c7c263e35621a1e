"""How many columns text takes on a terminal, and where the cursor ends up.

Terminals agree about most characters and disagree about some: emoji that are put together from several
characters, above all. `advance` says when it does not know, so that nobody moves the cursor by a guess.
"""

import unicodedata

_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")
"""Zero-width joiner, variation selectors, keycap: what comes out is as wide as the terminal thinks."""

_TAB = 8


def character_width(character: str) -> int:
    """Give the columns of one character: 0, 1 or 2."""
    if character < "\u0300":
        return 1 if character >= " " else 0
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def text_width(text: str) -> int:
    """Give the columns of one line of text."""
    return len(text) if text.isascii() else sum(map(character_width, text))


def fit(text: str, columns: int) -> str:
    """Cut one line of text so that it takes at most so many columns; a cut shows."""
    if text_width(text) <= columns:
        return text
    kept: list[str] = []
    room = columns - 1
    for character in text:
        room -= character_width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + ("…" if columns > 0 else "")


def advance(column: int | None, text: str, columns: int) -> int | None:
    """Follow the cursor while text is written.

    Args:
        column: where it is: columns to its left, in 0 to `columns`; `None` when that is not known. The full
            width means that the line is full and the next character will begin another one.
        text: what is written, without control characters but tab and line feed.
        columns: the width of the terminal.

    Returns:
        Where the cursor is then.
    """
    start = text.rfind("\n") + 1
    if start:
        column = 0
    if column is None:
        return None
    last_line = text[start:]
    if last_line.isascii() and "\t" not in last_line:
        total = column + len(last_line)
        return total if total <= columns else (total - 1) % columns + 1
    for character in last_line:
        if character in _JOINERS or _is_regional(character):
            return None
        if character == "\t":
            if column == columns:
                return None  # terminals disagree
            column = min((column // _TAB + 1) * _TAB, columns - 1)
            continue
        width = character_width(character)
        column = column + width if column + width <= columns else width
    return column


def row_count(text: str, columns: int) -> int:
    """Count the rows that one line of text takes."""
    return max(1, -(-text_width(text) // max(columns, 1)))


def _is_regional(character: str) -> bool:
    """Tell whether it is half of a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"
