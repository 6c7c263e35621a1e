"""Real processes, and the check that a test leaves none behind."""

import os
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from jp_lsp.ports.process import Program
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process import POLITE_TIME, SystemProcesses
from tests.support.processes import MakeProgram, Script, Signpost, living, zombies_of_ours

MARK = "JP_TEST_MARK"


@pytest.fixture
def polite_time() -> float:
    """Seconds that a program has to end when it is asked to; a test may want other ones."""
    return POLITE_TIME


@pytest.fixture
async def processes(monkeypatch: pytest.MonkeyPatch, polite_time: float) -> AsyncGenerator[SystemProcesses]:
    """Real processes; afterwards nothing that was started may be there, thread, child or grandchild."""
    mark = os.urandom(8).hex()
    monkeypatch.setenv(MARK, mark)
    before = {one.pid for one in living() if one.parent == os.getpid()}
    zombies = zombies_of_ours()
    guard = OrphanGuard()
    processes = SystemProcesses(guard, polite_time)

    def left() -> list[str]:
        wanted = f"{MARK}={mark}".encode()
        return [
            *(one.command for one in living() if wanted in one.environment),
            *(one.command for one in living() if one.parent == os.getpid() and one.pid not in before),
            *(f"zombie {pid}" for pid in zombies_of_ours() - zombies),
            *(thread.name for thread in threading.enumerate() if thread.name.startswith("jp-command")),
        ]

    yield processes

    await processes.aclose()
    guard.close()
    with anyio.move_on_after(2):
        while left():
            await anyio.sleep(0.01)
    assert left() == []


@pytest.fixture
def program(tmp_path: Path) -> MakeProgram:
    """Makes programs that run in the test's folder."""

    def make(*arguments: str, timeout: float = 0.0, output_file: str | None = None) -> Program:
        return Program(arguments, str(tmp_path), "tool t", timeout=timeout, output_file=output_file)

    return make


@pytest.fixture
def script(program: MakeProgram) -> Script:
    """Makes programs out of shell text."""

    def make(text: str, *arguments: str, timeout: float = 0.0) -> Program:
        return program("sh", "-c", text, "sh", *arguments, timeout=timeout)

    return make


@pytest.fixture
def signpost(tmp_path: Path) -> Signpost:
    return Signpost(tmp_path / "signpost")


@pytest.fixture
def second_signpost(tmp_path: Path) -> Signpost:
    return Signpost(tmp_path / "second_signpost")
