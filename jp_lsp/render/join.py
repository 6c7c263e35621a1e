"""From block events to the text of a transcript (query pipeline 5.5).

Separators are written before the next body, never behind one, so what stands in the transcript does not
depend on what follows. Live output and replay both go through here.
"""

from dataclasses import dataclass

from jp_lsp.render.block_event import Block, BlockEvent, CodeClose, CodeLine, CodeOpen, Slice, Tail

PARAGRAPH_BREAK = "\n\n"
LINE_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class Joined:
    """A body and what separates it from the body before it; `None` at the beginning of a region."""

    separator: str | None
    body: str


class Joiner:
    """Joins the events of one region of text."""

    __slots__ = ("_has_begun", "_list_id", "_owed")

    def __init__(self) -> None:
        self._has_begun = False
        self._list_id: int | None = None
        self._owed = ""

    def join(self, event: BlockEvent) -> Joined | None:
        """Give the text of an event; nothing for white space."""
        match event:
            case Slice():
                return self._slice(event)
            case Block() | Tail():
                if not event.text.strip():
                    return None
                body = event.text.rstrip("\n")
                if isinstance(event, Tail) and event.missing_end:
                    body += f"\n{event.missing_end}"
                return self._block(event, _indented(body, event.indent))
            case CodeOpen():
                return self._block(event, " " * event.indent + event.lead + event.run + event.info)
            case CodeLine():
                return Joined(LINE_BREAK, _indented(event.text.removesuffix("\n"), event.indent))
            case CodeClose():
                return Joined(LINE_BREAK, " " * event.indent + event.run)

    def _block(self, event: Block | Tail | CodeOpen, body: str) -> Joined:
        separator = self._separator(event.list_id, is_after_blank=event.is_after_blank)
        self._has_begun = True
        self._list_id = event.list_id
        return Joined(separator, body)

    def _slice(self, event: Slice) -> Joined | None:
        body = event.text.rstrip("\n")
        line_ends = event.text[len(body) :]
        if event.is_first:
            separator = self._separator(None, is_after_blank=False)
            self._owed = line_ends
        elif body:
            separator, self._owed = self._owed, line_ends
        else:
            # Only line ends; they are written if more of the paragraph follows.
            separator = ""
            self._owed += line_ends
            if not event.is_last:
                return None
        self._has_begun = True
        self._list_id = None
        return Joined(separator, body)

    def _separator(self, list_id: int | None, *, is_after_blank: bool) -> str | None:
        if not self._has_begun:
            return None
        is_close = list_id is not None and list_id == self._list_id and not is_after_blank
        return LINE_BREAK if is_close else PARAGRAPH_BREAK


def _indented(text: str, columns: int) -> str:
    if not columns:
        return text
    prefix = " " * columns
    return "\n".join(prefix + line if line else line for line in text.split("\n"))
