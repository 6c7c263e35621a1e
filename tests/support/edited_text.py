"""A text that is open in an editor, whose positions count in the units that it agreed on with the server."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from tests.support.jp_client import PATIENCE
from tests.support.stock_client import StockClient

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""By encoding: the codec, and the bytes of a unit."""

NOT_YET = types.Diagnostic(types.Range(types.Position(0, 0), types.Position(0, 0)), "not yet")


class EditedText:
    """Opens a file with a text.

    Args:
        editor: where it is opened.
        encoding: what positions count in, such as `utf-16`.
        path: of the file, which need not be there.
        text: what is in it.
        language: what the editor calls its language; by default what the name ends in.
    """

    def __init__(
        self, editor: StockClient, encoding: str, path: Path, text: str, language: str | None = None
    ) -> None:
        self.editor, self.path, self.text, self.version = editor, path, text, 1
        self._codec, self._unit = _UNITS[encoding]
        self.uri = path.as_uri()
        self.id = types.TextDocumentIdentifier(self.uri)
        item = types.TextDocumentItem(self.uri, language or path.suffix[1:], 1, text)
        editor.diagnostics.pop(self.uri, None)
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def becomes(self, text: str) -> None:
        """Change the whole text."""
        self.text, self.version = text, self.version + 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.editor.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self) -> None:
        self.editor.text_document_did_close(types.DidCloseTextDocumentParams(self.id))

    def position(self, offset: int) -> types.Position:
        before = self.text[:offset].split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode(self._codec)) // self._unit)

    def place_of(self, piece: str) -> types.Position:
        """The place of the second character of the first such piece."""
        return self.position(self.text.index(piece) + 1)

    def offset(self, position: types.Position) -> int:
        lines = self.text.split("\n")
        before = lines[position.line].encode(self._codec)[: position.character * self._unit]
        return sum(len(line) + 1 for line in lines[: position.line]) + len(before.decode(self._codec))

    def piece(self, place: types.Range) -> str:
        """What stands at a range."""
        return self.text[self.offset(place.start) : self.offset(place.end)]

    def edited(self, edits: Sequence[types.TextEdit | types.InsertReplaceEdit]) -> str:
        """The text after one edit."""
        (edit,) = edits
        assert isinstance(edit, types.TextEdit)
        return (
            self.text[: self.offset(edit.range.start)]
            + edit.new_text
            + self.text[self.offset(edit.range.end) :]
        )

    async def diagnostics(
        self, are_there: Callable[[Sequence[types.Diagnostic]], bool]
    ) -> list[types.Diagnostic]:
        """Wait for diagnostics as they are wanted."""
        async with asyncio.timeout(PATIENCE):
            while not are_there(found := self.editor.diagnostics.get(self.uri, [NOT_YET])):
                await self.editor.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(found)
