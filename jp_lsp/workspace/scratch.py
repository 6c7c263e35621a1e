"""Files that are handed to an editor for a while: a text that the user writes, in the user's own data.

They may hold what is meant for nobody else, so only the user can read them. A link under such a name is
never followed. Whoever makes a file removes it. A server that was killed could not, so beside each file
stands where its text belongs and what was in it at first, and a lock tells whether the server still lives:
what a dead one left behind is found by a later one, and what the user had written is not lost.
"""

import json
import logging
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import Stamp, make_folder, stamp_of
from jp_lsp.workspace.lock import Lock, acquire, is_locked

_log = logging.getLogger(__name__)

_ORIGIN = ".origin"
_LONGEST_ORIGIN = 4 * 1024 * 1024
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has none, and needs a privilege to make links


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A file of a server that was killed. `text` is what the user wrote for the conversation; empty for nothing."""

    name: str
    conversation: ConversationId | None
    text: str


@dataclass(slots=True)
class ScratchFolder:
    """The folder of these files; names are plain names of files."""

    path: Path
    _lock: Lock | None = None

    async def write(self, name: str, text: str, conversation: ConversationId | None = None) -> str:
        """Make a file, in place of one with this name, and give its URI.

        Args:
            name: its name.
            text: what is in it.
            conversation: where a text that the user writes in it belongs, if it is to be kept.

        Raises:
            OSError: it could not be written.
        """
        await to_thread.run_sync(partial(self._write, name, text, conversation))
        return (self.path / name).as_uri()

    async def read(self, name: str, limit: int) -> bytes | None:
        """Give the first `limit` bytes of a file; `None` when it is gone.

        Raises:
            OSError: it could not be read.
        """
        return await to_thread.run_sync(partial(self._read, name, limit))

    async def stamp(self, name: str) -> Stamp | None:
        """Give what changes whenever the file is saved; `None` when it is gone."""
        return await to_thread.run_sync(stamp_of, self.path / name)

    async def remove(self, name: str) -> None:
        """Remove a file; one that is gone already is fine.

        Raises:
            OSError: it could not be removed.
        """
        await to_thread.run_sync(self._remove, name)

    def left_behind(self) -> Sequence[LeftBehind]:
        """Find the files whose servers are gone. Whoever takes care of one removes it."""
        found: list[LeftBehind] = []
        for path in sorted(self.path.glob(f".*{_ORIGIN}")):
            try:
                left = self._read_left(path.name[1 : -len(_ORIGIN)], path)
            except (OSError, ValueError, KeyError, TypeError) as problem:
                _log.warning("%s cannot be understood and stays: %s", path, problem)
            else:
                found += [] if left is None else [left]
        for lock in self.path.glob(".server-*.lock"):
            if not is_locked(lock):
                lock.unlink(missing_ok=True)
        return found

    def close(self) -> None:
        """Say that this server is gone."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _write(self, name: str, text: str, conversation: ConversationId | None) -> None:
        make_folder(self.path)
        if self._lock is None:
            lock = self.path / f".server-{os.getpid()}-{secrets.token_hex(4)}.lock"
            self._lock = acquire(lock, Timestamp(time.time_ns()))
        origin = self._origin_of(name)
        if not origin.exists():  # a file that is made again has the user's text in it
            server = "" if self._lock is None else self._lock.path.name
            about = {"conversation": conversation, "initial": text, "server": server}
            self._create(origin, json.dumps(about).encode())
        self._create(self.path / name, text.encode("utf-8", "replace"))

    def _read_left(self, name: str, origin: Path) -> LeftBehind | None:
        about = json.loads(self._bounded(origin))
        server, initial, conversation = about["server"], str(about["initial"]), about["conversation"]
        if server and is_locked(self.path / str(server)):
            return None
        data = b"" if stamp_of(self.path / name) is None else self._bounded(self.path / name)
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        is_unchanged = text.strip() in {"", initial.strip()}
        wanted = None if conversation is None else ConversationId(str(conversation))
        return LeftBehind(name, wanted, "" if is_unchanged else text)

    def _bounded(self, path: Path) -> bytes:
        with open(os.open(path, os.O_RDONLY | _NO_FOLLOW), "rb") as file:
            return file.read(_LONGEST_ORIGIN)

    def _remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)
        self._origin_of(name).unlink(missing_ok=True)

    def _origin_of(self, name: str) -> Path:
        return self.path / f".{name}{_ORIGIN}"

    def _create(self, path: Path, data: bytes) -> None:
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)

    def _read(self, name: str, limit: int) -> bytes | None:
        path = self.path / name
        if stamp_of(path) is None:
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
        except FileNotFoundError:
            return None
        with open(descriptor, "rb") as file:
            return file.read(limit)
