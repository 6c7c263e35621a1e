"""A real Emacs on a terminal of its own: keys go in, the screen is read.

Its configuration is the one that `editors/README.md` recommends, so that the page is tested too.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pyte
import pytest

from tests.support.wire_process import ROOT

PATIENCE = 60.0
_COLUMNS, _ROWS = 100, 30


class Emacs:
    """Use `emacs`."""

    def __init__(self, process: int, terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self._screen = pyte.Screen(_COLUMNS, _ROWS)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        return [line.rstrip() for line in self._screen.display]

    def type(self, keys: str) -> None:
        """Press keys; Meta is an escape before the key."""
        os.write(self._terminal, keys.encode())

    def command(self, name: str) -> None:
        """Run a command by its name."""
        self.type(f"\x1bx{name}\r")

    def evaluate(self, lisp: str) -> None:
        """Run a line of Lisp."""
        self.type(f"\x1b:{lisp}\r")

    def wait(self, text: str) -> None:
        """Read on until a text is on the screen."""
        self.wait_until(lambda: text in self.text, f"{text!r} never appeared")

    def wait_until(self, condition: Callable[[], bool], problem: str) -> None:
        """Read on until something is so."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{problem}:\n{self.text}"
            if select.select([self._terminal], [], [], 0.1)[0]:
                self._stream.feed(os.read(self._terminal, 65536))

    def choose(self, option: str) -> None:
        """Answer the question in the minibuffer, whose harmless answer stands there already."""
        self.wait("Choose an option:")
        self.type(f"\x01\x0b{option}\r")


def configuration() -> str:
    """The Lisp that our page for other editors recommends."""
    page = (ROOT / "editors" / "README.md").read_text("utf-8")
    return "\n".join(re.findall(r"```elisp\n(.*?)```", page, re.DOTALL))


@contextmanager
def emacs(folder: Path, environment: dict[str, str], *files: str) -> Generator[Emacs]:
    """Start Emacs in a folder; skips the test where there is no Emacs with Eglot."""
    program = shutil.which("emacs")
    if program is None:
        pytest.skip("no Emacs on this machine")
    init = folder / "init.el"
    quiet = "(setq native-comp-async-report-warnings-errors nil native-comp-deferred-compilation nil)\n"
    init.write_text(quiet + configuration(), "utf-8")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execve(program, [program, "-nw", "-q", "-l", str(init), *files], environment | {"TERM": "xterm"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    try:
        yield Emacs(process, terminal)
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
        os.close(terminal)
