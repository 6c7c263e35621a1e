"""The way to a vendor: the only module that knows the HTTP library (providers 2).

It sends a body and gives bytes, reads small JSON answers, and says in our own words what went wrong. It knows
no vendor, never retries and never looks at what the bytes mean. The idle timer that watches a silent stream
is the driver's: streams have no read timeout here, but each arrival is told to the observer.

The library is imported when the first request goes out, in a worker thread: it takes a tenth of a second and
the server must be up long before anybody asks a model anything.
"""

import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

import anyio
import anyio.to_thread

from jp_lsp import __version__
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CycleObserver
from jp_lsp.providers.request_trace import RequestTrace
from jp_lsp.providers.untrusted import encode_body, parse_json
from jp_lsp.render.secrets import Secrets
from jp_lsp.turn.failure import FailureKind, StreamFailure

if TYPE_CHECKING:
    import httpx


_CONNECT_TIMEOUT = 10.0
_WRITE_TIMEOUT = 30.0
_POOL_TIMEOUT = 10.0
_JSON_READ_TIMEOUT = 60.0
_KEPT_IDLE = 60.0
"""Seconds for which a connection waits for the next request: tools run between the cycles of a turn."""
_READ_OUT_TIMEOUT = 0.1
_MAX_READ_OUT_SIZE = 64 * 1024
_MAX_REFUSAL_SIZE = 1024 * 1024
_MAX_JSON_SIZE = 32 * 1024 * 1024
_NO_STREAM_TYPES = frozenset({"application/json", "text/html", "text/plain"})
_CHAT = "/chat/completions"
_VERSION = re.compile(r"/v\d+[a-z]*\d*\Z")


