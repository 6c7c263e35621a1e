"""Looks at the disk that are noted down, so that what was made of them can be kept while it is still true.

Whoever reads configuration looks through these functions. Within `noted` each look is kept with its answer: a file
that was not there, a folder's names, a file's times. `Looks.still_hold` looks once more, which is far cheaper than
reading and merging what was found.
"""

import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

SETTLED_NANOSECONDS = 50_000_000
"""A file that changed less long ago may change once more without showing it: clocks of file systems have steps."""


@dataclass(frozen=True, slots=True)
class Status:
    """What tells a file from what it was, and from other files; a folder's content is for `entries_of` to tell."""

    mode: int
    device: int
    inode: int
    size: int = 0
    modified: int = 0
    changed: int = 0

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def is_settled(self) -> bool:
        """Whether another change would show."""
        return abs(time.time_ns() - self.changed) >= SETTLED_NANOSECONDS


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder; a link to a folder is one by `leads_to_folder` only."""

    name: str
    is_folder: bool
    leads_to_folder: bool


@dataclass(slots=True, eq=False)
class Looks:
    """Looks that were noted, with their answers; without `is_settled` they cannot tell whether all is the same."""

    statuses: dict[Path, Status | None] = field(default_factory=lambda: {})
    folders: dict[tuple[Path, int], tuple[Entry, ...]] = field(default_factory=lambda: {})
    is_settled: bool = True

    @property
    def size(self) -> int:
        """How many files and names were looked at."""
        return len(self.statuses) + sum(map(len, self.folders.values()))

    def still_hold(self) -> bool:
        """Look again, and tell whether every answer is the same."""
        return all(_status(path) == known for path, known in self.statuses.items()) and all(
            _entries(folder, most) == known for (folder, most), known in self.folders.items()
        )

    def add(self, other: "Looks") -> None:
        """Note the looks that something is made of which is used here."""
        for path, status in other.statuses.items():
            self.note_status(path, status)
        for (folder, most), entries in other.folders.items():
            self.note_entries(folder, most, entries)
        self.is_settled = self.is_settled and other.is_settled

    def note_status(self, path: Path, status: Status | None) -> None:
        """Note how a file is."""
        is_known = self.statuses.setdefault(path, status) == status
        self.is_settled = self.is_settled and is_known and (status is None or status.is_settled)

    def note_entries(self, folder: Path, most: int, entries: tuple[Entry, ...]) -> None:
        """Note what is in a folder."""
        is_known = self.folders.setdefault((folder, most), entries) == entries
        self.is_settled = self.is_settled and is_known


_noting: ContextVar[Looks | None] = ContextVar("noting", default=None)


@contextmanager
def noted() -> Generator[Looks]:
    """Note what is looked at inside, also for whoever notes around it."""
    looks, around = Looks(), _noting.get()
    token = _noting.set(looks)
    try:
        yield looks
    finally:
        _noting.reset(token)
        if around is not None:
            around.add(looks)


def note(looks: Looks) -> None:
    """Note what was looked at before, since something that was made of it is used."""
    if (around := _noting.get()) is not None:
        around.add(looks)


def status_of(path: Path) -> Status | None:
    """Look at a file or folder, through links; `None` if there is none that can be seen."""
    found = _status(path)
    if (looks := _noting.get()) is not None:
        looks.note_status(path, found)
    return found


def entries_of(folder: Path, most: int) -> tuple[Entry, ...]:
    """Look at the names in a folder, at no more than `most`; one that cannot be read has none."""
    found = _entries(folder, most)
    if (looks := _noting.get()) is not None:
        looks.note_entries(folder, most, found)
    return found


def real_path(path: Path) -> Path:
    """Follow all links; what then is another file has another status."""
    status_of(path)
    return path.resolve()


def _status(path: Path) -> Status | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(found.st_mode):
        return Status(found.st_mode, found.st_dev, found.st_ino)
    return Status(
        found.st_mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    )


def _entries(folder: Path, most: int) -> tuple[Entry, ...]:
    found: list[Entry] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) >= most:
                    break
                found.append(Entry(entry.name, entry.is_dir(follow_symlinks=False), _leads_to_folder(entry)))
    except OSError:
        return ()
    return tuple(found)


def _leads_to_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads in circles
