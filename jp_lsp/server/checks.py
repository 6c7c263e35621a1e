"""Checks of documents that change while they are checked: at most one of each runs, and none too few."""

from collections.abc import Awaitable, Callable


class Checks:
    """Runs checks.

    Args:
        check: looks at a document as it is now, by its URI, and says what is wrong.
    """

    def __init__(self, check: Callable[[str], Awaitable[None]]) -> None:
        self._check = check
        self._wanted: set[str] = set()
        self._running: set[str] = set()

    async def run(self, uri: str) -> None:
        """Check a document; one that is being checked now is checked once more after that."""
        self._wanted.add(uri)
        if uri in self._running:
            return
        self._running.add(uri)
        try:
            while uri in self._wanted:
                self._wanted.discard(uri)
                await self._check(uri)
        finally:
            self._running.discard(uri)
            self._wanted.discard(uri)

    def again(self, uri: str) -> None:
        """Have a document that is being checked checked once more, because it is another one already."""
        self._wanted.add(uri)
