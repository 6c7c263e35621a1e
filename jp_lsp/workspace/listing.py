"""The list of conversations, from folder names and `metadata.json` alone (conversation format 1.5, 7.8).

No events are read, and no metadata file twice while it stays the same: a list of which nothing changed costs
what the system takes to tell the times of so many files, and hardly more.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from jp_lsp.conversation.ids import ConversationId, deciseconds_of
from jp_lsp.ports.upkeep import ConversationFacts, Presence
from jp_lsp.workspace.atomic import Stamp, glance, read_file, why_absent
from jp_lsp.workspace.folders import METADATA, Root, RootName
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import LARGEST_FILE

_SETTLED = 3_000_000_000
"""Nanoseconds; some disks tell times no better than to two seconds."""

_Seen: TypeAlias = tuple[str, Stamp | None]
"""A folder's name, and what tells whether its metadata are the same; `None` where there are none."""


def find_facts(roots: Roots, conversation: ConversationId) -> ConversationFacts | None:
    """Look one conversation up, first among the live ones; `None` if there is none."""
    for is_archived in (False, True):
        shelves: list[_Shelf] = []
        for root in roots.in_reading_order:
            if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None:
                shelf = _Shelf(root, is_archived=is_archived)
                shelf.put(conversation, folder.name)
                shelves.append(shelf)
        if shelves:
            return _facts(conversation, shelves, is_archived=is_archived)
    return None


@dataclass(slots=True)
class _Known:
    """What was last seen of one partition in each root, and the list that was made of it."""

    seen: Sequence[Mapping[ConversationId, _Seen]] = ()
    facts: Mapping[ConversationId, ConversationFacts] = field(default_factory=lambda: {})
    listed: Sequence[ConversationFacts] = ()
    has_problems: bool = False


class Listing:
    """Lists conversations; keeps what it parsed for as long as the file is the same. Threads may share it."""

    def __init__(self, roots: Roots) -> None:
        self._one_at_a_time = threading.Lock()
        self._known = {False: _Known(), True: _Known()}
        self._shelves = {
            is_archived: tuple(_Shelf(root, is_archived=is_archived) for root in roots.in_reading_order)
            for is_archived in (False, True)
        }

    def facts(self, *, is_archived: bool = False) -> Sequence[ConversationFacts]:
        """Give live or archived conversations by id, oldest first; what did not change is the very same object."""
        shelves, known = self._shelves[is_archived], self._known[is_archived]
        with self._one_at_a_time:
            seen = [shelf.look() for shelf in shelves]
            if seen != known.seen or known.has_problems:
                facts = {
                    conversation: known.facts[conversation]
                    if _is_same(conversation, seen, known)
                    else _facts(conversation, shelves, is_archived=is_archived)
                    for conversation in sorted({each for names in seen for each in names}, key=deciseconds_of)
                }
                listed = list(facts.values())
                has_problems = any(each.problem is not None for each in listed)
                known = self._known[is_archived] = _Known(seen, facts, listed, has_problems)
            return known.listed

    def known_folders(self, conversation: ConversationId, *, is_archived: bool) -> Mapping[RootName, Path]:
        """Give where a conversation was when it was last listed, without a look at the disk."""
        return {
            shelf.root.name: shelf.root.partition(is_archived=is_archived) / name
            for shelf in self._shelves[is_archived]
            if (name := shelf.names.get(conversation)) is not None
        }


def _is_same(
    conversation: ConversationId, seen: Sequence[Mapping[ConversationId, _Seen]], known: _Known
) -> bool:
    """Tell whether what was made of a conversation still holds; one with a problem is read again."""
    before = known.facts.get(conversation)
    return (
        before is not None
        and before.problem is None
        and all(
            now.get(conversation) == then.get(conversation)
            for now, then in zip(seen, known.seen, strict=True)
        )
    )


