"""What others do to conversations is told once; what we do is told by whoever does it, and never twice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.watching import POLL_SECONDS, SETTLE_SECONDS, TOLD_SECONDS, ConversationWatch
from jp_lsp.ports.news import Change, ConversationChange
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import Upkeep
from jp_lsp.workspace.memory import MemoryStore, StoredConversation
from tests.support.clock import FakeClock
from tests.support.fake_upkeep import FakeUpkeep
from tests.support.news import RecordingNews

pytestmark = pytest.mark.anyio

ONE, TWO = ConversationId("jp-c17912345678"), ConversationId("jp-c17912345679")


class Scene:
    """A watch over a shelf in memory, which others change by hand."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.news = RecordingNews()
        self.store = MemoryStore()
        self.shelf = FakeUpkeep(self.store)
        self.busy: set[ConversationId] = set()
        self.is_out_of_reach = False
        self.watch = ConversationWatch(self._upkeep, lambda: self.busy, self.clock, self.news)
        self.put(ONE, "one")

    def _upkeep(self) -> Upkeep:
        if self.is_out_of_reach:
            raise Refusal("no_workspace", "there is no folder")
        return self.shelf

    def put(self, conversation: ConversationId, title: str) -> None:
        """Somebody else writes a conversation."""
        self.store.stored[conversation] = StoredConversation("{}\n", "[]\n", title, Timestamp(1))
        self.shelf.state[conversation] = title

    def write(self, conversation: ConversationId, title: str) -> None:
        """We write a conversation."""
        self.put(conversation, title)
        self.shelf.own[conversation] = title

    def told(self) -> list[tuple[ConversationId, str, str | None]]:
        """What was told since the last call."""
        told = [(each.conversation, each.change, each.title) for each in self.news.changes]
        self.news.changes.clear()
        return told


@asynccontextmanager
async def running() -> AsyncGenerator[Scene]:
    """A scene whose watch has looked once."""
    scene = Scene()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scene.watch.run)
        await scene.clock.advance(0)
        yield scene
        tasks.cancel_scope.cancel()


@pytest.mark.requirement("R281")
async def test_each_change_of_somebody_else_is_told_once() -> None:
    scene = Scene()
    look = scene.watch.look
    await look()
    assert scene.told() == [], "the first look only remembers"
    scene.put(TWO, "two")
    await look()
    assert scene.told() == [(TWO, "created", "two")]
    scene.put(ONE, "one more")
    scene.shelf.archived.add(TWO)
    await look()
    assert scene.told() == [(ONE, "updated", "one more"), (TWO, "archived", "two")]
    scene.shelf.archived.clear()
    del scene.store.stored[ONE]
    await look()
    assert scene.told() == [(ONE, "removed", None), (TWO, "unarchived", "two")]
    await look()
    assert scene.told() == []


@pytest.mark.requirement("R281")
async def test_a_conversation_of_ours_that_goes_before_any_look_is_told() -> None:
    scene = Scene()
    await scene.watch.look()
    scene.write(TWO, "ours")
    scene.watch.conversation_changed(ConversationChange(TWO, "created", "ours"))
    del scene.store.stored[TWO]
    await scene.watch.look()
    assert scene.told() == [(TWO, "created", "ours"), (TWO, "removed", None)]
    await scene.watch.look()
    assert scene.told() == []


@pytest.mark.requirement("R281")
async def test_our_own_changes_are_told_by_us_alone() -> None:
    scene = Scene()
    await scene.watch.look()
    scene.write(ONE, "ours")
    scene.watch.conversation_changed(ConversationChange(ONE, "updated", "ours"))
    assert scene.told() == [(ONE, "updated", "ours")]
    await scene.watch.look()
    assert scene.told() == []
    scene.put(ONE, "theirs")
    await scene.watch.look()
    assert scene.told() == [(ONE, "updated", "theirs")]


async def test_a_conversation_that_we_work_on_is_left_alone_until_after() -> None:
    scene = Scene()
    await scene.watch.look()
    scene.busy.add(ONE)
    scene.write(ONE, "half")
    await scene.watch.look()
    scene.write(ONE, "whole")
    scene.busy.clear()
    await scene.watch.look()
    assert scene.told() == [], "its end was told by the query"
    scene.put(ONE, "theirs")
    await scene.watch.look()
    assert scene.told() == [(ONE, "updated", "theirs")]


