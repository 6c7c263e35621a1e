"""JSON and JSON5 with the place of everything; comments and commas at the end are no matter in either."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import ClassVar, cast

from jp_lsp.config.value import ABSENT, Absent
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.language.brackets import BracketReader
from jp_lsp.language.document import MAX_SIZE, Document, KeyPlace, Node, Place, in_quotes
from jp_lsp.language.place import place_in_value

_FILLER = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_WORD = re.compile(r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[^\s{}\[\]:,"'/]+|/""", re.DOTALL)
_SIMPLE = re.compile(
    r"""("[^"\\\x00-\x1f]*"|[A-Za-z_$][A-Za-z0-9_$]*)[ \t]*:[ \t]*"""
    r"""("[^"\\\x00-\x1f]*"|true|false|null|-?(?:0|[1-9][0-9]{0,17}))(?=[ \t\r\n]*[,}\]])"""
)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_PLAIN_TEXT = re.compile(r'"([^"\\\x00-\x1f]*)"')
_QUOTED_OR_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class JsonDocument(Document):
    """A JSON text that was read; `root` is its table."""

    root: Node | None = field(default=None)

    extension: ClassVar[str] = "json"

    def places_at(self, offset: int) -> tuple[Place, ...]:
        """Say what a cursor stands in, see `Document`."""
        root = self.root
        if root is None or not root.start < offset <= root.end:
            return ()
        place = place_in_value(self.text, root, (), offset)
        if (
            place is None
            or not place.path
            or (place.span.start == place.span.end and self._is_comment(offset))
        ):
            return ()
        return (place,)

    def write_key(self, name: str, place: KeyPlace, *, is_table: bool) -> str:
        """Write a key for a place; its value follows a blank, whatever it is."""
        written = self.write_text(name, self.text[place.span.start : place.span.end])
        return written if place.is_assigned else f"{written}: "

    def write_text(self, value: str, written: str) -> str:
        """Write a text; JSON knows one kind of quotes."""
        return json.dumps(value, ensure_ascii=False)

    def _is_comment(self, offset: int) -> bool:
        """Tell whether an offset lies in a comment."""
        for found in _QUOTED_OR_COMMENT.finditer(self.text):
            if found.start() >= offset:
                return False
            if found[0][0] == "/" and offset <= found.end():
                return not (found[0].endswith("*/") and offset == found.end())
        return False


@dataclass(frozen=True, slots=True)
class Json5Document(JsonDocument):
    """A JSON5 text that was read."""

    extension: ClassVar[str] = "json5"

    def write_key(self, name: str, place: KeyPlace, *, is_table: bool) -> str:
        """Write a key for a place, without quotes where none are needed and none are there."""
        written = self.text[place.span.start : place.span.end]
        is_bare = _IDENTIFIER.fullmatch(name) is not None and not written.startswith(('"', "'"))
        key = name if is_bare else in_quotes(name, written)
        return key if place.is_assigned else f"{key}: "

    def write_text(self, value: str, written: str) -> str:
        """Write a text in the quotes that are there."""
        return in_quotes(value, written)


def read_json(text: str) -> JsonDocument:
    """Read JSON; never fails."""
    return _read(text, JsonDocument)


def read_json5(text: str) -> JsonDocument:
    """Read JSON5; never fails."""
    return _read(text, Json5Document)


def _read(text: str, document: type[JsonDocument]) -> JsonDocument:
    if len(text) > MAX_SIZE:
        return document(text, ())
    reader = BracketReader(text, len(text), _FILLER, _SIMPLE, _WORD, _meaning)
    start = reader.skip(0)
    if not text.startswith("{", start):
        return document(text, ())
    root = reader.value(start, (), 0)
    return document(text, root.entries, tuple(reader.missing_commas), root)


def _meaning(word: str) -> "JsonValue | Absent":
    if (plain_text := _PLAIN_TEXT.fullmatch(word)) is not None:
        return plain_text[1]
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word) is not None:
        return int(word)
    import pyjson5  # most workspaces have no such file

    try:
        value = cast("object", pyjson5.decode(word, maxdepth=1))
    except (pyjson5.Json5Exception, ValueError):
        return ABSENT
    if isinstance(value, float):
        return value if math.isfinite(value) else ABSENT
    return value if isinstance(value, (str, int)) else ABSENT
