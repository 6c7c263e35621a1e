"""The two places of a workspace's data, and how the user's own one comes to be (conversation format 1.3).

`open_roots` makes and mends what is missing; `view_roots` touches nothing, for those who only look.
"""

import logging
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import make_folder, sync_file, sync_folder
from jp_lsp.workspace.folders import TRASH, Root
from jp_lsp.workspace.locate import STORAGE_FOLDER, ensure_workspace_id, read_workspace_id, silos_of
from jp_lsp.workspace.trash import move_to_trash, put_away

FIRST_RUN = ".first-run"
"""A folder in the user's own one, there until the workspace's conversations have been copied; see `first_run`."""

_STORAGE_LINK = "storage"
_MERGE_REASON = "two folders of the user's data held this conversation, and the other copy was newer"
_COPYING = ".copying-"

_log = logging.getLogger(__name__)


class WorkspaceError(Exception):
    """A workspace cannot be used; the text is for the user and says what to do."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where conversations are: in the workspace, and in the user's own folder if there is one.

    Where there is one place alone, it is in `workspace`, whichever of the two it is.
    """

    workspace: Root
    silo: Root | None

    @property
    def in_reading_order(self) -> tuple[Root, ...]:
        """The roots that exist; what is equally new is read from the first."""
        return (self.workspace,) if self.silo is None else (self.silo, self.workspace)

    def without_workspace(self) -> "Roots | None":
        """Give the user's own folder as the one place there is; `None` if there is no such folder."""
        return None if self.silo is None else Roots(self.silo, None)

    @property
    def private(self) -> Path:
        """The folder for drafts, recovery copies and locks: the user's own one, or else the workspace's."""
        return self.workspace.path if self.silo is None else self.silo.path


def view_roots(workspace: Path, user_data: Path) -> Roots:
    """Find the places of a workspace without writing anything."""
    storage = workspace / STORAGE_FOLDER
    try:
        workspace_id = read_workspace_id(storage)
        silo = None if workspace_id is None else _chosen_silo(workspace.name, workspace_id, user_data)
    except OSError as error:
        _log.debug("the user's own folder for %s is not known: %s", workspace, error)
        silo = None
    return Roots(Root("workspace", storage), None if silo is None else Root("silo", silo))


def open_roots(workspace: Path, user_data: Path, now: Timestamp) -> Roots:
    """Find or make the places of a workspace.

    The id is stored; the user's folder is created, brought together with older ones and linked to the
    workspace; when it is new, it is marked as one that `first_run` fills with the workspace's conversations.
    Where the user's data cannot be written or links do not exist, everything lives in the workspace alone. A
    workspace that cannot be written is one to look at, by the id that it has.

    Raises:
        WorkspaceError: there is no folder `.jp`, or something else is in the place of the link.
    """
    storage = workspace / STORAGE_FOLDER
    root = Root("workspace", storage)
    try:
        workspace_id = _workspace_id(storage, now)
        if workspace_id is None:
            return Roots(root, None)
        silo = _open_silo(root, workspace.name, workspace_id, user_data, now)
    except (OSError, NotImplementedError) as error:
        _log.warning("no user-local conversations for %s: %s", workspace, error)
        return Roots(root, None)
    return Roots(root, silo)


def _workspace_id(storage: Path, now: Timestamp) -> str | None:
    """Give the id, stored as it should be where that is possible; `None` where there is none and none can be stored."""
    try:
        return ensure_workspace_id(storage, now)
    except OSError as error:
        if not storage.is_dir():
            text = f"The workspace id cannot be stored in {storage}: {error.strerror}."
            raise WorkspaceError(text) from error
        _log.warning("the workspace id cannot be stored in %s: %s", storage, error)
        return read_workspace_id(storage)


def _open_silo(root: Root, slug: str, workspace_id: str, user_data: Path, now: Timestamp) -> Root:
    chosen = _chosen_silo(slug, workspace_id, user_data)
    is_first_run = chosen is None
    path = chosen or user_data / "workspace" / (f"{slug}-{workspace_id}" if slug else workspace_id)
    make_folder(path / FIRST_RUN if is_first_run and root.conversations.is_dir() else path)
    silo = Root("silo", path)
    _link_storage(path / _STORAGE_LINK, root.path)
    for sibling in silos_of(user_data, workspace_id):
        if not sibling.is_symlink() and not sibling.samefile(path) and _on_one_disk(sibling, path):
            _merge_sibling(Root("silo", sibling), silo, now)
    return silo


