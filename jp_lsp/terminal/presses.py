"""Counting Ctrl+C, as far as the client must know: which press is sent, and which one leaves at once.

The server counts presses, opens the menu and escalates (query pipeline 4.3). The client adds what a server
cannot do: once the end was asked for and another press comes, or when the server does not answer presses,
it leaves by itself.
"""

from dataclasses import dataclass, field
from typing import Literal

_ENDING = frozenset({"escalated", "killed"})
_UNANSWERED_BEFORE_LEAVING = 2


@dataclass(slots=True)
class Presses:
    """The presses of one query."""

    _unanswered: int = field(default=0, init=False)
    _is_ending: bool = field(default=False, init=False)

    def press(self) -> Literal["send", "leave"]:
        """Say what this press does: the server is told, or we leave."""
        if self._is_ending or self._unanswered >= _UNANSWERED_BEFORE_LEAVING:
            return "leave"
        self._unanswered += 1
        return "send"

    def end(self) -> None:
        """Note that the end was asked for, so that the next press leaves."""
        self._is_ending = True

    def answered(self, handled: str) -> None:
        """Take the server's answer to a press."""
        self._unanswered = max(self._unanswered - 1, 0)
        if handled in _ENDING:
            self._is_ending = True
