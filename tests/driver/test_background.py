"""Work beside the queries: at most four at once, cancelled by conversation, drained in the end (query pipeline 7.5)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.background import MOST_AT_ONCE, Background

pytestmark = pytest.mark.anyio

ONE, TWO = ConversationId("jp-c1"), ConversationId("jp-c2")


class Work:
    """Pieces of work that go on until the test lets them end, and tell what became of them."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.may_end = anyio.Event()

    def named(self, name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            self.began.append(name)
            try:
                await self.may_end.wait()
                self.ended.append(name)
            except anyio.get_cancelled_exc_class():
                self.ended.append(f"{name} cancelled")
                raise

        return run


@asynccontextmanager
async def serving(background: Background) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(background.serve)
        yield
        tasks.cancel_scope.cancel()


@pytest.mark.requirement("R229")
async def test_four_run_and_the_others_wait_their_turn() -> None:
    background, work = Background(), Work()
    names = [str(number) for number in range(MOST_AT_ONCE + 2)]
    for name in names:
        background.spawn(name, work.named(name), on_shutdown="finish")
    async with serving(background):
        await wait_all_tasks_blocked()
        assert work.began == names[:MOST_AT_ONCE]
        assert background.names == tuple(names)
        work.may_end.set()
        await background.drain(5)
        assert work.ended == names
        assert background.names == ()


@pytest.mark.requirement("R229")
async def test_cancel_ends_what_is_about_one_conversation_running_or_not() -> None:
    background, work = Background(), Work()
    async with serving(background):
        for number in range(MOST_AT_ONCE):
            conversation = ONE if number % 2 else TWO
            background.spawn(str(number), work.named(str(number)), conversation=conversation)
        background.spawn("waiting", work.named("waiting"), conversation=ONE)
        background.spawn("about nothing", work.named("about nothing"))
        await wait_all_tasks_blocked()
        background.cancel(ONE)
        await wait_all_tasks_blocked()
        assert work.ended == ["1 cancelled", "3 cancelled"]
        assert background.names == ("0", "2", "about nothing")


@pytest.mark.requirement("R229", "R314")
async def test_drain_waits_for_what_is_to_finish_and_begins_nothing() -> None:
    background, work = Background(), Work()
    async with serving(background):
        background.spawn("may be dropped", work.named("may be dropped"))
        background.spawn("to finish", work.named("to finish"), on_shutdown="finish")
        await wait_all_tasks_blocked()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(background.drain, 5)
            await wait_all_tasks_blocked()
            assert work.ended == ["may be dropped cancelled"]
            background.spawn("late", work.named("late"))
            work.may_end.set()
        assert work.ended == ["may be dropped cancelled", "to finish"]
        assert work.began == ["may be dropped", "to finish"]


async def test_drain_gives_up_when_its_time_is_over() -> None:
    background, work = Background(), Work()
    async with serving(background):
        background.spawn("endless", work.named("endless"), on_shutdown="finish")
        await wait_all_tasks_blocked()
        await background.drain(0)
        await wait_all_tasks_blocked()
        assert work.ended == ["endless cancelled"]


async def test_drain_without_work_returns_at_once() -> None:
    with anyio.fail_after(5):
        await Background().drain(60)


@pytest.mark.requirement("R229")
async def test_what_breaks_is_logged_by_name_and_concerns_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background, work = Background(), Work()

    async def break_down() -> None:
        raise ValueError("oh")

    async with serving(background):
        background.spawn("the rotten one", break_down)
        background.spawn("a good one", work.named("a good one"), on_shutdown="finish")
        await wait_all_tasks_blocked()
        work.may_end.set()
        await background.drain(5)
    assert work.ended == ["a good one"]
    assert "the rotten one broke" in caplog.text
    assert "ValueError: oh" in caplog.text
