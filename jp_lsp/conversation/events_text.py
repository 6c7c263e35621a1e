"""The text of `events.json`, put together from the texts of its entries (conversation format 1.8, 3.4).

What was read stays as it is, also what stands between the entries in a file that somebody wrote in another
form: new entries go behind it. In a long stream that takes a while, so it is a step of its own, which any
thread may take.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.entry import Entry

_OPENING = "[\n  "
_BETWEEN = ",\n  "
_CLOSING = "\n]\n"
_BLANKS = " \t\n\r"


@dataclass(frozen=True, slots=True)
class EventsText:
    """The text at one moment: what was read, if it is to stay, and the entries behind it."""

    source: str | None
    entries: Sequence[Entry]

    def text(self) -> str:
        """Put it together."""
        if self.source is None:
            return _joined(_OPENING, self.entries) if self.entries else "[]\n"
        if not self.entries:
            return self.source
        kept = self.source.rstrip(_BLANKS).removesuffix("]").rstrip(_BLANKS)
        if kept.lstrip(_BLANKS) == "[":  # there were no entries
            return _joined(_OPENING, self.entries)
        return kept + _joined(_BETWEEN, self.entries)


def is_joined(text: str, entries: Sequence[Entry]) -> bool:
    """Tell whether a text is just what would be made of the entries; makes no copy of it."""
    if not entries:
        return text == "[]\n"
    position, expected = 0, _OPENING
    for entry in entries:
        if not text.startswith(expected, position) or not text.startswith(
            entry.text, position + len(expected)
        ):
            return False
        position += len(expected) + len(entry.text)
        expected = _BETWEEN
    return text.startswith(_CLOSING, position) and len(text) == position + len(_CLOSING)


def _joined(opening: str, entries: Sequence[Entry]) -> str:
    return opening + _BETWEEN.join(entry.text for entry in entries) + _CLOSING
