"""What the server edge needs of a workspace, plugged together by `app` for each client."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.prepare import Surroundings
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.listing import UnfinishedTurn
from jp_lsp.turn.outcome import Notice


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation as a list shows it."""

    id: ConversationId
    title: str | None
    last_activated_at: Timestamp | None


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation to be read: its stream, and the settings to show it with."""

    id: ConversationId
    stream: ConversationStream
    settings: QuerySettings


class Workplace(Protocol):
    """One client's workspace."""

    def surroundings(self) -> Surroundings:
        """Give the parts that a query runs with, made now if need be.

        Raises:
            Refusal: there is no workspace, and none can be made here.
        """
        ...

    async def conversations(self) -> Sequence[ListedConversation]:
        """List the conversations, last activated first."""
        ...

    async def read(self, conversation: ConversationId) -> StoredConversation:
        """Load a conversation without locking or changing anything.

        Raises:
            Refusal: there is no such conversation, or it cannot be read.
        """
        ...

    async def unfinished(self, running: Collection[ConversationId]) -> Sequence[UnfinishedTurn]:
        """List turns that were cut off, of the conversations that were activated last and do not run now."""
        ...

    async def keep_scratch(self, name: str, text: str) -> str:
        """Write a text for the client to open, and give its URI."""
        ...

    def take_notices(self) -> Sequence[Notice]:
        """Give what the user should know about settings and workspace, each once."""
        ...

    async def aclose(self) -> None:
        """Close connections and end the child processes."""


MakeWorkplace = Callable[["ClientPlace"], Awaitable[Workplace]]


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """Where a client works and how it configured us.

    Attributes:
        folders: paths of the workspace folders, the first of which counts.
        settings: `initializationOptions.jp`, as it was sent.
    """

    folders: tuple[str, ...]
    settings: object
