"""What the standard streams are connected to, and what that can do."""

import os
import stat
import sys
from collections.abc import Mapping

from jp_lsp.terminal.painter import Look

_UNKNOWN_WIDTH = 80


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Tell whether the terminal understands no sequences, such as a shell window of an editor."""
    return environ.get("TERM", "dumb" if sys.platform != "win32" else "") in {"", "dumb"}


def look_of(environ: Mapping[str, str], *, is_foreground: bool) -> Look:
    """Find out how output is to look.

    A status line is drawn on standard output, or on standard error where the answer goes to a file. Where it
    goes into a pipe none is drawn: a pager may be at the other end, and the terminal is its.
    """
    is_answer_on_screen, is_aside_on_screen = os.isatty(1), os.isatty(2)
    can_erase = not is_dumb(environ)
    has_screen = is_answer_on_screen or (is_aside_on_screen and not _is_pipe(1))
    return Look(
        is_answer_on_screen=is_answer_on_screen,
        is_aside_on_screen=is_aside_on_screen,
        shows_status=has_screen and is_foreground,
        can_erase=can_erase,
        has_colour=can_erase and not environ.get("NO_COLOR"),
    )


def columns_of(descriptor: int) -> int:
    """Give the width of a terminal; a usual one when it does not tell."""
    try:
        return os.get_terminal_size(descriptor).columns or _UNKNOWN_WIDTH
    except OSError:
        return _UNKNOWN_WIDTH


def output_encoding() -> str:
    """Give the encoding of text for the outside."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def is_unicode(encoding: str) -> bool:
    """Tell whether any character can be written."""
    return encoding.lower().replace("-", "").replace("_", "") == "utf8"


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
