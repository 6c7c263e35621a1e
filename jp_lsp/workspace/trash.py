"""Puts a conversation's folder aside instead of deleting it (conversation format 8.2).

Nothing in a trash is ever deleted by us; a person can move a folder back, and `restoring` does it for them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

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
    trash = conversations / ".trash"
    make_folder(trash)
    target, number = trash / folder.name, 0
    while target.exists():
        number += 1
        target = trash / f"{folder.name}-{number}"
    folder.rename(target)
    sync_folder(folder.parent)
    sync_folder(trash)
    write_file(target / NOTE_NAME, _note(folder.name, reason, now).encode())
    return target


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


def _note(name: str, reason: str, now: Timestamp) -> str:
    moment = f"{str(now).partition('.')[0].replace(' ', 'T')}Z"
    return (
        "# Conversation set aside\n\n"
        f"The folder `{name}` was moved here and nothing in it was changed.\n\n"
        f"- **Reason**: {reason}\n"
        f"- **Date**: {moment}\n\n"
        "To restore it, mend what the reason names, delete this note, and move the folder back to "
        "`conversations`.\n"
    )