@dataclass(frozen=True, slots=True)
class RefusedResponse:
    """A response that is no stream; header names are in lower case, the body may be cut at 1 MiB (errors)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ResponseRefusedError(Exception):
    """The vendor answered, but not with what was asked for: classify `response`."""

    def __init__(self, response: RefusedResponse) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class ConnectionBrokenError(Exception):
    """There was no whole answer: no connection, a timeout, or a loss in the middle."""

    def __init__(self, failure: StreamFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class VendorHttp:
    """Connections to one vendor, kept for as long as the provider lives.

    `headers` go with every request. `secrets` are strings that no text for people may hold. `trace` writes down
    what is sent, if the user wants to see it.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        now: Callable[[], float] = time.time,
        trace: RequestTrace | None = None,
    ) -> None:
        self._provider = provider
        self._base_url = base_url
        self._headers = {"user-agent": f"jp-lsp/{__version__}", **(headers or {})}
        self._secrets = Secrets(secrets)
        self._client: httpx.AsyncClient | None = None
        self._client_lock = anyio.Lock()
        self._trace = trace
        self.now = now

    @property
    def address(self) -> str:
        """Host and port as people should see them: no path, no credentials."""
        parts = urlsplit(self._base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def mask(self, text: str) -> str:
        """Take keys out of a text that people will see."""
        return self._secrets.hide(text)

    async def stream(
        self, path: str, body: JsonObject, observer: CycleObserver, *, accept: str = "text/event-stream"
    ) -> AsyncGenerator[bytes, None]:
        """Send a body and give the bytes of the answer as they arrive, decompressed.

        Closing this iterator closes the connection at once, without reading what is left.

        Raises:
            ResponseRefusedError: the answer is no stream.
            ConnectionBrokenError: the connection failed, now or later.
        """
        content = await anyio.to_thread.run_sync(encode_body, body, abandon_on_cancel=True)
        if self._trace is not None:
            await anyio.to_thread.run_sync(self._write_down, self._trace, content)
        async with self._send(
            "POST",
            path,
            read_timeout=None,
            content=content,
            headers={"content-type": "application/json", "accept": accept},
        ) as response:
            observer.bytes_received()
            if not is_stream(response.status_code, response.headers.get("content-type", "")):
                raise ResponseRefusedError(await _read_refusal(response, observer, accept))
            async for chunk in response.aiter_bytes():
                observer.bytes_received()
                yield chunk

    async def get(
        self, path: str, query: Mapping[str, str] | None = None, *, is_versioned: bool = True
    ) -> JsonValue:
        """Ask for a JSON document, such as a list of models.

        Pages that are not `is_versioned` lie beside the API: a version at the end of the base URL is not theirs.

        Raises:
            ResponseRefusedError: the answer has an error status.
            ConnectionBrokenError: the connection failed, or the answer is not JSON.
        """
        async with self._send(
            "GET",
            path,
            read_timeout=_JSON_READ_TIMEOUT,
            params=query,
            headers={"accept": "application/json"},
            is_versioned=is_versioned,
        ) as response:
            is_refused = response.status_code >= 300
            body = await _read_at_most(response, _MAX_REFUSAL_SIZE if is_refused else _MAX_JSON_SIZE)
        if is_refused:
            raise ResponseRefusedError(RefusedResponse(response.status_code, _lower(response), body))
        try:
            return parse_json(body)
        except ValueError as error:
            message = f"{self.address} did not answer {path} with JSON"
            failure = StreamFailure(FailureKind.TRANSIENT, message, provider=self._provider)
            raise ConnectionBrokenError(failure) from error

    async def aclose(self) -> None:
        """Close all connections; a later request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _write_down(self, trace: RequestTrace, content: bytes) -> None:
        trace.write(self._provider, self.mask(content.decode()))

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        *,
        read_timeout: float | None,
        headers: Mapping[str, str],
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        is_versioned: bool = True,
    ) -> AsyncGenerator["httpx.Response", None]:
        """Send a request, lend the response, close it; say what went wrong in our words."""
        client = await self._ready_client()
        import httpx  # loaded by now; see the module's docstring

        request = client.build_request(
            method,
            join_url(self._base_url, path, is_versioned=is_versioned),
            content=content,
            params=params,
            headers=headers,
            timeout=httpx.Timeout(
                read_timeout, connect=_CONNECT_TIMEOUT, write=_WRITE_TIMEOUT, pool=_POOL_TIMEOUT
            ),
        )
        try:
            response = await client.send(request, stream=True)
            try:
                yield response
            finally:
                # A reset while closing is normal once the answer is complete.
                with suppress(httpx.HTTPError):
                    await response.aclose()
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ConnectionBrokenError(self._failure_of(error)) from error

    async def _ready_client(self) -> "httpx.AsyncClient":
        async with self._client_lock:
            if self._client is None:
                self._client = await anyio.to_thread.run_sync(self._make_client)
            return self._client

    def _make_client(self) -> "httpx.AsyncClient":
        # Not at the top of the file: a started server must not have loaded it (see the module's docstring).
        import httpx

        try:
            client = httpx.AsyncClient(
                headers=self._headers,
                # Proxies and certificates come from the environment. Reading the certificates takes a tenth of
                # a second, which a plain-text address (a server on this machine) need not wait for.
                # A proxy could not reach this machine's own servers, and is not to see what is said to them.
                trust_env=not _is_loopback(self._base_url),
                verify=self._base_url.lower().startswith("https:"),
                follow_redirects=False,
                limits=httpx.Limits(max_keepalive_connections=10, keepalive_expiry=_KEPT_IDLE),
                # Several answers of one vendor then share a connection. Without the library nothing is lost.
                http2=find_spec("h2") is not None,
            )
            _check_ports_of_proxies()
            return client
        except (httpx.InvalidURL, ImportError, OSError, ValueError) as error:
            # Such as a proxy of an unknown kind, or a file of certificates that is not there.
            message = (
                f"cannot connect to {self.address}: a proxy (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY) or the certificates"
                f" (SSL_CERT_FILE) of the environment cannot be used: {self.mask(str(error))}"
            )
            failure = StreamFailure(FailureKind.OTHER, message, provider=self._provider)
            raise ConnectionBrokenError(failure) from error

    def _failure_of(self, error: Exception) -> StreamFailure:
        """Say which kind of trouble an exception of the library is (providers 3.1)."""
        import httpx  # loaded by now; see the module's docstring

        said = self.mask(str(error)) or type(error).__name__
        match error:
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                kind, message = (
                    FailureKind.TIMEOUT,
                    f"no connection to {self.address} in {_CONNECT_TIMEOUT:g} s",
                )
            case httpx.TimeoutException():
                kind, message = FailureKind.TIMEOUT, f"{self.address} did not answer in time"
            case httpx.ConnectError() | httpx.ProxyError() | httpx.UnsupportedProtocol():
                kind, message = FailureKind.CONNECT, f"cannot connect to {self.address}: {said}"
            case _:
                kind, message = FailureKind.TRANSIENT, f"the connection to {self.address} broke: {said}"
        return StreamFailure(kind, message, provider=self._provider)


async def read_out(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read the little that may follow the end of an answer, so that its connection can carry the next request.

    What takes longer is not worth it; nothing that goes wrong here matters any more.
    """
    with suppress(ConnectionBrokenError), anyio.move_on_after(_READ_OUT_TIMEOUT):
        size = 0
        async for chunk in chunks:
            size += len(chunk)
            if size > _MAX_READ_OUT_SIZE:
                return


def _is_loopback(base_url: str) -> bool:
    """Tell whether a plain-text address is this machine's own."""
    parts = urlsplit(base_url)
    if parts.scheme.lower() != "http":
        return False
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"


def _check_ports_of_proxies() -> None:
    """Look at what the library does not: it would fail in the middle of connecting.

    Raises:
        ValueError: no port can have such a number.
    """
    proxies = getproxies()
    if "*" in [host.strip() for host in proxies.get("no", "").split(",")]:
        return  # none of them is used
    for kind in ("http", "https", "all"):
        address = proxies.get(kind, "")
        _ = urlsplit(address if "://" in address else f"//{address}").port


def join_url(base_url: str, path: str, *, is_versioned: bool = True) -> str:
    """Put an absolute path behind a base URL, whose own path stays in front.

    People give addresses with and without the version; it is not doubled, one of a server's own (`/v4`) stands in
    its place, and it stays away from pages that are not `is_versioned`. An address may also be that of the chat
    completions themselves, which says for certain that the API begins right before them, version or not.
    """
    base = base_url.removesuffix("/")
    root = base.removesuffix(_CHAT)
    before, version, rest = path.partition("/v1/")
    if not is_versioned:
        return _VERSION.sub("", root) + path
    if version and (root != base or (not before and _VERSION.search(base))):
        return f"{root}/{rest}"
    return root.removesuffix(f"{before}/v1") + path if version else root + path


def is_stream(status: int, content_type: str) -> bool:
    """Apply the response gate of providers 2.1; a missing content type passes for a stream."""
    return status < 300 and content_type.partition(";")[0].strip().lower() not in _NO_STREAM_TYPES


async def _read_refusal(response: "httpx.Response", observer: CycleObserver, accept: str) -> RefusedResponse:
    import httpx  # loaded by now; see the module's docstring

    # An answer in one piece may be asked for; it is no stream, and larger than any error.
    is_document = response.status_code < 300 and accept == "application/json"
    limit = _MAX_JSON_SIZE if is_document else _MAX_REFUSAL_SIZE
    body = bytearray()
    # The status is what matters: a body that breaks off still explains as much as arrived.
    with suppress(httpx.HTTPError):
        async for chunk in response.aiter_bytes():
            observer.bytes_received()
            body += chunk
            if len(body) >= limit:
                break
    return RefusedResponse(response.status_code, _lower(response), bytes(body[:limit]))


async def _read_at_most(response: "httpx.Response", limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= limit:
            break
    return bytes(body[:limit])


def _lower(response: "httpx.Response") -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}
