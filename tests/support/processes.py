"""Doubles and tools for tests of programs that are run."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread

from jp_lsp.ports.process import Exited, Output, ProcessEnd, Program, SpawnError


@dataclass(frozen=True, slots=True)
class Forever:
    """The program does not end."""


class ScriptedProcesses:
    """A `ProcessRunner` that starts nothing: plays its script, one end for each run."""

    def __init__(self, *ends: ProcessEnd | SpawnError | Forever) -> None:
        self.programs: list[Program] = []
        self.cancelled = 0
        self._ends = list(ends)

    async def run(self, program: Program) -> ProcessEnd:
        self.programs.append(program)
        match self._ends.pop(0):
            case SpawnError() as error:
                raise error
            case Forever():
                try:
                    await anyio.sleep_forever()
                finally:
                    self.cancelled += 1
                raise AssertionError("it has slept for ever")
            case end:
                return end


def printed(stdout: str | bytes = "", stderr: str = "", *, code: int = 0, lost: int = 0) -> Exited:
    """How a program ends that has written this; `lost` bytes of standard output were not kept."""
    head = stdout if isinstance(stdout, bytes) else stdout.encode()
    errors = stderr.encode()
    return Exited(code, Output(head, len(head) + lost), Output(errors, len(errors)))


class MakeProgram(Protocol):
    def __call__(self, *arguments: str, timeout: float = 0.0, output_file: str | None = None) -> Program: ...


class Script(Protocol):
    def __call__(self, text: str, *arguments: str, timeout: float = 0.0) -> Program: ...


class Signpost:
    """A named pipe through which a child process says that it has come to a certain point, or is let go on."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path

    async def wait(self) -> str:
        """Wait for what the child writes (`echo here > path`)."""
        return (await to_thread.run_sync(self.path.read_text)).strip()

    async def let_go(self) -> None:
        """Write a line for a child that reads (`read x < path`)."""
        await to_thread.run_sync(self.path.write_text, "go\n")


@dataclass(frozen=True, slots=True)
class Living:
    """A process of this machine that is no zombie."""

    pid: int
    parent: int
    command: str
    environment: bytes


def living() -> Iterator[Living]:
    """Look at all processes; nothing where there is no /proc."""
    if sys.platform != "linux":
        return
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (folder / "cmdline").read_text("utf-8", "replace").replace("\0", " ").strip()
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue  # it ended meanwhile, or is not ours
        if state != "Z":
            yield Living(int(folder.name), int(parent), command, environment)


def zombies_of_ours() -> set[int]:
    """Children of this process that have ended and were not waited for."""
    found: set[int] = set()
    for folder in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == os.getpid():
                found.add(int(folder.name))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def wait_until_gone(*pids: int, seconds: float = 2.0) -> None:
    """Wait until processes that are not ours to wait for have ended."""
    with anyio.fail_after(seconds):
        while any(is_alive(pid) for pid in pids):
            await anyio.sleep(0.01)
