"""What preparation finds out at the same time: nothing waits for anything, and every ending is the same each time."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.driver.errands import Errand, run_together
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError, Fetched
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.inputs import CancelRequested
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.stream_event import Flush
from tests.support.fake_attachments import as_texts
from tests.support.query_world import World, world
from tests.support.turns import done, structured

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Held:
    """Something that takes until the test lets it end; `log` tells what became of all of them."""

    name: str
    log: list[str]
    may_end: anyio.Event = field(default_factory=anyio.Event)
    failure: Exception | None = None

    async def wait(self) -> str:
        self.log.append(f"{self.name} begins")
        try:
            await self.may_end.wait()
        except anyio.get_cancelled_exc_class():
            self.log.append(f"{self.name} is cut short")
            raise
        if self.failure is not None:
            self.log.append(f"{self.name} fails")
            raise self.failure
        self.log.append(f"{self.name} ends")
        return self.name


def held(*names: str) -> tuple[list[Held], list[str]]:
    log: list[str] = []
    return [Held(name, log) for name in names], log


class TestErrands:
    async def test_all_begin_before_one_ends_and_each_has_its_result(self) -> None:
        works, log = held("a", "b", "c")
        errands = [Errand(work.wait) for work in works]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_together, errands)
            for work in reversed(works):
                await wait_all_tasks_blocked()
                work.may_end.set()
        assert log == ["a begins", "b begins", "c begins", "c ends", "b ends", "a ends"]
        assert [errand.result for errand in errands] == ["a", "b", "c"]

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    async def test_the_first_of_the_list_that_fails_counts_however_late(self, order: Sequence[int]) -> None:
        works, log = held("a", "b", "c")
        works[0].failure, works[1].failure = ValueError("a"), ValueError("b")

        async def run() -> None:
            with pytest.raises(ValueError, match=r"^a$"):
                await run_together([Errand(work.wait) for work in works])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            for index in order:
                await wait_all_tasks_blocked()
                works[index].may_end.set()
        assert "a fails" in log
        assert "c is cut short" in log

    async def test_what_comes_before_a_failure_goes_on(self) -> None:
        works, log = held("a", "b")
        works[1].failure = ValueError("b")

        async def run() -> None:
            with pytest.raises(ValueError, match=r"^b$"):
                await run_together([Errand(work.wait) for work in works])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await wait_all_tasks_blocked()
            works[1].may_end.set()
            await wait_all_tasks_blocked()
            assert log[-1] == "b fails"
            works[0].may_end.set()
        assert log[-1] == "a ends"

    async def test_cancelled_from_outside_all_end(self) -> None:
        works, log = held("a", "b")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_together, [Errand(work.wait) for work in works])
            await wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert sorted(log[2:]) == ["a is cut short", "b is cut short"]


ATTACHED = AttachmentEntry("file:README.md", "file", "README.md")


class Preparing:
    """A query whose preparation has three things to find out, each held until the test lets it end."""

    def __init__(self, here: World) -> None:
        self.log: list[str] = []
        self.model, self.tools, self.contents = (Held(name, self.log) for name in ("model", "tools", "files"))
        assert here.provider is not None
        here.provider.describing = self.model.wait
        here.toolbox.starting = self.tools.wait
        here.attachments.fetching = self.fetch
        self.runner: QueryRunner = here.ask(schema={"type": "object"})

    async def fetch(self, entries: Sequence[AttachmentEntry]) -> Fetched:
        await self.contents.wait()
        return await as_texts(entries)

    async def end(self, *works: Held) -> None:
        for work in works:
            await wait_all_tasks_blocked()
            work.may_end.set()


def preparing(*, answers_in_text: bool = True) -> AbstractAsyncContextManager[World]:
    settings = QuerySettings(ModelId("test", "big"), {}, attachments=(ATTACHED,))
    return world([structured("{}"), Flush(0), done()], settings=settings, answers_in_text=answers_in_text)


class TestPreparation:
    @pytest.mark.requirement("R44", "R224")
    async def test_model_tools_and_attachments_are_found_out_at_the_same_time(self) -> None:
        async with preparing() as here:
            query = Preparing(here)
            await wait_all_tasks_blocked()
            assert query.log == ["model begins", "tools begins", "files begins"]
            await query.end(query.contents, query.tools, query.model)
            result = await here.answer(query.runner)
            assert result.outcome is Outcome.COMPLETED
            assert here.provider is not None
            (request,) = here.provider.requests
            assert [item.source for item in request.thread.attachments] == ["README.md"]

    @pytest.mark.requirement("R343", "R299")
    @pytest.mark.parametrize("order", [("model", "tools", "contents"), ("contents", "tools", "model")])
    async def test_of_several_refusals_it_is_always_the_same_that_is_told(self, order: Sequence[str]) -> None:
        async with preparing(answers_in_text=False) as here:
            query = Preparing(here)
            query.tools.failure = Refusal("mcp_failed", "no server")
            query.contents.failure = AttachmentError("README.md", "no file")
            await query.end(*(getattr(query, name) for name in order))
            with anyio.fail_after(5):
                await query.runner.finished.wait()
            assert isinstance(query.runner.outcome, Refused)
            assert query.runner.outcome.error.code == "structured_output_unsupported"
            assert here.store.held == set()

    @pytest.mark.requirement("T23", "S9", "R314")
    async def test_cancelled_it_ends_all_of_them_and_gives_the_conversation_back(self) -> None:
        async with preparing() as here:
            query = Preparing(here)
            await wait_all_tasks_blocked()
            query.runner.post(CancelRequested())
            result = await here.answer(query.runner)
            assert result.outcome is Outcome.CANCELLED_BEFORE_START
            assert sorted(query.log[3:]) == [
                "files is cut short",
                "model is cut short",
                "tools is cut short",
            ]
            assert here.store.held == set()
