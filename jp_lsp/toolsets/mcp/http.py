"""Messages to and from a server that is reached over HTTP, as the library's `Transport`.

The library does the work; what is added here: the user's token, no time limit on an answer (a tool may take
as long as it likes; whoever calls it has a limit), bounded sizes, and knowledge of what went wrong, which the
library reduces to "an error response".
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio.to_thread
import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from jp_lsp import __version__
from jp_lsp.toolsets.mcp.tail import Tail

if TYPE_CHECKING:
    # The library exports the protocol of a transport, but not the pair that one yields.
    from mcp.client._transport import TransportStreams  # pyright: ignore[reportPrivateUsage]

MAX_SIZE = 32 * 1024 * 1024
"""The most bytes of one answer, or of one event of a stream."""

_CONNECT_SECONDS = 30.0


@asynccontextmanager
async def connect_http(
    url: str, token: str | None, tail: Tail, on_expired: Callable[[], None]
) -> AsyncGenerator["TransportStreams"]:
    """Carry messages while the block runs.

    Args:
        url: where it answers.
        token: sent as a bearer token.
        tail: gets a line for each refusal.
        on_expired: called when the server no longer knows our session.
    """

    async def look(response: httpx2.Response) -> None:
        content_type = response.headers.get("content-type", "").lower()
        # A refusal in JSON says itself what is wrong, and a server need not know another method.
        is_post = response.request.method == "POST"
        if is_post and response.is_error and not content_type.startswith("application/json"):
            tail.add(f"HTTP {response.status_code} {response.reason_phrase}")
        if response.status_code == HTTPStatus.NOT_FOUND and MCP_SESSION_ID in response.request.headers:
            on_expired()
        if not content_type.startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)

    def make_client() -> httpx2.AsyncClient:
        headers = {"user-agent": f"jp-lsp/{__version__}", "accept-encoding": "identity"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
            event_hooks={"response": [look]},
            # A proxy could not reach this machine's own servers, and is not to see what is said to them.
            trust_env=not _is_loopback(url),
        )

    # Certificates are read from disk, which takes a tenth of a second.
    async with (
        await anyio.to_thread.run_sync(make_client) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_SIZE) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error once it is larger than any that is taken."""

    def __init__(self, stream: object) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = MAX_SIZE
        async for piece in self._stream:
            room -= len(piece)
            if room < 0:
                raise httpx2.StreamError(f"the answer is larger than {MAX_SIZE} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
