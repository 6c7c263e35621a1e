"""The clock of a real server: `ports.clock.Clock` over the system's."""

import time

import anyio

from jp_lsp.turn.inputs import Instant


class SystemClock:
    """Real time."""

    def now(self) -> Instant:
        """Give the time of an input."""
        return Instant(time.time_ns(), time.monotonic())

    def wall(self) -> float:
        """Give wall-clock seconds."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)
