"""Puts a conversation's folder aside instead of deleting it (conversation format 8.2).

Nothing in a trash is ever deleted by us; a person can move a folder back, and `restoring` does it for them.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import make_folder, stamp_of, sync_folder, write_file

NOTE_NAME = "TRASHED.md"

_NOTE = re.compile(r"^- \*\*Reason\*\*: (?P<reason>.*)\n- \*\*Date\*\*: (?P<date>\S+)$", re.MULTILINE)
_LONGEST_NOTE = 65_536


def move_to_trash(folder: Path, reason: str, now: Timestamp, *, conversations: Path) -> Path:
    """Move a folder to the `.trash` of a folder `conversations` on the same disk, and say there why.

    Raises:
        OSError: it could not be moved; it is still where it was, and whole.
    """
    target = put_away(folder, conversations)
    try:
        write_note(target, folder.name, reason, now, "moved")
    except OSError:
        _move_back(target, folder)
        raise
    return target


def move_all_to_trash(folders: Sequence[Path], reason: str, now: Timestamp) -> list[Path]:
    """Move the live folders of a conversation, each to the trash beside it: all of them or none.

    Raises:
        OSError: one could not be moved; all are where they were.
    """
    moved: dict[Path, Path] = {}
    try:
        for folder in folders:
            moved[folder] = move_to_trash(folder, reason, now, conversations=folder.parent)
    except OSError:
        for folder, target in moved.items():
            _move_back(target, folder)
        raise
    return list(moved.values())


def _move_back(target: Path, folder: Path) -> None:
    target.rename(folder)
    (folder / NOTE_NAME).unlink(missing_ok=True)
    sync_folder(folder.parent)
    sync_folder(target.parent)


def put_away(entry: Path, conversations: Path) -> Path:
    """Move anything to the `.trash` of a folder `conversations` on the same disk, under a name that is free there.

    Raises:
        OSError: it could not be moved; it is still where it was.
    """
    target = free_place(entry.name, conversations)
    make_folder(target.parent)
    entry.rename(target)
    sync_folder(entry.parent)
    sync_folder(target.parent)
    return target


def free_place(name: str, conversations: Path) -> Path:
    """Give a path in the trash that nothing is at yet: the name, or the name with a number."""
    target, number = conversations / ".trash" / name, 0
    while os.path.lexists(target):
        number += 1
        target = target.with_name(f"{name}-{number}")
    return target


def write_note(target: Path, name: str, reason: str, now: Timestamp, how: Literal["moved", "copied"]) -> None:
    """Say in a folder of the trash what it was called, how it came there, and why.

    Raises:
        OSError: it could not be written.
    """
    write_file(target / NOTE_NAME, _note(name, reason, now, how).encode(errors="backslashreplace"))


@dataclass(frozen=True, slots=True)
class Note:
    """What the note in a folder of the trash says."""

    reason: str
    date: Timestamp


def read_note(folder: Path) -> Note | None:
    """Read why and when a folder was moved to the trash; `None` where there is no note of ours."""
    path = folder / NOTE_NAME
    if (stamp := stamp_of(path)) is None or stamp.size > _LONGEST_NOTE:
        return None
    try:
        found = _NOTE.search(path.read_text(encoding="utf-8"))
        return None if found is None else Note(found["reason"], Timestamp.parse(found["date"]))
    except (FileNotFoundError, ValueError):
        return None


def _note(name: str, reason: str, now: Timestamp, how: str) -> str:
    moment = f"{str(now).partition('.')[0].replace(' ', 'T')}Z"
    return (
        "# Conversation set aside\n\n"
        f"The folder `{name}` was {how} here and nothing in it was changed.\n\n"
        f"- **Reason**: {reason}\n"
        f"- **Date**: {moment}\n\n"
        "To restore it, mend what the reason names, delete this note, and move the folder back to "
        "`conversations`.\n"
    )
