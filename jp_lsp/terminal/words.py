"""Small sentences and numbers for people, and text made harmless for a terminal."""

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Take out everything that could command a terminal.

    The server has done so already. Here the introducers go once more, so that whatever was left of a
    sequence is harmless text; tab and line feed stay.
    """
    return _CONTROL.sub("", text)


def plain_line(text: str) -> str:
    """Make text harmless and put it on one line."""
    return " ".join(plain(text).split())


def duration(seconds: float) -> str:
    """Write a time as people do: `0.4 s`, `12 s`, `2 min 5 s`."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"


def whole_seconds(seconds: float) -> str:
    """Write a time that is shown while it passes."""
    whole = int(max(seconds, 0))
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02} s"
