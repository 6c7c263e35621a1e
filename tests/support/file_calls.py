"""Stops a process at any of its file-system calls, or lets another one act in between.

Python tells its audit hooks of each call before it is made. Nothing of the program is patched: a crash is an
exception that comes out of the call, and from then on out of every other one, as a dead process changes nothing
more, whatever its `finally` says. What the kernel would do, closing files and dropping locks, happens as the
exception passes.
"""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_CHANGING = frozenset(
    {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
)
_LOOKING = frozenset({"open", "os.listdir", "os.scandir"})
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Crash(BaseException):
    """The process is dead."""


class FileCalls:
    """The calls below one folder, while a block is watched.

    Attributes:
        changes: how many calls there were that change something.
        opened: the files that were opened to be read, in order.
    """

    def __init__(self, folder: Path, number: int | None, then: Callable[[], None]) -> None:
        self.changes = 0
        self.opened: list[str] = []
        self._folder = f"{folder}{os.sep}"
        self._number = number
        self._then = then
        self._is_dead = False
        self._is_acting = False

    def notice(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take a call that is about to be made.

        Raises:
            Crash: the process is dead.
        """
        if self._is_acting or not any(self._is_below(each) for each in arguments[:2]):
            return
        if self._is_dead:
            raise Crash
        if event == "open" and not arguments[2] & _FOR_WRITING:
            self.opened.append(os.fspath(arguments[0]))
        elif event not in _LOOKING or event == "open":
            self.changes += 1
            if self.changes == self._number:
                self._act()

    def _act(self) -> None:
        self._is_acting = True
        try:
            self._then()
        except Crash:
            self._is_dead = True
            raise
        finally:
            self._is_acting = False

    def _is_below(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._folder)


_watched: list[FileCalls] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched and (event in _CHANGING or event in _LOOKING):
        _watched[-1].notice(event, arguments)


sys.addaudithook(_hook)


@contextmanager
def watched(
    folder: Path, number: int | None = None, then: Callable[[], None] = lambda: None
) -> Generator[FileCalls]:
    """Watch the calls below a folder during a block, and do something before the change with this number.

    Args:
        folder: the files that count.
        number: counted from 1; `None` for none.
        then: what another process does in between; or `crash`.
    """
    calls = FileCalls(folder, number, then)
    _watched.append(calls)
    try:
        yield calls
    finally:
        _watched.remove(calls)


def crash() -> None:
    """Die.

    Raises:
        Crash: always.
    """
    raise Crash
