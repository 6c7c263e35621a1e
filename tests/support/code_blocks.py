"""Code taken out of a transcript, as a client does that lets its user save or copy it."""

from collections.abc import Iterable
from dataclasses import dataclass

from jp_lsp.render.chunk import Chunk, Code
from jp_lsp.render.transcript import standing


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
