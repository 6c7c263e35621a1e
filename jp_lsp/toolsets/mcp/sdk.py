"""Sessions by the official library, the only module that speaks the protocol; loaded when first needed.

What the library raises ends here. Exceptions of its inner tasks come out in groups, wrapped as deep as its
tasks are nested, so the first leaf is what is told.
"""

import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar, assert_never, cast

import httpx2
import jsonschema.validators  # type: ignore[import-untyped]  # noqa: F401 - needed in a call; here is a worker thread
import mcp_types
import pydantic
from mcp.client import Client, ClientRequestContext, IncomingMessage, Transport
from mcp.shared.exceptions import MCPError

from jp_lsp import __version__
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.mcp import HttpServer, McpContent, McpError, McpResource, StdioServer
from jp_lsp.render.secrets import cut
from jp_lsp.tools.outcome import Failed, Succeeded
from jp_lsp.toolsets.mcp.content import to_contents, to_outcome, to_resources
from jp_lsp.toolsets.mcp.elicitation import Ask, Filled, FormResult, fill_form, visit_address
from jp_lsp.toolsets.mcp.http import connect_http
from jp_lsp.toolsets.mcp.session import OnProgress, Opening, ServerTool, SessionError
from jp_lsp.toolsets.mcp.stdio import connect_child

_log = logging.getLogger(__name__)

MAX_PAGES = 100
"""How many pages of a list are fetched; a server that never ends its list is stopped here."""

_MAX_REASON_SIZE = 4000
_Page = TypeVar("_Page", mcp_types.ListToolsResult, mcp_types.ListResourcesResult)


@asynccontextmanager
async def open_session(opening: Opening) -> AsyncGenerator["SdkSession"]:
    """Connect to a server; see `SessionModule`."""

    async def elicit(
        context: ClientRequestContext, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult:
        async def fill(ask: Ask) -> FormResult:
            if isinstance(params, mcp_types.ElicitRequestURLParams):
                return await visit_address(opening.config.name, params.message, params.url, ask)
            return await fill_form(opening.config.name, params.message, params.requested_schema, ask)

        result = await opening.elicit(fill)
        if not isinstance(result, Filled):
            return mcp_types.ElicitResult(action=result)
        is_form = isinstance(params, mcp_types.ElicitRequestFormParams)
        content = dict(result.content) if is_form else None
        return mcp_types.ElicitResult.model_validate({"action": "accept", "content": content})

    async def list_roots(context: ClientRequestContext) -> mcp_types.ListRootsResult:
        folder = Path(opening.root)
        root = mcp_types.Root(uri=pydantic.FileUrl(folder.as_uri()), name=folder.name)
        return mcp_types.ListRootsResult(roots=[root])

    async def log(params: mcp_types.LoggingMessageNotificationParams) -> None:
        _log.debug("%s: %s: %.500s", opening.config.name, params.level, params.data)

    async def take(message: IncomingMessage) -> None:
        if isinstance(message, Exception):
            opening.tail.add(_reason(message))

    client = Client(
        _transport(opening),
        mode=opening.mode,
        # Tools are listed once a turn, and then as they are now.
        cache=None,
        client_info=mcp_types.Implementation(name="jp-lsp", version=__version__),
        elicitation_callback=elicit,
        list_roots_callback=list_roots,
        logging_callback=log,
        message_handler=take,
    )
    async with client:
        yield SdkSession(client)


def _transport(opening: Opening) -> Transport:
    match opening.config:
        case StdioServer():
            return connect_child(opening.start_child, opening.tail, opening.on_lost)
        case HttpServer(url=url):
            return connect_http(url, opening.token, opening.tail, opening.on_expired)
        case _:
            assert_never(opening.config)


class SdkSession:
    """`session.Session` on a client of the library."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_listed = False

    async def list_tools(self) -> Sequence[ServerTool]:
        """List all tools."""
        with _translated():
            pages = await _all_pages(lambda cursor: self._client.list_tools(cursor=cursor))
        self._is_listed = True
        tools = [tool for page in pages for tool in page.tools]
        return tuple(ServerTool(tool.name, tool.description, tool.input_schema) for tool in tools)

    async def call_tool(
        self, name: str, arguments: JsonObject, on_progress: OnProgress
    ) -> Succeeded | Failed:
        """Run a tool."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            on_progress(message, _percentage(progress, total))

        if not self._is_listed:
            # The library looks a tool up to check its result. If it did so only then, a server that ends
            # with its answer would take the result along.
            await self.list_tools()
        with _translated():
            result = await self._client.call_tool(name, dict(arguments), progress_callback=report)
        return to_outcome(result)

    async def list_resources(self) -> Sequence[McpResource]:
        """List all documents; a server that has none need not know the question."""
        if self._client.server_capabilities.resources is None:
            return ()
        with _translated():
            pages = await _all_pages(lambda cursor: self._client.list_resources(cursor=cursor))
        return to_resources([item for page in pages for item in page.resources])

    async def read_resource(self, uri: str) -> Sequence[McpContent]:
        """Read a document."""
        with _translated():
            result = await self._client.read_resource(uri)
        try:
            return to_contents(result)
        except ValueError as error:
            raise SessionError(f"sent {uri} in a form that cannot be read: {error}") from error


async def _all_pages(fetch: Callable[[str | None], Awaitable[_Page]]) -> list[_Page]:
    pages = [await fetch(None)]
    while (cursor := pages[-1].next_cursor) is not None and len(pages) < MAX_PAGES:
        pages.append(await fetch(cursor))
    return pages


def _percentage(progress: float, total: float | None) -> int | None:
    if total is None or not total > 0 or not math.isfinite(progress / total):
        return None
    return round(min(max(progress / total, 0.0), 1.0) * 100)


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except MCPError as error:
        is_closed = error.code == mcp_types.CONNECTION_CLOSED
        is_rejected = error.code == mcp_types.INVALID_REQUEST
        text = f"refused: {_reason(error)}"
        raise SessionError(text, is_closed=is_closed, is_rejected=is_rejected) from error
    except (RuntimeError, pydantic.ValidationError, ExceptionGroup) as error:
        # The library's words for results that break the protocol or the tool's own promise.
        raise SessionError(f"gave a wrong answer: {_reason(error)}") from error


def explain(error: BaseException) -> str:
    """Say why it failed; see `SessionModule`."""
    return _reason(error)


def _first_leaf(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        return _first_leaf(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return error


def _reason(error: BaseException) -> str:
    leaf = _first_leaf(error)
    match leaf:
        case McpError():
            return str(leaf)
        case MCPError():
            return f"{cut(leaf.message, _MAX_REASON_SIZE)} (code {leaf.code})"
        case pydantic.ValidationError():
            first = leaf.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            return cut(f"what it answered is not valid ({where}: {first['msg']})", _MAX_REASON_SIZE)
        case httpx2.TransportError() | httpx2.InvalidURL():
            return cut(f"it cannot be reached: {str(leaf) or type(leaf).__name__}", _MAX_REASON_SIZE)
        case OSError():
            return leaf.strerror or str(leaf)
        case _:
            return cut(str(leaf) or type(leaf).__name__, _MAX_REASON_SIZE)
