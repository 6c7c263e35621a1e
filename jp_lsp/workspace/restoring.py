"""Takes removed conversations back from the trash.

A removal moves one folder of each root, with a note that says so. Folders that came to the trash for another
reason, such as an older copy, are for a person to look at.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.directory_name import parse_directory_name
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import make_folder, sync_folder
from jp_lsp.workspace.folders import TRASH, Root, age_key
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.placing import place
from jp_lsp.workspace.reading import read_metadata
from jp_lsp.workspace.trash import NOTE_NAME, read_note

REMOVED = "it was removed"
"""The reason in the notes of a removal."""

_ONE_REMOVAL = 60_000_000_000
"""Nanoseconds: folders that went within this time of each other went together."""


@dataclass(frozen=True, slots=True)
class Removed:
    """One folder in a trash. Without a note the date is the folder's own: a crash fell before its note was written."""

    conversation: ConversationId
    root: Root
    folder: Path
    date: Timestamp
    has_note: bool


def removed_conversations(roots: Roots) -> dict[ConversationId, list[Removed]]:
    """Give the folders of the last removal of each conversation, the workspace's first."""
    found: dict[ConversationId, list[Removed]] = {}
    for root in (roots.workspace, *([] if roots.silo is None else [roots.silo])):
        for each in _removed(root):
            found.setdefault(each.conversation, []).append(each)
    return {conversation: _last_removal(folders) for conversation, folders in found.items()}


def title_of(removed: Sequence[Removed]) -> str | None:
    """Give the title that a removed conversation had, if it can be read."""
    known = (metadata for each in removed if (metadata := read_metadata(each.folder)) is not None)
    return next((metadata.title for metadata in known), None)


def take_back(removed: Sequence[Removed], now: Timestamp) -> None:
    """Move the folders back, the workspace's first: after a crash in between the conversation is whole.

    Raises:
        OSError: one could not be moved; it is still in the trash.
    """
    title = title_of(removed)
    for each in removed:
        conversations = each.root.conversations
        make_folder(conversations)
        live = conversations / each.folder.name
        each.folder.rename(live)
        (live / NOTE_NAME).unlink(missing_ok=True)
        sync_folder(conversations)
        sync_folder(each.folder.parent)
        place(each.root, each.conversation, title, now)


def _removed(root: Root) -> list[Removed]:
    trash = root.conversations / TRASH
    try:
        with os.scandir(trash) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found: list[Removed] = []
    for name in sorted(names):
        folder, conversation = trash / name, parse_directory_name(name)
        if conversation is None:
            continue
        if (note := read_note(folder)) is not None:
            if note.reason == REMOVED:
                found.append(Removed(conversation, root, folder, note.date, has_note=True))
        elif not (folder / NOTE_NAME).exists():
            date = Timestamp(folder.stat().st_mtime_ns)
            found.append(Removed(conversation, root, folder, date, has_note=False))
    return found


def _last_removal(folders: Sequence[Removed]) -> list[Removed]:
    """Keep of each root the latest folder, if it went with the latest of all, or does not say when it went.

    Of several that went together, which a merge of branches leaves, the newest was the conversation.
    """
    latest = max((each.date.nanoseconds for each in folders if each.has_note), default=0)
    chosen: dict[str, Removed] = {}
    for each in sorted(
        folders, key=lambda each: (each.has_note, each.date.nanoseconds, age_key(each.folder))
    ):
        if not each.has_note or latest - each.date.nanoseconds <= _ONE_REMOVAL:
            chosen[each.root.name] = each
    return [chosen[each.root.name] for each in folders if chosen.get(each.root.name) is each]
