"""The port towards time."""

from typing import Protocol

from jp_lsp.turn.inputs import Instant


class Clock(Protocol):
    """Time as the driver needs it; a test moves it by hand."""

    def now(self) -> Instant:
        """Give the time of an input."""
        ...

    def wall(self) -> float:
        """Give wall-clock seconds; a machine that slept shows as a jump."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
