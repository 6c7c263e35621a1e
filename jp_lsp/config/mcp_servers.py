"""The MCP servers that the user declared: programs in files, addresses in the server's settings (5.1)."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, cast

from jp_lsp.config.rules import Violation
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.value import ABSENT, MergedList, Partial, Path, Value, entries_of, value_at
from jp_lsp.ports.mcp import STARTUP_TIMEOUT, Checksum, HttpServer, McpServerConfig, StdioServer

MCP: Path = ("providers", "mcp")


def mcp_servers(tree: Partial, server: ServerSettings) -> Mapping[str, McpServerConfig]:
    """Give all servers by name; of two with one name the program, which `doubled_servers` complains about."""
    addresses: dict[str, McpServerConfig] = {
        name: HttpServer(
            name,
            declared.url,
            declared.bearer_token_env,
            declared.optional,
            float(declared.startup_timeout_secs),
        )
        for name, declared in server.http_servers.items()
    }
    return MappingProxyType({**addresses, **programs(tree)})


def programs(tree: Partial) -> Mapping[str, StdioServer]:
    """Give the servers that are programs."""
    return {
        name: _program(name, entries_of(entry)) for name, entry in entries_of(value_at(tree, MCP)).items()
    }


def doubled_servers(tree: Partial, server: ServerSettings, needed: set[str]) -> Iterator[Violation]:
    """Complain about names that stand for two servers: an error where a tool needs one of them (5.1)."""
    for name in entries_of(value_at(tree, MCP)):
        if name in server.http_servers:
            text = f"the server setting `jp.mcp.http.{name}` declares a server of the same name; rename one of them"
            yield Violation((*MCP, name), text, "error" if name in needed else "warning", drops=False)


def _program(name: str, entry: Partial) -> StdioServer:
    checksum = entries_of(entry.get("checksum", ABSENT))
    timeout = entry.get("startup_timeout_secs")
    return StdioServer(
        name,
        cast("str", entry["command"]),
        _texts(entry.get("arguments")),
        _texts(entry.get("variables")),
        _checksum(checksum) if checksum else None,
        entry.get("optional") is True,
        float(timeout) if isinstance(timeout, int) else STARTUP_TIMEOUT,
    )


def _checksum(table: Partial) -> Checksum:
    return Checksum(cast("Literal['sha256', 'sha1']", table["algorithm"]), cast("str", table["value"]))


def _texts(value: Value) -> tuple[str, ...]:
    return cast("tuple[str, ...]", value.items) if isinstance(value, MergedList) else ()
