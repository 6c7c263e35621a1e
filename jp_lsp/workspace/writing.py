"""Writes one conversation's files into both roots (conversation format 1.4, 1.7, 8.1).

Before anything is written each file is compared with what this process last read or wrote: what somebody
else changed is never overwritten. `metadata.json` is the exception, where changes of different fields can
be brought together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jp_lsp.conversation.events_text import EventsText
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import MetadataEdit
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import FileState, digest, read_file, stamp_of, write_file
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, MANAGED, METADATA, Root
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.placing import import_external, keep_replaced, place
from jp_lsp.workspace.reading import ManagedFile


class ConflictError(Exception):
    """Somebody else changed or removed the files; nothing was written. The text says what."""


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """What this process changes in the metadata: title and expiry if it sets them, the activation if there is one.

    A title that is only suggested counts as long as the present one is `instead_of`. What the user changes
    meanwhile comes last, and in the newer form where that is wanted.
    """

    activated_at: Timestamp | None = None
    title: str | None = None
    sets_title: bool = False
    is_suggestion: bool = False
    instead_of: str | None = None
    expires_at: Timestamp | None = None
    sets_expiry: bool = False
    edits: tuple[MetadataEdit, ...] = ()
    newer_format: bool = False

    def apply(self, metadata: Metadata) -> Metadata:
        """Give the metadata with the change."""
        if self.sets_title and (not self.is_suggestion or metadata.title == self.instead_of):
            metadata = metadata.with_title(self.title)
        if self.sets_expiry:
            metadata = metadata.with_expiry(self.expires_at)
        if self.activated_at is not None:
            metadata = metadata.with_activation(self.activated_at)
        for edit in self.edits:
            metadata = metadata.edited(edit, newer_format=self.newer_format)
        return metadata


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a save makes durable, taken at the moment it was asked for; its texts are put together by who writes."""

    change: MetadataChange
    base_config: str
    events: EventsText


