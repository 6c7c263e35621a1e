"""The list of conversations, from folder names and `metadata.json` alone (conversation format 1.5, 7.8).

No events are read, and no metadata file twice while it stays the same, so thousands of conversations are
listed in an instant.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from jp_lsp.conversation.ids import ConversationId, deciseconds_of
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.upkeep import Presence
from jp_lsp.workspace.atomic import Stamp, read_file, stamp_of
from jp_lsp.workspace.folders import METADATA, Root, RootName
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots

_SETTLED = 3_000_000_000
"""Nanoseconds; some disks tell times no better than to two seconds."""

_Seen: TypeAlias = tuple[str, Stamp | None] | None


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """One line of the list; `problem` says why there is no metadata, and then the rest is unknown."""

    id: ConversationId
    presence: Presence
    is_archived: bool
    metadata: Metadata | None
    problem: str | None = None

    @property
    def title(self) -> str | None:
        """The title, if there is one and it could be read."""
        return None if self.metadata is None else self.metadata.title

    @property
    def last_activated_at(self) -> Timestamp | None:
        """When it was last worked with, if that could be read."""
        return None if self.metadata is None else self.metadata.last_activated_at


def find_summary(roots: Roots, conversation: ConversationId) -> ConversationSummary | None:
    """Look one conversation up, first among the live ones; `None` if there is none."""
    for is_archived in (False, True):
        shelves: list[_Shelf] = []
        for root in roots.in_reading_order:
            if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None:
                shelf = _Shelf(root, is_archived=is_archived)
                shelf.names = {conversation: folder.name}
                shelves.append(shelf)
        if shelves:
            return _summary(conversation, shelves, is_archived=is_archived)
    return None


class Listing:
    """Lists conversations; keeps what it parsed for as long as the file is the same. Threads may share it."""

    def __init__(self, roots: Roots) -> None:
        self._one_at_a_time = threading.Lock()
        self._known: dict[bool, dict[ConversationId, tuple[list[_Seen], ConversationSummary]]] = {
            False: {},
            True: {},
        }
        self._shelves = {
            is_archived: tuple(_Shelf(root, is_archived=is_archived) for root in roots.in_reading_order)
            for is_archived in (False, True)
        }

    def summaries(self, *, is_archived: bool = False) -> list[ConversationSummary]:
        """Give live or archived conversations by id, oldest first."""
        shelves = self._shelves[is_archived]
        with self._one_at_a_time:
            for shelf in shelves:
                shelf.scan()
            ids = {conversation for shelf in shelves for conversation in shelf.names}
            known, self._known[is_archived] = self._known[is_archived], {}
            now = self._known[is_archived]
            for conversation in sorted(ids, key=deciseconds_of):
                seen = [shelf.seen(conversation) for shelf in shelves]
                before = known.get(conversation)
                if before is None or before[0] != seen or before[1].problem is not None:
                    before = seen, _summary(conversation, shelves, is_archived=is_archived)
                now[conversation] = before
            return [summary for _, summary in now.values()]

    def known_folders(self, conversation: ConversationId, *, is_archived: bool) -> Mapping[RootName, Path]:
        """Give where a conversation was when it was last listed, without a look at the disk."""
        return {
            shelf.root.name: shelf.root.partition(is_archived=is_archived) / name
            for shelf in self._shelves[is_archived]
            if (name := shelf.names.get(conversation)) is not None
        }


class _Shelf:
    """The live or the archived conversations of one root, with their parsed metadata by folder name."""

    def __init__(self, root: Root, *, is_archived: bool) -> None:
        self.root = root
        self.names: dict[ConversationId, str] = {}
        self._is_archived = is_archived
        self._prefix = str(root.partition(is_archived=is_archived))
        self._scanned: int | None = None
        self._parsed: dict[str, tuple[Stamp, Metadata | str]] = {}

    def scan(self) -> None:
        """Look which folders there are, and forget those that are gone or renamed.

        The time of the folder around them tells whether that is worth a look; one that was touched just now may
        be touched once more within the same moment.
        """
        at = _time_of(self._prefix)
        if at is not None and at == self._scanned:
            return
        self._scanned = at if at is not None and time.time_ns() - at > _SETTLED else None
        self.names = self.root.conversation_folders(is_archived=self._is_archived)
        for name in self._parsed.keys() - set(self.names.values()):
            del self._parsed[name]

    def seen(self, conversation: ConversationId) -> _Seen:
        """Give the folder's name and what tells whether its metadata are the same; `None` without a folder."""
        if conversation not in self.names:
            return None
        stamp = self.stamp(conversation)
        return self.names[conversation], stamp

    def stamp(self, conversation: ConversationId) -> Stamp | None:
        """Give the stamp of the metadata; a folder that was renamed meanwhile is looked for again."""
        stamp = stamp_of(self._path(self.names[conversation]))
        if stamp is None:
            folder = self.root.folder_of(conversation, is_archived=self._is_archived)
            if folder is not None and folder.name != self.names[conversation]:
                self.names[conversation] = folder.name
                stamp = stamp_of(self._path(folder.name))
        return stamp

    def metadata(self, conversation: ConversationId, stamp: Stamp) -> Metadata | str:
        """Give what the file says, or what is wrong with it."""
        name = self.names[conversation]
        known = self._parsed.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            data, state = read_file(Path(self._path(name)))
            parsed: Metadata | str = Metadata.parse(data.decode())
        except (OSError, UnicodeDecodeError, MetadataError) as error:
            return str(error)
        self._parsed[name] = (state.stamp, parsed)
        return parsed

    def _path(self, name: str) -> str:
        """Give a path as text: it is asked for thousands of times, and `Path` takes its time."""
        return f"{self._prefix}{os.sep}{name}{os.sep}{METADATA}"


def _time_of(folder: str) -> int | None:
    try:
        return os.lstat(folder).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


def _summary(
    conversation: ConversationId, shelves: Sequence[_Shelf], *, is_archived: bool
) -> ConversationSummary:
    holders = [shelf for shelf in shelves if conversation in shelf.names]
    stamps = [(stamp, shelf) for shelf in holders if (stamp := shelf.stamp(conversation)) is not None]
    if len(holders) == 2:
        presence: Presence = "projected"
    else:
        presence = "user_local" if holders[0].root.name == "silo" else "external"
    if not stamps:
        return ConversationSummary(conversation, presence, is_archived, None, "metadata.json is missing")
    stamp, newest = max(stamps, key=lambda found: found[0].modified)
    metadata = newest.metadata(conversation, stamp)
    if isinstance(metadata, str):
        return ConversationSummary(conversation, presence, is_archived, None, metadata)
    return ConversationSummary(conversation, presence, is_archived, metadata)
