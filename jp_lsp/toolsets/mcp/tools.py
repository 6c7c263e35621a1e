"""The tools that a query takes from MCP servers, defined anew for each turn (config-and-tools 5.2, 5.4)."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import anyio

from jp_lsp.ports.mcp import McpError, McpServerConfig
from jp_lsp.ports.refusal import Refusal
from jp_lsp.tools.spec import McpSource, ToolSpec
from jp_lsp.toolsets.mcp.definitions import define_tool
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.session import ServerTool

_log = logging.getLogger(__name__)

LIST_SECONDS = 30.0
"""How long a server that has started may take to list its tools."""

_NAMED_TOOLS = 20


@dataclass(frozen=True, slots=True)
class CompleteTools:
    """Tools with their definitions. `dropped` says why for each that an optional server would have had."""

    specs: tuple[ToolSpec, ...]
    dropped: Mapping[str, str] = field(default_factory=lambda: {})


class McpTools:
    """What the servers of one query offer.

    Args:
        servers: the pool.
        configs: the servers that the query knows, by name; its configuration is frozen, and so is this.
        root: the absolute path of the workspace folder.
    """

    def __init__(self, servers: McpServers, configs: Mapping[str, McpServerConfig], root: str) -> None:
        self._servers = servers
        self._configs = configs
        self._root = root

    def start(self, specs: Sequence[ToolSpec]) -> None:
        """Have the servers of these tools started, without waiting; what goes wrong is told by `complete`."""
        for name in _by_server(specs):
            config = self._configs.get(name)
            if config is not None:
                with suppress(McpError):
                    self._servers.start(config, self._root)

    async def complete(self, specs: Sequence[ToolSpec]) -> CompleteTools:
        """Give the tools with definitions as their servers have them now; other tools pass as they are.

        The servers are asked all at once. A server is listed once however many of its tools are wanted.

        Args:
            specs: tools whose definitions hold what the user configured.

        Raises:
            Refusal: a server that is not optional is unknown, does not start, or lacks a tool.
        """
        wanted = _by_server(specs)
        listed: dict[str, Mapping[str, ServerTool] | McpError] = {}

        async def ask(name: str) -> None:
            try:
                listed[name] = {tool.name: tool for tool in await self._list(name)}
            except McpError as error:
                listed[name] = error

        async with anyio.create_task_group() as tasks:
            for name in wanted:
                tasks.start_soon(ask, name)
        complete: list[ToolSpec] = []
        dropped: dict[str, str] = {}
        for spec in specs:
            if not isinstance(spec.source, McpSource):
                complete.append(spec)
                continue
            try:
                complete.append(_complete(spec, spec.source, listed[spec.source.server]))
            except McpError as error:
                config = self._configs.get(spec.source.server)
                if config is None or not config.is_optional:
                    origin = f"conversation.tools.{spec.name}.source"
                    raise Refusal("mcp_failed", str(error), origin=origin) from error
                dropped[spec.name] = str(error)
                _log.warning("tool %s is not offered: %s", spec.name, error)
        return CompleteTools(tuple(complete), dropped)

    async def _list(self, name: str) -> Sequence[ServerTool]:
        config = self._configs.get(name)
        if config is None:
            raise McpError(f"Unknown MCP server: {name}; declare it under `providers.mcp.{name}`")
        connection = await self._servers.connect(config, self._root)
        try:
            with anyio.fail_after(LIST_SECONDS):
                return await connection.use(lambda session: session.list_tools())
        except TimeoutError as error:
            text = f"MCP server {name!r} did not list its tools within {LIST_SECONDS:g} s"
            raise McpError(text) from error


def _by_server(specs: Sequence[ToolSpec]) -> Mapping[str, Sequence[ToolSpec]]:
    wanted: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        if isinstance(spec.source, McpSource):
            wanted.setdefault(spec.source.server, []).append(spec)
    return wanted


def _complete(spec: ToolSpec, source: McpSource, listed: Mapping[str, ServerTool] | McpError) -> ToolSpec:
    if isinstance(listed, McpError):
        raise listed
    found = listed.get(source.name)
    if found is None:
        known = ", ".join([*listed][:_NAMED_TOOLS]) or "none"
        more = " and others" if len(listed) > _NAMED_TOOLS else ""
        raise McpError(f"Unknown tool: {source.name}; MCP server {source.server!r} has: {known}{more}")
    return replace(spec, definition=define_tool(spec.definition, found.description, found.schema))