class _Shelf:
    """The live or the archived conversations of one root, with their parsed metadata by folder name."""

    def __init__(self, root: Root, *, is_archived: bool) -> None:
        self.root = root
        self.names: dict[ConversationId, str] = {}
        self._paths: dict[ConversationId, str] = {}
        self._is_archived = is_archived
        self._partition = str(root.partition(is_archived=is_archived))
        self._scanned: int | None = None
        self._parsed: dict[str, tuple[Stamp, Metadata | str]] = {}

    def put(self, conversation: ConversationId, name: str) -> None:
        """Remember the folder of a conversation.

        Its path is kept as text: it is asked for thousands of times, and `Path` takes its time.
        """
        self.names[conversation] = name
        self._paths[conversation] = f"{self._partition}{os.sep}{name}{os.sep}{METADATA}"

    def look(self) -> Mapping[ConversationId, _Seen]:
        """Look at every conversation there is."""
        self._scan()
        stamps = {conversation: self.stamp(conversation) for conversation in self.names}
        return {conversation: (name, stamps[conversation]) for conversation, name in self.names.items()}

    def _scan(self) -> None:
        """Look which folders there are, and forget those that are gone or renamed.

        The time of the folder around them tells whether that is worth a look; one that was touched just now may
        be touched once more within the same moment.
        """
        at = _time_of(self._partition)
        if at is not None and at == self._scanned:
            return
        self._scanned = at if at is not None and time.time_ns() - at > _SETTLED else None
        self.names, self._paths = {}, {}
        for conversation, name in self.root.conversation_folders(is_archived=self._is_archived).items():
            self.put(conversation, name)
        for name in self._parsed.keys() - set(self.names.values()):
            del self._parsed[name]

    def stamp(self, conversation: ConversationId) -> Stamp | None:
        """Give the stamp of the metadata; a folder that was renamed meanwhile is looked for again."""
        stamp = glance(self._paths[conversation])
        if stamp is None:
            folder = self.root.folder_of(conversation, is_archived=self._is_archived)
            if folder is not None and folder.name != self.names[conversation]:
                self.put(conversation, folder.name)
                stamp = glance(self._paths[conversation])
        return stamp

    def why_absent(self, conversation: ConversationId) -> str:
        """Say why there are no metadata."""
        return why_absent(Path(self._paths[conversation]))

    def metadata(self, conversation: ConversationId, stamp: Stamp) -> Metadata | str:
        """Give what the file says, or what is wrong with it."""
        name = self.names[conversation]
        known = self._parsed.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        if stamp.size > LARGEST_FILE:
            return f"{METADATA} is larger than {LARGEST_FILE >> 20} MiB"
        try:
            data, state = read_file(Path(self._paths[conversation]))
            parsed: Metadata | str = Metadata.parse(data.decode())
        except OSError as error:
            return f"{METADATA}: {error.strerror or error}"
        except UnicodeDecodeError as error:
            return f"{METADATA} is not UTF-8: {error.reason} at byte {error.start}"
        except MetadataError as error:
            return str(error)
        self._parsed[name] = (state.stamp, parsed)
        return parsed


def _time_of(folder: str) -> int | None:
    try:
        return os.lstat(folder).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None


def _facts(
    conversation: ConversationId, shelves: Sequence[_Shelf], *, is_archived: bool
) -> ConversationFacts:
    holders = [shelf for shelf in shelves if conversation in shelf.names]
    stamps = [(stamp, shelf) for shelf in holders if (stamp := shelf.stamp(conversation)) is not None]
    if len(holders) == 2:
        presence: Presence = "projected"
    else:
        presence = "user_local" if holders[0].root.name == "silo" else "external"
    if not stamps:
        problem = f"{METADATA} {holders[0].why_absent(conversation)}"
        return ConversationFacts(conversation, presence, is_archived, problem=problem)
    stamp, newest = max(stamps, key=lambda found: found[0].modified)
    metadata = newest.metadata(conversation, stamp)
    if isinstance(metadata, str):
        return ConversationFacts(conversation, presence, is_archived, problem=metadata)
    return ConversationFacts(
        conversation,
        presence,
        is_archived,
        metadata.title,
        metadata.last_activated_at,
        metadata.pinned_at,
        metadata.archived_at,
        metadata.expires_at,
        metadata.labels,
    )
