"""The port towards conversations on disk or in memory (query pipeline 1.6)."""

from typing import Protocol

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp


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

    @property
    def title(self) -> str | None:
        """The title as the next save will store it."""
        ...

    @property
    def last_activated_at(self) -> Timestamp:
        """When it was last worked with, as stored."""
        ...

    def set_title(self, title: str | None) -> None:
        """Give another title, or none; the next save stores it."""

    def suggest_title(self, title: str, instead_of: str | None) -> None:
        """Give a title that the next save stores if the stored one is still `instead_of`."""

    def set_expiry(self, at: Timestamp | None) -> None:
        """Say from when on the conversation may be removed, or never; the next save stores it."""

    def edit(self, edit: MetadataEdit) -> None:
        """Change something else that is known about the conversation; the next save stores it."""

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

    async def draft(self) -> str | None:
        """Give the text that was kept, if there is one and it can be read."""
        ...

    async def keep_draft(self, text: str) -> None:
        """Keep a text that was not sent, behind a draft that is there already.

        Raises:
            StoreError: it could not be written.
        """

    async def clear_draft(self) -> None:
        """Forget the draft.

        Raises:
            StoreError: it could not be removed.
        """

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

    async def fork(
        self, source: ConversationId, *, keep_turns: int | None, persist: bool
    ) -> OpenConversation:
        """Copy a conversation, live or archived, into a new one (conversation format 7.4).

        The source is neither locked nor changed. The copy has an id of its own, is locked like a new one, and
        nothing of it is on disk before the first save. It has the source's settings, title and labels, lies
        where the source does, and does not expire.

        Args:
            source: what is copied.
            keep_turns: keep only so many of the last turns; with 0 none, with `None` all.
            persist: whether the copy may be saved.

        Raises:
            Refusal: there is no such conversation, its files cannot be read, or the workspace cannot be written.
        """
        ...

    async def copy(self, wanted: ConversationId) -> OpenConversation:
        """Load a conversation to work on a copy that is never saved; takes no lock.

        Raises:
            Refusal: there is no such conversation, or its files cannot be read.
        """
        ...

    async def keep_draft(self, wanted: ConversationId, text: str) -> None:
        """Keep a text for a conversation that could not be opened, behind a draft that is there already.

        Raises:
            StoreError: it could not be written.
        """

    async def lock_holder(self, wanted: ConversationId) -> str | None:
        """Describe who holds a conversation, as far as its lock file tells."""
        ...
