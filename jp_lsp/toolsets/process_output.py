"""What happens to the bytes that a program writes: kept, copied to a file, logged; never more than a limit.

A sink is used by the one thread that reads its pipe. Only `Head` is looked at from elsewhere meanwhile.
"""

import logging
import os
import re
import threading
from collections.abc import Sequence
from typing import IO, Protocol

from jp_lsp.ports.process import Output

_log = logging.getLogger(__name__)

COPY_LIMIT = 64 * 1024 * 1024
"""The most bytes that are copied to a file."""

_READ_SIZE = 64 * 1024
_MAX_LINE_SIZE = 2000
_MAX_LINES = 500
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Sink(Protocol):
    """Takes bytes in pieces, and is told when there are no more."""

    def take(self, piece: bytes) -> None:
        """Take the next bytes."""

    def finish(self) -> None:
        """There are no more."""


def drain(pipe: IO[bytes], sinks: Sequence[Sink]) -> None:
    """Read an unbuffered pipe to its end, then close it."""
    with pipe:
        while piece := pipe.read(_READ_SIZE):
            for sink in sinks:
                sink.take(piece)
    for sink in sinks:
        sink.finish()


class Head:
    """Keeps the first `limit` bytes and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._size = 0
        self._lock = threading.Lock()

    def take(self, piece: bytes) -> None:
        """Keep what there is room for."""
        with self._lock:
            self._kept += piece[: self._limit - len(self._kept)]
            self._size += len(piece)

    def finish(self) -> None:
        """Do nothing."""

    def output(self) -> Output:
        """Tell what came so far."""
        with self._lock:
            return Output(bytes(self._kept), self._size)

    def forget(self) -> None:
        """Free what was kept and keep nothing more."""
        with self._lock:
            self._limit = 0
            self._kept = bytearray()


class Copy:
    """Writes to a file that only the user may read. A disk that refuses ends the copy, not the program.

    What was read is in the file at once, so the file is whole as soon as the pipe has ended.
    """

    def __init__(self, path: str, limit: int = COPY_LIMIT) -> None:
        self._path = path
        self._room = limit
        self._file: IO[bytes] | None = None
        self._has_failed = False

    def take(self, piece: bytes) -> None:
        """Write what there is room for."""
        if self._has_failed or not self._room:
            return
        piece = piece[: self._room]
        self._room -= len(piece)
        try:
            if self._file is None:
                self._file = self._open()
            written = 0
            while written < len(piece):
                written += self._file.write(piece[written:])
        except OSError as error:
            self._has_failed = True
            _log.warning("the output could not be written to %s: %s", self._path, error)

    def finish(self) -> None:
        """Close the file; a program that wrote nothing has an empty one."""
        try:
            if self._file is None and not self._has_failed:
                self._file = self._open()
            if self._file is not None:
                self._file.close()
        except OSError as error:
            _log.warning("the output could not be written to %s: %s", self._path, error)

    def _open(self) -> IO[bytes]:
        return open(self._path, "wb", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600))


class LineLog:
    """Logs lines as they come, without terminal codes; long lines are cut, and after 500 it says so and stops."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._line = bytearray()
        self._lines = 0

    def take(self, piece: bytes) -> None:
        """Log the lines that are complete now."""
        if self._lines > _MAX_LINES:
            return
        for line in piece.splitlines(keepends=True):
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
