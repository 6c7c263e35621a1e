"""Texts that a user wrote and that did not become part of a conversation (query pipeline 7.3).

A draft stands in the conversation's user-local folder, where other programs look for it too; as long as
there is no such folder, it stands in `drafts/`, because a folder with nothing but a draft would look broken.
"""

from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.workspace.atomic import stamp_of, write_file
from jp_lsp.workspace.folders import EVENTS
from jp_lsp.workspace.paths import Roots

DRAFT_NAME = "QUERY_MESSAGE.md"


def joined(present: str | None, text: str) -> str:
    """Put a text behind a draft, unless one of them holds the other."""
    if present is None or present.strip() in text:
        return text
    return present if text.strip() in present else f"{present.strip()}\n\n{text}"


@dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of a workspace."""

    roots: Roots

    def read(self, conversation: ConversationId) -> str | None:
        """Give the draft of a conversation, if there is one; damaged characters are replaced."""
        for path in self._places(conversation):
            if stamp_of(path) is not None:
                return path.read_bytes().decode(errors="replace")
        return None

    def add(self, conversation: ConversationId, text: str) -> None:
        """Keep a text behind the draft that is there already, which may be a text of its own; no text twice.

        Raises:
            OSError: it could not be written.
        """
        text = text.encode("utf-8", "replace").decode()
        write_file(self._places(conversation)[0], joined(self.read(conversation), text).encode())

    def remove(self, conversation: ConversationId) -> None:
        """Forget the draft."""
        for path in self._places(conversation):
            path.unlink(missing_ok=True)

    def rescue(self, conversation: ConversationId, folder: Path) -> None:
        """Move the draft out of a folder that is about to go."""
        if stamp_of(folder / DRAFT_NAME) is not None:
            write_file(self._elsewhere(conversation), (folder / DRAFT_NAME).read_bytes())
            (folder / DRAFT_NAME).unlink()

    def _places(self, conversation: ConversationId) -> list[Path]:
        """Give the paths where the draft may be; it is written to the first."""
        silo = self.roots.silo
        folder = None if silo is None else silo.folder_of(conversation)
        inside = [] if folder is None or stamp_of(folder / EVENTS) is None else [folder / DRAFT_NAME]
        return [*inside, self._elsewhere(conversation)]

    def _elsewhere(self, conversation: ConversationId) -> Path:
        return self.roots.private / "drafts" / f"{conversation}.md"
