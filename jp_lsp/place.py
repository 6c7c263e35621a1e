"""A client's workspace, plugged together from real parts: the one place where store, settings and vendors meet."""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from anyio import to_thread

from jp_lsp.attachments.registry import WorkspaceAttachments
from jp_lsp.config.server_settings import (
    InterruptSettings,
    PromptSettings,
    ServerSettings,
    ShutdownSettings,
    read_server_settings,
)
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.model_catalogue import ModelCatalogue
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.driver.system_clock import SystemClock
from jp_lsp.driver.unfinished import unfinished_turns
from jp_lsp.housekeeping import check, fill, tidy
from jp_lsp.opened import SESSION, WorkspaceOpener
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import ModelDetails
from jp_lsp.ports.recording import Recordings
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import Upkeep
from jp_lsp.providers.closing import ClosingProvider
from jp_lsp.providers.local.settings import (
    SMALL_MODEL_NOTICE,
    LocalModelSettings,
    default_model,
    describe_model,
)
from jp_lsp.providers.request_trace import RequestTrace
from jp_lsp.providers.vendors import Vendors
from jp_lsp.server.logs import SecretMask
from jp_lsp.server.workplace import ClientPlace, StoredConversation
from jp_lsp.tools.lifecycle import RESULT_FILE
from jp_lsp.tools.memory import MemoryLayer
from jp_lsp.toolsets.local import LocalExecutor
from jp_lsp.toolsets.mcp.resources import ServerResources
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.orphan_guard import OrphanGuard
from jp_lsp.toolsets.process import SystemProcesses
from jp_lsp.toolsets.toolbox import WorkspaceToolbox
from jp_lsp.turn.listing import UnfinishedTurn
from jp_lsp.turn.outcome import Notice
from jp_lsp.workspace.atomic import make_folder, write_file
from jp_lsp.workspace.draft import Drafts
from jp_lsp.workspace.folders import Root
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.locate import (
    STORAGE_FOLDER,
    read_workspace_id,
)
from jp_lsp.workspace.model_lists import ModelListFiles
from jp_lsp.workspace.operations import DiskOperations
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.recordings import RecordingFolder
from jp_lsp.workspace.replacing import FileHasChanged, replace_file
from jp_lsp.workspace.scratch import ScratchFolder
from jp_lsp.workspace.store import DiskStore


