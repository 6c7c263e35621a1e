"""MCP servers as the user declares them, and what can be read from them (config-and-tools 5.1, 6.6).

A server is a program that offers tools and documents. Nothing here says how it is spoken to: these are the
values that configuration hands to whoever does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

STARTUP_TIMEOUT = 60.0
"""Seconds that a server has to start when the user set nothing."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the file of a server's program must hash to; `value` is in hexadecimal digits."""

    algorithm: Literal["sha256", "sha1"]
    value: str


@dataclass(frozen=True, slots=True)
class StdioServer:
    """`providers.mcp.NAME`: a program that is started here and spoken to over its standard input and output.

    `command` is looked up in `PATH` unless it holds a slash. `variables` are names of environment variables
    that the program needs; it gets the whole environment in any case, so a missing one is only worth a
    warning. A query goes on without an optional server that does not start. `startup_timeout` is in seconds,
    0 is none.
    """

    name: str
    command: str
    arguments: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    checksum: Checksum | None = None
    is_optional: bool = False
    startup_timeout: float = STARTUP_TIMEOUT


@dataclass(frozen=True, slots=True)
class HttpServer:
    """`mcp.http.NAME` of the server settings: a server that runs already and is reached over HTTP.

    `bearer_token_env` names the environment variable that holds its token.
    """

    name: str
    url: str
    bearer_token_env: str | None = None
    is_optional: bool = False
    startup_timeout: float = STARTUP_TIMEOUT


McpServerConfig: TypeAlias = StdioServer | HttpServer


class McpError(Exception):
    """A server could not be used. The text is for the user: which server, what went wrong, what it said last."""


@dataclass(frozen=True, slots=True)
class McpResource:
    """A document as a server lists it; `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    media_type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class McpContent:
    """A document, or a part of one: its text, or its bytes when it is none."""

    uri: str
    media_type: str | None
    content: str | bytes


class McpResources(Protocol):
    """The documents of the servers that a query knows."""

    async def list_resources(self, server: str) -> Sequence[McpResource]:
        """List what a server has, starting it if need be.

        Raises:
            McpError: no such server, or it could not be asked.
        """
        ...

    async def read_resource(self, server: str, uri: str) -> Sequence[McpContent]:
        """Read one document, starting the server if need be; a folder may give several.

        Raises:
            McpError: no such server, no such document, or the server could not be asked.
        """
        ...
