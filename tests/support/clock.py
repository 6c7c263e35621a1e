"""Time that a test moves by hand."""

import heapq

import anyio
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint

from jp_lsp.turn.inputs import Instant


class FakeClock:
    """A clock whose `sleep` ends when `advance` gets there."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.skipped = 0.0
        self._sleepers: list[tuple[float, int, anyio.Event]] = []
        self._count = 0

    def now(self) -> Instant:
        return Instant(int(self.wall() * 1e9), self.seconds)

    def wall(self) -> float:
        return self.seconds + self.skipped

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await checkpoint()
            return
        woken = anyio.Event()
        self._count += 1
        heapq.heappush(self._sleepers, (self.seconds + seconds, self._count, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Let time pass; everybody who wakes meanwhile runs at the right moment."""
        await wait_all_tasks_blocked()
        end = self.seconds + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            self.seconds, _, woken = heapq.heappop(self._sleepers)
            woken.set()
            await wait_all_tasks_blocked()
        self.seconds = end
        await wait_all_tasks_blocked()

    def jump(self, seconds: float) -> None:
        """The machine slept: wall time went on, and nothing else."""
        self.skipped += seconds
