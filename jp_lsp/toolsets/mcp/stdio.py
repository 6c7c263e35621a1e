"""Messages to and from a child process, as the library's `Transport`.

The library has such a transport too. This one bounds the size of a message, keeps what a server writes beside
the protocol for the error message instead of a traceback in the log, never lets a server that reads nothing
hold up whoever cancels a call, and ends in time.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from jp_lsp.toolsets.mcp.child import Child, LineTooLongError
from jp_lsp.toolsets.mcp.tail import Tail

_log = logging.getLogger(__name__)

_WAITING_MESSAGES = 256
"""Messages to a server that does not read; with more, who sends has to wait."""

_FLUSH_SECONDS = 0.2

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def connect_child(
    start: Callable[[], Awaitable[Child]], tail: Tail, on_lost: Callable[[], None]
) -> AsyncGenerator[Streams]:
    """Start a child, carry messages while the block runs, then end it.

    `on_lost` is called when the child's output ends, or when it takes no more input.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    child = await start()
    arrived, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](_WAITING_MESSAGES)
    written = anyio.Event()
    is_leaving = False

    def lose() -> None:
        arrived.close()
        if not is_leaving:
            on_lost()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child.watch)
            tasks.start_soon(child.cut_off)
            tasks.start_soon(_read, child, arrived, tail, lose)
            tasks.start_soon(_write, child, to_send, written, lose)
            try:
                yield incoming, outgoing
            finally:
                is_leaving = True
                incoming.close()
                outgoing.close()
                with anyio.move_on_after(_FLUSH_SECONDS, shield=True):
                    await written.wait()
                await child.end()
                tasks.cancel_scope.cancel()
    finally:
        for stream in (arrived, incoming, outgoing, to_send):
            stream.close()


async def _read(
    child: Child, arrived: MemoryObjectSendStream[Incoming], tail: Tail, lose: Callable[[], None]
) -> None:
    try:
        async for line in child.lines():
            message = _parse(line, tail)
            if message is not None:
                await arrived.send(message)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # nobody listens any more; the child may still finish what it writes
    except LineTooLongError:
        tail.add("(it sent a message that is larger than any that is taken)")
    lose()
    await child.discard()


def _parse(line: bytes, tail: Tail) -> SessionMessage | None:
    if not line.strip():
        return None
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        # Such as a greeting, or a log line that somebody printed.
        tail.add(f"(on standard output) {line[:1000].decode(errors='replace')}")
        return None
    return SessionMessage(message)


async def _write(
    child: Child,
    to_send: MemoryObjectReceiveStream[SessionMessage],
    written: anyio.Event,
    lose: Callable[[], None],
) -> None:
    try:
        async for item in to_send:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await child.write(text.encode("utf-8", "replace"))
    except ConnectionError as error:
        # It may still run, but it can be told nothing: nobody must wait for its answers.
        _log.debug("process %d takes no more input: %s", child.id, error)
        lose()
    finally:
        written.set()
