"""What a client changes in a stored conversation: turns, settings, compactions (conversation format 7).

A change is tried on a copy of the stream. Only one that was possible, and that changes something, is stored, so
a change that fails in the middle leaves no trace.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import anyio

from jp_lsp.conversation.amend import AmendError
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.compacting import CompactionWanted, add_compactions
from jp_lsp.driver.desk import Desk
from jp_lsp.ports.news import ConversationChange
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.ports.upkeep import ConversationFacts, HeldElsewhere

Amendment = Callable[[ConversationStream, Timestamp], None]
"""Changes a stream, at a time; raises `AmendError` where that is not possible, and then nothing happens."""


@dataclass(frozen=True, slots=True)
class Amended:
    """A conversation after a change of its content, and the URI of the copy that was made before it.

    `stream` is what it holds now; its revision is 0 if nothing had to be changed.
    """

    facts: ConversationFacts
    stream: ConversationStream
    copy: str | None = None


class Amender:
    """Changes what is in conversations for one client, and tells it of each change.

    Args:
        desk: what it takes.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def amend(self, conversation: ConversationId, change: Amendment, *, keeps_copy: bool) -> Amended:
        """Change what is in a live conversation; a change that changes nothing writes nothing.

        Args:
            conversation: which one.
            change: what is changed.
            keeps_copy: whether the conversation as it was is kept beside the workspace, for something is lost.

        Raises:
            Refusal: the change is not possible, there is no such conversation, somebody has it, or the disk
                refused.
        """

        async def changed(stream: ConversationStream) -> None:
            change(stream, self._now())

        return await self._rework(conversation, changed, keeps_copy=keeps_copy)

    async def preview(self, conversation: ConversationId, change: Amendment) -> ConversationStream:
        """Give the stream as `amend` would leave it, and change nothing.

        Raises:
            Refusal: the change is not possible, or there is no such conversation.
        """
        stream = await self._copied(conversation)
        with _refused():
            change(stream, self._now())
        return stream

    async def compact(
        self, conversation: ConversationId, wanted: CompactionWanted, report: Callable[[str], None]
    ) -> Amended:
        """Make a live conversation shorter for models; nobody else can change it while a model sums it up.

        Args:
            conversation: which one.
            wanted: how.
            report: told what is being done, where that takes time.

        Raises:
            Refusal: it is not possible, or no summary could be made, and then nothing is changed; there is no
                such conversation, somebody has it, or the disk refused.
        """

        async def changed(stream: ConversationStream) -> None:
            await add_compactions(stream, wanted, self._desk.around(), report)

        return await self._rework(conversation, changed, keeps_copy=False)

    async def preview_compaction(
        self, conversation: ConversationId, wanted: CompactionWanted
    ) -> ConversationStream:
        """Give the stream as `compact` would leave it; no model is asked, and nothing is changed.

        Raises:
            Refusal: it is not possible, or there is no such conversation.
        """
        stream = await self._copied(conversation)
        await add_compactions(stream, replace(wanted, asks_no_model=True), self._desk.around())
        return stream

    async def _copied(self, conversation: ConversationId) -> ConversationStream:
        return (await self._desk.around().store.copy(conversation)).stream.copy()

    async def _rework(
        self,
        conversation: ConversationId,
        change: Callable[[ConversationStream], Awaitable[None]],
        *,
        keeps_copy: bool,
    ) -> Amended:
        """Change the content of a live conversation that nobody else has meanwhile."""

        async def attempt() -> Amended:
            store = self._desk.around().store
            opened = await store.open(conversation)
            if opened is None:
                holder = await store.lock_holder(conversation)
                raise HeldElsewhere(conversation, holder or "another program")
            try:
                return await self._change(opened, change, keeps_copy=keeps_copy)
            except StoreError as error:
                raise Refusal("persist_failed", f"The change could not be stored: {error}") from error
            finally:
                with anyio.CancelScope(shield=True):
                    await opened.release()

        amended = await self._desk.patience.alone(conversation, attempt)
        if amended.stream.revision:
            self._desk.news.conversation_changed(ConversationChange.of(amended.facts, "updated"))
        return amended

    async def _change(
        self,
        opened: OpenConversation,
        change: Callable[[ConversationStream], Awaitable[None]],
        *,
        keeps_copy: bool,
    ) -> Amended:
        changed = opened.stream.copy()
        with _refused():
            await change(changed)
        if changed.revision == 0:
            return Amended(await self._desk.upkeep().facts(opened.id), changed)
        copy = await opened.save_recovery_copy() if keeps_copy else None
        opened.stream.replace(changed.entries)
        await opened.save()
        return Amended(await self._desk.upkeep().facts(opened.id), changed, copy)

    def _now(self) -> Timestamp:
        return Timestamp(self._desk.clock.now().nanoseconds)


@contextmanager
def _refused() -> Generator[None]:
    """Let a change that is not possible be refused."""
    try:
        yield
    except AmendError as error:
        raise Refusal("invalid_params", f"{error}.") from error
