"""The pool: every connection to an MCP server that this program has, shared by all its turns.

A server is started when somebody first needs it, kept from turn to turn, started again when it died, and
started anew when its entry in the configuration changed. Running turns keep the configuration they began with:
a connection under an old entry goes when nobody uses it any more.
"""

import asyncio
from collections.abc import Mapping

import anyio
import anyio.to_thread

from jp_lsp.ports.mcp import McpError, McpServerConfig
from jp_lsp.toolsets.mcp.connection import Connection
from jp_lsp.toolsets.mcp.session import Mode
from jp_lsp.toolsets.orphan_guard import OrphanGuard

END_SECONDS = 3.0
"""The most seconds that ending all servers takes."""


class McpServers:
    """Connections by server, workspace folder and configuration. To be used from one event loop.

    Args:
        environment: what the servers' programs get, and where tokens are looked up.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._guard = OrphanGuard()
        self._connections: list[Connection] = []
        self._older: set[McpServerConfig] = set()
        self._owner: asyncio.Task[None] | None = None
        self._wanted: list[Connection] = []
        self._is_wanted = anyio.Event()
        self._is_closed = False

    def start(self, config: McpServerConfig, root: str) -> Connection:
        """Have a server started, unless it is there, without waiting for it.

        Args:
            config: the server.
            root: the absolute path of the workspace folder.

        Raises:
            McpError: the program is ending.
        """
        if self._is_closed:
            raise McpError(f"MCP server {config.name!r} is not started: the program is ending")
        found: Connection | None = None
        for connection in self._connections:
            if (connection.config.name, connection.root) != (config.name, root):
                continue
            if connection.config != config:
                connection.leave()
            elif connection.is_usable:
                found = connection
        if found is None:
            mode: Mode = "legacy" if config in self._older else "auto"
            found = Connection(config, root, self._environment, self._guard, mode)
            self._connections.append(found)
            self._wanted.append(found)
            self._is_wanted.set()
            if self._owner is None:
                # Connections outlive the turn that needs them first, so their tasks cannot be that turn's.
                self._owner = asyncio.create_task(self._own(), name="mcp-servers")
        return found

    async def connect(self, config: McpServerConfig, root: str) -> Connection:
        """Give a connection that is ready, starting the server if need be.

        Cancelling a wait leaves the start to the next caller.

        Raises:
            McpError: it did not start; the next call tries anew.
        """
        connection = self.start(config, root)
        await connection.wait_ready()
        return connection

    async def aclose(self) -> None:
        """End all servers, in bounded time and whatever happens meanwhile. A closed pool starts none."""
        self._is_closed = True
        for connection in self._connections:
            connection.close()
        with anyio.CancelScope(shield=True):
            if self._owner is not None:
                self._is_wanted.set()
                await asyncio.wait([self._owner], timeout=END_SECONDS)
                self._owner.cancel()
                await asyncio.wait([self._owner])
            await anyio.to_thread.run_sync(self._guard.close)

    async def _own(self) -> None:
        """Hold the task of each connection."""
        async with anyio.create_task_group() as tasks:
            while not self._is_closed:
                for connection in self._wanted:
                    tasks.start_soon(self._run, connection)
                self._wanted.clear()
                self._is_wanted = anyio.Event()
                await self._is_wanted.wait()

    async def _run(self, connection: Connection) -> None:
        try:
            await connection.run()
        finally:
            if connection.mode == "legacy":
                self._older.add(connection.config)
            self._connections.remove(connection)
