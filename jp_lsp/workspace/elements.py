"""The elements of a conversation's `events.json`, read from the file one after the other."""

from collections.abc import Iterator
from pathlib import Path

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.splitter import ElementSplitter

_PIECE = 1 << 18


def elements_of(path: Path) -> Iterator[JsonValue]:
    """Give each element as soon as it is read; memory holds one of them.

    Raises:
        StreamFormatError: the file is no JSON array.
        UnicodeDecodeError: it is not UTF-8.
        OSError: it cannot be read.
    """
    splitter = ElementSplitter()
    with path.open(encoding="utf-8", newline="") as file:
        while piece := file.read(_PIECE):
            yield from splitter.feed(piece)
    yield from splitter.finish()
