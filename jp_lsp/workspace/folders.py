"""The conversation folders of one root (conversation format 1.5, 1.6).

A root is a folder that holds `conversations/`: the workspace's `.jp`, or the user's own folder for the
workspace. Nothing inside the conversations is read here.
"""

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jp_lsp.conversation.directory_name import belongs_to, parse_directory_name
from jp_lsp.conversation.ids import ConversationId, deciseconds_of
from jp_lsp.workspace.atomic import glance
from jp_lsp.workspace.own_writes import OwnWrites

ARCHIVE = ".archive"
TRASH = ".trash"

EVENTS = "events.json"
BASE_CONFIG = "base_config.json"
METADATA = "metadata.json"
MANAGED = (METADATA, BASE_CONFIG, EVENTS)
"""In the order of writing: a crash before the last one leaves an upgraded base with the old events."""

RootName = Literal["silo", "workspace"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Root:
    """One of the two places of conversations, with what we wrote there."""

    name: RootName
    path: Path
    own_writes: OwnWrites = field(default_factory=OwnWrites, compare=False, repr=False)

    @property
    def conversations(self) -> Path:
        """The folder of live conversations."""
        return self.path / "conversations"

    def partition(self, *, is_archived: bool) -> Path:
        """Give the folder of live or of archived conversations."""
        return self.conversations / ARCHIVE if is_archived else self.conversations

    def conversation_folders(self, *, is_archived: bool = False) -> dict[ConversationId, str]:
        """Give for each conversation the name of its folder; of several, that of the newest, as in `folder_of`.

        The folder is read twice: while another process renames a conversation, a single look may miss it.
        """
        partition = self.partition(is_archived=is_archived)
        found: dict[ConversationId, str] = {}
        for name in sorted({*_folder_names(partition), *_folder_names(partition)}):
            if (conversation := parse_directory_name(name)) is None:
                continue
            rival = found.setdefault(conversation, name)
            if rival != name:
                found[conversation] = max(rival, name, key=lambda each: age_key(partition / each))
        return found

    def folders_of(self, conversation: ConversationId, *, is_archived: bool = False) -> list[Path]:
        """List the folders of one conversation, the one with the newest stream first."""
        partition = self.partition(is_archived=is_archived)
        paths = (partition / name for name in _names_of(conversation, partition))
        found = [path for path in paths if _is_real_folder(path)]
        return sorted(found, key=age_key, reverse=True)

    def folder_of(self, conversation: ConversationId, *, is_archived: bool = False) -> Path | None:
        """Give the folder of a conversation; of several, which a merge of branches leaves, the newest."""
        found = self.folders_of(conversation, is_archived=is_archived)
        if len(found) > 1:
            _log.warning(
                "%s has several folders for %s: %s; the newest is used",
                self.path,
                conversation,
                ", ".join(folder.name for folder in found),
            )
        return found[0] if found else None

    def is_taken(self, conversation: ConversationId) -> bool:
        """Tell whether an id has a folder here, live, archived or in the trash, or anything else of its name."""
        partitions = (self.conversations, self.conversations / ARCHIVE, self.conversations / TRASH)
        return any(_names_of(conversation, each) for each in partitions)


def _folder_names(partition: Path) -> list[str]:
    """List real folders; links are left out, because what they lead to is not the workspace's."""
    try:
        with os.scandir(partition) as entries:
            return [
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _names_of(conversation: ConversationId, partition: Path) -> list[str]:
    """List what has a name of one conversation; every save asks, so the thousands of others cost little."""
    number = str(deciseconds_of(conversation))
    try:
        names = [name for name in os.listdir(partition) if name.startswith(number)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in names if belongs_to(name, conversation)]


def _is_real_folder(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir()


def age_key(folder: Path) -> tuple[int, str]:
    """Order folders of one conversation by the newer of their two stream files, none being the oldest."""
    stamps = (glance(folder / EVENTS), glance(folder / BASE_CONFIG))
    return max((stamp.modified for stamp in stamps if stamp is not None), default=0), folder.name
