"""The terminal as a source of keys and lines, and as something to give back as it was found.

Keys arrive one by one and unseen while a choice is open; lines are typed with the terminal's own editing.
In both modes Ctrl+C, Ctrl+\\ and Ctrl+Z stay signals. While text is written nothing is echoed, so that stray
typing does not get into the answer, and what was typed before a question is never taken for its answer.
"""

import asyncio
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

_READ_SIZE = 4096
_MAX_LINE_SIZE = 1024 * 1024


class Keyboard(Protocol):
    """Where answers come from."""

    @property
    def has_keys(self) -> bool:
        """Whether single keys can be read; else every answer is a line."""
        ...

    async def read_key(self) -> str:
        """Wait for a key: a character, `escape`, `enter`, `end` for Ctrl+D, or an empty text for others."""
        ...

    async def read_line(self, *, is_secret: bool = False) -> str | None:
        """Wait for a line, without its end; `None` when there will be none (Ctrl+D)."""
        ...


if sys.platform != "win32":
    import termios

    _LOCAL_FLAGS = 3

    class Terminal:
        """A POSIX terminal. Use `taken` around everything else.

        Args:
            descriptor: the terminal, open for reading and writing.
            has_keys: false where single keys make no sense, as in an editor's shell window.
        """

        def __init__(self, descriptor: int, *, has_keys: bool = True) -> None:
            self.descriptor = descriptor
            self._has_keys = has_keys
            self._found = termios.tcgetattr(descriptor)
            self._is_taken = False

        @property
        def has_keys(self) -> bool:
            """See `Keyboard`."""
            return self._has_keys

        @contextmanager
        def taken(self) -> Generator[None]:
            """Keep the terminal quiet, and give it back at the end."""
            self.take()
            try:
                yield
            finally:
                self.give_back()

        def take(self) -> None:
            """Take the terminal, at the beginning or after it was given to somebody else."""
            self._is_taken = True
            self._set(is_canonical=not self._has_keys, is_echoed=not self._has_keys)

        def give_back(self) -> None:
            """Put the terminal back into the mode in which it was found."""
            if self._is_taken:
                self._is_taken = False
                self._apply(self._found, flush=False)

        async def read_key(self) -> str:
            """See `Keyboard`."""
            while True:
                data = await self._read()
                key = _key(data)
                if key:
                    return key

        async def read_line(self, *, is_secret: bool = False) -> str | None:
            """See `Keyboard`."""
            self._set(is_canonical=True, is_echoed=not is_secret)
            line = bytearray()
            try:
                while not line.endswith(b"\n") and len(line) < _MAX_LINE_SIZE:
                    data = await self._read()
                    if not data and not line:
                        return None
                    line += data
            finally:
                self._set(is_canonical=not self._has_keys, is_echoed=not self._has_keys)
            return line.decode("utf-8", "replace").rstrip("\r\n")

        def forget_typed(self) -> None:
            """Drop what was typed and not read."""
            try:
                termios.tcflush(self.descriptor, termios.TCIFLUSH)
            except termios.error:
                return  # the terminal is gone; reading will say so

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

        def _set(self, *, is_canonical: bool, is_echoed: bool) -> None:
            mode = list(self._found)
            flags = mode[_LOCAL_FLAGS]
            assert isinstance(flags, int)
            flags |= termios.ISIG
            flags = flags | termios.ICANON if is_canonical else flags & ~termios.ICANON
            flags = flags | termios.ECHO if is_echoed else flags & ~termios.ECHO
            mode[_LOCAL_FLAGS] = flags
            self._apply(mode, flush=True)

        def _apply(self, mode: "termios._AttrReturn", *, flush: bool) -> None:  # pyright: ignore[reportPrivateUsage]
            try:
                termios.tcsetattr(self.descriptor, termios.TCSAFLUSH if flush else termios.TCSANOW, mode)
            except termios.error:
                return  # the terminal is gone, and so is whoever would be bothered by its mode


    def open_terminal(*, has_keys: bool) -> Terminal | None:
        """Open the terminal that this process was started on; `None` when there is none to ask on.

        A job in the background has none either: it would be stopped for touching it.
        """
        for path in [*_names(), "/dev/tty"]:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                if not is_in_background(descriptor):
                    return Terminal(descriptor, has_keys=has_keys)
            except termios.error:
                _log.debug("%s is no terminal", path)
            os.close(descriptor)
        return None

    def _names() -> list[str]:
        """Give the names of the terminals among the standard streams; some systems cannot wait on /dev/tty."""
        names: list[str] = []
        for descriptor in (0, 2, 1):
            try:
                names.append(os.ttyname(descriptor))
            except OSError:
                continue
        return names

    def is_in_background(descriptor: int) -> bool:
        """Tell whether the terminal belongs to another job at the moment."""
        try:
            return os.tcgetpgrp(descriptor) != os.getpgrp()
        except OSError:
            return False

    def _resolve(future: "asyncio.Future[None]") -> None:
        if not future.done():
            future.set_result(None)

else:
    Terminal = None

    def open_terminal(*, has_keys: bool) -> None:
        """Give nothing: questions cannot be asked here yet, so the settings decide."""
        return


def _key(data: bytes) -> str:
    """Say which key it was. Sequences, such as those of arrow keys, are no answer to anything."""
    text = data.decode("utf-8", "replace")
    match text[:1]:
        case "":
            return "end"
        case "\x1b":
            return "escape" if len(text) == 1 else ""
        case "\r" | "\n":
            return "enter"
        case "\x04":
            return "end"
        case first if first.isprintable():
            return first
        case _:
            return ""
