"""One conversation of the disk store while it is open: locked, in memory, saved on demand.

What a save writes is put together at the moment of the call; the writing happens later, in a worker thread,
one save after the other. A save of an unchanged stream touches nothing.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from jp_lsp.conversation.directory_name import directory_name
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.store import StoreError
from jp_lsp.workspace.draft import Drafts
from jp_lsp.workspace.lock import Lock
from jp_lsp.workspace.placing import remove_folder
from jp_lsp.workspace.remembered import Remembered
from jp_lsp.workspace.writing import ConflictError, ConversationWriter, MetadataChange, Snapshot, write_copy

_log = logging.getLogger(__name__)

ACTIVATION_INTERVAL = 5.0
"""Seconds for which a recorded activation is new enough; saves in between leave the metadata alone."""

_OTHER_FILES = "its first query was taken back, but the folder held other files too"


class DiskConversation:
    """An open conversation of the disk store.

    `is_made_here` says that this opening created it, so that `discard` may remove it.
    """

    def __init__(
        self,
        writer: ConversationWriter,
        stream: ConversationStream,
        lock: Lock,
        *,
        now: Callable[[], Timestamp],
        is_made_here: bool,
    ) -> None:
        self.stream = stream
        self._writer = writer
        self._lock = lock
        self._now = now
        self._is_made_here = is_made_here
        self._is_on_disk = not is_made_here
        self._saved_revision = None if is_made_here else stream.revision
        self._activated_at: Timestamp | None = None
        self._pending = MetadataChange()
        self._recovery: Path | None = None
        self._drafts = Drafts(writer.roots)
        self._remembered = Remembered(writer.roots)
        self._one_at_a_time = anyio.Lock()

    @property
    def id(self) -> ConversationId:
        """Its id."""
        return self._writer.conversation

    @property
    def is_new(self) -> bool:
        """Whether it was made by this opening and nothing of it is on disk yet."""
        return not self._is_on_disk

    @property
    def title(self) -> str | None:
        """The title as the next save will write it."""
        return self._pending.apply(self._writer.metadata).title

    @property
    def last_activated_at(self) -> Timestamp:
        """When it was last worked with, as stored."""
        return self._writer.metadata.last_activated_at

    def set_title(self, title: str | None) -> None:
        """Give another title, or none; the next save writes it and renames the folders."""
        self._pending = replace(self._pending, title=title, sets_title=True, is_suggestion=False)

    def suggest_title(self, title: str, instead_of: str | None) -> None:
        """Give a title that the next save writes unless somebody gave another one meanwhile."""
        if self.title == instead_of:
            self._pending = replace(
                self._pending, title=title, sets_title=True, is_suggestion=True, instead_of=instead_of
            )

    def set_expiry(self, at: Timestamp | None) -> None:
        """Give another earliest time of removal, or none; the next save writes it."""
        self._pending = replace(self._pending, expires_at=at, sets_expiry=True)

    def edit(self, edit: MetadataEdit) -> None:
        """Change something else; the next save applies it to the metadata as they are then."""
        edits = (*self._pending.edits, edit)
        self._pending = replace(self._pending, edits=edits, newer_format=self.stream.newer_format)

    async def save(self) -> None:
        """Make the stream, as it is at the moment of the call, durable.

        Raises:
            StoreError: the disk refused; or the files were changed or removed by somebody else, and then a
                recovery copy was written, which the text names.
        """
        snapshot = self._snapshot()
        async with self._one_at_a_time:
            await to_thread.run_sync(self._write, snapshot)
            self._is_on_disk = True
            if self._pending is snapshot.change:
                self._pending = MetadataChange()

    async def save_recovery_copy(self) -> str:
        """Write the stream beside the workspace, in the user's own data, and give the copy's URI.

        Raises:
            StoreError: that was not possible either.
        """
        snapshot = self._snapshot()
        async with self._one_at_a_time:
            return (await to_thread.run_sync(self._write_recovery_copy, snapshot)).as_uri()

    async def discard(self) -> None:
        """Remove a conversation that was made by this opening; its draft is kept."""
        if not self._is_made_here:
            return
        async with self._one_at_a_time:
            await self._in_thread(self._remove)
            self._is_on_disk = False
            self._saved_revision = None
            self._activated_at = None

    async def remembered(self) -> JsonObject:
        """Give what the user decided about tools for this conversation."""
        return await to_thread.run_sync(self._remembered.read, self.id)

    async def keep_remembered(self, decisions: JsonObject) -> None:
        """Keep it; a failure is logged and changes nothing else."""
        async with self._one_at_a_time:
            try:
                await to_thread.run_sync(self._remembered.write, self.id, decisions)
            except OSError as error:
                _log.warning("what is remembered of %s was not stored: %s", self.id, error)

    async def draft(self) -> str | None:
        """Give the text that was kept, if there is one and it can be read."""
        async with self._one_at_a_time:
            try:
                return await to_thread.run_sync(self._drafts.read, self.id)
            except OSError as error:
                _log.warning("the draft of %s could not be read: %s", self.id, error)
                return None

    async def keep_draft(self, text: str) -> None:
        """Keep a text that was not sent."""
        async with self._one_at_a_time:
            await self._in_thread(partial(self._drafts.add, self.id, text))

    async def clear_draft(self) -> None:
        """Forget the draft."""
        async with self._one_at_a_time:
            await self._in_thread(partial(self._drafts.remove, self.id))

    async def release(self) -> None:
        """Give the lock back, once what is being written is written."""
        with anyio.CancelScope(shield=True):
            async with self._one_at_a_time:
                await to_thread.run_sync(self._lock.release)

    def _snapshot(self) -> Snapshot:
        if self.stream.revision != self._saved_revision:
            self._saved_revision = self.stream.revision
            now = self._now()
            if self._activated_at is None or _seconds_between(self._activated_at, now) >= ACTIVATION_INTERVAL:
                self._activated_at = now
                self._pending = replace(self._pending, activated_at=now)
        return Snapshot(self._pending, self.stream.base_config_text(), self.stream.events_now())

    def _write(self, snapshot: Snapshot) -> None:
        try:
            self._writer.write(snapshot)
        except ConflictError as error:
            copy = self._write_recovery_copy(snapshot)
            raise StoreError(f"{error}; nothing was overwritten, and your copy is in {copy}") from error
        except OSError as error:
            if self.is_new:
                self._take_back()
            raise _refused(self.id, error) from error

    def _take_back(self) -> None:
        """Leave nothing of a first save that failed: half a conversation would be in every list as a damaged one."""
        try:
            self._remove()
        except OSError as error:
            _log.warning("half of %s stays behind: %s", self.id, error)

    def _write_recovery_copy(self, snapshot: Snapshot) -> Path:
        metadata = self._writer.metadata
        if self._recovery is None:
            self._recovery = _free_folder(
                self._writer.roots.private / "recovery", directory_name(self.id, metadata.title)
            )
        try:
            write_copy(self._recovery, metadata, snapshot)
        except OSError as error:
            raise StoreError(f"no recovery copy could be written to {self._recovery}: {error}") from error
        return self._recovery

    def _remove(self) -> None:
        for root in self._writer.targets:
            for folder in root.folders_of(self.id):
                self._drafts.rescue(self.id, folder)
                remove_folder(root, folder, _OTHER_FILES, self._now())
        self._writer.states.clear()

    async def _in_thread(self, work: Callable[[], None]) -> None:
        try:
            await to_thread.run_sync(work)
        except OSError as error:
            raise _refused(self.id, error) from error


def _refused(conversation: ConversationId, error: OSError) -> StoreError:
    where = f" ({error.filename})" if error.filename else ""
    return StoreError(f"{conversation} could not be written{where}: {error.strerror or error}")


def _seconds_between(earlier: Timestamp, later: Timestamp) -> float:
    """Give the time between two moments, however the clock was set in between."""
    return abs(later.nanoseconds - earlier.nanoseconds) / 1e9


def _free_folder(parent: Path, name: str) -> Path:
    """Give a path that nothing is at yet: the name, or the name with a number."""
    folder, number = parent / name, 0
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder
