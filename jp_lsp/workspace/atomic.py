"""Writes files so that a reader, a crash or a full disk never leaves half of one (conversation format 1.8).

The bytes go to a neighbour named `.tmp`, which is synced and then renamed over the file; then the folder is
synced. A file that holds the same bytes already is not touched, so that its times tell when it changed. The
neighbour's name is fixed: whoever writes holds the conversation's lock.
"""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

TEMPORARY_SUFFIX = ".tmp"

_FOLDER_SYNC_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES})


class Stamp(NamedTuple):
    """What tells cheaply whether a file is still the one that was seen; times in nanoseconds.

    A tuple, because lists make and compare ten thousands of them.
    """

    modified: int
    size: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        """Take the stamp from what the system says of a file."""
        return cls(status.st_mtime_ns, status.st_size, status.st_ino)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as this process last read or wrote it."""

    stamp: Stamp
    digest: bytes


def digest(data: bytes) -> bytes:
    """Give a value that is equal for equal bytes only."""
    return hashlib.sha256(data).digest()


def stamp_of(path: Path | str) -> Stamp | None:
    """Give the stamp of a regular file; `None` where there is none.

    A link is none either: in a workspace that came from elsewhere it may lead to any file of the user's.
    """
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Stamp.of(status) if stat.S_ISREG(status.st_mode) else None


HIDDEN = Stamp(0, -1, 0)
"""The stamp of a file that we may not look at; it is older than all others."""


def glance(path: Path | str) -> Stamp | None:
    """Give the stamp of a regular file as `stamp_of` does, or `HIDDEN`: one closed folder must not hide all others."""
    try:
        return stamp_of(path)
    except PermissionError:
        return HIDDEN


def why_absent(path: Path) -> str:
    """Say why there is no regular file: it is missing, or something else stands there, which is not followed."""
    if not os.path.lexists(path):
        return "is missing"
    return "is a link, which is not followed" if path.is_symlink() else "is not a file"


def read_file(path: Path) -> tuple[bytes, FileState]:
    """Read a whole file together with the state that belongs to just these bytes."""
    with path.open("rb") as file:
        stamp = Stamp.of(os.fstat(file.fileno()))
        data = file.read()
    return data, FileState(stamp, digest(data))


def read_own_text(path: Path, limit: int) -> str | None:
    """Give the text of a regular file of at most `limit` bytes; `None` where there is none, as for `stamp_of`.

    Raises:
        OSError: it cannot be read, or is larger.
        UnicodeDecodeError: it is no UTF-8.
    """
    stamp = stamp_of(path)
    if stamp is None:
        return None
    if stamp.size > limit:
        raise OSError(errno.EFBIG, f"{path.name} is larger than {limit >> 20} MiB")
    return read_file(path)[0].decode()


def read_state(path: Path) -> FileState:
    """Give the state of a file whose content is not wanted; it is read in pieces."""
    with path.open("rb") as file:
        stamp = Stamp.of(os.fstat(file.fileno()))
        return FileState(stamp, hashlib.file_digest(file, "sha256").digest())


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Let an error say which file it is about; that of a full disk does not say so by itself."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def write_file(path: Path, data: bytes) -> Stamp:
    """Make `data` the durable content of a file and give the stamp that belongs to just these bytes.

    Raises:
        OSError: it could not be written; what was there before is untouched.
    """
    if (present := _stamp_if_equal(path, data)) is not None:
        return present
    make_folder(path.parent)
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    temporary.unlink(missing_ok=True)
    try:
        # Exclusive creation: a symbolic link planted under the name is never followed.
        with naming(path), temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            stamp = Stamp.of(os.fstat(file.fileno()))
        with suppress(FileNotFoundError):
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return stamp


def _stamp_if_equal(path: Path, data: bytes) -> Stamp | None:
    """Compare sizes first: a stream that grew need not be read to know that it differs."""
    try:
        present = stamp_of(path)
        if present is None or present.size != len(data):
            return None
        found, state = read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return state.stamp if found == data else None


def make_folder(path: Path) -> None:
    """Create a folder and its parents, durably; one that exists is fine."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_file(path: Path) -> None:
    """Make the content of a file durable that somebody else wrote, where the system can do that."""
    if sys.platform == "win32":  # it would have to be open for writing
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make names in a folder durable, where the system can do that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _FOLDER_SYNC_UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)
