"""Long results of tools have a file, and it is gone when the query was to leave nothing."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from jp_lsp.conversation.event import ToolCallResponse
from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.toolset import ToolRun
from jp_lsp.tools.outcome import Failed, Succeeded, ToolOutcome
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.shown import ResultShown
from tests.support.fake_toolbox import spec
from tests.support.fakes import stored_events
from tests.support.query_world import NEW, World, world
from tests.support.turns import done, message, tool_call

pytestmark = pytest.mark.anyio

LONG = "line\n" * 1000


@dataclass
class MemoryResults:
    """Files in memory; `is_broken` refuses to write, `has_no_place` to be looked at."""

    files: dict[str, str] = field(default_factory=dict[str, str])
    is_broken: bool = False
    has_no_place: bool = False
    count: int = 0

    def new_path(self, conversation: ConversationId, call: CallId) -> str:
        if self.has_no_place:
            raise PermissionError("not yours")
        self.count += 1
        return f"/results/{call}-{self.count}.txt"

    async def write(self, path: str, text: str) -> None:
        if self.is_broken:
            raise OSError("disk full")
        self.files[path] = text

    async def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.files.pop(path, None)


@asynccontextmanager
async def running(outcome: ToolOutcome, results: MemoryResults) -> AsyncGenerator[World]:
    """A world whose tool `one` ends with this outcome."""
    settings = QuerySettings(ModelId("test", "big"), {}, tools=(spec("one", run_mode="unattended"),))
    scripts = [*tool_call(0, "a", "one"), done()], [message("ok"), done()]

    async def one(run: ToolRun) -> ToolOutcome:
        return outcome

    async with world(*scripts, settings=settings, results=results) as here:
        here.toolbox.work = {"one": one}
        yield here


def response(here: World) -> tuple[str, Any]:
    """What is stored of the result: its text, and the name of its file."""
    events = stored_events(here.store, NEW)
    (event,) = (each for each in events if isinstance(each.kind, ToolCallResponse))
    assert isinstance(event.kind, ToolCallResponse)
    return event.kind.content, event.metadata.get("result_file")


@pytest.mark.requirement("R264")
@pytest.mark.parametrize(
    ("outcome", "file"),
    [
        (Succeeded("short"), None),
        (Succeeded(LONG), LONG),
        (Failed(LONG), LONG),
        (Succeeded("begin", "/results/a-1.txt"), "written by the tool itself"),
    ],
)
async def test_which_results_have_a_file(outcome: Succeeded | Failed, file: str | None) -> None:
    results = MemoryResults()
    if outcome.file is not None:
        results.files[outcome.file] = "written by the tool itself"
    async with running(outcome, results) as here:
        await here.answer(here.ask())
    name = None if file is None else "a-1.txt"
    assert response(here) == (outcome.content, name)
    assert results.files == ({} if file is None else {"/results/a-1.txt": file})
    shown = [each.file for each in here.frontend.shown if isinstance(each, ResultShown)]
    assert shown == [None if file is None else "/results/a-1.txt"]


async def test_a_result_is_cut_and_says_where_more_is() -> None:
    async with running(Succeeded("x" * 300_000), MemoryResults()) as here:
        await here.answer(here.ask())
    text, _ = response(here)
    assert len(text) == 262_143
    assert text.endswith(" more bytes were left out; more is in /results/a-1.txt]")


async def test_a_failed_write_costs_the_link_alone() -> None:
    async with running(Succeeded(LONG), MemoryResults(is_broken=True)) as here:
        await here.answer(here.ask())
    assert response(here) == (LONG, None)


async def test_a_place_that_cannot_be_looked_at_costs_one_tool_an_error() -> None:
    async with running(Succeeded(LONG), MemoryResults(has_no_place=True)) as here:
        result = await here.answer(here.ask())
    assert result.outcome is Outcome.COMPLETED
    assert "PermissionError: not yours" in response(here)[0]


async def test_a_query_that_leaves_nothing_leaves_no_file() -> None:
    results = MemoryResults()
    async with running(Succeeded(LONG), results) as here:
        await here.answer(here.ask(persist=False))
    assert (results.count, results.files) == (1, {})
