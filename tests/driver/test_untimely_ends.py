"""Ends of preparations, saves and turns that meet something else in the same moment."""

from dataclasses import dataclass

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.runner import Refused
from jp_lsp.ports.store import StoreError
from jp_lsp.turn.inputs import CancelRequested, Pressed
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.stream_event import StreamEvent
from jp_lsp.workspace.memory import MemoryConversation
from tests.support.fakes import lines
from tests.support.query_world import NEW, world
from tests.support.scripted_provider import Silence
from tests.support.turns import done, message, tool_call

pytestmark = pytest.mark.anyio


@dataclass
class UninterruptedRead:
    """What is remembered is read by a thread, which nobody can stop: the last thing that preparation waits for."""

    began: anyio.Event
    goes_on: anyio.Event

    async def remembered(self) -> JsonObject:
        with anyio.CancelScope(shield=True):
            self.began.set()
            await self.goes_on.wait()
        return {}


@pytest.mark.requirement("S22", "R150")
async def test_a_query_that_is_cancelled_as_its_preparation_ends_gives_the_conversation_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world() as here:
        read = UninterruptedRead(anyio.Event(), anyio.Event())
        monkeypatch.setattr(MemoryConversation, "remembered", lambda _: read.remembered())
        runner = here.ask()
        await read.began.wait()
        runner.post(CancelRequested())
        await wait_all_tasks_blocked()
        read.goes_on.set()
        result = await here.answer(runner)
        assert (result.outcome, here.store.held) == (Outcome.CANCELLED_BEFORE_START, set())
        assert here.store.drafts[NEW] == "hi"


@pytest.mark.requirement("R95")
async def test_any_number_of_calls_is_answered_while_the_disk_is_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk, save = anyio.Event(), MemoryConversation.save
    calls = 1500
    events: list[StreamEvent] = [event for at in range(calls) for event in tool_call(at, f"c{at}", "gone")]

    async def slow(conversation: MemoryConversation) -> None:
        if here.store.save_count:
            await disk.wait()
        await save(conversation)

    async with world([*events, done()], [message("ok"), done()]) as here:
        monkeypatch.setattr(MemoryConversation, "save", slow)
        runner = here.ask()
        await wait_all_tasks_blocked()
        disk.set()
        assert (await here.answer(runner)).outcome is Outcome.COMPLETED
        assert sum(line.startswith("error") for line in lines(here.store, NEW)) == calls
        assert here.store.save_count < 10


@pytest.mark.requirement("S4")
async def test_a_draft_is_kept_although_the_conversation_could_not_be_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuses(_: MemoryConversation) -> None:
        raise StoreError("the folder is in use")

    async with world([message("The ans"), Silence()]) as here:
        monkeypatch.setattr(MemoryConversation, "discard", refuses)
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        assert (await here.answer(runner)).outcome is Outcome.ABORTED
        assert here.store.drafts[NEW] == "hi"
        assert here.store.held == set()
        assert [change.change for change in here.news.changes if change.change == "removed"] == []


async def test_a_query_whose_failure_cannot_be_handled_is_answered_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world([message("The ans"), Silence()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        monkeypatch.setattr(runner.core, "handle", broken)
        runner.post(CancelRequested())
        with anyio.fail_after(5):
            await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert (runner.outcome.error.code, runner.outcome.error.message) == (
            "internal",
            "internal error: ValueError: a bug",
        )
        assert here.store.held == set()
        here.recordings.files.clear()  # a core that does not break makes something else of it


def broken(*_: object) -> None:
    raise ValueError("a bug")
