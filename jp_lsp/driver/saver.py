"""Saves of one query: in order, one at a time, the frequent ones merged (query pipeline 1.6)."""

import logging
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from jp_lsp.ports.clock import Clock
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.turn.inputs import Saved, SaveFailed, SavePoint

_log = logging.getLogger(__name__)

FLUSH_SAVE_INTERVAL = 0.25
"""Seconds between two saves that only follow flushes (P2)."""

LAST_SAVE_DELAYS = (0.0, 0.1, 0.5)
"""Seconds before each try of the save that ends a turn (P7)."""


class Saver:
    """Writes one open conversation.

    Args:
        conversation: what is saved.
        report: takes the outcome of each save that the core waits for.
        clock: waits between two saves.
        tasks: where the writing runs.
    """

    def __init__(
        self,
        conversation: OpenConversation,
        report: Callable[[Saved | SaveFailed], None],
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self._conversation = conversation
        self._report = report
        self._clock = clock
        self._tasks = tasks
        self._jobs, self._inbox = anyio.create_memory_object_stream[Callable[[], Awaitable[None]]](1000)
        self._is_flush_save_due = False
        self._is_result_save_due = False
        self.finished = anyio.Event()

    async def run(self) -> None:
        """Do the jobs until `close`."""
        try:
            async with self._inbox:
                async for job in self._inbox:
                    await job()
        finally:
            self.finished.set()

    def close(self) -> None:
        """Let `run` end once the jobs that are waiting are done."""
        self._is_flush_save_due = False
        self._jobs.close()

    def save(self, point: SavePoint) -> None:
        """Save the stream as it will be when its turn comes, never less than it is now."""
        if point == "P2":
            if not self._is_flush_save_due:
                self._is_flush_save_due = True
                self._tasks.start_soon(self._save_after_interval)
            return
        self._is_flush_save_due = False
        if point == "P3":
            if self._is_result_save_due:  # it has not begun, so it takes this result too
                return
            self._is_result_save_due = True
        self._jobs.send_nowait(lambda: self._save(point))

    def run_in_order(self, job: Callable[[], Awaitable[None]]) -> None:
        """Do something else with the conversation, between the saves."""
        self._jobs.send_nowait(job)

    async def _save_after_interval(self) -> None:
        await self._clock.sleep(FLUSH_SAVE_INTERVAL)
        if self._is_flush_save_due:
            self._is_flush_save_due = False
            self._jobs.send_nowait(lambda: self._save("P2"))

    async def _save(self, point: SavePoint) -> None:
        if point == "P3":
            self._is_result_save_due = False
        delays = LAST_SAVE_DELAYS if point in {"P7", "P8"} else (0.0,)
        problem = ""
        for delay in delays:
            if delay:
                await self._clock.sleep(delay)
            try:
                await self._conversation.save()
            except StoreError as error:
                problem = str(error)
                _log.warning("save %s failed: %s", point, problem)
            else:
                self._report(Saved(point))
                return
        self._report(SaveFailed(point, problem, await self._recovery_copy(point)))

    async def _recovery_copy(self, point: SavePoint) -> str | None:
        if point not in {"P7", "P8"}:
            return None
        try:
            return await self._conversation.save_recovery_copy()
        except StoreError as error:
            _log.error("no recovery copy either: %s", error)  # the message says it all
            return None
