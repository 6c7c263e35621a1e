"""The conversation store without a disk, for tests: same behaviour, and failures on demand.

What is "stored" is the text of the files, so that loading goes the same way as from a disk.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jp_lsp.conversation.fork import fork
from jp_lsp.conversation.ids import (
    ConversationId,
    EventId,
    conversation_id,
    conversation_id_at,
    counting_event_ids,
    created_at,
    deciseconds_of,
)
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.metadata_edit import MetadataEdit, SetExpiry, SetTitle
from jp_lsp.conversation.stored import StreamFormatError, load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.workspace.draft import joined
from jp_lsp.workspace.unsaved import UnsavedConversation

_START = Timestamp(1_791_234_567_800_000_000)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """The texts of a conversation's files, and its metadata."""

    base_config: str
    events: str
    title: str | None
    last_activated_at: Timestamp
    expires_at: Timestamp | None = None


@dataclass(slots=True)
class MemoryStore:
    """A store whose content a test can look at and change.

    `failing_saves` names saves by their number, from 1 over the whole store, with the reason they fail for;
    `failing_drafts` is the reason why no draft can be kept.
    `held` are conversations that somebody else works on.
    """

    now: Callable[[], Timestamp] = lambda: _START
    failing_saves: Mapping[int, str] = field(default_factory=lambda: {})
    failing_drafts: str | None = None
    stored: dict[ConversationId, StoredConversation] = field(default_factory=lambda: {})
    drafts: dict[ConversationId, str] = field(default_factory=lambda: {})
    decisions: dict[ConversationId, JsonObject] = field(default_factory=lambda: {})
    recovery: dict[str, StoredConversation] = field(default_factory=lambda: {})
    held: set[ConversationId] = field(default_factory=lambda: set())
    save_count: int = 0
    _mint: Callable[[], EventId] = field(default_factory=counting_event_ids)
    _latest_minted: int = 0

    async def find(self, wanted: ConversationId) -> bool:
        """Tell whether a conversation exists."""
        return wanted in self.stored

    async def last(self) -> ConversationId | None:
        """Give the conversation that was activated last."""
        return max(
            self.stored,
            key=lambda each: (self.stored[each].last_activated_at, deciseconds_of(each)),
            default=None,
        )

    async def open(self, wanted: ConversationId) -> OpenConversation | None:
        """Lock and load a conversation; `None` while it is held."""
        stream = self._load(wanted)
        if wanted in self.held:
            return None
        self.held.add(wanted)
        return MemoryConversation(self, wanted, stream, title=self.stored[wanted].title, is_made_here=False)

    async def create(self, base_config: JsonObject, *, local: bool, persist: bool) -> OpenConversation:
        """Mint an id and lock it."""
        conversation = self._mint_conversation()
        stream = ConversationStream(created_at(conversation), base_config, mint=self._mint)
        if not persist:
            return UnsavedConversation(conversation, stream, is_new=True)
        self.held.add(conversation)
        return MemoryConversation(self, conversation, stream, title=None, is_made_here=True)

    async def fork(
        self, source: ConversationId, *, keep_turns: int | None, persist: bool
    ) -> OpenConversation:
        """Copy a conversation into a new one."""
        loaded, title = self._load(source), self.stored[source].title
        conversation = self._mint_conversation()
        stream = fork(loaded, created_at=created_at(conversation), keep_turns=keep_turns)
        if not persist:
            return UnsavedConversation(conversation, stream, is_new=True, title=title)
        self.held.add(conversation)
        return MemoryConversation(self, conversation, stream, title=title, is_made_here=True)

    async def copy(self, wanted: ConversationId) -> OpenConversation:
        """Load a conversation to work on a copy that is never saved."""
        return UnsavedConversation(wanted, self._load(wanted), is_new=False, title=self.stored[wanted].title)

    async def keep_draft(self, wanted: ConversationId, text: str) -> None:
        """Keep a text for a conversation that could not be opened."""
        if self.failing_drafts is not None:
            raise StoreError(self.failing_drafts)
        self.drafts[wanted] = joined(self.drafts.get(wanted), text)

    async def lock_holder(self, wanted: ConversationId) -> str | None:
        """Describe who holds a conversation."""
        return "another process" if wanted in self.held else None

    def _mint_conversation(self) -> ConversationId:
        deciseconds = max(deciseconds_of(conversation_id_at(self.now())), self._latest_minted + 1)
        while conversation_id(deciseconds) in self.stored:
            deciseconds += 1
        self._latest_minted = deciseconds
        return conversation_id(deciseconds)

    def _load(self, wanted: ConversationId) -> ConversationStream:
        found = self.stored.get(wanted)
        if found is None:
            raise Refusal("conversation_not_found", f"There is no conversation {wanted} in this workspace.")
        try:
            return load(found.events, found.base_config, created_at=created_at(wanted), mint=self._mint)
        except StreamFormatError as error:
            text = f"Conversation {wanted} cannot be read: {error}. Nothing was changed."
            raise Refusal("conversation_unreadable", text) from error


