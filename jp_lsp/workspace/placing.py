"""A conversation's folder within a root: what it is called, where it comes from, and how it goes.

Whoever calls holds the conversation's lock. Files that are not ours move along with the folder, and none of
them is ever deleted (conversation format 1.3, 1.4, 1.7).
"""

import filecmp
import logging
import os
import shutil
from pathlib import Path

from jp_lsp.conversation.directory_name import directory_name
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import TEMPORARY_SUFFIX, make_folder, read_file, stamp_of, sync_folder
from jp_lsp.workspace.folders import EVENTS, MANAGED, METADATA, Root
from jp_lsp.workspace.paths import Roots, copy_folder
from jp_lsp.workspace.trash import free_place, move_to_trash, write_note

_REPLACED = (
    "the conversation's other copy was newer and took its place, and does not have all that was said here"
)

_log = logging.getLogger(__name__)


def place(root: Root, conversation: ConversationId, title: str | None, now: Timestamp) -> Path:
    """Give the conversation's one folder its present name; it is made if there is none.

    Of several folders the newest stays, which is the one that is read, also where an older one has the name
    already. Where something else has it, such as a link or a file, the folder is called otherwise: it is found by
    its number all the same.

    Raises:
        OSError: it could not be named or made.
    """
    target = root.conversations / directory_name(conversation, title)
    folders = root.folders_of(conversation)
    for folder in folders[1:]:
        _log.warning("%s is a second folder of %s and goes to the trash", folder, conversation)
        reason = f"{target.name} is the folder of the same conversation"
        move_to_trash(folder, reason, now, conversations=root.conversations)
    if not folders:
        if os.path.lexists(target):
            target = target.with_name(directory_name(conversation, None))
        make_folder(target)
    elif folders[0] != target:
        if os.path.lexists(target) and not _is_same_folder(folders[0], target):
            _log.warning("%s is in the way, so %s keeps its name", target, folders[0])
            return folders[0]
        folders[0].rename(target)
        sync_folder(root.conversations)
    return target


def _is_same_folder(folder: Path, name: Path) -> bool:
    """Tell whether a name means this folder, where names may be written in several ways."""
    return not name.is_symlink() and folder.samefile(name)


def finish_move(roots: Roots, conversation: ConversationId) -> Path | None:
    """Bring the user's copy of a live conversation back from the archive, where a crash left it.

    Archiving begins with that copy and unarchiving ends with it, so a crash in between leaves it in the archive
    while the workspace's is in the list. It is known by its events, which are the same still, or by its metadata,
    if a crash before had left the events different; an archived copy with others is somebody else's doing and stays.

    Returns:
        Where the copy is now; `None` where there was nothing to do.

    Raises:
        OSError: it could not be moved.
    """
    silo, source = roots.silo, roots.workspace.folder_of(conversation)
    if silo is None or source is None or silo.folder_of(conversation) is not None:
        return None
    left = silo.folder_of(conversation, is_archived=True)
    if left is None or not any(_is_same_file(left / name, source / name) for name in (EVENTS, METADATA)):
        return None
    target = silo.conversations / left.name
    left.rename(target)
    sync_folder(silo.conversations)
    sync_folder(left.parent)
    return target


def import_external(roots: Roots, conversation: ConversationId) -> Path | None:
    """Copy a conversation that only the workspace has to the user's folder, with whatever else is in it.

    Returns:
        The copy; `None` where there was nothing to do.

    Raises:
        OSError: it could not be copied; nothing appeared.
    """
    if (found := finish_move(roots, conversation)) is not None:
        return found
    silo, source = roots.silo, roots.workspace.folder_of(conversation)
    if silo is None or source is None or silo.folder_of(conversation) is not None:
        return None
    target = silo.conversations / source.name
    copy_folder(source, target)
    return target


def keep_replaced(root: Root, folder: Path, events: bytes, now: Timestamp) -> None:
    """Copy a folder to the trash if the stream in it is about to give way to one that does not go on where it ends.

    A checkout makes an old copy the newer one, which then counts (trap 53); what only the other had said would be
    gone with the next save.

    Raises:
        OSError: it could not be read or copied.
    """
    if stamp_of(folder / EVENTS) is None:
        return
    replaced, _ = read_file(folder / EVENTS)
    if events.startswith(replaced.rstrip().removesuffix(b"]").rstrip()):
        return
    target = free_place(folder.name, root.conversations)
    copy_folder(folder, target)
    write_note(target, folder.name, _REPLACED, now, "copied")
    _log.warning("what %s held is kept in %s, because a newer copy takes its place", folder, target)


def move_others(source: Path, target: Path) -> None:
    """Move the files that are not ours from one folder of a conversation to another.

    What the other folder has already stays where it is, unless it is the very same.

    Raises:
        OSError: one of them could not be moved; it is where it was.
    """
    ours = {*MANAGED, *(f"{name}{TEMPORARY_SUFFIX}" for name in MANAGED)}
    for entry in sorted(source.iterdir()):
        wanted = target / entry.name
        if entry.name in ours:
            continue
        if not os.path.lexists(wanted):
            shutil.move(entry, wanted)
        elif _is_same_file(entry, wanted):
            entry.unlink()


def _is_same_file(one: Path, other: Path) -> bool:
    is_plain = stamp_of(one) is not None and stamp_of(other) is not None
    return is_plain and filecmp.cmp(one, other, shallow=False)


def remove_folder(root: Root, folder: Path, reason: str, now: Timestamp) -> None:
    """Remove our files and the folder; one that holds more goes to the trash as it is, for this reason.

    Raises:
        OSError: something could not be removed.
    """
    for name in MANAGED:
        (folder / f"{name}{TEMPORARY_SUFFIX}").unlink(missing_ok=True)
    if {entry.name for entry in folder.iterdir()} <= set(MANAGED):
        for name in reversed(MANAGED):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
        sync_folder(folder.parent)
    else:
        move_to_trash(folder, reason, now, conversations=root.conversations)