@dataclass(slots=True)
class ConversationWriter:
    """The files of one locked conversation as this process last saw them.

    `metadata` are those of the last read or write. `is_projected` says whether the workspace gets a copy
    beside the user's own. `loaded` is the digest of the events that were read, until they are first written; a copy
    with others is kept. Only one call at a time may run.
    """

    roots: Roots
    conversation: ConversationId
    metadata: Metadata
    is_projected: bool
    now: Callable[[], Timestamp]
    states: dict[ManagedFile, FileState] = field(default_factory=lambda: {})
    loaded: bytes | None = None

    @property
    def targets(self) -> tuple[Root, ...]:
        """The roots that a save writes; the workspace alone where there is no other.

        The workspace comes first: a crash between the two then leaves a conversation that the next opening
        brings to both. One that stood in the user's folder alone would count as meant to be there alone.
        """
        if self.roots.silo is None:
            return (self.roots.workspace,)
        return (self.roots.workspace, self.roots.silo) if self.is_projected else (self.roots.silo,)

    def write(self, snapshot: Snapshot) -> None:
        """Make a snapshot durable.

        Raises:
            ConflictError: somebody else changed or removed the files.
            OSError: the disk refused; each file is whole, old or new.
        """
        folders = {root: root.folder_of(self.conversation) for root in self.targets}
        self._check_presence(folders)
        for root, folder in folders.items():
            if folder is None:
                self._forget(root)
            else:
                self._check_files(root, folder)
        metadata = snapshot.change.apply(self.metadata)
        contents = {
            METADATA: metadata.text.encode(),
            BASE_CONFIG: snapshot.base_config.encode(),
            EVENTS: snapshot.events.text().encode(),
        }
        digests = {name: digest(data) for name, data in contents.items()}
        for root, folder in folders.items():
            self._keep_replaced(root, folder, contents[EVENTS])
        self.loaded = None
        self._import_external()
        for root in self.targets:
            self._write_root(root, metadata.title, contents, digests)
        self.metadata = metadata

    def _check_presence(self, folders: Mapping[Root, Path | None]) -> None:
        if self.states and not any(folders.values()):
            raise ConflictError("conversation gone: its folder was removed or moved")

    def _forget(self, root: Root) -> None:
        """A folder that vanished from one root only is written again, as a checkout may have removed it."""
        self.states = {key: state for key, state in self.states.items() if key[0] != root.name}

    def _check_files(self, root: Root, folder: Path) -> None:
        """Compare a root's files with what we know of them; metadata that somebody changed are taken over."""
        for name in (BASE_CONFIG, EVENTS):
            if self._differs(root, folder, name):
                raise ConflictError(f"{folder / name} was changed by somebody else")
        if not self._differs(root, folder, METADATA):
            return
        try:
            data, state = read_file(folder / METADATA)
            self.metadata = Metadata.parse(data.decode())
        except (FileNotFoundError, MetadataError, UnicodeDecodeError) as error:
            raise ConflictError(f"{folder / METADATA} was damaged by somebody else: {error}") from error
        self.states[root.name, METADATA] = state

    def _differs(self, root: Root, folder: Path, name: str) -> bool:
        """Tell whether a file is not the one we know; equal bytes with another time are the same file."""
        known = self.states.get((root.name, name))
        stamp = stamp_of(folder / name)
        if known is None or stamp is None:
            return (known is None) != (stamp is None)
        if stamp == known.stamp:
            return False
        _, state = read_file(folder / name)
        if state.digest != known.digest:
            return True
        self.states[root.name, name] = state
        return False

    def _keep_replaced(self, root: Root, folder: Path | None, events: bytes) -> None:
        """Keep the copy that was not the one that was read, unless what is written goes on where it ends."""
        known = self.states.get((root.name, EVENTS))
        if folder is not None and known is not None and self.loaded not in {None, known.digest}:
            keep_replaced(root, folder, events, self.now())

    def _import_external(self) -> None:
        """Copy a conversation that only the workspace has, with whatever else is in its folder."""
        target = import_external(self.roots, self.conversation)
        if self.roots.silo is not None and target is not None:
            for name in MANAGED:
                self._note(self.roots.silo, target, name)

    def _write_root(
        self, root: Root, title: str | None, contents: Mapping[str, bytes], digests: Mapping[str, bytes]
    ) -> None:
        folder = place(root, self.conversation, title, self.now())
        # In a new folder the metadata come last: without them a conversation that a crash left half made is in
        # no list, and is never taken for the one that was used last.
        is_new = stamp_of(folder / METADATA) is None
        for name in sorted(contents, key=lambda name: is_new and name == METADATA):
            data = contents[name]
            known = self.states.get((root.name, name))
            if known is not None and known.digest == digests[name] and stamp_of(folder / name) == known.stamp:
                continue
            try:
                stamp = write_file(folder / name, data)
            except OSError:
                self._note(root, folder, name, data)  # the failure may have come behind the rename
                raise
            self.states[root.name, name] = FileState(stamp, digests[name])
            root.own_writes.note(self.conversation, name, stamp)

    def _note(self, root: Root, folder: Path, name: str, expected: bytes | None = None) -> None:
        """Remember a file that we wrote, unless something else stands there."""
        if stamp_of(folder / name) is None:
            return
        data, state = read_file(folder / name)
        if expected is None or data == expected:
            self.states[root.name, name] = state
            root.own_writes.note(self.conversation, name, state.stamp)


def write_copy(folder: Path, metadata: Metadata, snapshot: Snapshot) -> None:
    """Write a snapshot where it can do no harm: a whole conversation folder, to be moved back by a person.

    Raises:
        OSError: that was not possible either.
    """
    write_file(folder / METADATA, snapshot.change.apply(metadata).text.encode())
    write_file(folder / BASE_CONFIG, snapshot.base_config.encode())
    write_file(folder / EVENTS, snapshot.events.text().encode())
