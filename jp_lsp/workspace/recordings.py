"""The files of recorded turns, in the user's own data and never in a workspace (query pipeline 7.6).

They hold all that was said, so only the user can read them. A new one makes the oldest go, when they are too
many or too old.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import make_folder, stamp_of

MOST_RECORDINGS = 50
"""So many are kept, the new one included."""

LONGEST_KEPT = 14 * 24 * 3600
"""Seconds after its last line for which a recording is kept."""

SUFFIX = ".jsonl"

_NANOSECONDS = 1_000_000_000
_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_TOKEN = 40
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has none, and needs a privilege to make links


class DiskRecording:
    """An open recording: implements `RecordingFile`. Each text goes to the system at once."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.name = str(path)
        self._file = file

    def write(self, text: str) -> None:
        """Append text.

        Raises:
            OSError: it could not be written, or only in part.
        """
        data = text.encode()
        if self._file.write(data) != len(data):
            raise OSError(f"{self.name} could not be written to its end")

    def close(self) -> None:
        """Write nothing more."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class RecordingFolder:
    """The folder of all recordings."""

    path: Path

    def begin(self, token: str, now: Timestamp) -> DiskRecording:
        """Make a recording named for its time and its query, and remove those that are too many or too old.

        Raises:
            OSError: it could not be made.
        """
        make_folder(self.path)
        self._prune(now)
        plain = _PLAIN.sub("-", token)[:_LONGEST_TOKEN]
        path = self.path / f"{now.nanoseconds:019d}-{os.getpid()}-{plain}{SUFFIX}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
        return DiskRecording(path, open(descriptor, "wb", buffering=0))

    def _prune(self, now: Timestamp) -> None:
        stamped = ((stamp_of(path), path) for path in self.path.glob(f"*{SUFFIX}"))
        found = [(stamp.modified, path) for stamp, path in stamped if stamp is not None]
        latest_first = sorted(found, reverse=True)
        oldest = now.nanoseconds - LONGEST_KEPT * _NANOSECONDS
        for position, (modified, path) in enumerate(latest_first, 1):
            if position >= MOST_RECORDINGS or modified < oldest:
                path.unlink(missing_ok=True)
