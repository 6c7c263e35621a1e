"""A real HTTP server on the loopback that does what it is told, faults included.

It runs in threads of its own, so a test may use it from any event loop or another process. A test says what
each request gets, in order:

    with HttpServer([Reply.sse("data: [DONE]\\n\\n")]) as server:
        ...  # server.url
    assert server.requests[0].json() == {...}

A `Reply` is a status, headers and steps: bytes to send, `Hold` to wait for the test, `Delay` to take some
time, `RESET` to break the connection. After the last step the reply ends as its framing demands. Requests
beyond the script get 500.
"""

import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Final, Literal, Self

_PATIENCE = 20.0
"""Seconds after which a server thread gives up, so that a broken test ends."""

_LOOK_EVERY = 0.01
"""Seconds between two looks whether the client is still there."""


class Hold:
    """A gate in the middle of a reply: the server tells that it is there and waits to be let on."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._opened = threading.Event()

    def wait_until_reached(self) -> bool:
        """Block until the server stands here."""
        return self._reached.wait(_PATIENCE)

    @property
    def is_reached(self) -> bool:
        """Whether the server stands here, or stood here."""
        return self._reached.is_set()

    def open(self) -> None:
        """Let the server go on."""
        self._opened.set()

    def pause(self, is_gone: Callable[[], bool]) -> bool:
        """For the server: stand here; tells whether the test opened the gate before the client went away."""
        self._reached.set()
        for _ in range(int(_PATIENCE / _LOOK_EVERY)):
            if self._opened.wait(_LOOK_EVERY):
                return True
            if is_gone():
                return False
        return True


@dataclass(frozen=True, slots=True)
class Delay:
    """So many seconds without a byte."""

    seconds: float


class _Reset:
    """Break the connection with a TCP reset, as a dying machine does."""


RESET: Final = _Reset()
Step = bytes | Hold | Delay | _Reset


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request gets. Without a status the connection is only played with: no header is sent.

    `framing`: `chunked` sends each bytes step as a chunk; `close` sends bytes and ends by closing; `length`
    announces the size of all bytes beforehand.
    """

    steps: Sequence[Step] = ()
    status: int | None = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    framing: Literal["chunked", "close", "length"] = "chunked"

    @classmethod
    def sse(cls, *steps: str | Step, **changes: Any) -> "Reply":
        """An event stream."""
        return cls(tuple(step.encode() if isinstance(step, str) else step for step in steps), **changes)

    @classmethod
    def text(
        cls, body: str | bytes, status: int = 200, content_type: str = "application/json", **headers: str
    ) -> "Reply":
        """A whole document; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body.encode() if isinstance(body, str) else body
        return cls((data,), status, {"content-type": content_type, **named}, "length")

    @classmethod
    def json(cls, value: object, status: int = 200, **headers: str) -> "Reply":
        """A JSON document."""
        return cls.text(json.dumps(value), status, **headers)

    @classmethod
    def nothing(cls, *steps: Step) -> "Reply":
        """No header: what happens before a response begins."""
        return cls(steps, status=None)


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Read the body."""
        return json.loads(self.body)


Script = Iterable[Reply] | Callable[[Request], Reply]


class HttpServer:
    """Serves a script: replies in the order of the requests, or a function from request to reply.

    With `tls` it speaks HTTPS.
    """

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self._tls = tls
        self._replies: Iterator[Reply] | None = None if callable(script) else iter(script)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._connections: set[socket.socket] = set()
        self._closed_by_client = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.requests: list[Request] = []
        self.connection_count = 0

    @property
    def url(self) -> str:
        """The base URL."""
        host, port = self._listener.getsockname()[:2]
        return f"http{'s' if self._tls else ''}://{host}:{port}"

    def wait_until_client_closed(self) -> bool:
        """Block until a client closed a connection in the middle of a reply."""
        return self._closed_by_client.wait(_PATIENCE)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            threads = list(self._threads)
        for thread in threads:
            thread.join(_PATIENCE)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections.add(connection)
                self.connection_count += 1
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_PATIENCE)
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while (request := _read_request(stream)) is not None:
                    if not self._answer(connection, request):
                        return
        except OSError:
            self._closed_by_client.set()
        finally:
            with self._lock:
                self._connections.discard(connection)

    def _answer(self, connection: socket.socket, request: Request) -> bool:
        """Play one reply; tell whether the connection can carry another."""
        with self._lock:
            self.requests.append(request)
            reply = self._next_reply(request)
        if reply.status is not None:
            connection.sendall(_head(reply))
        for step in reply.steps:
            match step:
                case Hold():
                    if not step.pause(partial(_is_closed, connection)):
                        raise ConnectionResetError
                case Delay(seconds):
                    time.sleep(seconds)
                case _Reset():
                    _reset(connection)
                    return False
                case _:
                    is_chunked = reply.framing == "chunked" and reply.status is not None
                    connection.sendall(b"%x\r\n%b\r\n" % (len(step), step) if is_chunked else step)
        if reply.status is None or reply.framing == "close":
            return False
        if reply.framing == "chunked":
            connection.sendall(b"0\r\n\r\n")
        return True

    def _next_reply(self, request: Request) -> Reply:
        if self._replies is None:
            assert callable(self._script)
            return self._script(request)
        return next(self._replies, Reply.text("the script has no reply left", 500, "text/plain"))


def _is_closed(connection: socket.socket) -> bool:
    """Tell whether the client has closed its side, without taking what it may have sent."""
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def _read_request(stream: Any) -> Request | None:
    """Read a request; `None` when there is none, or when the client went away in the middle of it."""
    line = stream.readline()
    headers: dict[str, str] = {}
    while (header := stream.readline()) not in {b"\r\n", b"\n", b""}:
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    size = int(headers.get("content-length", "0"))
    body = stream.read(size)
    if not header or len(body) < size:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    return Request(method, path, headers, body)


def _head(reply: Reply) -> bytes:
    headers = dict(reply.headers)
    if reply.framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif reply.framing == "length":
        headers.setdefault("content-length", str(sum(len(s) for s in reply.steps if isinstance(s, bytes))))
    else:
        headers["connection"] = "close"
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reset(connection: socket.socket) -> None:
    # Closing with a linger time of zero sends RST instead of FIN.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RD)
    connection.close()


@contextmanager
def refusing_url() -> Generator[str, None, None]:
    """Give an address where nobody listens, kept free for as long as the block lasts."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}"
