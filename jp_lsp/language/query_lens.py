"""What the lens above a query document says, and what pressing it does."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.language.positions import Span
from jp_lsp.language.query_document import QueryDocument
from jp_lsp.render.text import clean_line

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Lens:
    """A lens at the first line. `does` says what pressing it is for."""

    span: Span
    title: str
    does: Literal["send", "interrupt"]


def lens_of(document: QueryDocument, conversation: str | None, *, is_running: bool) -> Lens | None:
    """Give the lens of a document; one without any text has none.

    Args:
        document: the document.
        conversation: what the conversation is called that it would go to, where that is known.
        is_running: whether it was sent and its turn has not ended.
    """
    if is_running:
        return Lens(Span(0, 0), "JP is answering … (interrupt)", "interrupt")
    if not document.body.strip():
        return None
    parts = [_cut(part) for part in (_place(document, conversation), document.word("model")) if part]
    return Lens(Span(0, 0), "Send to JP" + (f" ({', '.join(parts)})" if parts else ""), "send")


def _place(document: QueryDocument, conversation: str | None) -> str | None:
    if document.word("fork") is not None:
        return f"copy of {conversation or 'the last conversation'}"
    match document.word("conversation"):
        case "new":
            return "new conversation"
        case "last" if conversation is None:
            return "last conversation"
        case _:
            return conversation


def _cut(text: str) -> str:
    line = clean_line(text)
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"
