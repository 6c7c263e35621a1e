"""Reads one conversation's files, from the right root and all of one moment (conversation format 1.4).

The two stream files come from the root where the newer of them is newer; `metadata.json` is decided by
itself. Readers take no lock, so a writer may rename the folder or replace a file meanwhile: then the read
begins anew, and only a conversation that is not there twice is missing.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stored import StreamFormatError
from jp_lsp.ports.upkeep import Presence
from jp_lsp.workspace.atomic import (
    FileState,
    Stamp,
    read_file,
    read_own_text,
    read_state,
    stamp_of,
    why_absent,
)
from jp_lsp.workspace.elements import elements_of
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, MANAGED, METADATA, RootName
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots

ManagedFile: TypeAlias = tuple[RootName, str]
"""A root and a file name: folders change their names, so a path would not do."""

LARGEST_FILE = 1 << 29
"""Bytes; a larger file is not read, so that nobody fills our memory with one."""

_ATTEMPTS = 50

_log = logging.getLogger(__name__)


class UnreadableError(Exception):
    """A conversation is there but its files cannot be used; the text says which and why."""


class _MovedError(Exception):
    """Somebody wrote meanwhile."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts of a conversation, and the state of every managed file in both roots as it was seen."""

    metadata: str
    base_config: str | None
    events: str
    presence: Presence
    states: Mapping[ManagedFile, FileState]


def read_conversation(
    roots: Roots, conversation: ConversationId, *, is_archived: bool = False
) -> Reading | None:
    """Read a conversation's files; `None` if there is no folder of it.

    Raises:
        UnreadableError: a file is missing or is not UTF-8.
        OSError: a file cannot be read.
    """
    times_missing = 0
    for _ in range(_ATTEMPTS):
        folders: dict[RootName, Path] = {
            root.name: folder
            for root in roots.in_reading_order
            if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None
        }
        if not folders:
            times_missing += 1
            if times_missing == 2:
                return None
            continue
        try:
            return _read_once(folders)
        except _MovedError:
            continue
    raise UnreadableError("its files change all the time; try again when the other program is done")


def presence_of(roots: Roots, conversation: ConversationId) -> Presence | None:
    """Tell where a live conversation is; `None` if nowhere.

    Nowhere is what two looks found: a single one may miss a folder that is just being renamed.
    """
    for _ in range(2):
        found = {root.name for root in roots.in_reading_order if root.folder_of(conversation) is not None}
        presence = _presence(in_silo="silo" in found, in_workspace="workspace" in found)
        if presence is not None:
            return presence
    return None


def read_metadata(folder: Path) -> Metadata | None:
    """Give the metadata that a folder has; `None` where there are none that can be read."""
    try:
        text = read_own_text(folder / METADATA, LARGEST_FILE)
        return None if text is None else Metadata.parse(text)
    except (OSError, UnicodeDecodeError, MetadataError):
        return None


def newest_stream(folders: Mapping[RootName, Path]) -> Path | None:
    """Choose the folder whose stream counts (conversation format 1.4); `None` where none has events."""
    stamps = _stamps(folders)
    having_events = _having_events(folders, stamps)
    return folders[_newest(having_events, stamps, (EVENTS, BASE_CONFIG))] if having_events else None


def _presence(*, in_silo: bool, in_workspace: bool) -> Presence | None:
    if in_silo:
        return "projected" if in_workspace else "user_local"
    return "external" if in_workspace else None


def _read_once(folders: Mapping[RootName, Path]) -> Reading:
    before = _stamps(folders)
    for (root, name), stamp in before.items():
        if stamp.size > LARGEST_FILE:
            raise UnreadableError(f"{name} in {folders[root]} is larger than {LARGEST_FILE >> 20} MiB")
    having_events = _having_events(folders, before)
    stream_root = _newest(having_events or folders, before, (EVENTS, BASE_CONFIG))
    metadata_root = _newest(folders, before, (METADATA,))
    contents: dict[ManagedFile, bytes] = {}
    states: dict[ManagedFile, FileState] = {}
    for (root, name), stamp in before.items():
        try:
            if root == (metadata_root if name == METADATA else stream_root):
                contents[root, name], states[root, name] = read_file(folders[root] / name)
            else:
                states[root, name] = read_state(folders[root] / name)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _MovedError from error
        if states[root, name].stamp != stamp:
            raise _MovedError
    # A stream without a base is of the oldest form, whose first entry is taken for it; a link is not the same.
    has_base = os.path.lexists(folders[stream_root] / BASE_CONFIG)
    if _stamps(folders) != before or not all(folder.is_dir() for folder in folders.values()):
        raise _MovedError
    _warn_of_shorter_winner(stream_root, folders, before)
    presence = _presence(in_silo="silo" in folders, in_workspace="workspace" in folders)
    base_config = contents.get((stream_root, BASE_CONFIG))
    return Reading(
        metadata=_text(folders[metadata_root], METADATA, contents.get((metadata_root, METADATA))),
        base_config=_text(folders[stream_root], BASE_CONFIG, base_config) if has_base else None,
        events=_text(folders[stream_root], EVENTS, contents.get((stream_root, EVENTS))),
        presence=cast(Presence, presence),
        states=states,
    )


def _stamps(folders: Mapping[RootName, Path]) -> dict[ManagedFile, Stamp]:
    return {
        (root, name): stamp
        for root, folder in folders.items()
        for name in MANAGED
        if (stamp := stamp_of(folder / name)) is not None
    }


def _having_events(
    folders: Mapping[RootName, Path], stamps: Mapping[ManagedFile, Stamp]
) -> Mapping[RootName, Path]:
    """Leave out a copy without events, which has nothing to offer: a crash fell between the files of its first save."""
    return {root: folder for root, folder in folders.items() if (root, EVENTS) in stamps}


def _newest(
    folders: Mapping[RootName, Path], stamps: Mapping[ManagedFile, Stamp], names: tuple[str, ...]
) -> RootName:
    """Give the root whose newest of these files is newer; a missing file is as old as can be."""

    def modified(root: RootName) -> int:
        return max(stamps[root, name].modified if (root, name) in stamps else 0 for name in names)

    return max(folders, key=modified)


def _text(folder: Path, name: str, data: bytes | None) -> str:
    if data is None:
        raise UnreadableError(f"{name} {why_absent(folder / name)} in {folder}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"{name} in {folder} is not UTF-8: {error.reason} at byte {error.start}"
        ) from error


def _warn_of_shorter_winner(
    winner: RootName, folders: Mapping[RootName, Path], stamps: Mapping[ManagedFile, Stamp]
) -> None:
    """A checkout makes an old copy the newer one (trap 53): it is read all the same, but not in silence."""
    sizes: dict[RootName, int] = {
        root: stamp.size for (root, name), stamp in stamps.items() if name == EVENTS
    }
    for root, size in sizes.items():
        is_larger = root != winner and size > sizes.get(winner, 0)
        if is_larger and _entry_count(folders[root]) > _entry_count(folders[winner]):
            _log.warning(
                "%s has fewer entries than the older copy in %s; the newer file is used",
                folders[winner],
                folders[root],
            )


def _entry_count(folder: Path) -> int:
    try:
        return sum(1 for _ in elements_of(folder / EVENTS))
    except (StreamFormatError, UnicodeDecodeError, OSError):
        return 0
