"""Documents that are open in the editor: what the user sees there may be ahead of the disk, or behind it.

A document with unsaved changes counts before its file. One without them counts only where there is no file:
when the two differ then, the file was changed by somebody else and the editor has not looked yet (T21).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.editor import OpenDocument, same_text


@dataclass(frozen=True, slots=True)
class BufferText:
    """The text that counts in place of the file's; `warning` is set when the file changed as well."""

    text: str
    warning: str | None = None


class OpenFiles:
    """The open documents of one moment, by the files that they stand for; links are followed."""

    def __init__(self, documents: Sequence[OpenDocument]) -> None:
        self._documents: Mapping[Path, OpenDocument] = {
            path: document
            for document in documents
            if document.path is not None and (path := canonical(document.path)) is not None
        }

    def has(self, path: Path) -> bool:
        """Tell whether a file, by its canonical path, is open."""
        return path in self._documents

    def unsaved(self, path: Path, shown: str, on_disk: str | None) -> BufferText | None:
        """Give the editor's text of a file where it counts; `on_disk` is `None` where there is no such text."""
        document = self._documents.get(path)
        if document is None:
            return None
        if on_disk is None:
            return BufferText(document.text)
        if document.state != "dirty":
            return None
        was_changed = document.loaded is None or not same_text(document.loaded, on_disk)
        if was_changed and not same_text(document.text, on_disk):
            text = (
                f"{shown} has unsaved changes in the editor, and was changed on disk as well. "
                "The editor's text is attached; save or reload the file."
            )
            return BufferText(document.text, text)
        return BufferText(document.text)


def canonical(path: str) -> Path | None:
    """Follow all links of a path; `None` when it is none, they go in circles, or we may not look what is there."""
    try:
        place = Path(path).resolve()
        place.exists()  # a name that is too long, or a folder that is closed to us, shows here
        return place
    except (OSError, RuntimeError, ValueError):
        return None


def as_attachment(document: OpenDocument) -> TextAttachment:
    """Attach a document as it is in the editor."""
    return TextAttachment(document.path or document.uri, document.text)
