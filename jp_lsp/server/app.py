"""The pygls server of one client: what it announces, and who handles what.

Handlers and the wire's models are imported when the first `jp/` message comes, or in the background once
the client is initialised: pydantic and the driver would double the time to the answer to `initialize`.
"""

import asyncio
import logging
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from jp_lsp import __version__
from jp_lsp.server.editor_documents import ClientDocuments
from jp_lsp.server.lifecycle import ClosingReason
from jp_lsp.server.wire import JpLanguageServer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from jp_lsp.server.session import Session
    from jp_lsp.server.workplace import ClientPlace, Workplace

_log = logging.getLogger(__name__)

PROTOCOL_VERSION = 1

HANDLERS: dict[str, tuple[str, str]] = {
    "jp/query": ("turn", "query"),
    "jp/interrupt": ("turn", "interrupt"),
    "jp/answer": ("turn", "answer"),
    "jp/turn/list": ("turn", "list_turns"),
    "jp/conversation/list": ("conversation", "list_conversations"),
    "jp/conversation/render": ("conversation", "render"),
}
"""What a client may call: the module of its handler, and the handler."""

SENDS = ("jp/prompt", "jp/chunk", "jp/notice", "jp/conversationChanged")
"""What we send. A test holds both against the table of `protocol.methods`."""


def build_server(
    make_workplace: "Callable[[ClientPlace], Workplace]", jitter: Callable[[], float]
) -> JpLanguageServer:
    """Build the server of one client.

    Args:
        make_workplace: plugs the parts of the client's workspace together.
        jitter: gives the seconds to add to a retry delay.
    """
    server = JpLanguageServer("jp_lsp", __version__)
    server.protocol.experimental = {
        "jp": {"version": PROTOCOL_VERSION, "methods": [*HANDLERS, *SENDS]},
    }
    client = _Client(server, make_workplace, jitter)
    for name, (module, handler) in HANDLERS.items():
        call = client.handler(module, handler)
        server.protocol.register_method(name, _model(name), call)
        as_command = client.handler("turn", "query_as_command") if name == "jp/query" else call
        text_key = "text" if name == "jp/query" else None
        server.protocol.register_command(name.replace("/", "."), _model(name), as_command, text_key=text_key)
    server.protocol.register_method("window/workDoneProgress/cancel", None, client.cancel_progress)

    @server.feature(types.INITIALIZED)
    def warm_up(params: types.InitializedParams) -> None:
        client.warm_up()

    server.on_closing = client.close
    return server


class _Client:
    """The session of the client, from its first `jp/` message on."""

    def __init__(
        self,
        server: JpLanguageServer,
        make_workplace: "Callable[[ClientPlace], Workplace]",
        jitter: Callable[[], float],
    ) -> None:
        self._server = server
        self._make_workplace = make_workplace
        self._jitter = jitter
        self._documents = ClientDocuments(server)
        self._session: Session | None = None
        self._serving: asyncio.Task[None] | None = None
        self._warming: asyncio.Future[None] | None = None

    def handler(self, module: str, name: str) -> Callable[[Any], object]:
        """Give a handler that is imported when it is first called."""

        def call(params: object) -> object:
            handle = getattr(import_module(f"jp_lsp.server.handlers.{module}"), name)
            return handle(self._open_session(), params)

        return call

    def warm_up(self) -> None:
        """Import what the first query needs, beside the event loop."""
        self._warming = asyncio.get_running_loop().run_in_executor(None, _import_handlers)

    def cancel_progress(self, params: object) -> None:
        """The cancel button of the progress that the client shows."""
        token = cast(dict[str, Any], params).get("token") if isinstance(params, dict) else None
        if self._session is not None and isinstance(token, int | str):
            self.handler("turn", "cancel_progress")(token)

    async def close(self, reason: ClosingReason) -> None:
        """End what runs, with its content stored."""
        if self._session is not None and self._serving is not None:
            await self._session.close(is_client_gone=reason.is_client_gone)
            await self._serving

    def _open_session(self) -> "Session":
        if self._session is None:
            from jp_lsp.server.session import Session

            self._session = Session(
                self._server.protocol, self._make_workplace, self._jitter, self._documents
            )
            self._serving = asyncio.get_running_loop().create_task(self._session.serve())
        return self._session


def _import_handlers() -> None:
    for module, _ in HANDLERS.values():
        import_module(f"jp_lsp.server.handlers.{module}")


def _model(name: str) -> "Callable[[], type[BaseModel]]":
    """Give the model of a method's parameters when it is first needed."""

    def load() -> "type[BaseModel]":
        from jp_lsp.protocol.methods import METHODS

        return METHODS[name].params

    return load
