"""Checks of documents that change while they are checked: at most one of each runs, and none too few.

A check takes the time of an answer, so one of a document that was checked before waits until nobody types or asks
for a moment.
"""

from collections.abc import Awaitable, Callable

from anyio import sleep

_QUIET_SECONDS = 0.25
"""So long nothing must be typed or asked before a document is checked again."""

_MOST_WAITS = 20
"""So often a check waits, whatever is typed and asked."""


class Checks:
    """Runs checks.

    Args:
        check: looks at a document as it is now, by its URI, and says what is wrong; tells whether it is one to check.
        version: gives the version of a document; `None` if it is not open.
    """

    def __init__(self, check: Callable[[str], Awaitable[bool]], version: Callable[[str], int | None]) -> None:
        self._check = check
        self._version = version
        self._wanted: set[str] = set()
        self._running: set[str] = set()
        self._checked: set[str] = set()
        self._asked = 0

    def note_question(self) -> None:
        """Let checks that have not begun wait a little longer, because something is asked."""
        self._asked += 1

    async def run(self, uri: str) -> None:
        """Check a document; one that is being checked now is checked once more after that."""
        self._wanted.add(uri)
        if uri in self._running:
            return
        self._running.add(uri)
        try:
            while uri in self._wanted:
                if uri in self._checked:
                    await self._quiet(uri)
                self._wanted.discard(uri)
                if await self._check(uri):
                    self._checked.add(uri)
                else:
                    self._checked.discard(uri)
        finally:
            self._running.discard(uri)
            self._wanted.discard(uri)

    async def run_others(self, uri: str) -> None:
        """Check again every other document that was checked, since one that was saved may matter for it."""
        for other in sorted((self._checked | self._running) - {uri}):
            await self.run(other)

    def again(self, uri: str) -> None:
        """Have a document that is being checked checked once more, because it is another one already."""
        self._wanted.add(uri)

    async def _quiet(self, uri: str) -> None:
        """Wait until a document has not changed for a moment, and nothing was asked; one that is closed needs none."""
        for _ in range(_MOST_WAITS):
            version, asked = self._version(uri), self._asked
            if version is None:
                return
            await sleep(_QUIET_SECONDS)
            if (self._version(uri), self._asked) == (version, asked):
                return
