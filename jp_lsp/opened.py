"""A workspace on disk, found or made when it is first needed, and open: its folders, its store and its settings.

What a client asks is another matter (`place`), and so is what is done unasked (`housekeeping`).
"""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jp_lsp.config.outside import outside_folders
from jp_lsp.config.server_settings import ServerSettings
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.trust import on_one_line
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.trust import TrustItem
from jp_lsp.turn.outcome import Notice
from jp_lsp.workspace.init import initialise_unasked
from jp_lsp.workspace.locate import find_workspace, user_config_folder, user_data_folder
from jp_lsp.workspace.paths import Roots, WorkspaceError, open_roots, view_roots
from jp_lsp.workspace.results import ResultsFolder
from jp_lsp.workspace.scratch import ScratchFolder
from jp_lsp.workspace.store import DiskStore
from jp_lsp.workspace.trust import TRUST_FILE, DiskTrustStore

SESSION = "jp-lsp"
"""What lock files call us."""


@dataclass(frozen=True, slots=True)
class OpenedWorkspace:
    """A workspace that was found or made. Whole results have one folder for all queries: their names must differ.

    `avoided` are its folders that lie outside of it and that the user does not trust: `roots` leaves them out.
    """

    root: Path
    roots: Roots
    store: DiskStore
    settings: WorkspaceSettings
    results: ResultsFolder
    scratch: ScratchFolder
    avoided: tuple[TrustItem, ...]


class WorkspaceOpener:
    """Opens the workspace that a folder lies in.

    Args:
        folder: where the client works, if anywhere.
        environ: the environment.
        home: the user's home folder.
        server: the server's settings.
        default_model: gives the model to use when nothing sets one.
        tell: tells the user something.
    """

    def __init__(
        self,
        folder: Path | None,
        environ: Mapping[str, str],
        home: Path,
        server: ServerSettings,
        default_model: Callable[[], ModelId | None],
        tell: Callable[[Notice], None],
    ) -> None:
        self.folder = folder
        self.user_data = user_data_folder(environ, platform=sys.platform, home=home)
        self._user_config = user_config_folder(environ, platform=sys.platform, home=home)
        self._environ = environ
        self._home = home
        self._server = server
        self._default_model = default_model
        self._tell = tell
        self._opened: OpenedWorkspace | None = None
        self._trust: DiskTrustStore | None = None
        self._viewed: tuple[tuple[Path | None, Path | None], WorkspaceSettings] | None = None

    @property
    def has_workspace(self) -> bool:
        """Whether there is a workspace already."""
        return self._opened is not None or self._found is not None

    @property
    def opened_by_now(self) -> OpenedWorkspace | None:
        """The workspace, if somebody has needed it yet."""
        return self._opened

    def open(self) -> OpenedWorkspace:
        """Give the workspace; makes one in the client's folder if there is none.

        It is opened anew when the user has come to trust a folder outside of it, or when there is another one.

        Raises:
            Refusal: there is no folder, or it cannot be a workspace.
        """
        root = self._find_or_make() if self._opened is None else self._opened.root
        avoided = self._avoided(root)
        if self._opened is None:
            self._opened = self._open(root, avoided)
        elif self._opened.avoided != avoided:
            roots = self._open_roots(root, avoided)
            self._opened = replace(self._opened, roots=roots, store=self._make_store(roots), avoided=avoided)
        return self._opened

    def settings(self) -> WorkspaceSettings:
        """Give the settings of the workspace, or of the user where there is none; writes nothing."""
        if self._opened is not None:
            return self._opened.settings
        root = self._found
        silo = None if root is None else view_roots(root, self.user_data).silo
        found = root, None if silo is None else silo.path
        if self._viewed is None or self._viewed[0] != found:
            self._viewed = found, self._make_settings(*found)
        return self._viewed[1]

    def trust(self) -> DiskTrustStore:
        """Give what the user said about the workspace, or about the folder that is none yet."""
        return self._trust_in(self._found or self.folder or self._home)

    @property
    def _found(self) -> Path | None:
        return None if self.folder is None else find_workspace(self.folder)

    def _trust_in(self, root: Path) -> DiskTrustStore:
        """Give what the user said about the workspace.

        It is never kept among what `roots` has: without a folder of the user's own, that is the workspace itself.
        """
        self._trust = self._trust or DiskTrustStore(self.user_data / TRUST_FILE, root)
        return self._trust

    def _avoided(self, root: Path) -> tuple[TrustItem, ...]:
        """Give the folders outside of the workspace that the user does not trust."""
        folders = () if self._server.trust == "always" else outside_folders(root)
        if not folders or self._server.trust == "never":
            return folders
        return tuple(change.item for change in self._trust_in(root).changes(folders))

    def _open(self, root: Path, avoided: tuple[TrustItem, ...]) -> OpenedWorkspace:
        roots = self._open_roots(root, avoided)
        is_alone = roots.silo is None and not avoided
        return OpenedWorkspace(
            root,
            roots,
            self._make_store(roots),
            self._make_settings(root, None if is_alone else roots.private),
            ResultsFolder(roots.private / "results"),
            ScratchFolder(roots.private / "scratch"),
            avoided,
        )

    def _open_roots(self, root: Path, avoided: tuple[TrustItem, ...]) -> Roots:
        try:
            roots = open_roots(root, self.user_data, Timestamp(time.time_ns()))
        except WorkspaceError as error:
            raise Refusal("no_workspace", str(error), origin=str(root)) from error
        return self._without_workspace(roots, avoided[0]) if avoided else roots

    def _make_store(self, roots: Roots) -> DiskStore:
        return DiskStore(
            roots,
            now=lambda: Timestamp(time.time_ns()),
            session=SESSION,
            newer_format=self._server.newer_format,
        )

    def _without_workspace(self, roots: Roots, folder: TrustItem) -> Roots:
        """Work in the user's own folder alone, and say why."""
        text = (
            f"`{folder.name}` leads out of this workspace, to {on_one_line(folder.text)}, so its conversations are "
            "left alone until you trust the workspace; what you ask is kept in your own folder meanwhile."
        )
        alone = roots.without_workspace()
        if alone is None:
            raise Refusal("no_workspace", f"{text} That one cannot be used, so nothing can be kept.")
        self._tell(Notice("warning", "outside_workspace", text))
        return alone

    def _make_settings(self, root: Path | None, silo: Path | None) -> WorkspaceSettings:
        return WorkspaceSettings(
            root,
            self.folder or root or self._home,
            self._environ,
            self._user_config,
            silo,
            self._server,
            self._default_model,
        )

    def _find_or_make(self) -> Path:
        """Find the workspace above the client's folder, or make one in it."""
        if self.folder is None:
            text = "No folder is open, so there is no workspace to keep the conversation in; open one and ask again."
            raise Refusal("no_workspace", text)
        if (root := self._found) is not None:
            return root
        initialise_unasked(self.folder, self._home, Timestamp(time.time_ns()))
        self._tell(Notice("info", "workspace_made", f"Made a JP workspace: {self.folder / '.jp'}"))
        return self.folder
