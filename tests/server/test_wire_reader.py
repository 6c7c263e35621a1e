"""Frames are handed on in order, in slices, and no faster than their answers leave."""

import asyncio
import os
from collections.abc import Callable

import pytest

from jp_lsp.server.framing import BadFrame, encode_frame
from jp_lsp.server.reader import FrameReceiver, ThreadReader
from tests.support.wire_memory import MemoryWriter

pytestmark = pytest.mark.anyio


class Source:
    def __init__(self) -> None:
        self.is_paused = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class Reading:
    def __init__(self) -> None:
        self.seen: list[object] = []
        self.on_frame: Callable[[], None] = lambda: None
        self.writer = MemoryWriter()
        self.source = Source()
        self.receiver = FrameReceiver(
            self._take, lambda: self.seen.append("end"), lambda: self.seen.append("foreign"), self.writer
        )
        self.receiver.read_from(self.source)

    def _take(self, frame: bytes | BadFrame) -> None:
        self.seen.append(frame)
        self.on_frame()

    def feed(self, *bodies: bytes) -> None:
        self.receiver.data_received(b"".join(encode_frame(body) for body in bodies))


async def settle() -> None:
    for _ in range(200):
        await asyncio.sleep(0)


async def test_frames_are_handed_on_as_they_complete() -> None:
    reading = Reading()
    data = encode_frame(b"one") + encode_frame(b"two")
    reading.receiver.data_received(data[:-1])
    assert reading.seen == [b"one"]
    reading.receiver.data_received(data[-1:])
    assert reading.seen == [b"one", b"two"]
    reading.receiver.eof_received()
    reading.receiver.connection_lost(None)
    assert reading.seen == [b"one", b"two", "end"]


async def test_a_burst_lets_others_have_their_turn() -> None:
    reading = Reading()
    loop = asyncio.get_running_loop()
    reading.on_frame = lambda: block_for(loop, 0.004)
    loop.call_soon(reading.seen.append, "a turn for others")
    reading.feed(*(b"%d" % number for number in range(6)))
    assert reading.source.is_paused
    reading.receiver.eof_received()
    await settle()
    assert [item for item in reading.seen if isinstance(item, bytes)] == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert b"5" not in reading.seen[: reading.seen.index("a turn for others")]
    assert reading.seen[-1] == "end", "the end comes behind the last frame"


def block_for(loop: asyncio.AbstractEventLoop, seconds: float) -> None:
    """Compute for a while, as a handler may."""
    end = loop.time() + seconds
    while loop.time() < end:
        pass


@pytest.mark.requirement("R341", "S21")
async def test_a_client_that_leaves_its_answers_unread_is_read_no_further() -> None:
    reading = Reading()
    reading.writer.stall()
    reading.on_frame = lambda: reading.writer.write(b"x" * 40_000_000)
    reading.feed(b"1", b"2", b"3", b"4")
    await settle()
    assert reading.seen == [b"1", b"2"]
    assert reading.source.is_paused
    reading.on_frame = lambda: None
    reading.writer.catch_up()
    await settle()
    assert reading.seen == [b"1", b"2", b"3", b"4"]
    assert not reading.source.is_paused


async def test_nothing_is_handed_on_after_the_stop() -> None:
    reading = Reading()
    reading.on_frame = reading.receiver.stop
    reading.feed(b"1", b"2")
    reading.feed(b"3")
    reading.receiver.eof_received()
    await settle()
    assert reading.seen == [b"1"]


async def test_a_foreign_peer_is_not_listened_to() -> None:
    reading = Reading()
    reading.receiver.data_received(b"POST / HTTP/1.1\r\nHost: x\r\n" + encode_frame(b'{"jsonrpc":"2.0"}'))
    reading.feed(b"2")
    reading.receiver.eof_received()
    assert reading.seen == ["foreign"]


async def test_a_message_cut_off_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    reading = Reading()
    reading.receiver.data_received(encode_frame(b"whole") + encode_frame(b"half")[:-2])
    reading.receiver.eof_received()
    assert reading.seen == [b"whole", "end"]
    assert "the client's last message was cut off" in caplog.text


async def test_a_thread_reads_what_asyncio_cannot_wait_for() -> None:
    reading = Reading()
    read_end, write_end = os.pipe()
    ended = asyncio.Event()
    reading.receiver = FrameReceiver(reading._take, ended.set, ended.set, reading.writer)
    frames = [b"%05d" % number + b"x" * 5000 for number in range(200)]

    def write() -> None:
        for frame in frames:
            os.write(write_end, encode_frame(frame))
        os.close(write_end)

    writing = asyncio.ensure_future(asyncio.to_thread(write))
    reader = ThreadReader(read_end, reading.receiver)
    reader.pause_reading()
    await settle()
    assert len(reading.seen) < len(frames), "it was paused, while the pipe is too small for all"
    reader.resume_reading()
    async with asyncio.timeout(10):
        await ended.wait()
    await writing
    assert reading.seen == frames
    os.close(read_end)
