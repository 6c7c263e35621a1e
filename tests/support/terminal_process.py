"""Runs the terminal client for a test, on pipes or on a terminal of its own; every wait is bounded."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.terminal_emulator import TerminalEmulator

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "tests" / "support" / "terminal_client.py"
ON_TERMINAL = ROOT / "tests" / "support" / "on_terminal.py"
PATIENCE = 10.0

Step = dict[str, Any]

RESULT: dict[str, Any] = {
    "conversation": "jp-c1",
    "outcome": "completed",
    "turns": [],
    "text": "",
    "notices": [],
    "persisted": True,
    "lastSeq": 0,
}


def say(md: str, region: str = "message") -> Step:
    fields = {"region": region, "block": "paragraph", "part": "whole", "indent": 0}
    return {"chunk": {"type": "text", "class": "durable", "md": md, **fields}}


def status(detail: str) -> Step:
    return {"chunk": {"type": "status", "class": "ephemeral", "slot": "status", "detail": detail}}


def closed(decision: str, how: str) -> Step:
    fields = {"decisionId": decision, "how": how}
    return {"chunk": {"type": "prompt_closed", "class": "control", **fields}}


def ask(decision: str, kind: str, message: str, *actions: tuple[str, str], **fields: Any) -> Step:
    params = {
        "decisionId": decision,
        "kind": kind,
        "message": message,
        "actions": [{"id": action, "title": title} for action, title in actions],
        **fields,
    }
    return {"ask": "jp/prompt", "params": params, "as": decision}


MENU = (("continue", "Continue"), ("reply", "Reply"), ("stop", "Stop"), ("abort", "Abort (discard)"))
MENU_QUESTION = "The answer is interrupted. What next?"
ASKED: Step = {"await": "jp/query"}


def done(**fields: Any) -> Step:
    return {"answer": "jp/query", "result": {**RESULT, **fields}}


def pressed(handled: str, phase: str = "streaming", **where: Any) -> list[Step]:
    return [
        {"await": "jp/interrupt", "where": where},
        {"answer": "jp/interrupt", "result": {"handled": handled, "phase": phase}},
    ]


class Scripted:
    """A script on disk, and what the server was told."""

    def __init__(self, folder: Path, steps: Sequence[Step]) -> None:
        self.folder = folder
        self.script = folder / "script.json"
        self.record = folder / "record.jsonl"
        self.script.write_text(json.dumps(list(steps)), encoding="utf-8")

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(CLIENT), str(self.script), str(self.record), *arguments]

    def messages(self, method: str) -> list[Any]:
        """Give the params of all messages of a method."""
        return [line.get("params") for line in self._lines() if line.get("method") == method]

    def answers(self) -> list[Any]:
        """Give what the client answered to questions."""
        return [line.get("result") for line in self._lines() if "method" not in line and "id" in line]

    @property
    def saw_end(self) -> bool:
        """Whether the input of the server ended without an orderly exit."""
        return {"end of input": True} in self._lines()

    def _lines(self) -> list[Any]:
        if not self.record.exists():
            return []
        return [json.loads(line) for line in self.record.read_text(encoding="utf-8").splitlines()]


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "TMPDIR"}}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", **extra}


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look again and again at what another process does."""
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


class PtyClient:
    """The client on a terminal of its own."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        columns: int = 60,
        env: dict[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
    ) -> None:
        self.master, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (24, columns))
        self.found = termios.tcgetattr(terminal)
        self.process = subprocess.Popen(
            [sys.executable, str(ON_TERMINAL), *command],
            stdin=terminal if stdin is None else stdin,
            stdout=terminal if stdout is None else stdout,
            stderr=terminal,
            cwd=folder,
            env=environment(**(env or {})),
            start_new_session=True,
        )
        self._terminal = terminal
        self.columns = columns
        self.seen = ""

    def __enter__(self) -> "PtyClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._terminal)
        os.close(self.master)

    def wait_for(self, text: str) -> None:
        """Read until the screen shows a text."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.screen:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} did not come; the screen is:\n{self.screen}")

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def resize(self, columns: int) -> None:
        termios.tcsetwinsize(self._terminal, (24, columns))
        self.signal(signal.SIGWINCH)

    def wait(self) -> int:
        """Read to the end; gives the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"it did not end; the screen is:\n{self.screen}")
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    @property
    def screen(self) -> str:
        terminal = TerminalEmulator(self.columns)
        # What came so far may end within a sequence.
        whole = self.seen if "\x1b" not in self.seen[-8:] else self.seen[: self.seen.rindex("\x1b")]
        terminal.feed(whole)
        return terminal.text

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, without the one at the end that tells how long it took."""
        return [line for line in self.screen.split("\n") if not line.startswith("jp-c1 · ")]

    @property
    def mode(self) -> list[Any]:
        return termios.tcgetattr(self._terminal)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], max(seconds, 0))
        if not ready:
            return False
        self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return True
