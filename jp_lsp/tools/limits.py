"""Keeps results of tools to a size that a model can be given (query pipeline 3.10).

Sizes are bytes of UTF-8. What is cut away says so at the end of what is left, and cutting twice adds up: a
text that was cut from 500 MB to 2 MiB when it was read, and from there to 256 KiB, tells of the 500 MB.
"""

import re
from collections.abc import Sequence

BATCH_BUDGET = 2 * 1024 * 1024
"""The most bytes that all results of one response may have together."""

_NOTE = "\n[cut here: {} more bytes were left out{}]"
_PLACE = "; more is in {}"
_PIECE = 64 * 1024
_NOTE_AT_END = re.compile(
    r"\n\[cut here: ([0-9]{1,15}) more bytes were left out(?:; more is in ([^\n]+))?\]\Z"
)


def limit_text(text: str, threshold: int, file: str | None = None) -> str:
    """Cut a text to at most `threshold` bytes, note included; its head stays.

    A threshold that is smaller than the note leaves the note alone. `file` is where more of it is found.
    """
    size = _size(text)
    if size <= threshold:
        return text
    omitted = 0
    if earlier := _NOTE_AT_END.search(text):
        omitted = int(earlier[1])
        file = file or earlier[2]
        text = text[: earlier.start()]
        size = _size(text)
    room = room_beside_note(size + omitted, threshold, file)
    head = text[:room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return note_omitted(head, size + omitted - _size(head), file)


def room_beside_note(size: int, threshold: int, file: str | None = None) -> int:
    """Give how many bytes of a text of `size` bytes fit into `threshold` together with the note."""
    return max(0, threshold - _size(_note(size, file)))


def note_omitted(text: str, size: int, file: str | None = None) -> str:
    """Say at the end of a text that so many bytes of it are missing, and where more of it is found."""
    return text + _note(size, file) if size else text


def _note(size: int, file: str | None) -> str:
    return _NOTE.format(size, "" if file is None else _PLACE.format(file))


def limit_batch(texts: Sequence[str], budget: int = BATCH_BUDGET) -> list[str]:
    """Cut the results of one response so that together they fit, the largest first.

    No text is cut below another that is cut; small ones stay whole.
    """
    sizes = [_size(text) for text in texts]
    if sum(sizes) <= budget:
        return list(texts)
    level = _common_limit(sizes, budget)
    return [limit_text(text, level) for text in texts]


def _common_limit(sizes: Sequence[int], budget: int) -> int:
    """Find the largest limit under which the sizes fit; they do not fit without one."""
    remaining = budget
    for done, size in enumerate(sorted(sizes)):
        share = remaining // (len(sizes) - done)
        if size > share:
            return share
        remaining -= size
    return budget


def _size(text: str) -> int:
    """Count the bytes of a text, piece by piece so that counting makes no copy of it."""
    if text.isascii():
        return len(text)
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return sum(len(piece.encode("utf-8", "replace")) for piece in pieces)
