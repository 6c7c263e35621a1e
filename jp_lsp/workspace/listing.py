"""The list of conversations, from folder names and `metadata.json` alone (conversation format 1.5, 7.8).

No events are read, and no metadata file twice while it stays the same, so thousands of conversations are
listed in an instant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId, deciseconds_of
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import Stamp, read_file, stamp_of
from jp_lsp.workspace.folders import METADATA, Root
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import Presence


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


class Listing:
    """Lists conversations; keeps what it parsed for as long as the file is the same."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._parsed: dict[Path, tuple[Stamp, Metadata | str]] = {}

    def summaries(self, *, is_archived: bool = False) -> list[ConversationSummary]:
        """Give live or archived conversations by id, oldest first."""
        found = {
            root: root.conversation_folders(is_archived=is_archived) for root in self._roots.in_reading_order
        }
        ids = {conversation for names in found.values() for conversation in names}
        summaries = [
            self._summary(conversation, found, is_archived=is_archived)
            for conversation in sorted(ids, key=deciseconds_of)
        ]
        self._forget_all_but(found, is_archived=is_archived)
        return summaries

    def _summary(
        self,
        conversation: ConversationId,
        found: Mapping[Root, Mapping[ConversationId, str]],
        *,
        is_archived: bool,
    ) -> ConversationSummary:
        paths = {
            root: root.partition(is_archived=is_archived) / names[conversation] / METADATA
            for root, names in found.items()
            if conversation in names
        }
        stamps = {root: stamp for root, path in paths.items() if (stamp := stamp_of(path)) is not None}
        if not stamps:
            # The folder may just have been renamed: look where it is now before it counts as broken.
            paths = self._paths_now(conversation, paths, is_archived=is_archived)
            stamps = {root: stamp for root, path in paths.items() if (stamp := stamp_of(path)) is not None}
        names = {root.name for root in paths}
        presence: Presence = (
            "projected" if len(names) == 2 else ("user_local" if "silo" in names else "external")
        )
        if not stamps:
            return ConversationSummary(conversation, presence, is_archived, None, "metadata.json is missing")
        newest = max(stamps, key=lambda root: stamps[root].modified)
        metadata = self._metadata(paths[newest], stamps[newest])
        if isinstance(metadata, str):
            return ConversationSummary(conversation, presence, is_archived, None, metadata)
        return ConversationSummary(conversation, presence, is_archived, metadata)

    def _paths_now(
        self, conversation: ConversationId, roots: Iterable[Root], *, is_archived: bool
    ) -> dict[Root, Path]:
        return {
            root: folder / METADATA
            for root in roots
            if (folder := root.folder_of(conversation, is_archived=is_archived)) is not None
        }

    def _metadata(self, path: Path, stamp: Stamp) -> Metadata | str:
        """Give what the file says, or what is wrong with it."""
        known = self._parsed.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            data, state = read_file(path)
            parsed: Metadata | str = Metadata.parse(data.decode())
        except (OSError, UnicodeDecodeError, MetadataError) as error:
            return str(error)
        self._parsed[path] = (state.stamp, parsed)
        return parsed

    def _forget_all_but(
        self, found: Mapping[Root, Mapping[ConversationId, str]], *, is_archived: bool
    ) -> None:
        """Drop what was kept of folders that are gone or renamed."""
        partitions = {root.partition(is_archived=is_archived) for root in found}
        present = {
            root.partition(is_archived=is_archived) / name / METADATA
            for root, names in found.items()
            for name in names.values()
        }
        for path in list(self._parsed):
            if path.parent.parent in partitions and path not in present:
                del self._parsed[path]
