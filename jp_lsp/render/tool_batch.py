"""Which calls of a turn belong together, and how each is told from its neighbours.

A batch is the calls between two results. It is found from the order of calls and results alone, so that a
turn that is shown again, which knows nothing of cycles, finds the same.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call: the tool's name and which call of this tool it is in its batch, from 1.

    One that `is_spoken` was shown as a message of the assistant's.
    """

    name: str
    position: int
    batch: int
    is_spoken: bool = False


class ToolBatches:
    """The calls of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, ShownCall] = {}
        self._batch = 1
        self._counts: dict[str, int] = {}
        self._is_answered = False

    def add(self, call_id: str, name: str, *, is_spoken: bool = False) -> ShownCall:
        """Take a call; one that is shown again, because it was edited, keeps its place."""
        known = self._calls.get(call_id)
        if known is not None and known.batch == self._batch and not self._is_answered:
            return known
        if self._is_answered:
            self._batch += 1
            self._counts = {}
            self._is_answered = False
        self._counts[name] = self._counts.get(name, 0) + 1
        call = ShownCall(name, self._counts[name], self._batch, is_spoken)
        self._calls[call_id] = call
        return call

    def answer(self, call_id: str) -> ShownCall | None:
        """Take a result and give its call; the next call begins a new batch."""
        self._is_answered = True
        return self._calls.get(call_id)

    @property
    def count(self) -> int:
        """How many calls the batch has."""
        return sum(self._counts.values())