class Place:
    """One client's workspace: `server.workplace.Workplace` with real parts.

    Args:
        client: where the client works, and its settings.
        environ: the environment.
        home: the user's home folder.
    """

    def __init__(self, client: ClientPlace, environ: Mapping[str, str], home: Path) -> None:
        read = read_server_settings(client.settings)  # type: ignore[arg-type]  # whatever JSON the client sent
        self._server: ServerSettings = read.settings
        self._notices = [Notice("warning", "settings", text) for text in read.warnings]
        self._environ = environ
        self._opener = WorkspaceOpener(
            Path(client.folders[0]) if client.folders else None,
            environ,
            home,
            self._server,
            lambda: default_model(self.user_data, self._server.local.model_path),
            self._tell,
        )
        self._clock = SystemClock()
        self._local = LocalModelSettings(
            self.user_data, self._server.local.model_path, self._server.local.threads
        )
        self._vendors = Vendors(environ, self._make_local, ModelListFiles(self.user_data / "models"))
        self._guard = OrphanGuard()
        self._processes = SystemProcesses(self._guard)
        self._mcp_servers = McpServers(environ)
        self._toolbox = WorkspaceToolbox(LocalExecutor(self._processes), self._mcp_servers, client.documents)
        self._documents = client.documents
        self._session_memory = MemoryLayer()
        self._catalogue: ModelCatalogue | None = None
        self._is_recording_told = False

    @property
    def user_data(self) -> Path:
        """The folder of the user's own data."""
        return self._opener.user_data

    def surroundings(self) -> Surroundings:
        """Give the parts of a query; makes a workspace in the client's folder if there is none.

        Raises:
            Refusal: there is no folder, or it cannot be a workspace.
        """
        here = self._opener.open()
        return Surroundings(
            here.store,
            here.settings,
            self._vendors,
            self._clock,
            self._toolbox,
            self._opener.trust(),
            self._session_memory,
            self._make_attachments(here.root, here.store),
            read_workspace_id(here.root / STORAGE_FOLDER) or "",
            str(here.root),
            self._recordings() if self._server.limits.record_events else None,
            here.results,
            self._processes,
        )

    def open_existing(self) -> None:
        """Make the user's own folder for a workspace that is there; what cannot be opened is said to who needs it."""
        if self._opener.has_workspace:
            with suppress(Refusal):
                self._opener.open()

    async def check(self) -> Sequence[Notice]:
        """Look for conversations that cannot be used, and say so."""
        return await check(self._opener.open()) if self._opener.has_workspace else ()

    async def fill(self) -> None:
        """Copy the conversations of a workspace that is new to the user to their own folder."""
        if self._opener.has_workspace:
            await fill(self._opener.open(), self._clock)

    async def tidy(self) -> Sequence[ConversationId]:
        """Move expired conversations to the trash, and put in order what is old or left over."""
        if not self._opener.has_workspace:
            return ()
        return await tidy(self._opener.open(), self._clock, self._tell)

    @property
    def clock(self) -> Clock:
        """Real time."""
        return self._clock

    def upkeep(self) -> Upkeep:
        """Give the shelf of conversations; one of a folder that is no workspace yet is empty.

        Raises:
            Refusal: there is no folder.
        """
        folder = self._opener.folder
        if folder is not None and not self._opener.has_workspace:
            roots = Roots(Root("workspace", folder / STORAGE_FOLDER), None)
            listing = Listing(roots)
        else:
            here = self._opener.open()
            roots, listing = here.roots, here.store.listing
        return DiskOperations(
            roots,
            listing,
            now=lambda: Timestamp(time.time_ns()),
            session=SESSION,
            newer_format=self._server.newer_format,
        )

    def configuration(self) -> WorkspaceSettings:
        """Give the settings of the workspace, or of the user where there is none; writes nothing."""
        return self._opener.settings()

    def is_trusted(self) -> bool:
        """Tell whether all that the workspace's files want to run was trusted; looks at files."""
        untrusted = self.configuration().model_names().untrusted
        if not untrusted or self._server.trust != "ask":
            return self._server.trust != "never"
        return not self._opener.trust().changes(untrusted)

    async def replace_file(self, path: Path, expected: bytes | None, data: bytes) -> bool:
        """Make `data` the content of a configuration file, unless somebody has changed it meanwhile."""
        try:
            await to_thread.run_sync(replace_file, path, expected, data)
        except FileHasChanged:
            return False
        return True

    def models(self) -> ModelCatalogue:
        """Give what models there are to choose from."""
        if self._catalogue is None:
            trust = self._opener.trust()
            self._catalogue = ModelCatalogue(self._vendors, self._installed_models, trust, self._clock)
        return self._catalogue

    async def unfinished(self, running: Collection[ConversationId]) -> Sequence[UnfinishedTurn]:
        """List turns that were cut off, of the conversations that were activated last; makes no workspace.

        Raises:
            Refusal: there is no folder.
        """
        if self._opener.folder is not None and not self._opener.has_workspace:
            return ()
        return await unfinished_turns(self._opener.open().store, self.upkeep(), running)

    async def read(self, conversation: ConversationId) -> StoredConversation:
        """Load a conversation to look at.

        Raises:
            Refusal: there is none, or it cannot be read.
        """
        if not self._opener.has_workspace:
            await self.upkeep().facts(conversation)  # says that there is none, and makes no workspace
        here = self._opener.open()
        stream = (await here.store.copy(conversation)).stream
        return StoredConversation(conversation, stream, here.settings.looks)

    async def keep_scratch(self, name: str, text: str) -> str:
        """Write a text into the user's own data and give its URI."""
        path = self._opener.open().roots.private / "scratch" / name

        def write() -> None:
            make_folder(path.parent)
            write_file(path, text.encode("utf-8", "replace"))

        await to_thread.run_sync(write)
        return path.as_uri()

    def result_uri(self, conversation: ConversationId, event: ConversationEvent) -> str | None:
        """Give the URI of the file with the whole result that a stored response was made of, if it is there."""
        name = event.metadata.get(RESULT_FILE)
        if not isinstance(name, str):
            return None
        return (self._opener.opened_by_now or self._opener.open()).results.uri(conversation, name)

    @property
    def prompt_settings(self) -> PromptSettings:
        """How the user wants to be asked."""
        return self._server.prompt

    @property
    def interrupt_settings(self) -> InterruptSettings:
        """What the buttons and menus that stop something do."""
        return self._server.interrupt

    @property
    def shutdown_settings(self) -> ShutdownSettings:
        """How many seconds everything has when the server ends."""
        return self._server.shutdown

    def scratch(self) -> ScratchFolder:
        """Give the place for texts that the user writes in the editor.

        Raises:
            Refusal: there is no workspace.
        """
        return self._opener.open().scratch

    async def keep_draft(self, conversation: ConversationId, text: str) -> None:
        """Keep a text that the user did not send, behind a draft that is there already.

        Raises:
            Refusal: there is no workspace.
            OSError: it could not be written.
        """
        await to_thread.run_sync(Drafts(self._opener.open().roots).add, conversation, text)

    def take_notices(self) -> Sequence[Notice]:
        """Give what the user should know, once."""
        notices, self._notices = self._notices, []
        return notices

    async def aclose(self) -> None:
        """Close connections, and end the embedded model and all that tools started."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._vendors.aclose)
            tasks.start_soon(self._mcp_servers.aclose)
            tasks.start_soon(self._processes.aclose)
        self._guard.close()
        if self._opener.opened_by_now is not None:
            self._opener.opened_by_now.scratch.close()

    def _tell(self, notice: Notice) -> None:
        self._notices.append(notice)

    def _installed_models(self) -> Sequence[ModelDetails]:
        is_there = default_model(self.user_data, self._server.local.model_path) is not None
        return [describe_model(self._local)] if is_there else []

    def _recordings(self) -> Recordings:
        """Say where turns are recorded to; the first time, the user is told too."""
        folder = RecordingFolder(self.user_data / "recordings")
        if not self._is_recording_told:
            self._is_recording_told = True
            text = (
                f"All that happens in a turn is recorded in {folder.path}, because "
                "`jp.limits.record_events` is set; `jp-lsp replay FILE` shows a recording."
            )
            self._notices.append(Notice("info", "recording", text))
        return Recordings(
            lambda token: folder.begin(token, Timestamp(time.time_ns())),
            SecretMask.from_environment(self._environ).hide,
        )

    def _make_attachments(self, root: Path, store: DiskStore) -> WorkspaceAttachments:
        folder = str(root)
        return WorkspaceAttachments(
            folder,
            self._documents,
            self._processes,
            store,
            lambda servers: ServerResources(self._mcp_servers, servers, folder),
            self._environ,
        )

    def _make_local(self, trace: RequestTrace | None) -> ClosingProvider:
        from jp_lsp.providers.local.adapter import create  # here: only who uses the local model needs it

        provider = create(self._local, trace)
        if self._local.model_path is None:
            self._notices.append(Notice("info", "small_model", SMALL_MODEL_NOTICE))
        return provider
