"""Documents of MCP servers, for attachments and for completing their names (config-and-tools 6.6)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import anyio

from jp_lsp.ports.mcp import McpContent, McpError, McpResource, McpServerConfig
from jp_lsp.toolsets.mcp.connection import SessionGoneError
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.session import Session

READ_SECONDS = 60.0
"""How long a server may take for one document or list; nobody wants to wait longer for an attachment."""

_T = TypeVar("_T")


class ServerResources:
    """`ports.mcp.McpResources` for the servers of one query. A document is a reason to start one (trap 35).

    Args:
        servers: the pool.
        configs: the servers that the query knows, by name.
        root: the absolute path of the workspace folder.
    """

    def __init__(self, servers: McpServers, configs: Mapping[str, McpServerConfig], root: str) -> None:
        self._servers = servers
        self._configs = configs
        self._root = root

    async def list_resources(self, server: str) -> Sequence[McpResource]:
        """List what a server has; see the port.

        Raises:
            McpError: no such server, or it could not be asked.
        """
        return await self._ask(server, "its documents", lambda session: session.list_resources())

    async def read_resource(self, server: str, uri: str) -> Sequence[McpContent]:
        """Read one document; see the port.

        Raises:
            McpError: no such server, no such document, or the server could not be asked.
        """
        return await self._ask(server, uri, lambda session: session.read_resource(uri))

    async def _ask(self, server: str, what: str, work: Callable[[Session], Awaitable[_T]]) -> _T:
        config = self._configs.get(server)
        if config is None:
            raise McpError(f"Unknown MCP server: {server}; declare it under `providers.mcp.{server}`")
        try:
            with anyio.fail_after(READ_SECONDS):
                connection = await self._servers.connect(config, self._root)
                try:
                    return await connection.use(work)
                except SessionGoneError:
                    return await (await self._servers.connect(config, self._root)).use(work)
        except TimeoutError as error:
            text = f"MCP server {server!r} did not give {what} within {READ_SECONDS:g} s"
            raise McpError(text) from error
