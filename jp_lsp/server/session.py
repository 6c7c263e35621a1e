"""One connected client: what it can do, its workspace, its queries and its questions.

Made when the first `jp/` message needs it, so that the start of the server does not wait for it.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio
from anyio.abc import TaskGroup

from jp_lsp.config.server_settings import PromptSettings
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.driver.amending import Amender
from jp_lsp.driver.caretaker import Caretaker
from jp_lsp.driver.desk import Desk
from jp_lsp.driver.host import QueryHost
from jp_lsp.driver.watching import ConversationWatch
from jp_lsp.ports.editor import EditorDocuments
from jp_lsp.ports.news import ConversationChange
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.capability import ClientCapabilities
from jp_lsp.server import from_wire
from jp_lsp.server.client_news import ClientNews
from jp_lsp.server.configuration_changes import ConfigurationChanges
from jp_lsp.server.configuration_files import ConfigurationFiles
from jp_lsp.server.conversation_to_wire import ListedConversations
from jp_lsp.server.prompt_ways import PromptWays
from jp_lsp.server.prompts import PromptBroker
from jp_lsp.server.query_documents import QueryDocuments
from jp_lsp.server.text_documents import DocumentHost
from jp_lsp.server.text_file import name_in
from jp_lsp.server.watched_files import can_watch, watch_conversations
from jp_lsp.server.wire import JpProtocol
from jp_lsp.server.workplace import ClientPlace, Workplace

_log = logging.getLogger(__name__)


class Session:
    """A client and what is done for it.

    Args:
        protocol: the way to the client.
        make_workplace: plugs the parts of its workspace together.
        jitter: gives the seconds to add to a retry delay.
        documents: what is open in its editor.
    """

    def __init__(
        self,
        protocol: JpProtocol,
        make_workplace: Callable[[ClientPlace], Workplace],
        jitter: Callable[[], float],
        documents: EditorDocuments,
    ) -> None:
        sent = protocol.raw_initialize
        capabilities = _members(sent.get("capabilities"))
        self.protocol = protocol
        self.capabilities, problem = from_wire.client_capabilities(capabilities.get("experimental"))
        if problem is not None:
            _log.warning("%s; the client is treated as one that knows only standard LSP", problem)
        window = _members(capabilities.get("window"))
        self.has_work_done_progress = window.get("workDoneProgress") is True
        self.has_show_document = _members(window.get("showDocument")).get("support") is True
        self.is_plain = "jp" not in _members(capabilities.get("experimental"))
        self.workplace = make_workplace(client_place(sent, documents))
        self.news = self.watch = ConversationWatch(
            self.workplace.upkeep,
            lambda: self.host.busy(),
            self.workplace.clock,
            ClientNews(protocol, is_plain=self.is_plain),
        )
        self.host = QueryHost(self.workplace.surroundings, jitter, self.news)
        desk = Desk(
            self.host, self.workplace.surroundings, self.workplace.upkeep, self.workplace.clock, self.news
        )
        self.caretaker = Caretaker(desk)
        self.amender = Amender(desk)
        self.configuration_files = ConfigurationFiles(
            protocol, self.workplace.configuration, self.workplace.models, self.host.background
        )
        self.configuration_changes = ConfigurationChanges(
            documents, self.workplace, can_edit=protocol.capability("workspace", "applyEdit") is True
        )
        self.query_documents = QueryDocuments(
            protocol,
            self.configuration_files,
            self.workplace,
            documents,
            lambda: self.host.used_last,
        )
        settings = self.workplace.prompt_settings
        texts = DocumentHost(
            protocol.send_request_raw, self.workplace.scratch, self._synchronised, settings.save_commits
        )
        can_open = self.has_show_document or self.capabilities.open_document
        ways = _prompt_ways(self.capabilities, settings, shows_documents=can_open)
        menu_seconds = self.workplace.interrupt_settings.menu_timeout
        self.prompts = PromptBroker(protocol.send_request_raw, self._spawn, ways, texts, menu_seconds)
        self.progress_cancels: dict[int | str, Callable[[], None]] = {}
        self.listed = ListedConversations()
        self._tasks: TaskGroup | None = None
        self._filled = anyio.Event()
        self._asked, self._works = anyio.Event(), anyio.Event()

    async def serve(self) -> None:
        """Run queries and questions until `close`."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._look_after, tasks)
            await self.host.serve()
            tasks.cancel_scope.cancel()

    def begin(self, *, is_work: bool) -> None:
        """Look after the workspace from now on; as long as somebody only looks at texts, it stays as it is.

        Args:
            is_work: whether conversations are worked with, so that those whose time is up have to go.
        """
        if not self._asked.is_set():
            self.workplace.open_existing()
            self._asked.set()
        if is_work:
            self._works.set()

    async def close(self, *, is_client_gone: bool) -> None:
        """End every query with its content stored, then let everything go."""
        budgets = self.workplace.shutdown_settings
        await self.host.close(
            is_client_gone=is_client_gone,
            turn_budget=budgets.turn_secs,
            budget=budgets.limit_secs,
            background_budget=budgets.background_secs,
        )
        await self.workplace.aclose()

    def show_notices(self) -> None:
        """Tell the user what there is to know about settings and workspace, each thing once."""
        for notice in self.workplace.take_notices():
            self.news.notice(notice)

    async def _look_after(self, tasks: TaskGroup) -> None:
        await self._asked.wait()
        self.host.background.spawn("checking the workspace", self._check)
        self.host.background.spawn("filling the user's folder", self._fill)
        if not self.is_plain:
            tasks.start_soon(self._run, self._watch)
        await self._works.wait()
        self.host.background.spawn("tidying the workspace", self._tidy)

    async def _check(self) -> None:
        """Look for broken conversations once the copies are made: reading thousands beside it would slow both."""
        await self._filled.wait()
        for notice in await self.workplace.check():
            self.news.notice(notice)

    async def _tidy(self) -> None:
        for conversation in await self.workplace.tidy():
            self.news.conversation_changed(ConversationChange(conversation, "removed"))

    async def _fill(self) -> None:
        try:
            await self.workplace.fill()
        finally:
            self._filled.set()

    async def _watch(self) -> None:
        """Tell of what others do to conversations; a client that knows only standard LSP has no word for it.

        The copies that a first opening makes are no news.
        """
        await self._filled.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.watch.run)
            capabilities = _members(self.protocol.raw_initialize.get("capabilities"))
            with suppress(Refusal):
                places = self.workplace.upkeep().places() if can_watch(capabilities) else ()
                if places and await watch_conversations(self.protocol, capabilities, places):
                    self.watch.rely_on_nudges()

    def _synchronised(self, name: str) -> str | None:
        """Give the text of an open document by the name of its file."""
        documents = self.protocol.workspace.text_documents
        return next((each.source for uri, each in documents.items() if name_in(uri) == name), None)

    def _spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        if self._tasks is not None:
            self._tasks.start_soon(self._run, task)

    async def _run(self, task: Callable[[], Awaitable[None]]) -> None:
        try:
            await task()
        except Exception:
            _log.exception("a task of the client broke")


