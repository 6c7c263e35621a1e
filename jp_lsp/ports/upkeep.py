"""The port towards conversations as things on a shelf: what is known of each, and what is done to it.

Nothing here looks at what was said in them; that is `ports.store`. Each change takes the conversation's lock
for a moment and gives it back (conversation format 7.5 to 7.9).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.labels import Labels
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.search import Hit, SearchQuery
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal

Presence = Literal["user_local", "projected", "external"]
"""In the user's own folder only, there and in the workspace, in the workspace only (conversation format 1.4)."""


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """What is known of a conversation without reading it.

    `problem` says why its metadata cannot be read, and then only id and place are known.
    """

    id: ConversationId
    presence: Presence
    is_archived: bool
    title: str | None = None
    last_activated_at: Timestamp | None = None
    pinned_at: Timestamp | None = None
    archived_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    labels: Labels = field(default_factory=lambda: {})
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in one conversation, and why it could not be read to its end, if it could not."""

    hits: tuple[Hit, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """What is seen of a conversation without reading it; `state` is equal while nothing changed."""

    is_archived: bool
    state: object


@dataclass(frozen=True, slots=True)
class Trashed:
    """A removed conversation: when that was, and the URIs of its folders in the trash."""

    id: ConversationId
    title: str | None
    removed_at: Timestamp
    folders: tuple[str, ...]


class HeldElsewhere(Refusal):
    """Another program holds the conversation; a moment later it may not."""

    def __init__(self, conversation: ConversationId, holder: str) -> None:
        text = f"Conversation {conversation} is in use by {holder}. Try again when it is done."
        super().__init__("lock_timeout", text)


class Upkeep(Protocol):
    """The shelf of one workspace.

    A change that is not possible raises a `Refusal`: there is no such conversation, its metadata cannot be
    read, the disk refused, or somebody has it (`HeldElsewhere`).
    """

    async def list(self, *, is_archived: bool) -> Sequence[ConversationFacts]:
        """List live or archived conversations by id, from names and metadata alone."""
        ...

    async def marks(self) -> Mapping[ConversationId, Mark]:
        """Mark every conversation, live or archived, to compare with a later look.

        Raises:
            OSError: the folders cannot be read.
        """
        ...

    def is_own(self, conversation: ConversationId, before: Mark | None, after: Mark) -> bool:
        """Tell whether all that differs in a conversation's files was written by this program.

        Only the files are compared: whether it is archived, or what its folder is called, is not.
        """
        ...

    def places(self) -> Sequence[str]:
        """Give the paths of the folders, there or not, that hold a folder `conversations`."""
        ...

    async def held(self) -> Collection[ConversationId]:
        """Give the conversations that somebody holds, this program included."""
        ...

    async def facts(self, conversation: ConversationId) -> ConversationFacts:
        """Look one conversation up, live or archived.

        Raises:
            Refusal: there is none.
        """
        ...

    async def folder(self, conversation: ConversationId) -> str | None:
        """Give the URI of a conversation's folder, the workspace's if there is one."""
        ...

    async def draft(self, conversation: ConversationId) -> str | None:
        """Give the text that was left unsent in a conversation."""
        ...

    async def search(self, conversation: ConversationFacts, query: SearchQuery, limit: int) -> Found:
        """Look for at most `limit` hits in what was said in a conversation; one that is gone has none.

        Nothing is loaded as a whole, and a cancelled search ends at once.
        """
        ...

    async def edit(self, conversation: ConversationId, edits: Sequence[MetadataEdit]) -> ConversationFacts:
        """Change a live conversation's metadata, and nothing else of it; gives what is known of it then."""
        ...

    async def archive(self, conversation: ConversationId) -> ConversationFacts:
        """Move a live conversation to the archive. An older archived copy goes to the trash."""
        ...

    async def unarchive(self, conversation: ConversationId) -> ConversationFacts:
        """Move an archived conversation back."""
        ...

    async def remove(self, conversation: ConversationId) -> Sequence[str]:
        """Move a live conversation to the trash, and give the URIs of its folders there."""
        ...

    async def trashed(self) -> Sequence[Trashed]:
        """List the conversations that were removed and can be restored, the latest first."""
        ...

    async def restore(self, conversation: ConversationId) -> ConversationFacts:
        """Move a removed conversation back to where it was.

        Raises:
            Refusal: it is not in the trash, or there is one of that id.
        """
        ...

    async def relocate(self, conversation: ConversationId, *, is_local: bool) -> ConversationFacts:
        """Keep a live conversation in the user's own folder alone, or also in the workspace."""
        ...
