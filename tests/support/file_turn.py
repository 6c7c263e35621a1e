"""Things that only one test process at a time may do."""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_at_a_time(lock: Path) -> Generator[None]:
    """Hold a lock file; waits for another process to let it go."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
