"""What a connection says to a server once it is there, without the library that says it (see `sdk`)."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.mcp import McpContent, McpResource, McpServerConfig
from jp_lsp.tools.outcome import Failed, Succeeded
from jp_lsp.toolsets.mcp.child import Child
from jp_lsp.toolsets.mcp.elicitation import FormResult
from jp_lsp.toolsets.mcp.tail import Tail
from jp_lsp.toolsets.mcp.uses import Fill

Mode: TypeAlias = Literal["auto", "legacy"]
"""Whether the newer protocol is tried first, or the handshake of the older one is spoken at once."""

OnProgress: TypeAlias = Callable[[str | None, int | None], None]
"""Takes a message and a percentage."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as a server lists it; `schema` is that of its arguments."""

    name: str
    description: str | None
    schema: JsonObject


class SessionError(Exception):
    """A request was not answered as it should; the text says how, as the end of a sentence about the server.

    `is_closed` says that there is no connection any more, and that only: the server may have done the work. Servers
    use its code for errors of their own too, so it is true only if the connection ends as well.
    `is_rejected` says that the server did not look at the request, because it no longer knows the session.
    """

    def __init__(self, text: str, *, is_closed: bool = False, is_rejected: bool = False) -> None:
        super().__init__(text)
        self.is_closed = is_closed
        self.is_rejected = is_rejected


class Session(Protocol):
    """An open connection. Every method raises `SessionError`; cancelling one tells the server."""

    async def list_tools(self) -> Sequence[ServerTool]:
        """List all tools."""
        ...

    async def call_tool(
        self, name: str, arguments: JsonObject, on_progress: OnProgress
    ) -> Succeeded | Failed:
        """Run a tool."""
        ...

    async def list_resources(self) -> Sequence[McpResource]:
        """List all documents."""
        ...

    async def read_resource(self, uri: str) -> Sequence[McpContent]:
        """Read a document."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything that opening a session takes.

    Attributes:
        config: the server.
        mode: how to begin.
        root: the absolute path of the workspace folder, which the server may ask for.
        start_child: starts the program of a server that is one.
        token: the bearer token of a server that is reached over HTTP.
        tail: gets what the server says beside the protocol.
        on_lost: called when nothing more can come.
        on_expired: called when the server no longer knows the session.
        elicit: has a form filled by the user of the call that it belongs to.
    """

    config: McpServerConfig
    mode: Mode
    root: str
    start_child: Callable[[], Awaitable[Child]]
    token: str | None
    tail: Tail
    on_lost: Callable[[], None]
    on_expired: Callable[[], None]
    elicit: Callable[[Fill], Awaitable[FormResult]]


class SessionModule(Protocol):
    """The module `sdk`, which is imported by name."""

    def open_session(self, opening: Opening) -> AbstractAsyncContextManager[Session]:
        """Connect, and give the session; leaving the block closes it. To be entered and left in one task."""
        ...

    def explain(self, error: BaseException) -> str:
        """Say as the end of a sentence why `open_session`, or the session beneath a block, failed."""
        ...
