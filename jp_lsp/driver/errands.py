"""Errands that do not need each other, run at the same time, as if they had been run one after the other.

What they find is read afterwards, in whatever order the caller likes. If several fail, the first one of the list
counts, however late it failed, so that the same query always meets the same refusal; those behind a failure are
cut short, because nobody would look at what they find.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import anyio

Result_co = TypeVar("Result_co", covariant=True)


class Errand(Generic[Result_co]):
    """Something to find out.

    Args:
        work: finds it out.
    """

    def __init__(self, work: Callable[[], Awaitable[Result_co]]) -> None:
        self.failure: Exception | None = None
        self._work = work
        self._found: list[Result_co] = []
        self._scope = anyio.CancelScope()

    @property
    def result(self) -> Result_co:
        """What was found; there once `run_together` has returned."""
        return self._found[0]

    async def run(self) -> None:
        """Find it out, or keep why that was not possible."""
        with self._scope:
            try:
                self._found.append(await self._work())
            except Exception as failure:  # kept, not swallowed: it is raised when the others have ended
                self.failure = failure

    def cut_short(self) -> None:
        """End it; there will be no result."""
        self._scope.cancel()


async def run_together(errands: Sequence[Errand[object]]) -> None:
    """Run all errands to their end.

    Raises:
        Exception: what the first errand of the list that failed has raised.
    """

    async def run(position: int) -> None:
        await errands[position].run()
        if errands[position].failure is not None:
            for later in errands[position + 1 :]:
                later.cut_short()

    async with anyio.create_task_group() as tasks:
        for position in range(len(errands)):
            tasks.start_soon(run, position)
    for errand in errands:
        if errand.failure is not None:
            raise errand.failure
