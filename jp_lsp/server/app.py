"""The pygls server of one client: what it announces, and who handles what.

Handlers and the wire's models are imported when the first `jp/` message comes, or in the background once
the client is initialised: pydantic and the driver would double the time to the answer to `initialize`.
"""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from lsprotocol import types

from jp_lsp import __version__
from jp_lsp.language.query_name import is_query
from jp_lsp.server.editor_documents import ClientDocuments
from jp_lsp.server.language_features import CHECKED_SUFFIXES, language_features
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
    "jp/conversation/list": ("conversations", "list_conversations"),
    "jp/conversation/search": ("search", "search"),
    "jp/conversation/render": ("conversation", "render"),
    "jp/conversation/show": ("conversations", "show"),
    "jp/conversation/new": ("conversations", "new"),
    "jp/conversation/use": ("conversations", "use"),
    "jp/conversation/fork": ("conversations", "fork"),
    "jp/conversation/title": ("conversations", "title"),
    "jp/conversation/labels": ("conversations", "labels"),
    "jp/conversation/pin": ("conversations", "pin"),
    "jp/conversation/expiry": ("conversations", "expiry"),
    "jp/conversation/archive": ("conversations", "archive"),
    "jp/conversation/unarchive": ("conversations", "unarchive"),
    "jp/conversation/remove": ("conversations", "remove"),
    "jp/conversation/move": ("conversations", "move"),
    "jp/conversation/export": ("content", "export"),
    "jp/conversation/edit": ("content", "edit"),
    "jp/conversation/replay": ("replay", "replay"),
    "jp/conversation/compact": ("compaction", "compact"),
    "jp/conversation/trash": ("content", "trash"),
    "jp/conversation/restore": ("content", "restore"),
    "jp/model/list": ("configuration", "list_models"),
    "jp/config/get": ("configuration", "get"),
    "jp/config/explain": ("configuration", "explain"),
    "jp/config/set": ("configuration", "set_values"),
    "jp/config/list": ("configuration", "list_named"),
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
        is_work = name == "jp/query" or name.startswith("jp/conversation/")
        call = client.handler(module, handler, is_work=is_work)
        server.protocol.register_method(name, _model(name), call)
        as_command = client.handler("turn", "query_as_command", is_work=True) if name == "jp/query" else call
        text_key = "text" if name == "jp/query" else None
        server.protocol.register_command(name.replace("/", "."), _model(name), as_command, text_key=text_key)
    server.protocol.register_method("window/workDoneProgress/cancel", None, client.cancel_progress)

    server.protocol.register_method("workspace/didChangeWatchedFiles", None, client.files_changed)

    @server.feature(types.INITIALIZED)
    def warm_up(params: types.InitializedParams) -> None:
        client.warm_up()

    for feature, (module, handler, options) in language_features().items():
        server.feature(feature, options)(client.language(module, handler))
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
        self._documents.on_news = self._document_news
        self._checks: set[asyncio.Task[None]] = set()
        self._queries: set[str] = set()
        self._session: Session | None = None
        self._serving: asyncio.Task[None] | None = None
        self._warming: asyncio.Future[None] | None = None

    def handler(self, module: str, name: str, *, is_work: bool) -> Callable[[Any], object]:
        """Give a handler that is imported when it is first called; `is_work` as for `Session.begin`."""

        def call(params: object) -> object:
            handle = getattr(import_module(f"jp_lsp.server.handlers.{module}"), name)
            session = self._open_session()
            session.begin(is_work=is_work)
            return handle(session, params)

        return call

    def language(self, module: str, name: str) -> Callable[[Any], Awaitable[object]]:
        """Give the handler of a feature that concerns texts; what it needs is imported beside the event loop."""

        async def call(params: Any) -> object:  # pygls would take `object` for a wish for the server
            await self._warmed_up()
            handle = getattr(import_module(f"jp_lsp.server.handlers.{module}"), name)
            return await handle(self._open_session(), params)

        return call

    def _document_news(self, uri: str, is_saved: bool) -> None:
        """Have a document checked that may be one of our files."""
        document = self._server.workspace.text_documents.get(unquote(uri))
        was_query = uri in self._queries
        self._queries.discard(uri)
        if document is not None and is_query(uri, document.language_id):
            self._queries.add(uri)
        names_files = bool(self._queries) and is_saved  # a query may name the file that was saved
        if uri.endswith(CHECKED_SUFFIXES) or was_query or uri in self._queries or names_files:
            task = asyncio.get_running_loop().create_task(self._check(uri, is_saved=is_saved))
            self._checks.add(task)
            task.add_done_callback(self._checks.discard)

    async def _check(self, uri: str, *, is_saved: bool) -> None:
        try:
            await self._warmed_up()
            from jp_lsp.server.handlers.language import check

            await check(self._open_session(), uri, is_saved=is_saved)
        except Exception:
            _log.exception("%s could not be checked", uri)

    async def _warmed_up(self) -> None:
        if self._warming is None:
            self.warm_up()
        if self._warming is not None:
            await asyncio.shield(self._warming)

    def warm_up(self) -> None:
        """Import what the first query needs, beside the event loop."""
        self._warming = asyncio.get_running_loop().run_in_executor(None, _import_handlers)

    def cancel_progress(self, params: object) -> None:
        """The cancel button of the progress that the client shows."""
        token = cast(dict[str, Any], params).get("token") if isinstance(params, dict) else None
        if self._session is not None and isinstance(token, int | str):
            self.handler("turn", "cancel_progress", is_work=False)(token)

    def files_changed(self, params: object) -> None:
        """Files of conversations that the client watches for us changed; which ones, the watch sees itself."""
        if self._session is not None:
            self._session.watch.nudge()

    async def close(self, reason: ClosingReason) -> None:
        """End what runs, with its content stored."""
        for check in self._checks:
            check.cancel()
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
    features = (module for module, _, _ in language_features().values())
    for module in (*features, *(module for module, _ in HANDLERS.values())):
        import_module(f"jp_lsp.server.handlers.{module}")
    gc.freeze()  # what was imported stays, and a look through all of it takes longer than most answers


def _model(name: str) -> "Callable[[], type[BaseModel]]":
    """Give the model of a method's parameters when it is first needed."""

    def load() -> "type[BaseModel]":
        from jp_lsp.protocol.methods import METHODS

        return METHODS[name].params

    return load
