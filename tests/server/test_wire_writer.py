"""Writing never waits, keeps the order, and bounds what a slow client costs."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from jp_lsp.server.framing import FrameDecoder, encode_frame
from jp_lsp.server.stdio import WireDescriptors, open_writer
from jp_lsp.server.writer import ThreadWriter, TransportWriter, Writer

pytestmark = pytest.mark.anyio

KINDS = ["transport", "thread"]


class Pipe:
    """A pipe with our writer at one end; the other end is read when the test says so."""

    def __init__(self, kind: str) -> None:
        self.read_end, self.write_end = os.pipe()
        self.kind = kind
        self.losses = 0
        self.writer: Writer

    async def open(self) -> None:
        def lose() -> None:
            self.losses += 1

        if self.kind == "thread":
            self.writer = ThreadWriter(self.write_end, lose)
            return
        writer = self.writer = TransportWriter(lose)
        pipe = os.fdopen(self.write_end, "wb", 0)
        await asyncio.get_running_loop().connect_write_pipe(lambda: writer, pipe)

    async def read_all(self) -> bytes:
        """Read until the writer closes."""

        def read() -> bytes:
            pieces: list[bytes] = []
            while piece := os.read(self.read_end, 1 << 20):
                pieces.append(piece)
            return b"".join(pieces)

        return await asyncio.to_thread(read)

    async def close(self) -> None:
        await self.writer.close(0)
        if self.kind == "thread":
            os.close(self.write_end)
        os.close(self.read_end)


@pytest.fixture(params=KINDS)
async def pipe(request: pytest.FixtureRequest) -> AsyncIterator[Pipe]:
    pipe = Pipe(request.param)
    await pipe.open()
    yield pipe
    await pipe.close()
    for thread in threading.enumerate():
        if thread.name == "jp-wire-writer":
            await asyncio.to_thread(thread.join, 5)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


@pytest.mark.requirement("R341", "S21", "R231")
async def test_a_client_that_does_not_read_costs_no_time(pipe: Pipe) -> None:
    """The writes return although nobody reads; `drained` waits; what was written arrives whole, in order."""
    frames = [encode_frame(b"%06d" % number + b"x" * 1000) for number in range(2000)]
    for frame in frames:
        pipe.writer.write(frame)
    assert pipe.writer.pending_bytes > 1_000_000
    drained = asyncio.ensure_future(pipe.writer.drained())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not drained.done(), "nobody has read yet"

    reading = asyncio.ensure_future(pipe.read_all())
    await drained
    assert pipe.writer.pending_bytes <= 16 * 1024
    await pipe.writer.close(10)
    if pipe.kind == "thread":
        os.close(pipe.write_end)
    received = await reading
    if pipe.kind == "thread":
        pipe.write_end = os.open(os.devnull, os.O_WRONLY)
    assert received == b"".join(frames)
    assert pipe.losses == 0


async def test_little_is_drained_at_once(pipe: Pipe) -> None:
    pipe.writer.write(b"one")
    pipe.writer.write(b"two")
    await pipe.writer.drained()
    assert await asyncio.to_thread(os.read, pipe.read_end, 3) == b"one"
    assert await asyncio.to_thread(os.read, pipe.read_end, 3) == b"two"


@pytest.mark.requirement("R336")
async def test_a_client_that_is_gone_is_no_error(pipe: Pipe) -> None:
    os.close(pipe.read_end)
    pipe.read_end = os.open(os.devnull, os.O_RDONLY)
    for _ in range(3):
        pipe.writer.write(b"x" * 100_000)
    await until(lambda: pipe.writer.is_closed)
    await pipe.writer.drained()
    pipe.writer.write(b"into the void")
    assert pipe.writer.pending_bytes == 0
    await pipe.writer.close(1)
    assert pipe.losses == 1


async def test_closing_does_not_wait_for_a_client_that_does_not_read(pipe: Pipe) -> None:
    pipe.writer.write(b"x" * 1_000_000)
    await pipe.writer.close(0)
    assert pipe.writer.is_closed
    assert pipe.losses == 0
    os.close(pipe.read_end)  # lets the thread go
    pipe.read_end = os.open(os.devnull, os.O_RDONLY)


async def test_the_first_frame_is_not_held_back() -> None:
    """A lone chunk is in the pipe when `write` returns; those behind it wait for the end of the iteration."""
    pipe = Pipe("transport")
    await pipe.open()
    os.set_blocking(pipe.read_end, False)
    pipe.writer.write(b"first")
    pipe.writer.write(b"second")
    pipe.writer.write(b"third")
    assert os.read(pipe.read_end, 100) == b"first"
    await asyncio.sleep(0)
    assert os.read(pipe.read_end, 100) == b"secondthird"
    await pipe.close()


async def test_a_file_is_written_through_a_thread(tmp_path: Path) -> None:
    path = tmp_path / "out"
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    write = os.open(path, os.O_WRONLY | os.O_CREAT)
    read = os.open(os.devnull, os.O_RDONLY)
    writer = await open_writer(WireDescriptors(read, write), lost)
    assert isinstance(writer, ThreadWriter)
    writer.write(encode_frame(b"{}"))
    await writer.close(5)
    decoder = FrameDecoder()
    decoder.feed(path.read_bytes())
    assert decoder.next_frame() == b"{}"
    os.close(write)
    os.close(read)
