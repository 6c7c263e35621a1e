"""Frames out, without ever making the event loop wait.

However slowly the client reads, `write` returns at once; a request that comes in meanwhile is handled, a save
goes on. The price is memory, so whoever produces much (the outbox) awaits `drained` between its pieces and may
merge what waits. There is one queue, first in first out: no response overtakes a chunk that was written before.

A client that is gone is no error here. What is written to it is dropped, `drained` returns, and the connection
is told once.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from typing import Protocol

_HIGH_WATER = 64 * 1024
_LOW_WATER = 16 * 1024
_BATCH = 64 * 1024


class Writer(Protocol):
    """The way to one client."""

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait here for the client to read."""
        ...

    @property
    def is_closed(self) -> bool:
        """Whether the client can no longer be reached."""
        ...

    def write(self, frame: bytes) -> None:
        """Send a frame, behind all earlier ones. Never waits, never raises; dropped when the client is gone."""

    async def drained(self) -> None:
        """Wait until few bytes are pending, or the client is gone."""

    async def close(self, within: float) -> None:
        """Send what is pending, as far as that is done within so many seconds, and close."""


class TransportWriter(asyncio.BaseProtocol):
    """Writes through an asyncio transport: a pipe or a socket.

    The first frame of a loop iteration is written at once, so that a lone chunk is not late; those that follow
    within the iteration are joined, so that a flood takes few system calls.
    """

    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._batch = bytearray()
        self._is_batching = False
        self._is_closing = False
        self._is_lost = False
        self._lost = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait here for the client to read."""
        return len(self._batch) + (self._transport.get_write_buffer_size() if self._transport else 0)

    @property
    def is_closed(self) -> bool:
        """Whether the client can no longer be reached."""
        return self._is_lost or self._is_closing

    def write(self, frame: bytes) -> None:
        """Send a frame, behind all earlier ones."""
        if self._transport is None or self.is_closed:
            return
        if self._is_batching:
            self._batch += frame
            if len(self._batch) >= _BATCH:
                self._flush()
        else:
            self._is_batching = True
            self._loop.call_soon(self._end_batch)
            self._transport.write(frame)

    async def drained(self) -> None:
        """Wait until few bytes are pending, or the client is gone."""
        self._flush()
        await self._flowing.wait()

    async def close(self, within: float) -> None:
        """Send what is pending, as far as that is done within so many seconds, and close."""
        if self._transport is None or self._is_lost:
            return
        self._flush()
        self._is_closing = True
        self._transport.close()
        try:
            async with asyncio.timeout(within):
                await self._lost.wait()
        except TimeoutError:
            if not self._lost.is_set():
                self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio: the transport is there."""
        assert isinstance(transport, asyncio.WriteTransport), "a writer needs something to write to"
        transport.set_write_buffer_limits(high=_HIGH_WATER, low=_LOW_WATER)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio: nothing can be written any more."""
        was_ours = self._is_closing
        self._is_lost = True
        self._batch.clear()
        self._flowing.set()
        self._lost.set()
        if not was_ours:
            self._on_lost()

    def pause_writing(self) -> None:
        """Asyncio: the client reads too slowly."""
        self._flowing.clear()

    def resume_writing(self) -> None:
        """Asyncio: the client has caught up."""
        self._flowing.set()

    def _end_batch(self) -> None:
        self._is_batching = False
        self._flush()

    def _flush(self) -> None:
        if self._batch and self._transport is not None and not self._is_lost:
            batch = bytes(self._batch)
            self._batch.clear()
            self._transport.write(batch)


class ThreadWriter:
    """Writes from a thread of its own, for descriptors that asyncio cannot wait for: files, Windows pipes.

    All counting is done on the loop; the thread only takes frames from a queue and reports what it wrote.
    """

    def __init__(self, descriptor: int, on_lost: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._pending = 0
        self._is_closing = False
        self._is_lost = False
        self._ended = asyncio.Event()
        self._flowing = asyncio.Event()
        self._flowing.set()
        threading.Thread(target=self._work, name="jp-wire-writer", daemon=True).start()

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait here for the client to read."""
        return self._pending

    @property
    def is_closed(self) -> bool:
        """Whether the client can no longer be reached."""
        return self._is_lost or self._is_closing

    def write(self, frame: bytes) -> None:
        """Send a frame, behind all earlier ones."""
        if self.is_closed:
            return
        self._pending += len(frame)
        if self._pending > _HIGH_WATER:
            self._flowing.clear()
        self._frames.put(frame)

    async def drained(self) -> None:
        """Wait until few bytes are pending, or the client is gone."""
        await self._flowing.wait()

    async def close(self, within: float) -> None:
        """Send what is pending, as far as that is done within so many seconds, and close."""
        self._is_closing = True
        self._frames.put(None)
        try:
            async with asyncio.timeout(within):
                await self._ended.wait()
        except TimeoutError:
            self._is_lost = True

    def _work(self) -> None:
        """Thread: write until told to end, or until nothing can be written."""
        try:
            while (frame := self._frames.get()) is not None:
                rest = memoryview(frame)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
                self._tell(self._count_written, len(frame))
        except OSError:
            self._tell(self._lose)
        self._tell(self._ended.set)

    def _tell(self, report: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(report, *arguments)
        except RuntimeError:
            return  # the loop has ended, and with it everybody who could want to know

    def _count_written(self, size: int) -> None:
        self._pending -= size
        if self._pending <= _LOW_WATER:
            self._flowing.set()

    def _lose(self) -> None:
        was_ours = self._is_closing
        self._is_lost = True
        self._pending = 0
        self._flowing.set()
        if not was_ours:
            self._on_lost()
