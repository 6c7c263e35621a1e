"""Notices what others do to conversations, and tells the client of it.

JP on the command line and git change the folders of conversations without asking us. The watch looks at them
again and again, and tells what differs from what it saw before. Our own changes are told by whoever makes them;
their news pass through here, so that they are not told twice.
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
        self._ours: set[ConversationId] = set()
        self._nudged = anyio.Event()
        self._interval = POLL_SECONDS

    def conversation_changed(self, change: ConversationChange) -> None:
        """Tell of a change that we made."""
        self._ours.add(change.conversation)
        self.nudge()  # soon, so that a change of somebody else right after it is not taken for a part of ours
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
        ours = {*self._ours, *self._busy()}
        marks = await self._upkeep().marks()
        busy = set(self._busy())
        changes = [] if self._known is None else _changes(self._known, marks, ours | self._ours | busy)
        self._known = marks
        # What was told or worked on while we looked may have been seen before or after, so the next look skips it too.
        self._ours = (self._ours - ours) | busy
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


def _changes(
    before: Mapping[ConversationId, Mark],
    after: Mapping[ConversationId, Mark],
    ours: Collection[ConversationId],
) -> list[tuple[ConversationId, Change]]:
    return [
        (conversation, change)
        for conversation in sorted((before.keys() | after.keys()) - set(ours))
        if (change := _change(before.get(conversation), after.get(conversation))) is not None
    ]


def _change(before: Mark | None, after: Mark | None) -> Change | None:
    if after is None:
        return "removed"
    if before is None:
        return "created"
    if before.is_archived != after.is_archived:
        return "archived" if after.is_archived else "unarchived"
    return None if before == after else "updated"
