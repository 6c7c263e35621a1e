"""Cuts chunks that are too large for a client into several (trap 65)."""

from dataclasses import replace

from jp_lsp.render.chunk import DURABLE, Chunk, Durable, Text, TextPart

CHUNK_SIZE_MAX = 65536
"""How many bytes of `md` a chunk may have."""

_BYTES_MAX = 4
"""How many bytes a character may have."""


def split_text(text: str) -> list[str]:
    """Cut text into pieces of at most `CHUNK_SIZE_MAX` bytes, between characters."""
    pieces: list[str] = []
    data = text.encode()
    start = 0
    while len(data) - start > CHUNK_SIZE_MAX:
        end = start + CHUNK_SIZE_MAX
        while data[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(data[start:end].decode())
        start = end
    pieces.append(data[start:].decode())
    return pieces


def split_chunk(chunk: Chunk) -> list[Chunk]:
    """Cut a chunk if it is too large; the pieces have the attributes of the whole."""
    if not isinstance(chunk, DURABLE) or len(chunk.md) * _BYTES_MAX <= CHUNK_SIZE_MAX:
        return [chunk]
    pieces = split_text(chunk.md)
    return [_piece(chunk, md, index, len(pieces)) for index, md in enumerate(pieces)]


def _piece(chunk: Durable, md: str, index: int, count: int) -> Durable:
    if isinstance(chunk, Text):
        return replace(chunk, md=md, part=_part(chunk.part, index == 0, index == count - 1))
    return replace(chunk, md=md)


def _part(whole: TextPart, is_first: bool, is_last: bool) -> TextPart:
    """Tell which part of its block a piece is."""
    begins = is_first and whole in {"whole", "first"}
    ends = is_last and whole in {"whole", "last"}
    if begins:
        return "whole" if ends else "first"
    return "last" if ends else "more"
