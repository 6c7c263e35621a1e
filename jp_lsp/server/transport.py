"""One client's connection from its first byte to its orderly end, over standard streams or a socket.

```
bytes -> FrameReceiver -> JpProtocol.receive -> handlers -> JpProtocol -> Writer -> bytes
```

Many things end a connection: `exit`, the end of the input, a broken pipe, a signal, an editor that died. All go
the same way (query pipeline 4.8). The first one is the reason; the app ends its turns and saves; requests that
still run are cancelled and answered; what is pending is written; then `serve` gives the process's exit code.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable

from jp_lsp.server.lifecycle import ClosingReason
from jp_lsp.server.parent import wait_until_gone
from jp_lsp.server.process import handle_signals
from jp_lsp.server.reader import FrameReceiver
from jp_lsp.server.stdio import WireDescriptors, open_reader, open_writer
from jp_lsp.server.wire import JpLanguageServer
from jp_lsp.server.writer import TransportWriter, Writer

_log = logging.getLogger(__name__)

CLOSING_TIMEOUT = 9.0
"""Seconds that the app has to end its turns and save; a process is gone within ten (S10)."""

_END_REQUESTS_WITHIN = 0.3
_FLUSH_WITHIN = 0.5

WaitUntilGone = Callable[[int], Awaitable[None]]


class Connection:
    """Ties one server object to one client.

    Args:
        server: serves this client and no other.
        closing_timeout: seconds for the server's `on_closing`.
        parent_gone: waits until the client's process is gone, or `None` when it runs who knows where.
    """

    def __init__(
        self,
        server: JpLanguageServer,
        *,
        closing_timeout: float = CLOSING_TIMEOUT,
        parent_gone: WaitUntilGone | None = wait_until_gone,
    ) -> None:
        self._server = server
        self._closing_timeout = closing_timeout
        self._parent_gone = parent_gone
        self._closing: asyncio.Future[ClosingReason] = asyncio.get_running_loop().create_future()
        self._exit_code = 0
        self._work_ending: asyncio.Task[None] | None = None
        self._parent_watch: asyncio.Task[None] | None = None

    def attach(self, writer: Writer) -> FrameReceiver:
        """Connect the server to its way out; gives what is to be fed with what comes in."""
        self._writer = writer
        self._server.protocol.connect(writer, self)
        self._receiver = FrameReceiver(
            self._server.protocol.receive,
            on_end=lambda: self.close(ClosingReason.EOF),
            on_foreign=lambda: self.close(ClosingReason.FOREIGN),
            writer=writer,
        )
        return self._receiver

    def close(self, reason: ClosingReason, exit_code: int = 0) -> None:
        """Let the connection end; a second reason changes nothing."""
        if not self._closing.done():
            _log.info("the connection ends: %s", reason.value)
            self._exit_code = exit_code
            self._closing.set_result(reason)
            self._server.protocol.stop_serving()
            if reason is ClosingReason.EXIT:
                self._receiver.stop()

    async def serve(self) -> int:
        """Wait for the end of the connection and go through it; gives the exit code."""
        reason = await asyncio.shield(self._closing)
        protocol = self._server.protocol
        if self._parent_watch is not None:
            self._parent_watch.cancel()
        if reason.is_client_gone:
            protocol.end_questions()
        await self.end_work(reason)
        await protocol.end_requests(_END_REQUESTS_WITHIN)
        protocol.end_questions()
        self._receiver.stop()
        await self._writer.close(_FLUSH_WITHIN)
        return self._exit_code

    # What the protocol tells (`Lifecycle`).

    async def end_work(self, reason: ClosingReason) -> None:
        """Let the app end its turns and save, once, within the time that it has."""
        if self._work_ending is None:
            self._work_ending = asyncio.get_running_loop().create_task(self._end_work(reason))
        await asyncio.shield(self._work_ending)

    def exit(self, code: int) -> None:
        """The client sent `exit`."""
        self.close(ClosingReason.EXIT, code)

    def client_process(self, process_id: int) -> None:
        """The client told its process id."""
        if self._parent_gone is not None and self._parent_watch is None:
            watch = self._watch_parent(self._parent_gone, process_id)
            self._parent_watch = asyncio.get_running_loop().create_task(watch)

    async def _end_work(self, reason: ClosingReason) -> None:
        if self._server.on_closing is None:
            return
        hook = asyncio.ensure_future(self._server.on_closing(reason))
        _, late = await asyncio.wait([hook], timeout=self._closing_timeout)
        if late:
            _log.error("work was given up: it did not end within %.1f s", self._closing_timeout)
            hook.cancel()
        elif not hook.cancelled() and (error := hook.exception()) is not None:
            _log.error("work did not end well", exc_info=error)

    async def _watch_parent(self, parent_gone: WaitUntilGone, process_id: int) -> None:
        await parent_gone(process_id)
        self.close(ClosingReason.PARENT_GONE)


async def serve_stdio(
    server: JpLanguageServer,
    wire: WireDescriptors,
    *,
    closing_timeout: float = CLOSING_TIMEOUT,
    parent_gone: WaitUntilGone = wait_until_gone,
) -> int:
    """Serve one client over standard input and output, until it goes or a signal comes.

    Args:
        server: the server object.
        wire: what `take_standard_streams` gave.
        closing_timeout: seconds for the server's `on_closing`.
        parent_gone: waits until the client's process is gone.

    Returns:
        The exit code: 0 after `shutdown` and `exit` or when the client is gone, 1 after `exit` alone, 128 and
        the number after a signal.
    """
    connection = Connection(server, closing_timeout=closing_timeout, parent_gone=parent_gone)
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    lost.add_done_callback(lambda _: connection.close(ClosingReason.BROKEN_PIPE))
    writer = await open_writer(wire, lost)
    receiver = connection.attach(writer)
    with handle_signals(connection.close):
        await open_reader(wire, receiver)
        return await connection.serve()


async def serve_tcp(
    make_server: Callable[[], JpLanguageServer],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    allow_remote: bool = False,
    on_listening: Callable[[str, int], None] | None = None,
    closing_timeout: float = CLOSING_TIMEOUT,
) -> int:
    """Serve clients over TCP until a signal comes; each gets a server object of its own.

    Nothing is encrypted and nobody is asked for a password: whoever can connect can run tools as this user.

    Args:
        make_server: makes the server object of a new client.
        host: where to listen; an address of this machine's loopback unless `allow_remote`.
        port: 0 lets the system choose.
        allow_remote: accept a `host` that others can reach.
        on_listening: told the address and port once clients can connect.
        closing_timeout: seconds for each server's `on_closing`.

    Returns:
        128 and the number of the signal that ended it.

    Raises:
        ValueError: the host can be reached by others and that was not allowed.
        OSError: the address cannot be listened on.
    """
    if not allow_remote and not _is_loopback(host):
        message = f"{host!r} can be reached from other machines; the wire has no password, so only a loopback"
        raise ValueError(f"{message} address such as 127.0.0.1 is taken unless remote clients are allowed")
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[ClosingReason, int]] = loop.create_future()
    connections: dict[Connection, asyncio.Task[int]] = {}

    def accept() -> _SocketEnd:
        connection = Connection(make_server(), closing_timeout=closing_timeout, parent_gone=None)
        writer = TransportWriter(lambda: connection.close(ClosingReason.BROKEN_PIPE))
        connections[connection] = task = loop.create_task(connection.serve())
        task.add_done_callback(lambda _: connections.pop(connection))
        return _SocketEnd(connection.attach(writer), writer)

    def stop(reason: ClosingReason, exit_code: int) -> None:
        if not ended.done():
            ended.set_result((reason, exit_code))

    with handle_signals(stop):
        listener = await loop.create_server(accept, host, port)
        if on_listening is not None:
            address = listener.sockets[0].getsockname()
            on_listening(address[0], address[1])
        try:
            reason, exit_code = await ended
        finally:
            listener.close()
        for connection in connections:
            connection.close(reason)
        if connections:
            await asyncio.wait(list(connections.values()))
        return exit_code


class _SocketEnd(asyncio.Protocol):
    """Splits a socket's events between the reader and the writer."""

    def __init__(self, receiver: FrameReceiver, writer: TransportWriter) -> None:
        self._receiver = receiver
        self._writer = writer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._writer.connection_made(transport)
        self._receiver.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._receiver.data_received(data)

    def eof_received(self) -> bool:
        """Keep the socket open for writing: the answers to what was sent may still be wanted."""
        self._receiver.eof_received()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._receiver.connection_lost(exc)
        self._writer.connection_lost(exc)

    def pause_writing(self) -> None:
        self._writer.pause_writing()

    def resume_writing(self) -> None:
        self._writer.resume_writing()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
