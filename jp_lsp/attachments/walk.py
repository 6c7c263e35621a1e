"""The files below a folder, without what is hidden and without following links (config-and-tools 6.2)."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from anyio import from_thread


def walk(root: Path, folder: str, is_excluded: Callable[[str], bool]) -> Iterator[str]:
    """Give the paths of all ordinary files, from `root` on, in no order.

    To be used in a worker thread, whose task can be cancelled in the middle.

    Args:
        root: where the paths begin.
        folder: where to look; may be hidden itself.
        is_excluded: tells what is not to be looked into.
    """
    waiting = [folder]
    while waiting:
        from_thread.check_cancelled()
        here = waiting.pop()
        prefix = f"{here}/" if here else ""
        try:
            entries = os.scandir(root / here)
        except OSError:  # not there, or not ours to read: there is nothing to find
            continue
        with entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_file():
                    yield path
                elif entry.is_dir() and not is_excluded(path):
                    waiting.append(path)
