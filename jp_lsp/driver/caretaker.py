"""What a client does to whole conversations beside asking in them (conversation format 7).

Metadata can be changed in the middle of a query, between two of its saves; whatever moves the conversation has to
wait for its end. What is in a conversation is changed elsewhere (`amending`).
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import anyio

from jp_lsp.conversation.ids import ConversationId, created_at
from jp_lsp.conversation.metadata_edit import (
    Activate,
    ChangeLabels,
    MetadataEdit,
    SetExpiry,
    SetPin,
    SetTitle,
)
from jp_lsp.conversation.retain import keep_between, keep_ends
from jp_lsp.conversation.sanitize import sanitize
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.compacting import CompactionWanted, add_compactions
from jp_lsp.driver.desk import Desk
from jp_lsp.driver.fork import open_fork
from jp_lsp.driver.labelling import label_unasked
from jp_lsp.driver.patience import IN_USE
from jp_lsp.driver.running_edit import edit_running
from jp_lsp.ports.news import Change, ConversationChange
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.turn.query import Fork

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NewConversation:
    """What a conversation begins with; `is_local` is for the settings to say when it is `None`."""

    overrides: tuple[str, ...] = ()
    title: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: {})
    expires_after: float | None = None
    is_local: bool | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """What is copied: what was said within a time, and of that the first and the last turns; and how the copy differs.

    With `is_compacted` the rules of its settings are applied to the copy.
    """

    source: ConversationId | Literal["last"]
    first_turns: int | None = None
    last_turns: int | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    title: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: {})
    is_selected: bool = False
    is_compacted: bool = False


class Caretaker:
    """Changes conversations for one client, and tells it of each change.

    Args:
        desk: what it takes.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def create(self, wanted: NewConversation) -> ConversationFacts:
        """Make an empty conversation; queries that name none go to it from now on.

        Raises:
            Refusal: the settings are not valid, or it could not be stored.
        """
        around = self._desk.around()
        settings = around.settings.resolve(wanted.overrides, None)
        is_local = settings.start_local if wanted.is_local is None else wanted.is_local
        conversation = await around.store.create(settings.partial, local=is_local, persist=True)
        edits = _first_edits(wanted.title, wanted.labels)
        if wanted.expires_after is not None:
            edits.append(SetExpiry(_later(created_at(conversation.id), wanted.expires_after)))
        label = partial(label_unasked, conversation, settings, around, is_fork=False)
        return await self._store(conversation, label, edits, is_selected=True)

    async def copy(self, wanted: Copy) -> ConversationFacts:
        """Copy a conversation, which may be archived or in use.

        Raises:
            Refusal: there is no such conversation, or the copy could not be stored.
        """
        if wanted.source != "last":
            await self._desk.upkeep().facts(wanted.source)
        conversation = await open_fork(Fork(wanted.source), self._desk.around().store, is_stored=True)
        if (wanted.since, wanted.until) != (None, None):
            keep_between(conversation.stream, wanted.since, wanted.until)
            sanitize(conversation.stream)
        if (wanted.first_turns, wanted.last_turns) != (None, None):
            keep_ends(conversation.stream, wanted.first_turns or 0, wanted.last_turns or 0)
            sanitize(conversation.stream)
        edits = _first_edits(wanted.title, wanted.labels)

        async def finish() -> None:
            if wanted.is_compacted:
                await add_compactions(conversation.stream, CompactionWanted(), self._desk.around())
            await self._label_copy(conversation)

        return await self._store(conversation, finish, edits, is_selected=wanted.is_selected)

    async def select(self, conversation: ConversationId) -> ConversationFacts:
        """Let queries that name no conversation go to this one, and note that it is used now.

        Who holds it notes that by itself, so nothing is waited for (conversation format 1.9).

        Raises:
            Refusal: there is no such live conversation.
        """
        facts = await self._desk.upkeep().facts(conversation)
        if facts.is_archived:
            text = f"Conversation {conversation} is archived; unarchive it first."
            raise Refusal("conversation_not_found", text)
        self._desk.host.select(conversation)
        try:
            async with self._desk.host.claim(conversation):
                facts = await self._desk.upkeep().edit(conversation, [Activate(self._now())])
        except Refusal as refusal:
            if refusal.error.code not in IN_USE:
                raise
            _log.debug("it is not noted that %s is used: %s", conversation, refusal)
            return facts
        return self._told(facts, "updated")

    async def set_title(self, conversation: ConversationId, title: str | None) -> ConversationFacts:
        """Give another title, or none.

        Raises:
            Refusal: as in `edit`.
        """
        return await self.edit(conversation, SetTitle(title))

    async def set_pin(self, conversation: ConversationId, is_pinned: bool | None) -> ConversationFacts:
        """Pin or unpin; with `None` whichever it is not.

        Raises:
            Refusal: as in `edit`.
        """
        return await self.edit(conversation, SetPin(self._now(), is_pinned))

    async def set_expiry(self, conversation: ConversationId, seconds: float | None) -> ConversationFacts:
        """Let the conversation go after some time from now, or never.

        Raises:
            Refusal: as in `edit`.
        """
        at = None if seconds is None else _later(self._now(), seconds)
        return await self.edit(conversation, SetExpiry(at))

    async def edit(self, conversation: ConversationId, edit: MetadataEdit) -> ConversationFacts:
        """Change the metadata of a live conversation, also while a query runs in it.

        Raises:
            Refusal: there is no such conversation, somebody has it, or the disk refused.
        """

        async def attempt() -> ConversationFacts:
            runner = self._desk.host.holder(conversation)
            if runner is not None and await edit_running(runner, edit):
                return await self._desk.upkeep().facts(conversation)
            async with self._desk.host.claim(conversation):
                return await self._desk.upkeep().edit(conversation, [edit])

        return self._told(await self._desk.patience.insist(attempt), "updated")

    async def archive(self, conversation: ConversationId) -> ConversationFacts:
        """Take a conversation out of the lists.

        Raises:
            Refusal: there is no such conversation, somebody has it, or the disk refused.
        """
        facts = await self._desk.patience.alone(
            conversation, lambda: self._desk.upkeep().archive(conversation)
        )
        self._desk.host.background.cancel(conversation)
        return self._told(facts, "archived")

    async def unarchive(self, conversation: ConversationId) -> ConversationFacts:
        """Put a conversation back into the lists.

        Raises:
            Refusal: it is not in the archive, somebody has it, or the disk refused.
        """
        facts = await self._desk.patience.alone(
            conversation, lambda: self._desk.upkeep().unarchive(conversation)
        )
        return self._told(facts, "unarchived")

    async def remove(self, conversation: ConversationId) -> Sequence[str]:
        """Move a conversation to the trash, and give the URIs of its folders there.

        Raises:
            Refusal: there is no such conversation, somebody has it, or the disk refused.
        """
        folders = await self._desk.patience.alone(
            conversation, lambda: self._desk.upkeep().remove(conversation)
        )
        self._desk.host.background.cancel(conversation)
        self._desk.news.conversation_changed(ConversationChange(conversation, "removed"))
        return folders

    async def move(self, conversation: ConversationId, *, is_local: bool) -> ConversationFacts:
        """Keep a conversation for the user alone, or also in the workspace.

        Raises:
            Refusal: there is no such conversation, somebody has it, or the disk refused.
        """
        relocate = partial(self._desk.upkeep().relocate, conversation, is_local=is_local)
        return self._told(await self._desk.patience.alone(conversation, relocate), "updated")

    async def restore(self, conversation: ConversationId) -> ConversationFacts:
        """Take a removed conversation back from the trash.

        Raises:
            Refusal: it is not in the trash, or there is one of that id; somebody has it, or the disk refused.
        """
        facts = await self._desk.patience.alone(
            conversation, lambda: self._desk.upkeep().restore(conversation)
        )
        return self._told(facts, "created")

    async def _label_copy(self, conversation: OpenConversation) -> None:
        """Settings that are not valid are no reason to make no copy."""
        around = self._desk.around()
        try:
            settings = around.settings.resolve((), conversation.stream)
        except Refusal as refusal:
            _log.info("no labels were given: %s", refusal)
            return
        await label_unasked(conversation, settings, around, is_fork=True)

    async def _store(
        self,
        conversation: OpenConversation,
        label: Callable[[], Awaitable[None]],
        edits: Sequence[MetadataEdit],
        *,
        is_selected: bool,
    ) -> ConversationFacts:
        """Store a conversation that was just made, with its labels."""
        try:
            await label()
            for edit in edits:
                conversation.edit(edit)
            await conversation.save()
        except StoreError as error:
            raise Refusal("persist_failed", f"The conversation could not be stored: {error}") from error
        finally:
            with anyio.CancelScope(shield=True):
                await conversation.release()
        if is_selected:
            self._desk.host.select(conversation.id)
        return self._told(await self._desk.upkeep().facts(conversation.id), "created")

    def _told(self, facts: ConversationFacts, change: Change) -> ConversationFacts:
        self._desk.news.conversation_changed(ConversationChange.of(facts, change))
        return facts

    def _now(self) -> Timestamp:
        return Timestamp(self._desk.clock.now().nanoseconds)


def _first_edits(title: str | None, labels: Mapping[str, str]) -> list[MetadataEdit]:
    edits: list[MetadataEdit] = []
    if title is not None:
        edits.append(SetTitle(title))
    if labels:
        edits.append(ChangeLabels(labels))
    return edits


def _later(begin: Timestamp, seconds: float) -> Timestamp:
    return Timestamp(begin.nanoseconds + round(seconds * 1e9))
