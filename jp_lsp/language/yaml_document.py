"""YAML as a document: what a cursor may mean in it, and how keys and texts are written.

The parser of the library says whether a text is valid, and stops at the first error; here every line is looked at.
An alias has no value, and a merge key is no key: what they bring stands elsewhere in the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from jp_lsp.config.value import Path
from jp_lsp.language.document import (
    MAX_SIZE,
    Document,
    Entry,
    KeyPlace,
    Node,
    Place,
    ValuePlace,
    in_quotes,
)
from jp_lsp.language.place import place_in_entry, place_in_value
from jp_lsp.language.positions import Span
from jp_lsp.language.yaml_reader import YamlReader

_DASHES = re.compile(r"[ \t]*(?:[-:][ \t]+)*")
"""What may stand before a word that has a line for itself; the colon is that of a value below a `? key`."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+-]*")
_NO_TEXT = frozenset({"null", "true", "false"})


@dataclass(frozen=True, slots=True)
class YamlDocument(Document):
    """A YAML text that was read; `dashes` has the path of each item of a list by the offset of its dash."""

    dashes: Mapping[int, Path] = field(default_factory=lambda: {})

    extension: ClassVar[str] = "yaml"

    def places_at(self, offset: int) -> Sequence[Place]:
        """Say what a cursor stands in, see `Document`; on an empty line, its column decides."""
        if (found := _among(self.text, self.entries, offset)) is not None:
            return found
        line_start = self.text.rfind("\n", 0, offset) + 1
        before = self.text[line_start:offset]
        if not before.strip(" "):
            return self._on_new_line(line_start, len(before), offset)
        dash = line_start + before.rfind("-")
        if dash in self.dashes and dash < offset - 1 and _DASHES.fullmatch(before):
            return _either(self.dashes[dash], "", Span(offset, offset), None)
        return ()

    def write_key(self, name: str, place: KeyPlace, *, is_table: bool) -> str:
        """Write a key for a place; what is in a table stands on lines of its own."""
        written = self.write_text(name, self.text[place.span.start : place.span.end])
        line_start = self.text.rfind("\n", 0, place.span.start) + 1
        is_asked = self.text[line_start : place.span.start].rstrip(" \t").endswith("?")
        if place.is_assigned or is_asked:  # behind `? ` the value comes on a line of its own
            return written
        return f"{written}:" if is_table else f"{written}: "

    def write_text(self, value: str, written: str) -> str:
        """Write a text, without quotes where none are needed and none are there."""
        is_quoted = written.startswith(('"', "'"))
        if not is_quoted and _BARE.fullmatch(value) and value.lower() not in _NO_TEXT:
            return value
        return in_quotes(value, written)

    def _on_new_line(self, line_start: int, column: int, offset: int) -> Sequence[Place]:
        """Say what a new line at a column belongs to: a table of that column, or what is open above it."""
        here = Span(offset, offset)
        for start, path, entry in self._above(line_start):
            its_column = start - self.text.rfind("\n", 0, start) - 1
            if its_column > column or (its_column == column and entry is None):
                continue
            if entry is None:
                return _either(path, "", here, None)
            if its_column == column:
                return (KeyPlace(entry.base, "", here),)
            if entry.value is None:
                return _either(path, "", here, None)
            return (KeyPlace(path, "", here),) if entry.value.kind == "table" else ()
        return (KeyPlace((), "", here),)

    def _above(self, offset: int) -> Iterator[tuple[int, Path, Entry | None]]:
        """Give the keys and dashes before an offset, the last one first; a dash has no entry."""
        above: list[tuple[int, Path, Entry | None]] = [
            (entry.start, entry.path, entry) for entry in self.walk() if entry.start < offset
        ]
        above += [(start, path, None) for start, path in self.dashes.items() if start < offset]
        above.sort(key=lambda anchor: anchor[0])
        yield from reversed(above)


def read_yaml(text: str) -> YamlDocument:
    """Read a text; never fails."""
    if len(text) > MAX_SIZE:
        return YamlDocument(text, ())
    reader = YamlReader(text)
    return YamlDocument(text, reader.entries(), dashes=reader.dashes)


def _among(text: str, entries: Sequence[Entry], offset: int) -> Sequence[Place] | None:
    """Say what the cursor stands in among entries; `None` if it is in none, or between the pieces of one."""
    entry = next((entry for entry in entries if entry.span.holds(offset)), None)
    if entry is None:
        return None
    if entry.value is not None and entry.value.span.holds(offset):
        return _within(text, entry.value, entry.path, offset)
    place = place_in_entry(text, entry, offset)
    return None if place is None else (place,)


def _within(text: str, node: Node, path: Path, offset: int) -> Sequence[Place] | None:
    is_bracketed = text[node.start : node.start + 1] in {"{", "["}
    if node.kind == "table" and not is_bracketed:
        return _among(text, node.entries, offset)
    if node.kind == "list" and not is_bracketed:
        found = (index for index, item in enumerate(node.items) if item.span.holds(offset))
        index = next(found, None)
        return None if index is None else _within(text, node.items[index], (*path, index), offset)
    place = place_in_value(text, node, path, offset)
    if place is None:
        return None
    word = text[node.start : node.end]
    return _either(path, word.strip("\"'"), place.span, node) if _stands_alone(text, node, word) else (place,)


def _stands_alone(text: str, node: Node, word: str) -> bool:
    """Tell a word that has a line for itself, and may become a key."""
    if node.kind != "scalar" or not word or word[0] in "|>" or "\n" in word:
        return False
    line_start = text.rfind("\n", 0, node.start) + 1
    return _DASHES.fullmatch(text, line_start, node.start) is not None


def _either(path: Path, word: str, span: Span, node: Node | None) -> tuple[Place, Place]:
    """Give both that a word can be which stands alone: a key of a table to come, or a value."""
    return KeyPlace(path, word, span), ValuePlace(path, span, node)