def client_place(initialize: JsonObject, documents: EditorDocuments) -> ClientPlace:
    """Read where the client works off the parameters of `initialize`."""
    folders = initialize.get("workspaceFolders")
    listed = [_members(folder).get("uri") for folder in folders] if isinstance(folders, list) else []
    uris = listed or [initialize.get("rootUri")]
    paths = [path for uri in uris if (path := _path_of(uri)) is not None]
    root_path = initialize.get("rootPath")
    if not paths and isinstance(root_path, str) and root_path:
        paths = [root_path]
    options = _members(initialize.get("initializationOptions"))
    return ClientPlace(tuple(paths), options.get("jp"), documents)


def _path_of(uri: JsonValue) -> str | None:
    if not isinstance(uri, str):
        return None
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    is_drive = len(path) > 2 and path[0] == "/" and path[2] == ":"
    return str(Path(path[1:] if is_drive else path))


def _members(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _prompt_ways(
    capabilities: ClientCapabilities, settings: PromptSettings, *, shows_documents: bool
) -> PromptWays:
    kinds = frozenset(capabilities.prompt.kinds) if capabilities.prompt is not None else frozenset[str]()
    limits = [limit for limit in (capabilities.max_actions, settings.max_actions) if limit]
    return PromptWays(
        kinds,
        min(limits, default=None),
        capabilities.interrupt_menu,
        shows_documents,
        settings.text_transport,
    )
