"""A server on the loopback that speaks HTTP/2 alone and gives every request the same answer."""

import socket
import ssl
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamEnded

_PATIENCE = 20.0


class Http2Server:
    """Answers `body` as an event stream, over TLS.

    Args:
        tls: the context with the certificate.
        body: the answer.
        hold_for: answers wait until so many requests are there, so that they must share a connection.
    """

    def __init__(self, tls: ssl.SSLContext, body: bytes, *, hold_for: int = 1) -> None:
        tls.set_alpn_protocols(["h2"])
        self._tls = tls
        self._body = body
        self._hold_for = hold_for
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.request_count = 0

    @property
    def url(self) -> str:
        """The base URL."""
        host, port = self._listener.getsockname()[:2]
        return f"https://{host}:{port}"

    @property
    def connection_count(self) -> int:
        """How many connections there were."""
        return len(self._connections)

    def __enter__(self) -> Self:
        self._threads.append(threading.Thread(target=self._accept, daemon=True))
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for opened in (self._listener, *self._connections):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE)
        with suppress(OSError), self._tls.wrap_socket(connection, server_side=True) as secured:
            protocol = H2Connection(H2Configuration(client_side=False))
            protocol.initiate_connection()
            secured.sendall(protocol.data_to_send())
            waiting: list[int] = []
            while data := secured.recv(65_536):
                for event in protocol.receive_data(data):
                    if isinstance(event, RequestReceived):
                        self.request_count += 1
                    elif isinstance(event, StreamEnded):
                        waiting.append(event.stream_id)
                if self.request_count >= self._hold_for:
                    while waiting:
                        self._answer(protocol, waiting.pop())
                secured.sendall(protocol.data_to_send())

    def _answer(self, protocol: H2Connection, stream: int) -> None:
        protocol.send_headers(stream, [(":status", "200"), ("content-type", "text/event-stream")])
        protocol.send_data(stream, self._body, end_stream=True)
