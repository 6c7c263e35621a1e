"""The files below a folder, without what is hidden and without following links (config-and-tools 6.2).

Many patterns may look at the same folder, at worst at the whole workspace. A `Tree` goes through each folder that
is asked for once, as far as anybody wants to know, and gives everybody else what it has found.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from anyio import from_thread

MOST_KEPT = 200_000
"""Paths of one folder that are kept; where there are more, each who asks goes through the folder again."""

_CHECK = 256
"""So many paths are given between two looks whether anybody still wants them."""


class Tree:
    """The files of a workspace, as they are found once.

    To be used in a worker thread, by one at a time; its task can be cancelled in the middle.

    Args:
        root: where the paths begin.
        is_excluded: tells what is not to be looked into.
        most_kept: paths of one folder that are kept.
    """

    def __init__(
        self,
        root: Path,
        is_excluded: Callable[[str], bool] = lambda path: False,
        *,
        most_kept: int = MOST_KEPT,
    ) -> None:
        self.root = root
        self._is_excluded = is_excluded
        self._most_kept = most_kept
        self._kept: dict[str, list[str]] = {}
        self._sources: dict[str, Iterator[str]] = {}

    def below(self, folder: str) -> Iterator[str]:
        """Give the paths of all ordinary files below a folder, from the root on, in no order.

        Args:
            folder: where to look, from the root on; may be hidden itself.
        """
        if folder not in self._kept:
            self._kept[folder], self._sources[folder] = [], self._walk(folder)
        kept, source = self._kept[folder], self._sources[folder]
        at = 0
        while at < self._most_kept:
            if at % _CHECK == 0:
                from_thread.check_cancelled()
            if at == len(kept):
                if (path := next(source, None)) is None:
                    return
                kept.append(path)
            yield kept[at]
            at += 1
        for number, path in enumerate(self._walk(folder)):
            if number >= self._most_kept:
                yield path

    def _walk(self, folder: str) -> Iterator[str]:
        waiting = [folder]
        while waiting:
            from_thread.check_cancelled()
            here = waiting.pop()
            prefix = f"{here}/" if here else ""
            try:
                entries = os.scandir(self.root / here)
            except OSError:  # not there, or not ours to read: there is nothing to find
                continue
            with entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name.startswith(".") or entry.is_symlink():
                        continue
                    if entry.is_file():
                        yield path
                    elif entry.is_dir() and not self._is_excluded(path):
                        waiting.append(path)
