"""Work beside the queries: nothing that a turn waits for (query pipeline 7.5).

A task gets what it needs when it is spawned: a snapshot and a few narrow ports, never a running turn. What
goes wrong in it is logged under its name and reaches nobody else. When the server ends, a task either stops
at once or is given the time that `drain` allows.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from jp_lsp.conversation.ids import ConversationId

_log = logging.getLogger(__name__)

MOST_AT_ONCE = 4
"""So many tasks run at a time; the others wait their turn."""

OnShutdown = Literal["cancel", "finish"]


@dataclass(eq=False, slots=True)
class _Task:
    name: str
    work: Callable[[], Awaitable[None]]
    conversation: ConversationId | None
    on_shutdown: OnShutdown
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Background:
    """Runs tasks in the order in which they were spawned. They run once `serve` does."""

    def __init__(self) -> None:
        self._tasks: TaskGroup | None = None
        self._waiting: deque[_Task] = deque()
        self._running: list[_Task] = []
        self._is_draining = False
        self._idle = anyio.Event()
        self._idle.set()

    async def serve(self) -> None:
        """Run tasks until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            self._start_waiting()
            await anyio.sleep_forever()

    def spawn(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        *,
        conversation: ConversationId | None = None,
        on_shutdown: OnShutdown = "cancel",
    ) -> None:
        """Run something soon; while the server ends, nothing is begun any more.

        Args:
            name: for the log.
            work: what to do.
            conversation: what it is about; `cancel` ends it.
            on_shutdown: whether it is worth waiting for when the server ends.
        """
        if self._is_draining:
            _log.info("%s is not begun: the server is closing", name)
            return
        self._waiting.append(_Task(name, work, conversation, on_shutdown))
        if self._idle.is_set():
            self._idle = anyio.Event()
        self._start_waiting()

    def cancel(self, conversation: ConversationId) -> None:
        """End all that is about a conversation."""
        self._cancel(lambda task: task.conversation == conversation)

    async def drain(self, budget: float) -> None:
        """Come to an end: what may be cancelled is, and the rest gets `budget` seconds. Nothing new begins."""
        self._is_draining = True
        self._cancel(lambda task: task.on_shutdown == "cancel")
        with anyio.move_on_after(budget):
            await self._idle.wait()
        self._cancel(lambda _: True)

    @property
    def names(self) -> tuple[str, ...]:
        """What is under way or waits its turn, in order."""
        return tuple(task.name for task in (*self._running, *self._waiting))

    def _cancel(self, is_meant: Callable[[_Task], bool]) -> None:
        self._waiting = deque(task for task in self._waiting if not is_meant(task))
        for task in filter(is_meant, self._running):
            _log.debug("%s is cancelled", task.name)
            task.scope.cancel()
        self._note_idle()

    def _start_waiting(self) -> None:
        while self._tasks is not None and self._waiting and len(self._running) < MOST_AT_ONCE:
            task = self._waiting.popleft()
            self._running.append(task)
            self._tasks.start_soon(self._run, task)

    async def _run(self, task: _Task) -> None:
        try:
            with task.scope:
                await task.work()
        except Exception:
            _log.exception("%s broke", task.name)
        finally:
            self._running.remove(task)
            self._start_waiting()
            self._note_idle()

    def _note_idle(self) -> None:
        if not self._running and not self._waiting:
            self._idle.set()
