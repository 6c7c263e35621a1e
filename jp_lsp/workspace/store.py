"""The conversations of a workspace on disk: finds, locks, loads, creates and lists them.

All file work runs in worker threads. Opening a conversation for writing takes its lock first and loads it
then, so that nothing is saved over what another process wrote meanwhile.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from functools import partial

from anyio import to_thread

from jp_lsp.conversation import json_text
from jp_lsp.conversation.fork import fork
from jp_lsp.conversation.ids import (
    ConversationId,
    conversation_id,
    conversation_id_at,
    created_at,
    deciseconds_of,
    event_ids,
)
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stored import StreamFormatError, load
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.workspace.atomic import digest
from jp_lsp.workspace.draft import Drafts
from jp_lsp.workspace.expiry import remove_expired
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.lock import Lock, acquire, describe_holder, lock_path
from jp_lsp.workspace.looking import look
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.open_conversation import DiskConversation
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import Reading, UnreadableError, presence_of, read_conversation
from jp_lsp.workspace.unsaved import UnsavedConversation
from jp_lsp.workspace.writing import ConversationWriter

_BUMPS = 100_000

_log = logging.getLogger(__name__)


class DiskStore:
    """The disk store of one workspace.

    Args:
        roots: where conversations are.
        now: gives the wall time.
        random_bytes: gives the randomness for entry ids.
        session: what the lock files call us, if anything.
        newer_format: whether new conversations, and old ones from their next change on, are written in the
            newer form (`storage.newer_format`).
    """

    def __init__(
        self,
        roots: Roots,
        *,
        now: Callable[[], Timestamp],
        random_bytes: Callable[[int], bytes] = secrets.token_bytes,
        session: str | None = None,
        newer_format: bool = False,
    ) -> None:
        self.roots = roots
        self._now = now
        self._mint = event_ids(random_bytes)
        self._session = session
        self._newer_format = newer_format
        self.listing = Listing(roots)
        self._minting = threading.Lock()
        self._latest_minted = 0

    async def find(self, wanted: ConversationId) -> bool:
        """Tell whether a live conversation exists."""
        return await look(partial(presence_of, self.roots, wanted)) is not None

    async def last(self) -> ConversationId | None:
        """Give the conversation that was activated last.

        If that one is archived there is none: an older one would be opened behind the user's back.
        """
        every = [*await self.summaries(), *await self.summaries(is_archived=True)]
        known = [(at, each) for each in every if (at := each.last_activated_at) is not None]
        if not known:
            return None
        _, latest = max(
            known, key=lambda item: (item[0], not item[1].is_archived, deciseconds_of(item[1].id))
        )
        return None if latest.is_archived else latest.id

    async def summaries(self, *, is_archived: bool = False) -> Sequence[ConversationFacts]:
        """List live or archived conversations by id, from names and metadata alone."""
        return await look(partial(self.listing.facts, is_archived=is_archived))

    async def open(self, wanted: ConversationId) -> OpenConversation | None:
        """Lock and load a conversation; `None` while another process holds it.

        Raises:
            Refusal: there is no such conversation, or its files cannot be read; says which and why.
        """
        return await look(partial(self._open, wanted))

    async def create(self, base_config: JsonObject, *, local: bool, persist: bool) -> OpenConversation:
        """Mint an id and lock it; nothing but the lock is on disk before the first save.

        Raises:
            Refusal: no lock could be made, or the configuration holds what no file can, such as an infinity.
        """
        return await look(partial(self._create, base_config, local=local, persist=persist))

    async def fork(
        self, source: ConversationId, *, keep_turns: int | None, persist: bool
    ) -> OpenConversation:
        """Copy a conversation, live or archived, into a new one; nothing but its lock is on disk before a save.

        Raises:
            Refusal: there is no such conversation, its files cannot be read, or no lock could be made.
        """
        return await look(partial(self._fork, source, keep_turns, persist=persist))

    async def remove_expired(self) -> Sequence[ConversationId]:
        """Move the conversations whose time is up to the trash, but for those in use; gives them."""
        return await to_thread.run_sync(lambda: remove_expired(self.roots, self.listing, self._now()))

    async def copy(self, wanted: ConversationId) -> OpenConversation:
        """Load a conversation, live or archived, to work on a copy that is never saved; takes no lock.

        Raises:
            Refusal: there is no such conversation, or its files cannot be read.
        """
        return await look(partial(self._copy, wanted))

    async def keep_draft(self, wanted: ConversationId, text: str) -> None:
        """Keep a text for a conversation that could not be opened; needs no lock, as nothing else is touched.

        Raises:
            StoreError: it could not be written.
        """
        try:
            await to_thread.run_sync(Drafts(self.roots).add, wanted, text)
        except OSError as error:
            raise StoreError(
                f"a draft of {wanted} could not be written: {error.strerror or error}"
            ) from error

    async def lock_holder(self, wanted: ConversationId) -> str | None:
        """Describe who holds a conversation, as far as its lock file tells; `None` if nobody does."""
        return await look(lambda: describe_holder(lock_path(self.roots, wanted)))

    async def draft(self, wanted: ConversationId) -> str | None:
        """Give the text that was left unsent in a conversation, if there is one."""
        return await look(partial(Drafts(self.roots).read, wanted))

    def _open(self, wanted: ConversationId) -> DiskConversation | None:
        if presence_of(self.roots, wanted) is None:
            raise _not_found(wanted)
        lock = self._acquire(wanted)
        if lock is None:
            return None
        try:
            reading, metadata, stream = self._load(wanted, is_archived=False)
        except BaseException:
            lock.release()
            raise
        writer = ConversationWriter(
            self.roots,
            wanted,
            metadata,
            is_projected=reading.presence != "user_local",
            now=self._now,
            states=dict(reading.states),
            loaded=digest(reading.events.encode()),
        )
        return DiskConversation(writer, stream, lock, now=self._now, is_made_here=False)

    def _create(self, base_config: JsonObject, *, local: bool, persist: bool) -> OpenConversation:
        try:
            json_text.to_text(base_config)
        except ValueError as error:
            raise Refusal("config_invalid", f"The configuration cannot be stored: {error}.") from error
        conversation, lock = self._mint_conversation(is_locked=persist)
        stream = ConversationStream(
            created_at(conversation), base_config, mint=self._mint, newer_format=self._newer_format
        )
        if lock is None:
            return UnsavedConversation(conversation, stream, is_new=True)
        writer = ConversationWriter(
            self.roots, conversation, Metadata.new(self._now()), is_projected=not local, now=self._now
        )
        return DiskConversation(writer, stream, lock, now=self._now, is_made_here=True)

    def _mint_conversation(self, *, is_locked: bool) -> tuple[ConversationId, Lock | None]:
        """Take the time as id, or the next tenth of a second that nobody has taken."""
        with self._minting:
            return self._mint_alone(is_locked=is_locked)

    def _mint_alone(self, *, is_locked: bool) -> tuple[ConversationId, Lock | None]:
        first = max(deciseconds_of(conversation_id_at(self._now())), self._latest_minted + 1)
        for deciseconds in range(first, first + _BUMPS):
            conversation = conversation_id(deciseconds)
            if self._is_taken(conversation):
                continue
            lock = self._acquire(conversation) if is_locked else None
            if is_locked and lock is None:
                continue
            if lock is not None and self._is_taken(conversation, ignores_lock=True):
                lock.release()
                continue
            self._latest_minted = deciseconds
            return conversation, lock
        raise Refusal("internal", "no free conversation id was found; is the clock right?")

    def _is_taken(self, conversation: ConversationId, *, ignores_lock: bool = False) -> bool:
        if any(root.is_taken(conversation) for root in self.roots.in_reading_order):
            return True
        return not ignores_lock and lock_path(self.roots, conversation).exists()

    def _fork(self, source: ConversationId, keep_turns: int | None, *, persist: bool) -> OpenConversation:
        reading, metadata, stream = self._load_to_read(source)
        conversation, lock = self._mint_conversation(is_locked=persist)
        copy = fork(stream, created_at=created_at(conversation), keep_turns=keep_turns)
        if lock is None:
            return UnsavedConversation(conversation, copy, is_new=True, title=metadata.title)
        writer = ConversationWriter(
            self.roots,
            conversation,
            metadata.forked(self._now()),
            is_projected=reading.presence != "user_local",
            now=self._now,
        )
        return DiskConversation(writer, copy, lock, now=self._now, is_made_here=True)

    def _copy(self, wanted: ConversationId) -> UnsavedConversation:
        _, metadata, stream = self._load_to_read(wanted)
        return UnsavedConversation(wanted, stream, is_new=False, title=metadata.title)

    def _load_to_read(self, wanted: ConversationId) -> tuple[Reading, Metadata, ConversationStream]:
        """Load a conversation wherever it is, live or archived."""
        try:
            return self._load(wanted, is_archived=False)
        except _NotFoundRefusal:
            return self._load(wanted, is_archived=True)

    def _acquire(self, conversation: ConversationId) -> Lock | None:
        path = lock_path(self.roots, conversation)
        try:
            return acquire(path, self._now(), self._session)
        except OSError as error:
            problem = f"The lock {path} cannot be made: {error.strerror or error}"
            text = f"{problem}. Its folder must be writable, and the disk have room."
            raise Refusal("persist_failed", text, origin=str(path)) from error

    def _load(
        self, wanted: ConversationId, *, is_archived: bool
    ) -> tuple[Reading, Metadata, ConversationStream]:
        try:
            reading = read_conversation(self.roots, wanted, is_archived=is_archived)
            if reading is None:
                raise _not_found(wanted)
            metadata = Metadata.parse(reading.metadata)
            stream = load(
                reading.events,
                reading.base_config,
                created_at=created_at(wanted),
                mint=self._mint,
                newer_format=self._newer_format,
            )
        except (UnreadableError, StreamFormatError, MetadataError, OSError) as error:
            text = f"Conversation {wanted} cannot be read: {error}. Nothing was changed."
            raise Refusal("conversation_unreadable", text) from error
        if stream.ambiguous_ids:
            _log.warning("%s: entries shared the ids %s", wanted, ", ".join(sorted(stream.ambiguous_ids)))
        return reading, metadata, stream


class _NotFoundRefusal(Refusal):
    """There is no such conversation in the partition that was looked at."""


def _not_found(wanted: ConversationId) -> Refusal:
    text = f"There is no conversation {wanted} in this workspace. It may have been archived or removed."
    return _NotFoundRefusal("conversation_not_found", text)
