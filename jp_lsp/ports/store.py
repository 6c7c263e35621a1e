"""The port towards conversations on disk or in memory (query pipeline 1.6)."""

from typing import Protocol

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream


class StoreError(Exception):
    """A save was not possible; what was on disk before is still there. The text is for the user."""


class OpenConversation(Protocol):
    """One conversation, locked for writing until `release`. Nothing is saved but by `save`."""

    @property
    def id(self) -> ConversationId:
        """Its id."""
        ...

    @property
    def is_new(self) -> bool:
        """Whether it was made by this opening and nothing of it is on disk yet."""
        ...

    @property
    def stream(self) -> ConversationStream:
        """Base configuration and entries, loaded after the lock was taken."""
        ...

    def set_title(self, title: str | None) -> None:
        """Give another title, or none; the next save stores it."""

    async def save(self) -> None:
        """Make the stream, as it is at the moment of the call, durable. Calls take effect in order.

        Raises:
            StoreError: the disk refused, the files were changed by somebody else, or they are gone.
        """

    async def save_recovery_copy(self) -> str:
        """Write the stream beside the workspace, in the user's own data, and give the copy's URI.

        Raises:
            StoreError: that was not possible either.
        """
        ...

    async def discard(self) -> None:
        """Remove a conversation that was made by this opening."""

    async def remembered(self) -> JsonObject:
        """Give what the user decided about tools for this conversation; kept in the user's own data."""
        ...

    async def keep_remembered(self, decisions: JsonObject) -> None:
        """Keep it; a failure is logged and changes nothing else."""

    async def keep_draft(self, text: str) -> None:
        """Keep a text that was not sent."""

    async def clear_draft(self) -> None:
        """Forget the draft."""

    async def release(self) -> None:
        """Give the lock back."""


class ConversationStore(Protocol):
    """The conversations of one workspace."""

    async def find(self, wanted: ConversationId) -> bool:
        """Tell whether this conversation exists."""
        ...

    async def last(self) -> ConversationId | None:
        """Give the conversation that was activated last."""
        ...

    async def open(self, wanted: ConversationId) -> OpenConversation | None:
        """Lock and load a conversation; `None` while another process holds it.

        Raises:
            Refusal: there is no such conversation, or its files cannot be read; says which and why.
        """
        ...

    async def create(self, base_config: JsonObject, *, local: bool, persist: bool) -> OpenConversation:
        """Mint an id and lock it; nothing is on disk before the first save.

        Raises:
            Refusal: the workspace cannot be written.
        """
        ...

    async def copy(self, wanted: ConversationId) -> OpenConversation:
        """Load a conversation to work on a copy that is never saved; takes no lock.

        Raises:
            Refusal: there is no such conversation, or its files cannot be read.
        """
        ...

    async def lock_holder(self, wanted: ConversationId) -> str | None:
        """Describe who holds a conversation, as far as its lock file tells."""
        ...
