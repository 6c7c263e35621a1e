"""The chunks of one query on their way to the client: numbered, merged while they wait, never lost.

A chunk goes out at once when nothing was sent for a moment, and so does the first text of a region: no first
word is delayed. What follows within that moment, or while the client reads too slowly, waits here and is
merged: text of one block becomes one chunk, a newer state replaces the older one of its slot. The reader of
the provider waits in `ready` while too much waits here, so memory stays bounded however slow the client is
(query pipeline 5.2).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from jp_lsp.render.chunk import DURABLE, Chunk, Code, Text, TextPart

COALESCE_SECONDS = 0.016
"""What comes within this time after a chunk was sent is merged, unless the user wants text to be gathered for
another time (`render.coalesce_ms`); all but text never waits longer than this.
"""

MAX_WAITING_CHUNKS = 256
MAX_WAITING_BYTES = 1024 * 1024
"""Above these the provider is not read on."""

MAX_CHUNK_LENGTH = 64 * 1024
"""Merged text stays below this, in characters."""

BUSY_BYTES = 64 * 1024
"""With more than this on the way to the client, chunks wait here, where they can still be merged."""

_JOINED_PARTS: dict[tuple[TextPart, TextPart], TextPart] = {
    ("first", "more"): "first",
    ("first", "last"): "whole",
    ("more", "more"): "more",
    ("more", "last"): "last",
}


@dataclass(slots=True)
class _Waiting:
    seq: int
    chunk: Chunk
    cycle: int


@dataclass(frozen=True, slots=True)
class Way:
    """The client's side of the queue: how chunks are sent, and how far behind the client is.

    Attributes:
        send: sends one chunk with its number and cycle.
        pending_bytes: tells what was sent and not yet taken.
        drained: waits until enough of that was taken.
    """

    send: Callable[[int, int, Chunk], None]
    pending_bytes: Callable[[], int]
    drained: Callable[[], Awaitable[None]]


class ChunkQueue:
    """Sends the chunks of one query in order, numbered from 1 without gaps."""

    def __init__(self, way: Way, coalesce_seconds: float = COALESCE_SECONDS) -> None:
        self.last_seq = 0
        self._way = way
        self._coalesce_seconds = coalesce_seconds
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0
        self._sent_at = float("-inf")
        self._region: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._draining: asyncio.Task[None] | None = None
        self._has_room = asyncio.Event()
        self._has_room.set()

    @property
    def next_seq(self) -> int:
        """The number that the next chunk will have."""
        return self.last_seq + 1

    def put(self, chunk: Chunk, cycle: int, *, is_mergeable: bool = True) -> None:
        """Take a chunk. `is_mergeable=False` begins a new one even where it could join the one before."""
        if not (is_mergeable and self._merge(chunk, cycle)):
            self.last_seq += 1
            self._waiting.append(_Waiting(self.last_seq, chunk, cycle))
        self._waiting_bytes += _size(chunk)
        self._update_room()
        self._send_when_due(self._patience(chunk))

    def gather_for(self, seconds: float) -> None:
        """Gather text for so many seconds from now on."""
        self._coalesce_seconds = seconds

    async def ready(self) -> None:
        """Wait until there is room."""
        await self._has_room.wait()

    def flush(self) -> None:
        """Send everything now, however far behind the client is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for item in waiting:
            self._way.send(item.seq, item.cycle, item.chunk)
        if waiting:
            self._sent_at = asyncio.get_running_loop().time()
        self._update_room()

    def close(self) -> None:
        """Send the rest and stop watching the client."""
        self.flush()
        if self._draining is not None:
            self._draining.cancel()

    def _merge(self, chunk: Chunk, cycle: int) -> bool:
        if not self._waiting or self._waiting[-1].cycle != cycle:
            return False
        if not isinstance(chunk, DURABLE) and hasattr(chunk, "slot"):
            return self._replace_state(chunk)
        last = self._waiting[-1]
        joined = _join(last.chunk, chunk)
        if joined is None:
            return False
        last.chunk = joined
        return True

    def _replace_state(self, chunk: Chunk) -> bool:
        """Let a state take the place of the one of its slot, if nothing durable stands between."""
        for item in reversed(self._waiting):
            if isinstance(item.chunk, DURABLE) or not hasattr(item.chunk, "slot"):
                return False
            if getattr(item.chunk, "slot", None) == getattr(chunk, "slot", None):
                item.chunk = chunk
                return True
        return False

    def _patience(self, chunk: Chunk) -> float:
        """Give how many seconds after the chunk before it this one may wait to be merged."""
        region = chunk.region if isinstance(chunk, (Text, Code)) else None
        is_first = region is not None and region != self._region
        if isinstance(chunk, DURABLE):
            self._region = region
        if is_first:
            return 0.0
        return self._coalesce_seconds if region is not None else min(self._coalesce_seconds, COALESCE_SECONDS)

    def _send_when_due(self, patience: float) -> None:
        if self._draining is not None:
            return
        loop = asyncio.get_running_loop()
        due = self._sent_at + patience
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
            self._timer = None
        if due <= loop.time():
            self._send_unless_busy()
        else:
            self._timer = loop.call_at(due, self._timer_elapsed)

    def _timer_elapsed(self) -> None:
        self._timer = None
        self._send_unless_busy()

    def _send_unless_busy(self) -> None:
        if self._way.pending_bytes() > BUSY_BYTES:
            self._draining = asyncio.get_running_loop().create_task(self._send_when_drained())
        else:
            self.flush()

    async def _send_when_drained(self) -> None:
        await self._way.drained()
        self._draining = None
        self.flush()

    def _update_room(self) -> None:
        is_full = len(self._waiting) >= MAX_WAITING_CHUNKS or self._waiting_bytes >= MAX_WAITING_BYTES
        if is_full:
            self._has_room.clear()
        else:
            self._has_room.set()


def _join(left: Chunk, right: Chunk) -> Chunk | None:
    """Join two chunks that stand behind each other in one block, or give `None`."""
    match left, right:
        case Text(), Text():
            part = _JOINED_PARTS.get((left.part, right.part))
            is_one = (left.region, left.block, left.indent) == (right.region, right.block, right.indent)
            if part is None or not is_one or len(left.md) + len(right.md) > MAX_CHUNK_LENGTH:
                return None
            return replace(left, md=left.md + right.md, part=part)
        case Code(part="line"), Code(part="line"):
            is_one = (left.region, left.language, left.indent) == (right.region, right.language, right.indent)
            if not is_one or len(left.md) + len(right.md) > MAX_CHUNK_LENGTH:
                return None
            return replace(left, md=left.md + right.md)
        case _:
            return None


def _size(chunk: Chunk) -> int:
    return 64 + len(getattr(chunk, "md", ""))