async def test_a_change_that_is_told_during_a_look_is_skipped_by_the_next_one() -> None:
    scene = Scene()
    await scene.watch.look()
    before = scene.shelf.marks

    async def marks() -> object:
        seen = await before()
        scene.write(ONE, "ours")
        scene.watch.conversation_changed(ConversationChange(ONE, "updated", "ours"))
        return seen

    scene.shelf.marks = marks  # type: ignore[method-assign, assignment]  # the moment is the point
    await scene.watch.look()
    scene.shelf.marks = before  # type: ignore[method-assign]
    await scene.watch.look()
    assert scene.told() == [(ONE, "updated", "ours")]


def change(conversation: ConversationId, what: Change) -> ConversationChange:
    return ConversationChange(conversation, what)


@pytest.mark.requirement("R281")
async def test_a_change_of_somebody_else_right_after_ours_is_told() -> None:
    scene = Scene()
    await scene.watch.look()
    scene.write(ONE, "ours")
    scene.watch.conversation_changed(change(ONE, "updated"))
    scene.put(ONE, "theirs")
    await scene.watch.look()
    assert scene.told()[1:] == [(ONE, "updated", "theirs")]


@pytest.mark.requirement("R281")
async def test_a_change_of_somebody_else_while_we_work_is_told_when_we_are_done() -> None:
    scene = Scene()
    await scene.watch.look()
    scene.busy.add(ONE)
    scene.write(ONE, "ours")
    scene.put(ONE, "theirs")
    await scene.watch.look()
    assert scene.told() == [], "it may be a half of ours"
    scene.busy.clear()
    await scene.watch.look()
    await scene.watch.look()
    assert scene.told() == [(ONE, "updated", "theirs")]


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("archived", "unarchived"),
        ("unarchived", "archived"),
        ("removed", "created"),
        ("updated", "removed"),
        ("updated", "archived"),
    ],
)
async def test_what_somebody_else_undoes_right_after_us_is_told(ours: Change, theirs: Change) -> None:
    scene = Scene()
    if ours == "unarchived":
        scene.shelf.archived.add(ONE)
    await scene.watch.look()
    scene.watch.conversation_changed(change(ONE, ours))
    scene.told()
    if theirs == "removed":
        del scene.store.stored[ONE]
    if theirs == "archived":
        scene.shelf.archived.add(ONE)
    await scene.watch.look()
    assert [what for _, what, _ in scene.told()] == [theirs]
    await scene.watch.look()
    assert scene.told() == []


@pytest.mark.parametrize("what", ["archived", "removed", "created"])
async def test_what_we_did_to_a_whole_conversation_is_ours(what: Change) -> None:
    scene = Scene()
    await scene.watch.look()
    match what:
        case "archived":
            scene.shelf.archived.add(ONE)
        case "removed":
            del scene.store.stored[ONE]
        case _:
            scene.write(TWO, "new")
    scene.watch.conversation_changed(change(TWO if what == "created" else ONE, what))
    await scene.watch.look()
    assert len(scene.told()) == 1


async def test_the_watch_looks_every_few_seconds() -> None:
    async with running() as scene:
        scene.put(ONE, "new")
        await scene.clock.advance(POLL_SECONDS)
        assert scene.told() == []
        await scene.clock.advance(SETTLE_SECONDS)
        assert scene.told() == [(ONE, "updated", "new")]


async def test_a_nudge_brings_one_look_for_many_changes() -> None:
    async with running() as scene:
        scene.watch.rely_on_nudges()
        await scene.clock.advance(POLL_SECONDS + SETTLE_SECONDS)
        scene.put(ONE, "new")
        await scene.clock.advance(TOLD_SECONDS / 2)
        assert scene.told() == []
        scene.watch.nudge()
        scene.watch.nudge()
        await scene.clock.advance(SETTLE_SECONDS)
        assert scene.told() == [(ONE, "updated", "new")]


async def test_what_cannot_be_looked_at_now_is_looked_at_later() -> None:
    async with running() as scene:
        scene.is_out_of_reach = True
        scene.put(ONE, "new")
        await scene.clock.advance(POLL_SECONDS + SETTLE_SECONDS)
        scene.is_out_of_reach = False
        await scene.clock.advance(POLL_SECONDS + SETTLE_SECONDS)
        assert scene.told() == [(ONE, "updated", "new")]
