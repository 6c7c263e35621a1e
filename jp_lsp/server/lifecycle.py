"""How a connection ends, as words that the protocol, the transport and the app share."""

from enum import StrEnum
from typing import Protocol


class ClosingReason(StrEnum):
    """Why a connection ends; the first reason is the one that counts."""

    SHUTDOWN = "shutdown"
    EXIT = "exit"
    EOF = "eof"
    BROKEN_PIPE = "broken_pipe"
    PARENT_GONE = "parent_gone"
    FOREIGN = "foreign"
    SIGTERM = "sigterm"
    SIGINT = "sigint"
    SIGHUP = "sighup"

    @property
    def is_client_gone(self) -> bool:
        """Whether nobody is left to read or to answer."""
        return self in _CLIENT_GONE


_CLIENT_GONE = frozenset(
    {
        ClosingReason.EOF,
        ClosingReason.BROKEN_PIPE,
        ClosingReason.PARENT_GONE,
        ClosingReason.FOREIGN,
    }
)


class Lifecycle(Protocol):
    """What the protocol tells whoever owns the connection."""

    async def end_work(self, reason: ClosingReason) -> None:
        """End the turns and save; time-boxed, done once however often it is awaited."""

    def exit(self, code: int) -> None:
        """The client sent `exit`; `code` is what the process is to end with."""

    def client_process(self, process_id: int) -> None:
        """The client told its process id."""
