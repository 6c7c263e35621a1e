"""What the server edge needs of a workspace, plugged together by `app` for each client."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jp_lsp.config.server_settings import InterruptSettings, PromptSettings, ShutdownSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.driver.model_catalogue import ModelCatalogue
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.editor import EditorDocuments
from jp_lsp.ports.upkeep import Upkeep
from jp_lsp.render.options import Look
from jp_lsp.turn.listing import UnfinishedTurn
from jp_lsp.turn.outcome import Notice


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation to be read: its stream, and how to find out how it is shown (`WorkspaceSettings.looks`)."""

    id: ConversationId
    stream: ConversationStream
    looks: Callable[[ConversationStream], Callable[[int], Look]]


class Scratch(Protocol):
    """Files for the client to open and to write in, in the user's own data; names are plain names of files."""

    async def write(self, name: str, text: str, conversation: ConversationId | None = None) -> str:
        """Make a file that only the user can read, and give its URI.

        A text that the user writes in it belongs to the conversation, should we be gone before we see it.

        Raises:
            OSError: it could not be written.
        """
        ...

    async def read(self, name: str, limit: int) -> bytes | None:
        """Give the first `limit` bytes of a file; `None` when it is gone.

        Raises:
            OSError: it could not be read.
        """
        ...

    async def stamp(self, name: str) -> object | None:
        """Give what changes whenever the file is saved; `None` when it is gone."""
        ...

    async def remove(self, name: str) -> None:
        """Remove a file; one that is gone already is fine.

        Raises:
            OSError: it could not be removed.
        """


class Workplace(Protocol):
    """One client's workspace."""

    @property
    def prompt_settings(self) -> PromptSettings:
        """How the user wants to be asked."""
        ...

    @property
    def interrupt_settings(self) -> InterruptSettings:
        """What the buttons and menus that stop something do."""
        ...

    @property
    def shutdown_settings(self) -> ShutdownSettings:
        """How many seconds everything has when the server ends."""
        ...

    def surroundings(self) -> Surroundings:
        """Give the parts that a query runs with, made now if need be.

        Raises:
            Refusal: there is no workspace, and none can be made here.
        """
        ...

    def open_existing(self) -> None:
        """Make the user's own folder for a workspace that is there; what cannot be opened is said to who needs it."""

    async def check(self) -> Sequence[Notice]:
        """Look for conversations that cannot be used, and say so; without a workspace there are none."""
        ...

    async def fill(self) -> None:
        """Copy the conversations of a workspace that is new to the user to their own folder; makes no workspace.

        Nobody waits for it: what has no copy yet is read where it is.
        """
        ...

    async def tidy(self) -> Sequence[ConversationId]:
        """Remove the conversations that have expired and are not in use, and give them; makes no workspace."""
        ...

    @property
    def clock(self) -> Clock:
        """Real time."""
        ...

    def upkeep(self) -> Upkeep:
        """Give the shelf of conversations; one of a folder that is no workspace yet is empty.

        Raises:
            Refusal: there is no folder.
        """
        ...

    def configuration(self) -> WorkspaceSettings:
        """Give the settings of the workspace, or of the user where there is none; writes nothing."""
        ...

    def is_trusted(self) -> bool:
        """Tell whether all that the workspace's files want to run was trusted; looks at files."""
        ...

    async def replace_file(self, path: Path, expected: bytes | None, data: bytes) -> bool:
        """Make `data` the content of a configuration file that still holds `expected`; tells whether it did.

        Raises:
            OSError: it could not be written.
        """
        ...

    def models(self) -> ModelCatalogue:
        """Give what models there are to choose from."""
        ...

    async def read(self, conversation: ConversationId) -> StoredConversation:
        """Load a conversation without locking or changing anything.

        Raises:
            Refusal: there is no such conversation, or it cannot be read.
        """
        ...

    def result_uri(self, conversation: ConversationId, event: ConversationEvent) -> str | None:
        """Give the URI of the file with the whole result that a stored response was made of, if it is there."""
        ...

    async def unfinished(self, running: Collection[ConversationId]) -> Sequence[UnfinishedTurn]:
        """List turns that were cut off, of the conversations that were activated last and do not run now."""
        ...

    async def keep_scratch(self, name: str, text: str) -> str:
        """Write a text for the client to open, and give its URI."""
        ...

    def scratch(self) -> Scratch:
        """Give the place for texts that the user writes in the editor.

        Raises:
            Refusal: there is no workspace.
        """
        ...

    async def keep_draft(self, conversation: ConversationId, text: str) -> None:
        """Keep a text that the user wrote and did not send, behind a draft that is there already.

        Raises:
            Refusal: there is no workspace.
            OSError: it could not be written.
        """

    def take_notices(self) -> Sequence[Notice]:
        """Give what the user should know about settings and workspace, each once."""
        ...

    async def aclose(self) -> None:
        """Close connections and end the child processes."""


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """Where a client works and how it configured us.

    Attributes:
        folders: paths of the workspace folders, the first of which counts.
        settings: `initializationOptions.jp`, as it was sent.
        documents: what is open in the client's editor.
    """

    folders: tuple[str, ...]
    settings: object
    documents: EditorDocuments
