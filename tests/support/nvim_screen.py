"""A real Neovim with a pretended terminal: what is on its screen, and fingers for its keyboard.

The screen is kept as Neovim sends it to any graphical client, so a test sees what a person would see:
windows, folds, virtual text and messages. One thread owns the connection; the test's own thread asks it.
"""

import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pynvim  # pyright: ignore[reportMissingTypeStubs]

PATIENCE = 15.0

_LOOK_EVERY = 0.02

_STILL = 0.4
"""Seconds without a redraw after which a screen counts as still."""


def _listens(path: Path) -> bool:
    """Whether somebody takes connections there; the file alone is no sign of it."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _ignore(*_arguments: object) -> None:
    """An event that changes no cell."""


class Grid:
    """The cells of the screen."""

    def __init__(self, width: int, height: int) -> None:
        self.cells = [[" "] * width for _ in range(height)]
        self.flushes = 0

    def redraw(self, batches: Sequence[Any]) -> None:
        """Take a batch of `redraw` events."""
        for name, *calls in batches:
            take: Callable[..., None] = getattr(self, f"_{name}", _ignore)
            for arguments in calls:
                take(*arguments)

    @property
    def text(self) -> str:
        """The screen as lines."""
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def _grid_resize(self, _grid: int, width: int, height: int) -> None:
        self.cells = [[" "] * width for _ in range(height)]

    def _grid_clear(self, _grid: int) -> None:
        self.cells = [[" "] * len(row) for row in self.cells]

    def _grid_line(self, _grid: int, row: int, column: int, cells: Sequence[Any], *_more: object) -> None:
        for cell in cells:
            for _ in range(cell[2] if len(cell) > 2 else 1):
                if column < len(self.cells[row]):
                    self.cells[row][column] = cell[0]
                column += 1

    def _grid_scroll(
        self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _: int
    ) -> None:
        order = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in order:
            self.cells[row][left:right] = self.cells[row + rows][left:right]

    def _flush(self) -> None:
        self.flushes += 1


class NvimScreen:
    """Use as a context.

    Args:
        argv: starts Neovim; where it listens is added.
        environment: all of its variables.
        address: where it is to listen; a path that does not exist yet.
        folder: where it is started.
        width: of the screen, in cells.
        height: of the screen, in cells.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        address: Path,
        folder: Path,
        width: int,
        height: int,
    ) -> None:
        self.grid = Grid(width, height)
        self._process = subprocess.Popen(
            [*argv, "--headless", "--listen", str(address)],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.until(lambda: _listens(address), "Neovim did not start")
        except AssertionError:
            self._process.kill()
            self._process.wait()
            raise
        self._nvim: Any = pynvim.attach("socket", path=str(address))
        self._nvim.ui_attach(width, height, rgb=True, ext_linegrid=True)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.quit()

    # The eyes.

    @property
    def text(self) -> str:
        """The screen as lines."""
        return self.grid.text

    def wait_for(self, wanted: str) -> str:
        """Wait until the screen matches a pattern, and give it."""
        pattern = re.compile(wanted, re.MULTILINE)
        self.until(lambda: pattern.search(self.text) is not None, f"the screen never showed {wanted!r}")
        return self.text

    def wait_until_gone(self, unwanted: str) -> str:
        """Wait until the screen does not match a pattern any more, and give it."""
        pattern = re.compile(unwanted, re.MULTILINE)
        self.until(lambda: pattern.search(self.text) is None, f"the screen still shows {unwanted!r}")
        return self.text

    def settle(self, is_so: Callable[[], bool]) -> None:
        """Give the screen some time to become as wanted; the caller looks whether it did."""
        end = time.monotonic() + PATIENCE / 6
        while not is_so() and time.monotonic() < end:
            time.sleep(_LOOK_EVERY)

    def wait_until_still(self) -> None:
        """Wait until nothing was drawn for a while."""
        seen = [-1]

        def is_still() -> bool:
            was, seen[0] = seen[0], self.grid.flushes
            time.sleep(_STILL)
            return was == self.grid.flushes

        self.settle(is_still)

    def until(self, is_so: Callable[[], object], problem: str) -> None:
        """Wait for something."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise AssertionError(f"{problem}:\n{self.text}")
            time.sleep(_LOOK_EVERY)

    # The fingers.

    def type(self, keys: str) -> None:
        """Type keys, written as in a mapping (`<CR>`)."""
        left = keys.encode()
        while left:
            taken = self.ask(partial(self._nvim.input, left.decode()))
            left = left[taken:]

    def command(self, text: str) -> None:
        """Run an Ex command as if it had been typed, without its echo."""
        self.ask(lambda: self._nvim.command(text))

    def lua(self, code: str, *arguments: object) -> Any:
        """Run Lua in the editor and give what it returns."""
        return self.ask(lambda: self._nvim.exec_lua(code, *arguments))

    def until_lua(self, code: str, *arguments: object) -> Any:
        """Wait until Lua returns something that is true."""
        found: list[Any] = []

        def look() -> bool:
            found[:] = [self.lua(code, *arguments)]
            return bool(found[0])

        self.until(look, f"never true: {code}")
        return found[0]

    def mode(self) -> str:
        """The mode, also while a prompt waits."""
        return str(self.ask(lambda: self._nvim.request("nvim_get_mode"))["mode"])

    # Beginning and end.

    def quit(self) -> int:
        """Leave without saving, and give the exit code; a Neovim that waits for a key is ended."""
        if self._process.poll() is None:
            self._nvim.async_call(lambda: self._nvim.command("qall!", async_=True))
        try:
            self._process.wait(PATIENCE / 3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join(PATIENCE)
        self._nvim.close()
        return self._process.returncode

    def ask(self, what: Callable[[], Any]) -> Any:
        """Do something on the thread that owns the connection."""
        answer: Future[Any] = Future()

        def run() -> None:
            try:
                answer.set_result(what())
            except Exception as error:  # it belongs to whoever waits
                answer.set_exception(error)

        self._nvim.async_call(run)
        try:
            return answer.result(PATIENCE)
        except TimeoutError:
            raise AssertionError(f"Neovim does not react:\n{self.text}") from None

    def _run(self) -> None:
        with suppress(EOFError, OSError):  # Neovim has ended
            self._nvim.run_loop(None, self._on_notification)

    def _on_notification(self, name: str, arguments: Sequence[Any]) -> None:
        if name == "redraw":
            self.grid.redraw(arguments)
