"""One provider request: reads its events into the mailbox, and guards it.

The guards know no vendor: silence (idle), endlessness (output ceiling), and vendors that are silent on
purpose while they write a tool call's arguments (query pipeline 1.9, providers 4.3 and 4.4).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing

import anyio
from anyio.lowlevel import checkpoint

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import CycleRequest, Provider
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import AttemptId, FromProvider, Input, StreamEnded, UsageReported
from jp_lsp.turn.stream_event import (
    Finished,
    Flush,
    KeepAlive,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)

IDLE_CHECK_INTERVAL = 3.0
"""Seconds between two looks at the clock; a machine that slept is noticed this soon."""

ARGUMENTS_KEEP_ALIVE = 5.0
"""Seconds of silence within a tool call after which we say ourselves that the vendor lives."""

MIN_EVENT_TIMEOUT = 600.0
"""Comments keep a stream alive, but not for ever: an event must come in ten idle times, at least in this."""

EVENTS_BETWEEN_CHECKPOINTS = 16


class Pump:
    """Reads one attempt.

    Args:
        attempt: tags what is read.
        post: takes the inputs.
        ready: waits while the client is behind.
        clock: tells wall time, which goes on while a machine sleeps.
        guards: the limits.
    """

    def __init__(
        self,
        attempt: AttemptId,
        post: Callable[[Input], None],
        ready: Callable[[], Awaitable[None]],
        clock: Clock,
        guards: StreamGuards,
    ) -> None:
        self._attempt = attempt
        self._post = post
        self._ready = ready
        self._clock = clock
        self._guards = guards
        self._scope = anyio.CancelScope()
        self._may_read = anyio.Event()
        self._may_read.set()
        self._last_bytes = self._last_event = clock.wall()
        self._open_calls: set[int] = set()
        self._bytes = 0

    async def run(self, provider: Provider, build: Callable[[], Awaitable[CycleRequest]]) -> None:
        """Have the request built, send it, and read until the end, a guard, or `close`."""
        with self._scope:
            request = await build()
            count = len(request.thread.events)
            async with aclosing(
                await beside_when_long(count, lambda: provider.stream(request, self))
            ) as events:
                self._last_bytes = self._last_event = self._clock.wall()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch, provider.pauses_in_arguments, request.model.streams)
                    await self._read(events)
                    tasks.cancel_scope.cancel()

    def close(self) -> None:
        """Close the connection at once."""
        self._scope.cancel()

    def pause(self) -> None:
        """Stop reading, so that the vendor's socket fills up."""
        if self._may_read.is_set():
            self._may_read = anyio.Event()

    def resume(self) -> None:
        """Read on; the time of the pause does not count as silence."""
        self._last_bytes = self._last_event = self._clock.wall()
        self._may_read.set()

    def bytes_received(self) -> None:
        """Note that the connection lives."""
        self._last_bytes = self._clock.wall()

    def usage_reported(self, usage: Usage) -> None:
        """Pass the vendor's count of tokens on."""
        self._post(UsageReported(usage))

    async def _read(self, events: AsyncIterator[StreamEvent]) -> None:
        count = 0
        async for event in events:
            self._last_bytes = self._last_event = self._clock.wall()
            await self._may_read.wait()
            await self._ready()
            self._note(event)
            self._post(FromProvider(self._attempt, event))
            if 0 < self._guards.max_response_bytes < self._bytes:
                text = f"the answer is longer than {self._guards.max_response_bytes} bytes"
                self._fail(FailureKind.OUTPUT_LIMIT, text)
                return
            count += 1
            if count % EVENTS_BETWEEN_CHECKPOINTS == 0:
                await checkpoint()
        self._post(StreamEnded(self._attempt))

    def _note(self, event: StreamEvent) -> None:
        """Count what was generated, and which calls are open."""
        match event:
            case TextPart(text=text, metadata=metadata):
                self._bytes += len(text.encode("utf-8", "surrogatepass")) + _size(metadata)
            case ToolCallStart(index, id, name, metadata):
                self._open_calls.add(index)
                self._bytes += len(id) + len(name) + _size(metadata)
            case ToolCallArguments(text=text):
                self._bytes += len(text.encode("utf-8", "surrogatepass"))
            case Flush(index, metadata):
                self._open_calls.discard(index)
                self._bytes += _size(metadata)
            case Finished():
                self._open_calls.clear()
            case _:
                pass

    async def _watch(self, pauses_in_arguments: bool, streams: bool) -> None:
        idle_timeout = self._guards.idle_timeout
        interval = min(IDLE_CHECK_INTERVAL, idle_timeout) or IDLE_CHECK_INTERVAL
        while True:
            await self._clock.sleep(interval)
            if not self._may_read.is_set():
                continue
            now = self._clock.wall()
            silence = now - self._last_bytes
            if idle_timeout and now - self._last_event >= max(10 * idle_timeout, MIN_EVENT_TIMEOUT):
                self._fail(FailureKind.TIMEOUT, f"no content came for {now - self._last_event:.0f} s")
                return
            if pauses_in_arguments and self._open_calls:
                if silence >= ARGUMENTS_KEEP_ALIVE:
                    self._last_bytes = now
                    self._post(FromProvider(self._attempt, KeepAlive()))
            elif streams and idle_timeout and silence >= idle_timeout:
                self._fail(FailureKind.TIMEOUT, f"nothing came for {silence:.0f} s")
                return

    def _fail(self, kind: FailureKind, message: str) -> None:
        self._post(FromProvider(self._attempt, StreamFailure(kind, message)))
        self._scope.cancel()


def _size(metadata: Mapping[str, JsonValue]) -> int:
    return sum(len(value) for value in metadata.values() if isinstance(value, str))
