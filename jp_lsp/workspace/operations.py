"""What is done to whole conversations on disk: `ports.upkeep` (conversation format 7.5 to 7.9).

Each operation holds the conversation's lock while it works. It is a row of steps, each of which leaves
something that loads: metadata are replaced in one step, folders are renamed, and where there are two roots the
order of the steps is such that a crash in between leaves the conversation in the list that it was in.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from anyio import to_thread

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import MetadataEdit, SetArchived
from jp_lsp.conversation.search import SearchQuery
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts, Found, HeldElsewhere, Mark, Trashed
from jp_lsp.workspace.atomic import (
    make_folder,
    read_own_text,
    stamp_of,
    sync_folder,
    why_absent,
    write_file,
)
from jp_lsp.workspace.draft import Drafts
from jp_lsp.workspace.folders import METADATA, Root, RootName
from jp_lsp.workspace.listing import Listing, find_facts
from jp_lsp.workspace.lock import acquire, describe_holder, held_conversations, lock_path
from jp_lsp.workspace.looking import look
from jp_lsp.workspace.marking import is_own, marks_of
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.placing import finish_move, import_external, place
from jp_lsp.workspace.reading import LARGEST_FILE, UnreadableError
from jp_lsp.workspace.relocation import to_user, to_workspace
from jp_lsp.workspace.restoring import REMOVED, Removed, removed_conversations, take_back, title_of
from jp_lsp.workspace.searching import search_beside
from jp_lsp.workspace.trash import move_all_to_trash, move_to_trash

_OLDER_COPY = "a newer copy of the conversation took its place"


class DiskOperations:
    """The shelf of one workspace on disk.

    Args:
        roots: where conversations are.
        listing: lists them; may be the store's.
        now: gives the wall time.
        session: what the lock files call us, if anything.
        newer_format: whether labels are written in the newer form (`storage.newer_format`).
    """

    def __init__(
        self,
        roots: Roots,
        listing: Listing,
        *,
        now: Callable[[], Timestamp],
        session: str | None = None,
        newer_format: bool = False,
    ) -> None:
        self._roots = roots
        self._listing = listing
        self._now = now
        self._session = session
        self._newer_format = newer_format

    async def list(self, *, is_archived: bool) -> Sequence[ConversationFacts]:
        """List live or archived conversations by id."""
        return await look(partial(self._listing.facts, is_archived=is_archived))

    async def marks(self) -> Mapping[ConversationId, Mark]:
        """Mark every conversation, from names and times alone."""
        return await look(partial(marks_of, self._roots))

    def is_own(self, conversation: ConversationId, before: Mark | None, after: Mark) -> bool:
        """Tell whether all that differs in a conversation's files was written by us."""
        return is_own(self._roots, conversation, before, after)

    def places(self) -> Sequence[str]:
        """Give the paths of the folders that hold a folder `conversations`."""
        return [str(root.path) for root in self._roots.in_reading_order]

    async def held(self) -> Collection[ConversationId]:
        """Give the conversations that somebody holds."""
        return await look(partial(held_conversations, self._roots))

    async def facts(self, conversation: ConversationId) -> ConversationFacts:
        """Look one conversation up, live or archived.

        Raises:
            Refusal: there is none.
        """
        return await look(partial(self._facts, conversation))

    async def folder(self, conversation: ConversationId) -> str | None:
        """Give the URI of a conversation's folder, the workspace's if there is one."""
        return await look(partial(self._folder, conversation))

    async def draft(self, conversation: ConversationId) -> str | None:
        """Give the text that was left unsent in a conversation."""
        return await look(partial(Drafts(self._roots).read, conversation))

    async def search(self, conversation: ConversationFacts, query: SearchQuery, limit: int) -> Found:
        """Look for hits where the conversation was listed, and where it is now, should it have been renamed."""
        folders = self._listing.known_folders(conversation.id, is_archived=conversation.is_archived)
        found = await search_beside(folders, query, limit)
        if found is None:
            folders = await look(partial(self._folders, conversation))
            found = await search_beside(folders, query, limit)
        return found or Found()

    def _folders(self, conversation: ConversationFacts) -> Mapping[RootName, Path]:
        return {
            root.name: folder
            for root in self._roots.in_reading_order
            if (folder := root.folder_of(conversation.id, is_archived=conversation.is_archived)) is not None
        }

    async def edit(self, conversation: ConversationId, edits: Sequence[MetadataEdit]) -> ConversationFacts:
        """Change a live conversation's metadata, and nothing else of it."""
        return await to_thread.run_sync(self._edit, conversation, edits)

    async def archive(self, conversation: ConversationId) -> ConversationFacts:
        """Move a live conversation to the archive."""
        return await to_thread.run_sync(self._archive, conversation)

    async def unarchive(self, conversation: ConversationId) -> ConversationFacts:
        """Move an archived conversation back."""
        return await to_thread.run_sync(self._unarchive, conversation)

    async def remove(self, conversation: ConversationId) -> Sequence[str]:
        """Move a live conversation to the trash, and give the URIs of its folders there."""
        return await to_thread.run_sync(self._remove, conversation)

    async def trashed(self) -> Sequence[Trashed]:
        """List the conversations that were removed and can be restored, the latest first."""
        return await look(self._trashed)

    async def restore(self, conversation: ConversationId) -> ConversationFacts:
        """Move a removed conversation back to where it was."""
        return await to_thread.run_sync(self._restore, conversation)

    async def relocate(self, conversation: ConversationId, *, is_local: bool) -> ConversationFacts:
        """Keep a live conversation in the user's own folder alone, or also in the workspace."""
        return await to_thread.run_sync(partial(self._relocate, conversation, is_local=is_local))

    def _facts(self, conversation: ConversationId) -> ConversationFacts:
        facts = find_facts(self._roots, conversation)
        if facts is None:
            text = f"There is no conversation {conversation} in this workspace. It may have been removed."
            raise Refusal("conversation_not_found", text)
        return facts

    def _folder(self, conversation: ConversationId) -> str | None:
        for is_archived in (False, True):
            for root in reversed(self._roots.in_reading_order):
                if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None:
                    return folder.as_uri()
        return None

    def _edit(self, conversation: ConversationId, edits: Sequence[MetadataEdit]) -> ConversationFacts:
        with self._locked(conversation):
            self._change(conversation, edits)
        return self._facts(conversation)

    def _archive(self, conversation: ConversationId) -> ConversationFacts:
        """Move the user's copy first: what a crash leaves is then the workspace's, which is still in the list."""
        with self._locked(conversation):
            self._change(conversation, [SetArchived(self._now())])
            try:
                for root in self._roots.in_reading_order:
                    for folder in root.folders_of(conversation):
                        self._trash(root, conversation, _OLDER_COPY, is_archived=True)
                        _move(folder, root.partition(is_archived=True))
            except OSError:
                finish_move(self._roots, conversation)
                raise
        return self._facts(conversation)

    def _unarchive(self, conversation: ConversationId) -> ConversationFacts:
        """Move the workspace's copy first, for the same reason. A copy that is in use stays, the archived one goes."""
        with self._locked(conversation, is_archived=True):
            self._read_metadata(conversation, is_archived=True)
            for root in reversed(self._roots.in_reading_order):
                if root.folder_of(conversation) is None and (found := _archived(root, conversation)):
                    _move(found, root.conversations)
                self._trash(root, conversation, _OLDER_COPY, is_archived=True)
            self._change(conversation, [SetArchived(None)])
        return self._facts(conversation)

    def _remove(self, conversation: ConversationId) -> Sequence[str]:
        with self._locked(conversation):
            roots = self._roots.in_reading_order
            folders = [folder for root in roots for folder in root.folders_of(conversation)]
            return [path.as_uri() for path in move_all_to_trash(folders, REMOVED, self._now())]

    def _trashed(self) -> Sequence[Trashed]:
        found = removed_conversations(self._roots)
        there = [each for each in found if not self._is_anywhere(each)]
        listed = [
            Trashed(each, title_of(found[each]), found[each][0].date, tuple(_uris(found[each])))
            for each in there
        ]
        return sorted(listed, key=lambda each: (each.removed_at, each.id), reverse=True)

    def _restore(self, conversation: ConversationId) -> ConversationFacts:
        """The lock is that of the id, whose conversation is nowhere yet."""
        with self._lock(conversation):
            if self._is_anywhere(conversation):
                text = f"Conversation {conversation} is there already, so none was taken from the trash."
                raise Refusal("invalid_params", text)
            removed = removed_conversations(self._roots).get(conversation)
            if removed is None:
                text = f"There is no conversation {conversation} in the trash of this workspace."
                raise Refusal("conversation_not_found", text)
            for root in self._roots.in_reading_order:
                root.own_writes.forget(conversation)
            take_back(removed, self._now())
        return self._facts(conversation)

    def _is_anywhere(self, conversation: ConversationId) -> bool:
        return any(self._is_there(conversation, is_archived=is_archived) for is_archived in (False, True))

    def _relocate(self, conversation: ConversationId, *, is_local: bool) -> ConversationFacts:
        if self._roots.silo is None:
            text = "There is no folder for conversations of your own here, so they stay in the workspace."
            raise Refusal("persist_failed", text, origin=str(self._roots.workspace.path))
        with self._locked(conversation):
            move = to_user if is_local else to_workspace
            try:
                move(self._roots.workspace, self._roots.silo, conversation, self._now())
            except (UnreadableError, MetadataError) as error:
                raise _unreadable(conversation, error) from error
        return self._facts(conversation)

    def _change(self, conversation: ConversationId, edits: Sequence[MetadataEdit]) -> None:
        """Write the metadata where the conversation is; its other files are not even opened."""
        metadata = self._read_metadata(conversation)
        for edit in edits:
            metadata = metadata.edited(edit, newer_format=self._newer_format)
        import_external(self._roots, conversation)
        for root in reversed(self._roots.in_reading_order):
            if root.folder_of(conversation) is not None:
                folder = place(root, conversation, metadata.title, self._now())
                stamp = write_file(folder / METADATA, metadata.text.encode())
                root.own_writes.note(conversation, METADATA, stamp)

    def _read_metadata(self, conversation: ConversationId, *, is_archived: bool = False) -> Metadata:
        """Read the newer of the two copies (conversation format 1.4)."""
        folders = [
            folder
            for root in self._roots.in_reading_order
            if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None
        ]
        stamps = {folder: stamp for folder in folders if (stamp := stamp_of(folder / METADATA)) is not None}
        if not stamps:
            raise _unreadable(conversation, f"{METADATA} {why_absent(folders[0] / METADATA)}")
        newest = max(stamps, key=lambda folder: stamps[folder].modified)
        try:
            return Metadata.parse(read_own_text(newest / METADATA, LARGEST_FILE) or "")
        except UnicodeDecodeError as error:
            problem = f"{METADATA} is not UTF-8: {error.reason} at byte {error.start}"
            raise _unreadable(conversation, problem) from error
        except MetadataError as error:
            raise _unreadable(conversation, error) from error

    def _trash(
        self, root: Root, conversation: ConversationId, reason: str, *, is_archived: bool = False
    ) -> Sequence[Path]:
        return [
            move_to_trash(folder, reason, self._now(), conversations=root.conversations)
            for folder in root.folders_of(conversation, is_archived=is_archived)
        ]

    @contextmanager
    def _locked(self, conversation: ConversationId, *, is_archived: bool = False) -> Generator[None]:
        """Hold the lock for a block in which the conversation is there.

        Raises:
            Refusal: there is none, or the disk refused something.
            HeldElsewhere: another program has it.
        """
        self._require(conversation, is_archived=is_archived)
        with self._lock(conversation):
            self._require(conversation, is_archived=is_archived)
            if not is_archived:
                finish_move(self._roots, conversation)
            yield

    @contextmanager
    def _lock(self, conversation: ConversationId) -> Generator[None]:
        """Hold the lock for a block, whether the conversation is there or not.

        Raises:
            Refusal: the disk refused something.
            HeldElsewhere: another program has it.
        """
        path = lock_path(self._roots, conversation)
        try:
            lock = acquire(path, self._now(), self._session)
            if lock is None:
                raise HeldElsewhere(conversation, describe_holder(path) or "another program")
            try:
                yield
            finally:
                lock.release()
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            text = f"Conversation {conversation} could not be changed{where}: {error.strerror or error}."
            raise Refusal("persist_failed", text) from error

    def _require(self, conversation: ConversationId, *, is_archived: bool) -> None:
        """Two looks decide, as one may miss a folder that is just being renamed (F29)."""
        for _ in range(2):
            if self._is_there(conversation, is_archived=is_archived):
                return
        if is_archived:
            text = f"There is no conversation {conversation} in the archive of this workspace."
        elif self._is_there(conversation, is_archived=True):
            text = f"Conversation {conversation} is archived; unarchive it first."
        else:
            text = f"There is no conversation {conversation} in this workspace. It may have been removed."
        raise Refusal("conversation_not_found", text)

    def _is_there(self, conversation: ConversationId, *, is_archived: bool) -> bool:
        roots = self._roots.in_reading_order
        return any(root.folders_of(conversation, is_archived=is_archived) for root in roots)


def _uris(removed: Sequence[Removed]) -> Sequence[str]:
    return [each.folder.as_uri() for each in removed]


def _archived(root: Root, conversation: ConversationId) -> Path | None:
    return root.folder_of(conversation, is_archived=True)


def _move(folder: Path, partition: Path) -> None:
    """Move a folder to another partition of its root, durably and in one step."""
    make_folder(partition)
    folder.rename(partition / folder.name)
    sync_folder(partition)
    sync_folder(folder.parent)


def _unreadable(conversation: ConversationId, problem: object) -> Refusal:
    text = f"Conversation {conversation} cannot be read: {problem}. Nothing was changed."
    return Refusal("conversation_unreadable", text)
