"""How long chunks wait to be merged: the first text of a region not at all, other text as the user likes."""

import asyncio
from collections.abc import Sequence

import pytest

from jp_lsp.render.chunk import Chunk, Code, Status, Text, ToolCall
from jp_lsp.server.chunk_queue import ChunkQueue, Way

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def message(md: str, part: str = "more") -> Text:
    return Text(md, "message", "paragraph", part)  # type: ignore[arg-type]


def line(md: str) -> Code:
    return Code(md, "message", "line")


def thought(md: str) -> Text:
    return Text(md, "reasoning", "paragraph", "more")


LONG = 3600.0


async def sent(chunks: Sequence[Chunk], seconds: float) -> list[str]:
    """Put chunks into a queue that gathers text for so long, and give what went out without waiting."""
    out: list[str] = []

    async def drained() -> None:
        """The client reads at once."""

    queue = ChunkQueue(
        Way(lambda seq, cycle, chunk: out.append(getattr(chunk, "md", "")), lambda: 0, drained)
    )
    queue.gather_for(seconds)
    for chunk in chunks:
        queue.put(chunk, 1)
        await asyncio.sleep(0)
    at_once = list(out)
    queue.close()
    assert "".join(out) == "".join(getattr(chunk, "md", "") for chunk in chunks)
    return at_once


@pytest.mark.parametrize(
    ("chunks", "at_once"),
    [
        ([message("a", "first"), message("b"), message("c")], ["a"]),
        ([thought("a"), thought("b"), message("c", "first"), message("d")], ["a", "b", "c"]),
        ([message("a", "first"), Status("waiting"), message("b")], ["a"]),
        ([message("a\n"), line("b\n"), line("c\n")], ["a\n"]),
    ],
)
async def test_text_is_gathered_but_no_first_word_is_delayed(chunks: list[Chunk], at_once: list[str]) -> None:
    assert await sent(chunks, LONG) == at_once


async def test_without_gathering_everything_goes_at_once() -> None:
    assert await sent([message("a", "first"), message("b"), message("c")], 0.0) == ["a", "b", "c"]


async def test_what_is_no_text_does_not_wait_for_text_to_be_gathered() -> None:
    """A call takes the text before it along, within the time that is always taken."""
    out: list[str] = []
    is_there = asyncio.Event()

    def send(seq: int, cycle: int, chunk: Chunk) -> None:
        out.append(chunk.type)
        if isinstance(chunk, ToolCall):
            is_there.set()

    async def drained() -> None:
        """The client reads at once."""

    queue = ChunkQueue(Way(send, lambda: 0, drained))
    queue.gather_for(LONG)
    queue.put(message("a", "first"), 1)
    queue.put(message("b"), 1)
    assert out == ["text"]
    queue.put(ToolCall("c", "call", "look", "{}"), 1)
    async with asyncio.timeout(5):
        await is_there.wait()
    queue.close()
    assert out == ["text", "text", "tool_call"]
