"""The lock of one conversation, shared with other programs (conversation format 1.9).

The lock is the kernel's `flock` on a small file, not the file: a file that a killed process left behind locks
nothing. It is removed while the lock is still held, and whoever acquires looks whether the path still leads
to the file that was locked, so that two can never hold locks on two files of one name.
"""

import errno
import json
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import make_folder, naming, stamp_of
from jp_lsp.workspace.paths import Roots

if sys.platform != "win32":
    import fcntl

_ATTEMPTS = 100
_UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})
_LONGEST_NOTE = 4096
_NOT_THROUGH_LINKS = os.O_NOFOLLOW if sys.platform != "win32" else 0
"""What a link leads to, which may be any file of the user's, would be locked and written to."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Lock:
    """A lock that this process holds; give it back with `release`."""

    path: Path
    _descriptor: int | None

    def release(self) -> None:
        """Remove the file and unlock, in this order where that is possible; a second call does nothing."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(descriptor)
            self._remove_file()
            return
        try:
            self._remove_file()
        finally:
            os.close(descriptor)

    def _remove_file(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the lock file %s stays behind: %s", self.path, error)


def lock_path(roots: Roots, conversation: ConversationId) -> Path:
    """Give the lock file of a conversation: in the user's folder, or where another program put it."""
    name = f"{conversation}.lock"
    private, shared = roots.private / "locks" / name, roots.workspace.path / "locks" / name
    return shared if stamp_of(shared) is not None and not os.path.lexists(private) else private


def acquire(path: Path, now: Timestamp | None, session: str | None = None) -> Lock | None:
    """Take the lock at once, or give `None` while another holds it.

    Who we are and since when is written into the file, unless there is no `now`: for a lock that is held for a
    moment, thousands of times in a row, that would be most of the work.

    Raises:
        OSError: the file or its folder cannot be made.
    """
    make_folder(path.parent)
    for _ in range(_ATTEMPTS):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NOT_THROUGH_LINKS, 0o666)
        try:
            if not _try_lock(descriptor, path):
                os.close(descriptor)
                return None
            if _leads_to(path, descriptor):
                if now is not None:
                    with naming(path):
                        _write_note(descriptor, now, session)
                return Lock(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Tell whether somebody holds the lock; a file that cannot be opened counts as held."""
    try:
        descriptor = os.open(path, os.O_RDWR | _NOT_THROUGH_LINKS)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not _try_lock(descriptor, path)
    finally:
        os.close(descriptor)


def describe_holder(path: Path) -> str | None:
    """Say who holds the lock, as far as its file tells; `None` if nobody does."""
    if not is_locked(path):
        return None
    try:
        with path.open(encoding="utf-8") as file:
            note = json.loads(file.read(_LONGEST_NOTE))
        pid, since = int(note["pid"]), str(note["acquired_at"])
        Timestamp.parse(since)
    except (OSError, ValueError, OverflowError, KeyError, TypeError, RecursionError):
        return "another process"
    return f"process {pid}, since {since}"


def held_conversations(roots: Roots) -> set[ConversationId]:
    """Give the conversations that somebody holds, other programs or this one."""
    folders = {roots.private / "locks", roots.workspace.path / "locks"}
    paths = (path for folder in folders for path in folder.glob("jp-c*.lock"))
    return {ConversationId(path.stem) for path in paths if is_locked(path)}


def remove_orphans(folder: Path) -> int:
    """Remove the lock files that nobody holds, and count them (conversation format 1.9)."""
    removed = 0
    for path in sorted(folder.glob("jp-c*.lock")):
        if (lock := acquire(path, None)) is not None:
            lock.release()
            removed += 1
    return removed


def _try_lock(descriptor: int, path: Path) -> bool:
    """Lock without waiting; where the system cannot lock, everybody gets the lock, with a warning."""
    if sys.platform == "win32":
        _log.warning("conversations are not locked on this system")
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        _log.warning("%s cannot be locked, going on without: %s", path, error)
    return True


def _leads_to(path: Path, descriptor: int) -> bool:
    """Tell whether the path still leads to the locked file, and was not removed or replaced meanwhile."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(status, os.fstat(descriptor))


def _write_note(descriptor: int, now: Timestamp, session: str | None) -> None:
    """Say who we are; only people read it."""
    note = {"pid": os.getpid(), **({} if session is None else {"session": session})}
    note["acquired_at"] = now.rfc3339().replace("Z", "+00:00")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(note, separators=(",", ":")).encode())
