"""Whole results of tools, as files beside what the conversation holds of them (query pipeline 5.8, trap 97).

A folder for each conversation, in it a file for each result. The name has the call in it, for people, and a
number, which alone makes it new: vendors give two calls the same id.
"""

import logging
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from anyio import to_thread

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.workspace.atomic import make_folder, stamp_of

_log = logging.getLogger(__name__)

MAX_AGE = 30 * 24 * 60 * 60
"""Seconds that a file is kept; the conversation holds what the model was given for ever."""

_UNPLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_CALL_SIZE = 60


@dataclass(slots=True)
class ResultsFolder:
    """The folder of these files: `ports.results.ResultFiles` on disk."""

    path: Path
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def new_path(self, conversation: ConversationId, call: CallId) -> str:
        """Give the absolute path for a result of a call, such that no file is there."""
        folder = self._folder_of(conversation)
        name = _UNPLAIN.sub("_", call)[:_MAX_CALL_SIZE]
        try:
            make_folder(folder)
        except OSError as error:
            _log.warning("whole results of tools cannot be kept in %s: %s", folder, error)
        while (path := folder / f"{name}-{next(self._numbers)}.txt").exists():
            pass
        return str(path)

    def uri(self, conversation: ConversationId, name: str) -> str | None:
        """Give the URI of a file by its name alone, if it is there."""
        path = self._folder_of(conversation) / name
        is_plain = name == path.name and stamp_of(path) is not None
        return path.as_uri() if is_plain else None

    async def write(self, path: str, text: str) -> None:
        """Make the file at such a path, or write it anew.

        Raises:
            OSError: it could not be written.
        """
        await to_thread.run_sync(partial(_write, path, text))

    async def remove(self, paths: Sequence[str]) -> None:
        """Remove files; those that were never made, or cannot be removed, are passed over."""
        await to_thread.run_sync(partial(_remove, paths))

    def remove_old(self, now: float) -> int:
        """Remove the files whose time is up, in seconds since 1970; give how many there were."""
        old = [path for path in self.path.glob("*/*.txt") if _is_older(path, now - MAX_AGE)]
        # A folder that was used of late may be about to be used again, by a call that has its path already.
        folders = {path.parent for path in old}
        idle = [folder for folder in folders if folder.stat().st_mtime < now - MAX_AGE]
        _remove([str(path) for path in old])
        for folder in idle:
            with suppress(OSError):  # younger files are in it
                folder.rmdir()
        return len(old)

    def _folder_of(self, conversation: ConversationId) -> Path:
        return self.path / conversation


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)


def _remove(paths: Sequence[str]) -> None:
    for path in paths:
        try:
            Path(path).unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the result %s could not be removed: %s", path, error)


def _is_older(path: Path, time: float) -> bool:
    stamp = stamp_of(path)
    return stamp is not None and stamp.modified / 1e9 < time
