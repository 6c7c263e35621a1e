"""The transcript that chunks add up to, as a client would put it together."""

from collections.abc import Iterable

from jp_lsp.render.chunk import DURABLE, Chunk, Durable, Retract


def standing(chunks: Iterable[Chunk], first_seq: int = 1) -> list[Durable]:
    """Give the durable chunks that were not retracted, when they are numbered one by one from `first_seq`."""
    kept: list[tuple[int, Durable]] = []
    for seq, chunk in enumerate(chunks, first_seq):
        if isinstance(chunk, Retract):
            while kept and kept[-1][0] >= chunk.from_seq:
                kept.pop()
        elif isinstance(chunk, DURABLE):
            kept.append((seq, chunk))
    return [chunk for _, chunk in kept]


def transcript(chunks: Iterable[Chunk], first_seq: int = 1) -> str:
    """Give the markdown of all chunks that were not retracted."""
    return "".join(chunk.md for chunk in standing(chunks, first_seq))
