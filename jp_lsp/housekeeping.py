"""What is done in an open workspace unasked: its first opening is completed, and what is old or left over is tidied.

Where there is no workspace there is nothing to do, and none is made.
"""

import logging
import time
from collections.abc import Callable, Sequence

from anyio import from_thread, to_thread

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.opened import OpenedWorkspace
from jp_lsp.ports.clock import Clock
from jp_lsp.turn.outcome import Notice
from jp_lsp.workspace.draft import Drafts
from jp_lsp.workspace.first_run import copy_conversations, is_unfinished
from jp_lsp.workspace.lock import remove_orphans
from jp_lsp.workspace.validate import BrokenConversation, validate

_log = logging.getLogger(__name__)

_ANOTHER_LOOK = 1.0
"""Seconds until we look again whether another server has copied the conversations of a new workspace."""


async def check(here: OpenedWorkspace) -> Sequence[Notice]:
    """Look for conversations that cannot be used, and say so; nothing is set aside (conversation format 8.3)."""
    found = await to_thread.run_sync(validate, here.roots, Timestamp(time.time_ns()))
    return [Notice("warning", "conversation_broken", _warning(broken)) for broken in found]


def _warning(broken: BrokenConversation) -> str:
    text = f"{broken.folder} is no usable conversation: {broken.reason.rstrip('.')}."
    if broken.conversation is None or not broken.is_lost:
        return text
    return f"{text} Mend the file, or remove {broken.conversation}: that moves it to the trash."


async def fill(here: OpenedWorkspace, clock: Clock) -> None:
    """Copy the conversations of a workspace that is new to the user to their own folder, beside the event loop.

    Where another server is at it, wait: its copies are no news either, and it may be killed in the middle.
    """
    while is_unfinished(here.roots):
        now, check_cancelled = Timestamp(time.time_ns()), from_thread.check_cancelled
        if not await to_thread.run_sync(copy_conversations, here.roots, now, check_cancelled):
            await clock.sleep(_ANOTHER_LOOK)


async def tidy(
    here: OpenedWorkspace, clock: Clock, tell: Callable[[Notice], None]
) -> Sequence[ConversationId]:
    """Move expired conversations to the trash, keep what a killed server left, drop old files and lock files."""
    await _keep_what_was_left(here, tell)
    await to_thread.run_sync(here.results.remove_old, clock.wall())
    await to_thread.run_sync(remove_orphans, here.roots.private / "locks")
    return await here.store.remove_expired()


async def _keep_what_was_left(here: OpenedWorkspace, tell: Callable[[Notice], None]) -> None:
    """Texts that the user was writing when a server was killed become drafts."""
    for left in await to_thread.run_sync(here.scratch.left_behind):
        try:
            if left.text and left.conversation is not None:
                await to_thread.run_sync(Drafts(here.roots).add, left.conversation, left.text)
                text = f"A text that you had not sent is kept as a draft of conversation {left.conversation}."
                tell(Notice("info", "draft_kept", text))
            await here.scratch.remove(left.name)
        except OSError as problem:
            _log.warning("%s could not be tidied up: %s", here.scratch.path / left.name, problem)