def _chosen_silo(slug: str, workspace_id: str, user_data: Path) -> Path | None:
    """Take the folder that has the workspace's present name, else the one with the newest content."""
    found = silos_of(user_data, workspace_id)
    exact = [folder for folder in found if folder.name == f"{slug}-{workspace_id}"]
    if exact:
        return exact[0]
    return max(found, key=lambda folder: (_content_time(folder), folder.name), default=None)


def _content_time(folder: Path) -> int:
    """Give the time of the newest direct entry, zero for an empty folder."""
    with os.scandir(folder) as entries:
        return max((entry.stat(follow_symlinks=False).st_mtime_ns for entry in entries), default=0)


def _link_storage(link: Path, storage: Path) -> None:
    """Point the link at the workspace, in one step, so that it never dangles."""
    if os.path.lexists(link):
        if not link.is_symlink():
            raise WorkspaceError(f"{link} is not a symbolic link; move it away and try again.")
        if link.readlink() == storage:
            return
    fresh = link.with_name(f"{link.name}.tmp")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(storage, target_is_directory=True)
    fresh.replace(link)


def _merge_sibling(sibling: Root, silo: Root, now: Timestamp) -> None:
    """Take over what an older user-local folder of this workspace has, then remove it.

    Of a conversation that both have the newer copy stays, and the other one goes to the trash. So does what is no
    conversation.
    """
    for is_archived in (False, True):
        target = silo.partition(is_archived=is_archived)
        ours = silo.conversation_folders(is_archived=is_archived)
        for conversation, name in sibling.conversation_folders(is_archived=is_archived).items():
            theirs = sibling.partition(is_archived=is_archived) / name
            if conversation in ours:
                own = target / ours[conversation]
                is_newer = _content_time(theirs) > _content_time(own)
                loser = own if is_newer else theirs
                move_to_trash(loser, _MERGE_REASON, now, conversations=silo.conversations)
                if not is_newer:
                    continue
            make_folder(target)
            theirs.rename(target / name)
    for left in _left_in(sibling):
        put_away(left, silo.conversations)
    _move_missing(sibling.path, silo.path)
    shutil.rmtree(sibling.path)
    sync_folder(silo.path.parent)


def _left_in(sibling: Root) -> list[Path]:
    """Give what stands among the conversations of a folder that is given up, and what is in its trash."""
    trash = sibling.conversations / TRASH
    folders = (sibling.partition(is_archived=False), sibling.partition(is_archived=True), trash)
    found = [sorted(folder.iterdir()) for folder in folders if folder.is_dir()]
    return [entry for entries in found for entry in entries if not entry.name.startswith(".")]


def _on_one_disk(one: Path, other: Path) -> bool:
    return one.stat().st_dev == other.stat().st_dev


def _move_missing(source: Path, target: Path) -> None:
    """Move what the target lacks; folders that both have are gone through one level down."""
    for entry in sorted(source.iterdir()):
        if entry.name in {_STORAGE_LINK, "conversations"}:
            continue
        own = target / entry.name
        if not own.exists():
            entry.rename(own)
        elif entry.is_dir() and own.is_dir():
            for inner in sorted(entry.iterdir()):
                if not (own / inner.name).exists():
                    inner.rename(own / inner.name)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with everything in it and its times; its folders can be written, also where the source's cannot.

    Raises:
        OSError: something in it could not be copied; part of the copy may be there.
    """
    try:
        shutil.copytree(source, target, symlinks=True)
    except shutil.Error as error:
        name, _, reason = error.args[0][0]
        raise OSError(f"{name} could not be copied: {reason}") from error
    finally:
        for folder, _, _ in os.walk(target):
            Path(folder).chmod(stat.S_IMODE(os.lstat(folder).st_mode) | stat.S_IRWXU)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a conversation's folder with everything in it and its times; it appears in one step.

    Raises:
        OSError: it could not be copied; nothing appeared.
    """
    make_folder(target.parent)
    fresh = target.with_name(f"{_COPYING}{target.name}")
    if fresh.exists():
        shutil.rmtree(fresh)
    try:
        copy_tree(source, fresh)
        for path in fresh.rglob("*"):
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        fresh.rename(target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    sync_folder(target.parent)
