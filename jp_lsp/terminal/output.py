"""Writes to standard output, standard error and the terminal, in order, from a thread of its own.

A reader that is slow, such as a pager, or gone, such as `head`, must not keep us from noticing a key or a
signal. So nothing but the thread ever waits for a descriptor; whoever produces text waits with `has_room`.
"""

import asyncio
import os
import queue
import select
import threading
from collections.abc import Callable, Mapping

from jp_lsp.terminal.painter import Output, Stream

ROOM = 256 * 1024
"""Bytes that may wait before `has_room` waits."""


class OutputThread:
    """The way out; to be started within a running event loop.

    Args:
        descriptors: where each stream goes.
        on_lost: told once for each stream that can no longer be written to; what comes for it is dropped.
        encoding: of all text; what it cannot express becomes a question mark.
    """

    def __init__(
        self, descriptors: Mapping[Stream, int], on_lost: Callable[[Stream], None], encoding: str = "utf-8"
    ) -> None:
        self._descriptors = descriptors
        self._on_lost = on_lost
        self._encoding = encoding
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs: queue.SimpleQueue[tuple[Stream, bytes] | threading.Event | None] = queue.SimpleQueue()
        self._waiting_size = 0
        self._lost: set[Stream] = set()
        self._changed = asyncio.Event()

    def start(self) -> None:
        """Begin to write what was queued and what will be."""
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, name="jp-output", daemon=True).start()

    def write(self, output: Output) -> None:
        """Queue text; never waits."""
        data = output.text.encode(self._encoding, "replace")
        self._waiting_size += len(data)
        self._jobs.put((output.stream, data))

    async def has_room(self) -> None:
        """Wait until little enough is waiting for more to come."""
        await self._wait_until_below(ROOM)

    async def flush(self) -> None:
        """Wait until everything is written."""
        await self._wait_until_below(0)

    def flush_now(self, within: float) -> None:
        """Block until everything is written, but no longer than so many seconds."""
        written = threading.Event()
        self._jobs.put(written)
        written.wait(within)

    def stop(self) -> None:
        """End the thread, once what waits is written."""
        self._jobs.put(None)

    async def _wait_until_below(self, size: int) -> None:
        while self._waiting_size > size:
            self._changed.clear()
            await self._changed.wait()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            if isinstance(job, threading.Event):
                job.set()
                continue
            stream, data = job
            try:
                if stream not in self._lost:
                    _write_all(self._descriptors[stream], data)
            except OSError:
                self._lost.add(stream)
                self._tell(self._on_lost, stream)
            self._tell(self._wrote, len(data))

    def _wrote(self, size: int) -> None:
        self._waiting_size -= size
        self._changed.set()

    def _tell(self, callback: Callable[..., None], *arguments: object) -> None:
        if self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return  # the loop has ended, and with it whoever wanted to know


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # somebody who shares the descriptor made it so
            select.select([], [descriptor], [])
