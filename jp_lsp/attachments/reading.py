"""Reading one file as an attachment: text, or bytes of a kind that is recognised (config-and-tools 6.2)."""

import os
import stat
from pathlib import Path

from jp_lsp.attachments.media import media_type_of, to_text
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, TextAttachment

FILE_LIMIT = 10 * 1024 * 1024
"""Bytes that a file may have."""


class Unreadable(Exception):
    """A file cannot be attached; the text says which and why."""


def read_file(place: Path, shown: str) -> tuple[Attachment | None, str | None]:
    """Read a file; for one that is neither text nor of a known kind, say so.

    Args:
        place: the file, without links.
        shown: what to call it.

    Raises:
        Unreadable: it is no ordinary file, is too large, or the system refuses.
    """
    try:
        status = place.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{shown!r} is no ordinary file, and cannot be attached.")
        with place.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unreadable(
            f"File {shown!r} cannot be read: {reason}. Make it readable, or remove it."
        ) from error
    if len(data) > FILE_LIMIT:
        size = max(status.st_size, len(data))
        raise Unreadable(f"File {shown!r} is too large ({size} bytes, limit is {FILE_LIMIT} bytes).")
    if (media_type := media_type_of(data)) is not None:
        return BinaryAttachment(shown, data, media_type), None
    if (text := to_text(data)) is not None:
        return TextAttachment(shown, text), None
    return None, f"{shown!r} is neither text in UTF-8 nor a known kind of file."


def printable(path: str) -> str:
    """Give a path as text; file names may have any bytes."""
    return os.fsencode(path).decode("utf-8", "replace")
