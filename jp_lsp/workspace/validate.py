"""Looks for conversations that cannot be used and says why (conversation format 8.2, 8.3).

Looking removes what a crash left in the middle of a write, and nothing else. Whether a broken conversation is removed
is for a person to decide, who is told what became of it. A conversation that somebody holds or has just written is
left alone: it may only be half made.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jp_lsp.conversation.directory_name import parse_directory_name
from jp_lsp.conversation.ids import ConversationId, counting_event_ids, created_at
from jp_lsp.conversation.json_text import from_text
from jp_lsp.conversation.stored import StreamFormatError, load
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.workspace.atomic import TEMPORARY_SUFFIX, read_own_text, stamp_of, why_absent
from jp_lsp.workspace.folders import BASE_CONFIG, EVENTS, METADATA, Root
from jp_lsp.workspace.lock import is_locked, lock_path
from jp_lsp.workspace.metadata import Metadata, MetadataError
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import LARGEST_FILE

RECENT_SECONDS = 5.0
"""A folder in which something changed this lately is not judged."""

_OLDEST_LAYOUT = "messages.json"


@dataclass(frozen=True, slots=True)
class BrokenConversation:
    """A folder that is no usable conversation.

    `is_lost` is false where somebody should look first: a layout that we cannot read, or content that only fails our
    own, stricter reading.
    """

    root: Root
    folder: Path
    conversation: ConversationId | None
    reason: str
    is_lost: bool


def validate(roots: Roots, now: Timestamp) -> list[BrokenConversation]:
    """Check every live conversation in both roots.

    Raises:
        OSError: a folder cannot be listed.
    """
    return [broken for root in roots.in_reading_order for broken in _validate_root(roots, root, now)]


def _validate_root(roots: Roots, root: Root, now: Timestamp) -> Iterator[BrokenConversation]:
    if not root.conversations.is_dir():
        return
    for folder in sorted(root.conversations.iterdir()):
        if folder.name.startswith(".") or folder.is_symlink() or not folder.is_dir():
            continue
        conversation = parse_directory_name(folder.name)
        if conversation is not None and is_locked(lock_path(roots, conversation)):
            continue
        try:
            if _changed_lately(folder, now):
                continue
            _remove_temporaries(folder, now)
            finding = _examine(folder, conversation)
        except FileNotFoundError:  # it was moved meanwhile
            continue
        except OSError as error:
            finding = f"it cannot be looked at: {error.strerror or error}", False
        if finding is not None:
            reason, is_lost = finding
            yield BrokenConversation(root, folder, conversation, reason, is_lost)


def _changed_lately(folder: Path, now: Timestamp) -> bool:
    return any(_is_recent(entry, now) for entry in (folder, *folder.iterdir()))


def _is_recent(path: Path, now: Timestamp) -> bool:
    return 0 <= now.nanoseconds - path.lstat().st_mtime_ns < RECENT_SECONDS * 1e9


def _remove_temporaries(folder: Path, now: Timestamp) -> None:
    """Remove what a crash left; what was made since we began to look belongs to somebody who writes now."""
    for path in folder.glob(f"*{TEMPORARY_SUFFIX}"):
        is_leftover = path.is_file() or path.is_symlink()
        if is_leftover and path.lstat().st_mtime_ns <= now.nanoseconds:
            path.unlink(missing_ok=True)


def _examine(folder: Path, conversation: ConversationId | None) -> tuple[str, bool] | None:
    """Give what is wrong with a folder and whether it is lost; the first finding decides."""
    if conversation is None:
        looks_like_ours = folder.name.lstrip("+0").partition("-")[0].isdigit()
        return "invalid directory name", not looks_like_ours
    if stamp_of(folder / EVENTS) is None and stamp_of(folder / _OLDEST_LAYOUT) is not None:
        return f"unsupported layout: it has {_OLDEST_LAYOUT} and no {EVENTS}", False
    for name, check, is_required in (
        (METADATA, _check_json, True),
        (BASE_CONFIG, _check_json, False),
        (EVENTS, _check_entries, True),
    ):
        try:
            text = read_own_text(folder / name, LARGEST_FILE)
        except UnicodeDecodeError as error:
            return f"{name}: not UTF-8: {error.reason} at byte {error.start}", True
        except OSError as error:
            return f"{name}: {error.strerror}", False
        if text is None and os.path.lexists(folder / name):
            return f"{name} {why_absent(folder / name)}", False
        if text is None and is_required:
            return f"missing {name}", True
        if text is not None and (problem := check(text)) is not None:
            return f"{name}: {problem}", True
    return _examine_content(folder, conversation)


def _examine_content(folder: Path, conversation: ConversationId) -> tuple[str, bool] | None:
    """Read the conversation as a query would; what fails only here is not lost."""
    try:
        Metadata.parse(read_own_text(folder / METADATA, LARGEST_FILE) or "")
        load(
            read_own_text(folder / EVENTS, LARGEST_FILE) or "",
            read_own_text(folder / BASE_CONFIG, LARGEST_FILE),
            created_at=created_at(conversation),
            mint=counting_event_ids(),
        )
    except (MetadataError, StreamFormatError, OSError) as error:
        return str(error), False
    return None


def _check_json(text: str) -> str | None:
    try:
        from_text(text)
    except ValueError as error:
        return str(error)
    return None


def _check_entries(text: str) -> str | None:
    """Ask for an array of objects with a type; a missing time alone does not condemn a conversation (trap 31)."""
    try:
        value = from_text(text)
    except ValueError as error:
        return str(error)
    if not isinstance(value, list):
        return "the file is not a JSON array"
    for number, element in enumerate(cast(list[object], value)):
        if not isinstance(element, Mapping) or "type" not in element:
            return f"entry {number} is no object with a type"
    return None
