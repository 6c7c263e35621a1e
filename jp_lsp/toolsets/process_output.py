"""What happens to the bytes that a program writes: kept, copied to a file, logged; never more than a limit.

A sink is used by the one thread that reads its pipe. Only `Head` is looked at from elsewhere meanwhile.
"""

import io
import logging
import mmap
import os
import re
import threading
from collections.abc import Sequence
from typing import Protocol

from jp_lsp.ports.process import Output

_log = logging.getLogger(__name__)

COPY_LIMIT = 64 * 1024 * 1024
"""The most bytes that are copied to a file."""

COPIED_FROM = 4096
"""Bytes up to which output gets no file."""

_READ_SIZE = 64 * 1024
_BEGIN_SIZE = 256
_MAX_LINE_SIZE = 2000
_MAX_LINES = 500
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Sink(Protocol):
    """Takes bytes in pieces, and is told when there are no more."""

    def take(self, piece: bytes | memoryview) -> None:
        """Take the next bytes; they are there only until this returns."""

    def finish(self) -> None:
        """There are no more."""


def drain(pipe: io.FileIO, sinks: Sequence[Sink]) -> None:
    """Read an unbuffered pipe to its end, then close it."""
    buffer = memoryview(bytearray(_READ_SIZE))
    with pipe:
        while size := pipe.readinto(buffer):
            for sink in sinks:
                sink.take(buffer[:size])
    for sink in sinks:
        sink.finish()


class Head:
    """Keeps the first `limit` bytes and counts the rest.

    It keeps them in memory of its own, outside the heap: a buffer that grows there, in a thread, would leave
    holes of several times its size, which the process would never give back.

    Args:
        limit: the most bytes to keep.
        text_limit: the most to keep of what is no JSON object, or of one that is too long to be kept whole.
    """

    def __init__(self, limit: int, text_limit: int | None = None) -> None:
        self._limit = limit
        self._text_limit = limit if text_limit is None else min(limit, text_limit)
        self._kept = _room_for(limit)
        self._first = b""
        self._size = 0
        self._lock = threading.Lock()

    def take(self, piece: bytes | memoryview) -> None:
        """Keep what there is room for."""
        with self._lock:
            self._size += len(piece)
            self._first = self._first or bytes(piece[:_BEGIN_SIZE]).lstrip()[:1]
            if self._size > self._limit or self._first not in {b"", b"{"}:
                self._keep_less()
            if (room := self._limit - self._kept.tell()) > 0:
                self._kept.write(piece[:room])

    def _keep_less(self) -> None:
        if self._text_limit < self._limit:
            self._limit = self._text_limit
            with self._kept as kept:
                self._kept = _room_for(self._limit)
                self._kept.write(kept[: min(kept.tell(), self._limit)])

    def finish(self) -> None:
        """Do nothing."""

    def output(self) -> Output:
        """Tell what came so far."""
        with self._lock:
            return Output(self._kept[: self._kept.tell()], self._size)

    def forget(self) -> None:
        """Free what was kept and keep nothing more."""
        with self._lock:
            self._limit = self._text_limit = 0
            self._kept.close()
            self._kept = _room_for(0)


def _room_for(size: int) -> mmap.mmap:
    return mmap.mmap(-1, max(1, size))


class Copy:
    """Writes what is more than a few lines to a file that only the user may read.

    A disk that refuses ends the copy, not the program. What was read is in the file at once, so the file is
    whole as soon as the pipe has ended.
    """

    def __init__(self, path: str, limit: int = COPY_LIMIT) -> None:
        self._path = path
        self._room = limit
        self._file: io.FileIO | None = None
        self._unwritten = bytearray()
        self._has_failed = False

    def take(self, piece: bytes | memoryview) -> None:
        """Write what there is room for."""
        if self._has_failed or not self._room:
            return
        piece = piece[: self._room]
        self._room -= len(piece)
        if self._file is None and len(self._unwritten) + len(piece) <= COPIED_FROM:
            self._unwritten += piece
            return
        try:
            if self._file is None:
                self._file = self._open()
                self._write(self._file, self._unwritten)
                self._unwritten.clear()
            self._write(self._file, piece)
        except OSError as error:
            self._has_failed = True
            _log.warning("the output could not be written to %s: %s", self._path, error)

    def finish(self) -> None:
        """Close the file."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            _log.warning("the output could not be written to %s: %s", self._path, error)

    def _open(self) -> io.FileIO:
        return io.FileIO(self._path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600))

    def _write(self, file: io.FileIO, piece: bytes | bytearray | memoryview) -> None:
        written = 0
        while written < len(piece):
            written += file.write(piece[written:])


class LineLog:
    """Logs lines as they come, without terminal codes; long lines are cut, and after 500 it says so and stops."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._line = bytearray()
        self._lines = 0

    def take(self, piece: bytes | memoryview) -> None:
        """Log the lines that are complete now."""
        if self._lines > _MAX_LINES:
            return
        for line in bytes(piece).splitlines(keepends=True):
            self._line += line[: _MAX_LINE_SIZE - len(self._line)]
            if line.endswith((b"\n", b"\r")):
                self._write()

    def finish(self) -> None:
        """Log a last line that has no end."""
        if self._line:
            self._write()

    def _write(self) -> None:
        text = _TERMINAL_CODE.sub("", self._line.decode(errors="replace"))
        text = _CONTROL.sub(" ", text).strip()
        self._line.clear()
        if not text or self._lines > _MAX_LINES:
            return
        self._lines += 1
        if self._lines > _MAX_LINES:
            text = "(its further lines are not logged)"
        _log.info("%s: %s", self._label, text)
