"""Bytes in: from whatever they arrive on to the frames of one client.

`FrameReceiver` is fed by an asyncio transport or by a `ThreadReader`, and hands frames on in order. A burst of
messages is worked off in slices, so that tasks, timers and writes get their turn in between; and it reads no
further while the client leaves its own answers unread, because they would pile up here.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from typing import Protocol

from jp_lsp.server.framing import BadFrame, FrameDecoder
from jp_lsp.server.writer import Writer

_log = logging.getLogger(__name__)

_SLICE_SECONDS = 0.01
_MAX_UNREAD_ANSWERS = 64 * 1024 * 1024
_READ_SIZE = 256 * 1024


class _Pausable(Protocol):
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class FrameReceiver(asyncio.Protocol):
    """Cuts what arrives into frames and gives them to the protocol, one after the other.

    Args:
        receive: takes a frame; never raises.
        on_end: told once that no more frames will come.
        on_foreign: told that the peer speaks another protocol; nothing behind that is read.
        writer: the way back to the same client.
    """

    def __init__(
        self,
        receive: Callable[[bytes | BadFrame], None],
        on_end: Callable[[], None],
        on_foreign: Callable[[], None],
        writer: Writer,
    ) -> None:
        self._receive = receive
        self._on_end = on_end
        self._on_foreign = on_foreign
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._decoder = FrameDecoder()
        self._source: _Pausable | None = None
        self._waiting: asyncio.Handle | asyncio.Task[None] | None = None
        self._has_ended = False
        self._is_stopped = False

    def read_from(self, source: _Pausable) -> None:
        """Say who is to be paused while the work piles up."""
        self._source = source

    def stop(self) -> None:
        """Hand on no further frames."""
        self._is_stopped = True
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio: the transport is there."""
        assert isinstance(transport, asyncio.ReadTransport), "a receiver needs something to read from"
        self.read_from(transport)

    def data_received(self, data: bytes) -> None:
        """Asyncio: bytes have arrived."""
        if self._is_stopped:
            return
        self._decoder.feed(data)
        if self._waiting is None:
            self._work()

    def eof_received(self) -> None:
        """Asyncio: the client sends no more."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio: nothing more will arrive."""
        self._end()

    def _end(self) -> None:
        self._has_ended = True
        if self._waiting is None:
            self._work()

    def _work(self) -> None:
        """Hand frames on for a while; come back later if that was not all of them."""
        was_waiting, self._waiting = self._waiting is not None, None
        slice_end = self._loop.time() + _SLICE_SECONDS
        while not self._is_stopped:
            if self._writer.pending_bytes > _MAX_UNREAD_ANSWERS:
                self._pause(self._loop.create_task(self._work_when_drained()))
                return
            if self._loop.time() > slice_end:
                self._pause(self._loop.call_soon(self._work))
                return
            frame = self._decoder.next_frame()
            if frame is None:
                break
            if isinstance(frame, BadFrame) and frame.is_foreign:
                self.stop()
                self._on_foreign()
                return
            self._receive(frame)
        if self._has_ended and not self._is_stopped:
            self.stop()
            if not self._decoder.is_between_frames:
                _log.warning("the client's last message was cut off")
            self._on_end()
        elif was_waiting and self._source is not None and not self._has_ended:
            self._source.resume_reading()

    async def _work_when_drained(self) -> None:
        await self._writer.drained()
        self._work()

    def _pause(self, waiting: asyncio.Handle | asyncio.Task[None]) -> None:
        self._waiting = waiting
        if self._source is not None and not self._has_ended:
            self._source.pause_reading()


class ThreadReader:
    """Reads in a thread of its own, from descriptors that asyncio cannot wait for: files, Windows pipes.

    The thread reads one piece and waits until it was taken, so it is never far ahead.
    """

    def __init__(self, descriptor: int, receiver: FrameReceiver) -> None:
        self._descriptor = descriptor
        self._receiver = receiver
        self._loop = asyncio.get_running_loop()
        self._taken = threading.Semaphore(1)
        self._is_paused = False
        self._owes_permit = False
        receiver.read_from(self)
        threading.Thread(target=self._work, name="jp-wire-reader", daemon=True).start()

    def pause_reading(self) -> None:
        """Let the thread wait once it has delivered what it is reading."""
        self._is_paused = True

    def resume_reading(self) -> None:
        """Let the thread read on."""
        self._is_paused = False
        if self._owes_permit:
            self._owes_permit = False
            self._taken.release()

    def _work(self) -> None:
        """Thread: read until the end, or until the loop is gone."""
        try:
            while True:
                self._taken.acquire()
                try:
                    data = os.read(self._descriptor, _READ_SIZE)
                except OSError:
                    data = b""
                self._loop.call_soon_threadsafe(self._deliver, data)
                if not data:
                    return
        except RuntimeError:
            return  # the loop has ended, and with it everybody who could want to know

    def _deliver(self, data: bytes) -> None:
        if not data:
            self._receiver.eof_received()
            return
        self._receiver.data_received(data)
        if self._is_paused:
            self._owes_permit = True
        else:
            self._taken.release()
