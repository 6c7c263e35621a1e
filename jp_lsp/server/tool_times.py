"""How long tools have been running, so that a client sees that they still do (query pipeline 3.9)."""

from collections.abc import Iterator
from dataclasses import dataclass

from jp_lsp.conversation.ids import CallId
from jp_lsp.turn.shown import ToolRunning

DELAY_MS = 3000
"""A tool that is quicker than this shows no passing of time."""


@dataclass(slots=True)
class _Run:
    began_ms: int
    latest: ToolRunning


class ToolTimes:
    """The tools of one query that run; times are in milliseconds since its begin."""

    def __init__(self) -> None:
        self._runs: dict[CallId, _Run] = {}

    def note(self, what: ToolRunning, now_ms: int) -> int:
        """Take that a tool began, or told something; gives for how long it has been running."""
        run = self._runs.get(what.call)
        if run is None or (what.message is None and what.percentage is None):
            run = self._runs[what.call] = _Run(now_ms, what)
        run.latest = what
        return now_ms - run.began_ms

    def ended(self, call: CallId) -> None:
        """Forget a tool that is answered."""
        self._runs.pop(call, None)

    def clear(self) -> None:
        """Forget all, at the end of a turn."""
        self._runs.clear()

    def due(self, now_ms: int) -> Iterator[tuple[ToolRunning, int]]:
        """Give what each tool that takes a while told last, and for how long it has been running."""
        for run in self._runs.values():
            if now_ms - run.began_ms >= DELAY_MS:
                yield run.latest, now_ms - run.began_ms
