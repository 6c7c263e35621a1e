"""The port towards the client's open documents, which may be ahead of what is on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

BufferState = Literal["clean", "dirty", "unknown"]
"""Whether a buffer has changes that are not on disk. `unknown`: its text is not followed reliably."""


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document that is open in the editor.

    `path` is absolute, without links resolved; `None` for a document that is no file. `loaded` is the text of
    the file when buffer and disk were last known to agree, `None` when they never were.
    """

    uri: str
    path: str | None
    language: str
    version: int
    state: BufferState
    text: str
    loaded: str | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """Replace what stands between two offsets, in code points from the start of the text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What became of an edit.

    `refused` says that the user or the editor did not want it, `stale` that the document is not the one that
    the edit was made for, so that it was not even sent. `reason` is for the model: why not, or what is
    doubtful about an edit that was applied.
    """

    result: Literal["applied", "refused", "stale"]
    reason: str = ""


def same_text(one: str, other: str) -> bool:
    """Compare a buffer with a file: editors may change line ends and drop a byte order mark while loading."""
    return one == other or _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


class EditorDocuments(Protocol):
    """The documents of one client."""

    def folders(self) -> Sequence[str]:
        """Give the absolute paths of the client's workspace folders."""
        ...

    def open_documents(self) -> Sequence[OpenDocument]:
        """Give every open document, in the order of their opening."""
        ...

    async def apply_edit(
        self,
        uri: str,
        version: int | None,
        text: str,
        edits: Sequence[Replacement],
        label: str,
        *,
        is_proposal: bool = True,
    ) -> EditOutcome:
        """Ask the editor to change a document; the user may be asked to confirm, which takes any time.

        Args:
            uri: the document, as the editor names it if it is open there.
            version: that of the open document; `None` for a file that is not open.
            text: what the edits are made against; the document must still hold exactly this.
            edits: what to replace, in order and without overlaps.
            label: says to the user what the change is.
            is_proposal: whether the user is to be asked; not where the user wanted just this.
        """
        ...