@dataclass(slots=True)
class MemoryConversation:
    """An open conversation of a memory store."""

    store: MemoryStore
    id: ConversationId
    stream: ConversationStream
    title: str | None
    is_made_here: bool
    expires_at: Timestamp | None = field(init=False)
    _known: StoredConversation | None = field(init=False)

    def __post_init__(self) -> None:
        self._known = self.store.stored.get(self.id)
        self.expires_at = None if self._known is None else self._known.expires_at

    @property
    def is_new(self) -> bool:
        """Whether it was made by this opening and nothing of it is stored yet."""
        return self.is_made_here and self._known is None

    @property
    def last_activated_at(self) -> Timestamp:
        """When it was last worked with, as stored."""
        return self.store.now() if self._known is None else self._known.last_activated_at

    def set_title(self, title: str | None) -> None:
        """Give another title, or none; the next save stores it."""
        self.title = title

    def suggest_title(self, title: str, instead_of: str | None) -> None:
        """Give a title unless another one was given meanwhile."""
        if self.title == instead_of:
            self.title = title

    def set_expiry(self, at: Timestamp | None) -> None:
        """Say from when on the conversation may be removed; the next save stores it."""
        self.expires_at = at

    def edit(self, edit: MetadataEdit) -> None:
        """Change title or expiry; nothing else is kept here."""
        match edit:
            case SetTitle(title):
                self.title = title
            case SetExpiry(at):
                self.expires_at = at
            case _:
                pass

    async def save(self) -> None:
        """Store the texts of the stream, unless this save is to fail or somebody else wrote."""
        snapshot = self._snapshot()
        self.store.save_count += 1
        if (reason := self.store.failing_saves.get(self.store.save_count)) is not None:
            raise StoreError(reason)
        found = self.store.stored.get(self.id)
        if found != self._known:
            uri = await self.save_recovery_copy()
            what = "conversation gone" if found is None else "the conversation was changed by somebody else"
            raise StoreError(f"{what}; nothing was overwritten, and your copy is in {uri}")
        self.store.stored[self.id] = self._known = snapshot

    async def save_recovery_copy(self) -> str:
        """Keep the stream beside the store."""
        uri = f"memory:/recovery/{self.id}"
        self.store.recovery[uri] = self._snapshot()
        return uri

    async def discard(self) -> None:
        """Remove a conversation that was made by this opening."""
        if self.is_made_here:
            self.store.stored.pop(self.id, None)
            self._known = None

    async def remembered(self) -> JsonObject:
        """Give what was kept."""
        return self.store.decisions.get(self.id, {})

    async def keep_remembered(self, decisions: JsonObject) -> None:
        """Keep it."""
        self.store.decisions[self.id] = decisions

    async def draft(self) -> str | None:
        """Give the text that was kept, if there is one."""
        return self.store.drafts.get(self.id)

    async def keep_draft(self, text: str) -> None:
        """Keep a text that was not sent, behind what is there already."""
        await self.store.keep_draft(self.id, text)

    async def clear_draft(self) -> None:
        """Forget the draft."""
        self.store.drafts.pop(self.id, None)

    async def release(self) -> None:
        """Give the lock back."""
        self.store.held.discard(self.id)

    def _snapshot(self) -> StoredConversation:
        base_config, events = self.stream.base_config_text(), self.stream.events_text()
        known = self._known
        is_same = known is not None and (base_config, events) == (known.base_config, known.events)
        activated_at = known.last_activated_at if known is not None and is_same else self.store.now()
        return StoredConversation(base_config, events, self.title, activated_at, self.expires_at)
