"""Writing a file that others write too, such as a configuration: never over text that nobody has read.

Conversations have locks; a configuration has none, and an editor, git or another server may write it at any
moment. So the file is compared with what was read right before the new one takes its place, and servers of ours
take turns in its folder.
"""

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from jp_lsp.workspace.atomic import make_folder, sync_folder

if sys.platform != "win32":
    import fcntl


class FileHasChanged(Exception):
    """The file does not hold any more what was read; nothing was written."""


def replace_file(path: Path, expected: bytes | None, data: bytes) -> None:
    """Make `data` the whole content of a file that still holds `expected`; `None` for one that is not there.

    Permissions stay. A reader, a crash or a full disk never leaves half a file.

    Raises:
        FileHasChanged: the file holds something else by now.
        OSError: it could not be written; what was there before is untouched.
    """
    make_folder(path.parent)
    with _turn(path.parent):
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(_mode(path))
            _compare(path, expected)
            temporary.replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                temporary.unlink()
            raise
        sync_folder(path.parent)


def _compare(path: Path, expected: bytes | None) -> None:
    try:
        present: bytes | None = path.read_bytes()
    except FileNotFoundError:
        present = None
    if present != expected:
        raise FileHasChanged(path)


def _mode(path: Path) -> int:
    """Give the permissions of the file, or those of a new one."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


@contextmanager
def _turn(folder: Path) -> Generator[None]:
    """Wait until no other server of ours writes in a folder, where the system can tell."""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives know no locks; the comparison remains
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
