"""A lock file that the operating system lets go when its holder dies."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from jp_lsp.providers.local.job import InstallBusyError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def hold_lock(path: Path) -> Generator[None]:
    """Hold a lock while the block runs; the empty file stays behind.

    Raises:
        InstallBusyError: somebody else holds it.
        OSError: the file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            _try_lock(descriptor)
        except OSError as error:
            raise InstallBusyError(
                f"Another `jp-lsp local` command is at work in {path.parent}. Wait until it is done."
            ) from error
        yield
    finally:
        os.close(descriptor)
