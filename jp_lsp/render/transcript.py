"""The transcript that chunks add up to, as a client would put it together."""

from collections.abc import Iterable
from dataclasses import dataclass

from jp_lsp.render.chunk import DURABLE, Chunk, Code, Durable, Retract


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


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fence of the answer: its language and exactly the text inside."""

    language: str | None
    text: str


def code_blocks(chunks: Iterable[Chunk], first_seq: int = 1) -> list[CodeBlock]:
    """Take the fences out of a transcript, so that code can be saved or copied (R269)."""
    blocks: list[CodeBlock] = []
    pieces: list[str] = []
    for chunk in standing(chunks, first_seq):
        if not isinstance(chunk, Code):
            continue
        match chunk.part:
            case "open":
                pieces = []
            case "line":
                pieces.append(chunk.md)
            case "close":
                blocks.append(CodeBlock(chunk.language, _code("".join(pieces), chunk.indent)))
    return blocks


def _code(md: str, indent: int) -> str:
    """Undo how lines of code are written: a line end before each, and the indentation of the fence."""
    if not md:
        return ""
    prefix = " " * indent
    return "".join(f"{line.removeprefix(prefix)}\n" for line in md[1:].split("\n"))
