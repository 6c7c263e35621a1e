"""What the first opening of a workspace does beside everything else: it fills the user's own folder.

Every conversation of the workspace is copied there (conversation format 1.3). Nobody has to wait for that: a
conversation without a copy is one that only the workspace has, which can be read as it is, and whose first
write brings the copy along. So each copy appears in one step and under the conversation's lock, unless
somebody holds it or changed something meanwhile. The copies of a batch are synced together, because a sync for
each of thousands of files takes minutes.

A folder in the user's own one stands for what is still to do, so that a run that was cut off is taken up again.
"""

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import Stamp, make_folder, stamp_of, sync_file, sync_folder
from jp_lsp.workspace.folders import MANAGED, Root
from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.paths import FIRST_RUN, Roots, copy_tree

BATCH = 500
"""Conversations that are synced together; as many are copied once more after a run that was cut off."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy that is not yet in its place, and how its source looked before it was made."""

    conversation: ConversationId
    source: Path
    seen: Sequence[Stamp | None]
    fresh: Path
    target: Path


def is_unfinished(roots: Roots) -> bool:
    """Tell whether conversations are still to be copied to the user's folder."""
    return roots.silo is not None and (roots.silo.path / FIRST_RUN).is_dir()


def copy_conversations(roots: Roots, now: Timestamp, check: Callable[[], None] = lambda: None) -> bool:
    """Copy what the user's folder lacks; `False` where another process is just doing that.

    Args:
        roots: the places of the workspace.
        now: the wall time, for the lock file.
        check: is called now and then; what it raises ends the work, which a later call takes up again.

    Raises:
        OSError: the user's folder cannot be written at all. What cannot be copied stays in the workspace alone.
    """
    if roots.silo is None:
        return True
    lock = acquire(roots.private / "locks" / "first-run.lock", now)
    if lock is None:
        return False
    try:
        unfinished = roots.silo.path / FIRST_RUN
        make_folder(unfinished)
        for left in unfinished.iterdir():
            shutil.rmtree(left)
        for is_archived in (False, True):
            _copy_partition(roots, roots.silo, check, is_archived=is_archived)
        shutil.rmtree(unfinished)
    finally:
        lock.release()
    return True


def _copy_partition(roots: Roots, silo: Root, check: Callable[[], None], *, is_archived: bool) -> None:
    source, target = (
        roots.workspace.partition(is_archived=is_archived),
        silo.partition(is_archived=is_archived),
    )
    missing = _missing(roots, silo, is_archived=is_archived)
    failures: list[OSError] = []
    names = sorted(missing)
    for start in range(0, len(names), BATCH):
        make_folder(target)
        copies: list[_Copy] = []
        for name in names[start : start + BATCH]:
            check()
            fresh = silo.path / FIRST_RUN / name
            try:
                seen = _look(source / name)
                copy_tree(source / name, fresh)
            except OSError as error:
                failures.append(error)
            else:
                copies.append(_Copy(missing[name], source / name, seen, fresh, target / name))
        _sync(copies)
        still_missing = _missing(roots, silo, is_archived=is_archived)
        for copy in copies:
            if copy.source.name in still_missing:
                _publish(copy, roots)
        sync_folder(target)
    if failures:
        text = "%s gets no copy of %d of the workspace's conversations, which stay there alone: %s"
        _log.warning(text, silo.path, len(failures), failures[0])


def _missing(roots: Roots, silo: Root, *, is_archived: bool) -> dict[str, ConversationId]:
    """Give the conversations without a copy by the names of their folders."""
    present = silo.conversation_folders(is_archived=is_archived)
    found = roots.workspace.conversation_folders(is_archived=is_archived)
    return {name: conversation for conversation, name in found.items() if conversation not in present}


def _look(folder: Path) -> Sequence[Stamp | None]:
    """Take what changes when somebody writes to a conversation."""
    return (Stamp.of(folder.lstat()), *(stamp_of(folder / name) for name in MANAGED))


def _sync(copies: Sequence[_Copy]) -> None:
    """Make the content of all copies durable before they can be seen."""
    if sys.platform == "linux":  # elsewhere the system may only begin with it
        os.sync()
    else:
        for path in _files(copies):
            sync_file(path)


def _files(copies: Sequence[_Copy]) -> Iterator[Path]:
    for copy in copies:
        yield from (path for path in copy.fresh.rglob("*") if path.is_file() and not path.is_symlink())


def _publish(copy: _Copy, roots: Roots) -> None:
    """Put a copy in its place; if its source changed or is being changed, the next write brings one along."""
    lock = acquire(lock_path(roots, copy.conversation), None)
    if lock is None:
        return
    try:
        if not copy.target.exists() and _look(copy.source) == copy.seen:
            copy.fresh.rename(copy.target)
    except FileNotFoundError:
        _log.debug("%s went away while it was copied", copy.source)
    finally:
        lock.release()
