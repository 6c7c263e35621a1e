"""Notices what others do to conversations, and tells the client of it.

JP on the command line and git change the folders of conversations without asking us. The watch looks at them
again and again, and tells what differs from what it saw before. Our own changes are told by whoever makes them;
their news pass through here, so that they are not told twice. What is ours is seen by the files themselves, and
not by the moment: somebody else may write right after us.
"""

import logging
from collections.abc import Callable, Collection, Mapping

import anyio

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.news import Change, ConversationChange, News
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import Mark, Upkeep
from jp_lsp.turn.outcome import Notice

POLL_SECONDS = 2.0
"""Between two looks, where nobody tells us of changed files."""

TOLD_SECONDS = 30.0
"""Between two looks, where the client tells us; it may not see all folders."""

SETTLE_SECONDS = 0.2
"""How long changes are gathered before a look: a checkout or a save touches many files in a row."""

SHARE = 20
"""A look that takes a second is followed by a pause of so many, however much happens meanwhile."""

_log = logging.getLogger(__name__)


class ConversationWatch:
    """The watch of one client. It is a `News`, through which our own changes are told.

    Args:
        upkeep: the shelf of the workspace.
        busy: gives the conversations that we are changing now.
        clock: time.
        news: the way to the client.
    """

    def __init__(
        self,
        upkeep: Callable[[], Upkeep],
        busy: Callable[[], Collection[ConversationId]],
        clock: Clock,
        news: News,
    ) -> None:
        self._upkeep = upkeep
        self._busy = busy
        self._clock = clock
        self._news = news
        self._known: Mapping[ConversationId, Mark] | None = None
        self._ours: dict[ConversationId, ConversationChange | None] = {}
        self._nudged = anyio.Event()
        self._interval = POLL_SECONDS

    def conversation_changed(self, change: ConversationChange) -> None:
        """Tell of a change that we made."""
        self._ours[change.conversation] = change
        self.nudge()
        self._news.conversation_changed(change)

    def notice(self, notice: Notice, conversation: ConversationId | None = None) -> None:
        """Tell the user something."""
        self._news.notice(notice, conversation)

    def rely_on_nudges(self) -> None:
        """Look seldom by ourselves from now on, because somebody calls `nudge` when files change."""
        self._interval = TOLD_SECONDS

    def nudge(self) -> None:
        """Look soon."""
        self._nudged.set()

    async def run(self) -> None:
        """Watch until cancelled. What cannot be looked at now is looked at later."""
        while True:
            begin = self._clock.now().monotonic
            try:
                await self.look()
            except (Refusal, OSError) as problem:
                _log.debug("conversations could not be looked over: %s", problem)
            cost = self._clock.now().monotonic - begin
            await self._pause()
            self._nudged = anyio.Event()
            await self._clock.sleep(max(SETTLE_SECONDS, SHARE * cost))

    async def look(self) -> None:
        """Compare with the last look and tell what others did; the first look only remembers.

        Raises:
            Refusal: there is no folder.
            OSError: the folders cannot be read.
        """
        upkeep, told, busy = self._upkeep(), {**self._ours}, {*self._busy()}
        marks = await upkeep.marks()
        # What was told or worked on while we looked was seen before that, or after it, or in the middle. So it stays as
        # it was known, and the next look judges it.
        newly_told = {each for each, change in self._ours.items() if change is not told.get(each)}
        unclear = {*busy, *self._busy(), *newly_told}
        settled = {each: change for each, change in self._ours.items() if each not in unclear}
        self._ours = {each: self._ours.get(each) for each in unclear}
        known, self._known = self._known, marks
        if known is None:
            return
        kept = {each: known[each] for each in unclear if each in known}
        self._known = {each: mark for each, mark in marks.items() if each not in unclear} | kept
        changes: list[tuple[ConversationId, Change]] = []
        for each in sorted((known.keys() | marks.keys() | settled.keys()) - unclear):
            before, after = known.get(each), marks.get(each)
            if each in settled:
                change = _change_after_ours(settled[each], before, after)
                if change == "updated" and after is not None and upkeep.is_own(each, before, after):
                    change = None
            else:
                change = _change(before, after)
            if change is not None:
                changes.append((each, change))
        if changes:
            await self._tell(changes)

    async def _tell(self, changes: Collection[tuple[ConversationId, Change]]) -> None:
        upkeep = self._upkeep()
        facts = {
            each.id: each
            for is_archived in (True, False)
            for each in await upkeep.list(is_archived=is_archived)
        }
        for conversation, change in changes:
            now = None if change == "removed" else facts.get(conversation)
            title, at = (None, None) if now is None else (now.title, now.last_activated_at)
            self._news.conversation_changed(ConversationChange(conversation, change, title, at))

    async def _pause(self) -> None:
        async with anyio.create_task_group() as tasks:

            async def nap() -> None:
                await self._clock.sleep(self._interval)
                tasks.cancel_scope.cancel()

            tasks.start_soon(nap)
            await self._nudged.wait()
            tasks.cancel_scope.cancel()


def _change(before: Mark | None, after: Mark | None) -> Change | None:
    if after is None:
        return "removed"
    if before is None:
        return "created"
    if before.is_archived != after.is_archived:
        return "archived" if after.is_archived else "unarchived"
    return None if before == after else "updated"


def _change_after_ours(
    told: ConversationChange | None, before: Mark | None, after: Mark | None
) -> Change | None:
    """Say what became of a conversation that we changed, beside what we told of it.

    Args:
        told: what we told last; nothing was told of one that we only worked on.
        before: how it was before we changed it.
        after: how it is now.

    Returns:
        What differs from what was told; "updated" where only the files can tell whether somebody else wrote.
    """
    change = None if told is None else told.change
    if after is None:
        return None if change == "removed" or (change is None and before is None) else "removed"
    if change == "removed":
        return "created"
    was_archived = after.is_archived if before is None else before.is_archived
    expected = {"archived": True, "unarchived": False}.get(change or "", was_archived)
    if after.is_archived != expected:
        return "archived" if after.is_archived else "unarchived"
    return "updated"
