"""Removes conversations whose time is up (conversation format 7.11, query pipeline 7.3).

Expiry is a promise to tidy up, not to destroy: what is in use stays until a later look, and what goes is moved
to the trash, from where a person can take it back.
"""

import logging
from collections.abc import Sequence

from jp_lsp.conversation.ids import ConversationId, deciseconds_of
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.upkeep import ConversationFacts
from jp_lsp.workspace.folders import METADATA
from jp_lsp.workspace.listing import Listing
from jp_lsp.workspace.lock import acquire, lock_path
from jp_lsp.workspace.paths import Roots
from jp_lsp.workspace.reading import read_metadata
from jp_lsp.workspace.sessions import active_conversations
from jp_lsp.workspace.trash import move_all_to_trash

_log = logging.getLogger(__name__)


def remove_expired(roots: Roots, listing: Listing, now: Timestamp) -> list[ConversationId]:
    """Move expired live conversations to the trash, and give them.

    One that is locked, that a session of another program has open, or that was worked with last (it is what
    `last` means) stays. So does one whose metadata cannot be read.
    """
    live = listing.facts()
    expired = [each.id for each in live if _is_over(each.expires_at, now)]
    if not expired:
        return []
    archived = {each.id for each in listing.facts(is_archived=True)}
    active = active_conversations(roots.private / "sessions", {each.id for each in live}, archived)
    active |= _used_last(live)
    return [each for each in expired if each not in active and _remove(roots, each, now)]


def _used_last(live: Sequence[ConversationFacts]) -> set[ConversationId]:
    known = [(at, deciseconds_of(each.id), each.id) for each in live if (at := each.last_activated_at)]
    return {max(known)[-1]} if known else set()


def _remove(roots: Roots, conversation: ConversationId, now: Timestamp) -> bool:
    """Move one conversation away unless somebody holds it; what cannot be moved stays, and is logged."""
    try:
        lock = acquire(lock_path(roots, conversation), now)
        if lock is None:
            return False
        try:
            return _move(roots, conversation, now)
        finally:
            lock.release()
    except OSError as error:
        _log.warning("%s has expired and could not be removed: %s", conversation, error)
        return False


def _move(roots: Roots, conversation: ConversationId, now: Timestamp) -> bool:
    """Look again now that nobody else may write, then move the folders of both roots."""
    folders = [folder for root in roots.in_reading_order for folder in root.folders_of(conversation)]
    found = [metadata for folder in folders if (metadata := read_metadata(folder)) is not None]
    if not found or not all(_is_over(metadata.expires_at, now) for metadata in found):
        return False
    move_all_to_trash(folders, f"its time was up: `expires_at` in {METADATA} says when", now)
    return True


def _is_over(expires_at: Timestamp | None, now: Timestamp) -> bool:
    return expires_at is not None and expires_at <= now
