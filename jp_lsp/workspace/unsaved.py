"""A conversation that is worked on and never saved: for queries that ask for that (query pipeline 7.3)."""

from dataclasses import dataclass

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.store import StoreError


@dataclass(slots=True)
class UnsavedConversation:
    """Behaves like an open conversation, holds no lock and writes nothing."""

    id: ConversationId
    stream: ConversationStream
    is_new: bool
    title: str | None = None

    @property
    def last_activated_at(self) -> Timestamp:
        """When it was made: nothing of it is stored."""
        return self.stream.created_at

    def set_title(self, title: str | None) -> None:
        """Take the title for as long as this conversation lasts."""
        self.title = title

    def suggest_title(self, title: str, instead_of: str | None) -> None:
        """Take the title unless another one was given meanwhile."""
        if self.title == instead_of:
            self.title = title

    def set_expiry(self, at: Timestamp | None) -> None:
        """Do nothing; there will be nothing to remove."""

    def edit(self, edit: MetadataEdit) -> None:
        """Do nothing; nothing of it is stored."""

    async def save(self) -> None:
        """Do nothing; that it is not saved was asked for."""

    async def save_recovery_copy(self) -> str:
        """Refuse: nothing of it may reach the disk."""
        raise StoreError("this query was asked not to be saved, so there is no recovery copy either")

    async def discard(self) -> None:
        """Do nothing; nothing was written."""

    async def remembered(self) -> JsonObject:
        """Give nothing: what is decided here holds as long as the query."""
        return {}

    async def keep_remembered(self, decisions: JsonObject) -> None:
        """Do nothing."""

    async def draft(self) -> str | None:
        """Give nothing: a draft that is there belongs to a query that is saved."""
        return None

    async def keep_draft(self, text: str) -> None:
        """Do nothing; the text comes back with the result."""

    async def clear_draft(self) -> None:
        """Do nothing; a draft that is there belongs to a query that is saved."""

    async def release(self) -> None:
        """Do nothing; there is no lock."""
