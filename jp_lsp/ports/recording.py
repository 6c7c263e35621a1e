"""The port towards recordings of turns, for whoever wants to see what happened (query pipeline 7.6)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class RecordingFile(Protocol):
    """One recording. Called in a worker thread, by one at a time."""

    @property
    def name(self) -> str:
        """Where it is, for the log."""
        ...

    def write(self, text: str) -> None:
        """Append text such that it is there even if this program is killed right behind.

        Raises:
            OSError: it could not be written.
        """
        ...

    def close(self) -> None:
        """Write nothing more."""
        ...


@dataclass(frozen=True, slots=True)
class Recordings:
    """Where recordings go.

    Attributes:
        begin: makes a new one for the query with this token, in a worker thread; raises `OSError` if it cannot.
        hide: replaces secrets in a text.
    """

    begin: Callable[[str], RecordingFile]
    hide: Callable[[str], str]
