"""A server does not outlive its editor, and does not mistake another machine's for a dead one."""

import asyncio
import os
import subprocess
import sys

import pytest

from jp_lsp.server.parent import process_exists, wait_until_gone

pytestmark = pytest.mark.anyio


class Life:
    """A process by what is seen of it at each look; the clock is counted, not waited for."""

    def __init__(self, looks: list[bool]) -> None:
        self.looks = looks
        self.slept = 0.0
        self.finished = asyncio.Event()

    def exists(self, process_id: int) -> bool:
        assert process_id == 42
        return self.looks.pop(0)

    async def sleep(self, seconds: float) -> None:
        if not self.looks:
            self.finished.set()
            await asyncio.Event().wait()
        self.slept += seconds
        await asyncio.sleep(0)


@pytest.mark.requirement("R336", "S10")
@pytest.mark.parametrize(
    ("looks", "gone_after"),
    [
        ([True, True, False, False, False, False, False], 12.0),
        ([True, False, False, False, False, True, False, False, False, False, False], 20.0),
        ([False, True, False, False, False, False, False], 12.0),
        ([True, False, False, False, False], None),
        ([True, True, True, True], None),
        ([False] * 20, None),
    ],
)
async def test_gone_is_ten_seconds_on_end(looks: list[bool], gone_after: float | None) -> None:
    life = Life(looks)
    watch = asyncio.ensure_future(wait_until_gone(42, exists=life.exists, sleep=life.sleep))
    finished = asyncio.ensure_future(life.finished.wait())
    await asyncio.wait([watch, finished], return_when=asyncio.FIRST_COMPLETED)
    if gone_after is None:
        assert not watch.done()
    else:
        assert watch.done()
        assert life.slept == gone_after
    watch.cancel()
    finished.cancel()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no harmless way to ask")
async def test_processes_are_seen() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert process_exists(os.getpid())
    assert process_exists(1)
    assert process_exists(2**80)
    assert not process_exists(child.pid)
