"""Texts as documents, for tests; `.toml` is what most cases are written in."""

from jp_lsp.language.completion import Known, complete_at
from jp_lsp.language.document import Document
from jp_lsp.language.formats import read_document
from tests.language.cursor import cursor


def toml(text: str) -> Document:
    return read_document(text, ".toml")


def at_cursor(marked: str, suffix: str = ".toml") -> tuple[Document, int]:
    """The document, and the offset of its one cursor `|`."""
    text, offset = cursor(marked)
    return read_document(text, suffix), offset


def completed(marked: str, label: str, known: Known, suffix: str = ".toml") -> str | None:
    """What becomes of a text when a proposal is taken; `None` if it is not offered."""
    document, offset = at_cursor(marked, suffix)
    text = document.text
    for proposal in complete_at(document, offset, known):
        if proposal.label == label:
            edit = proposal.edit
            return text[: edit.span.start] + edit.text + text[edit.span.end :]
    return None
