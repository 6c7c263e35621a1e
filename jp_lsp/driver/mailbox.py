"""Everything that happens to a query, in one order.

Provider, disk, clock and client put their inputs here as they come. An input that arrives while another
is being handled waits for its turn, so the core never sees two at once, and a press is handled in the very
call that brings it: what it led to can be answered at once.
"""

from collections import deque
from collections.abc import Callable

from jp_lsp.turn.inputs import Input


class Mailbox:
    """Hands inputs to one reader, one after the other."""

    def __init__(self, deliver: Callable[[Input], None]) -> None:
        self._deliver = deliver
        self._waiting: deque[Input] = deque()
        self._is_delivering = False

    def put(self, item: Input) -> None:
        """Deliver an input, after those that came before it."""
        self._waiting.append(item)
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._waiting:
                self._deliver(self._waiting.popleft())
        finally:
            self._is_delivering = False
