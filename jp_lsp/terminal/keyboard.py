r"""The terminal as a source of keys and lines, and as something to give back as it was found.

Keys arrive one by one and unseen while a choice is open; lines are typed with the terminal's own editing.
In both modes Ctrl+C, Ctrl+\ and Ctrl+Z stay signals. While text is written nothing is echoed, so that stray
typing does not get into the answer, and what was typed before a question is never taken for its answer.
"""

import asyncio
import os
import re
import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

if sys.platform != "win32":
    import termios

_READ_SIZE = 4096
_MAX_LINE_SIZE = 1024 * 1024
_LOCAL_FLAGS = 3
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)")
_NAMES = {"\x1b": "escape", "\r": "enter", "\n": "enter", "\x04": "end"}


class Keyboard(Protocol):
    """Where answers come from."""

    @property
    def has_keys(self) -> bool:
        """Whether single keys can be read; else every answer is a line."""
        ...

    def expect_keys(self) -> None:
        """Get ready for single keys; what was typed before counts for nothing."""

    def expect_line(self, *, is_secret: bool) -> None:
        """Get ready for a line, a secret one unseen; what was typed before counts for nothing."""

    def expect_nothing(self) -> None:
        """Be quiet again."""

    async def read_key(self) -> str:
        """Wait for a key: a printable character, `enter`, `escape`, or `end` for Ctrl+D."""
        ...

    async def read_line(self) -> str | None:
        """Wait for a line, without its end; `None` when there will be none (Ctrl+D)."""
        ...


@dataclass(frozen=True, slots=True)
class _Mode:
    """How the terminal treats what is typed: in whole lines with its own editing, and shown."""

    is_by_line: bool
    is_echoed: bool


class Terminal:
    """A POSIX terminal. Use `taken` around everything else.

    Args:
        descriptor: the terminal, open for reading and writing.
        has_keys: false where single keys make no sense, as in an editor's shell window.
    """

    def __init__(self, descriptor: int, *, has_keys: bool = True) -> None:
        self.descriptor = descriptor
        self._found = termios.tcgetattr(descriptor)
        self._quiet = _Mode(is_by_line=not has_keys, is_echoed=not has_keys)
        self._mode = self._quiet
        self._keys: deque[str] = deque()

    @property
    def has_keys(self) -> bool:
        """See `Keyboard`."""
        return not self._quiet.is_by_line

    @contextmanager
    def taken(self) -> Generator[None]:
        """Keep the terminal quiet, and give it back at the end."""
        self.take()
        try:
            yield
        finally:
            self.give_back()

    def take(self) -> None:
        """Take the terminal: at the beginning, or again after somebody else had it."""
        self._set(self._mode)

    def give_back(self) -> None:
        """Put the terminal back into the state in which it was found."""
        with suppress(termios.error):  # it is gone, and so is whoever would be bothered
            termios.tcsetattr(self.descriptor, termios.TCSANOW, self._found)

    def expect_keys(self) -> None:
        """See `Keyboard`."""
        self._set(self._quiet)
        self._forget_typed()

    def expect_line(self, *, is_secret: bool) -> None:
        """See `Keyboard`."""
        self._set(_Mode(is_by_line=True, is_echoed=not is_secret))
        self._forget_typed()

    def expect_nothing(self) -> None:
        """See `Keyboard`."""
        self._set(self._quiet)

    async def read_key(self) -> str:
        """See `Keyboard`."""
        while not self._keys:
            self._keys += _keys_in(await self._read())
        return self._keys.popleft()

    async def read_line(self) -> str | None:
        """See `Keyboard`."""
        line = bytearray()
        while not line.endswith(b"\n") and len(line) < _MAX_LINE_SIZE:
            data = await self._read()
            if not data and not line:
                return None
            line += data
        return line.decode("utf-8", "replace").rstrip("\r\n")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        readable: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.descriptor, _resolve, readable)
        try:
            await readable
        finally:
            loop.remove_reader(self.descriptor)
        try:
            return os.read(self.descriptor, _READ_SIZE)
        except OSError:
            return b""

    def _set(self, mode: _Mode) -> None:
        self._mode = mode
        attributes = list(self._found)
        flags = attributes[_LOCAL_FLAGS]
        assert isinstance(flags, int)
        flags |= termios.ISIG
        flags = flags | termios.ICANON if mode.is_by_line else flags & ~termios.ICANON
        flags = flags | termios.ECHO if mode.is_echoed else flags & ~termios.ECHO
        attributes[_LOCAL_FLAGS] = flags
        # Not after what is being written: a terminal that is held (Ctrl+S) would make us wait.
        with suppress(termios.error):  # it is gone; reading will say so
            termios.tcsetattr(self.descriptor, termios.TCSANOW, attributes)

    def _forget_typed(self) -> None:
        self._keys.clear()
        with suppress(termios.error):
            termios.tcflush(self.descriptor, termios.TCIFLUSH)


def open_terminal(*, has_keys: bool) -> Terminal | None:
    """Open the terminal that this process was started on; `None` when there is none to ask on.

    A job in the background has none either: it would be stopped for touching it. On Windows questions cannot
    be asked yet, so there the settings decide.
    """
    if sys.platform == "win32":
        return None
    for path in [*_terminal_names(), "/dev/tty"]:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            continue
        if not is_in_background(descriptor):
            with suppress(termios.error):  # it is no terminal, or is gone
                return Terminal(descriptor, has_keys=has_keys)
        os.close(descriptor)
    return None


def is_in_background(descriptor: int) -> bool:
    """Tell whether a terminal belongs to another job at the moment."""
    if sys.platform == "win32":
        return False
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:
        return False


def _terminal_names() -> list[str]:
    """Give the names of the terminals among the standard streams; some systems cannot wait on /dev/tty."""
    names: list[str] = []
    for descriptor in (0, 2, 1):
        with suppress(OSError):  # it is something else
            names.append(os.ttyname(descriptor))
    return names


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _keys_in(data: bytes) -> list[str]:
    """Say which keys these were; without those that answer nothing, such as arrows, which are sequences."""
    if not data:
        return ["end"]
    text = _SEQUENCE.sub("", data.decode("utf-8", "replace"))
    return [_NAMES.get(key, key) for key in text if key in _NAMES or key.isprintable()]
