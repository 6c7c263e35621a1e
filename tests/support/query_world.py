"""A host of queries with fakes at every port."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.host import QueryHost
from jp_lsp.driver.runner import QueryRunner
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.outcome import QueryResult
from jp_lsp.turn.query import Query
from jp_lsp.workspace.memory import MemoryStore
from tests.support.clock import FakeClock
from tests.support.fake_toolbox import FakeToolbox
from tests.support.fakes import FakeSettings, surroundings
from tests.support.frontend import RecordingFrontend
from tests.support.scripted_provider import ScriptedProvider

NEW = ConversationId("jp-c17912345678")


class World:
    """A host with its fakes."""

    def __init__(self, provider: ScriptedProvider | None, settings: QuerySettings | None = None) -> None:
        self.provider = provider
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.settings = FakeSettings(settings)
        self.toolbox = FakeToolbox()
        around = surroundings(provider, self.store, self.clock, self.settings, self.toolbox)
        self.host = QueryHost(around, lambda: 0.0)
        self.frontend = RecordingFrontend()

    def ask(
        self, text: str = "hi", token: str = "t", frontend: RecordingFrontend | None = None, **query: object
    ) -> QueryRunner:
        return self.host.start(token, Query(text, **query), frontend or self.frontend)  # type: ignore[arg-type]

    async def answer(self, runner: QueryRunner) -> QueryResult:
        with anyio.fail_after(5):
            await runner.finished.wait()
        assert isinstance(runner.outcome, QueryResult), runner.outcome
        return runner.outcome


@asynccontextmanager
async def world(
    *scripts: Sequence[object], settings: QuerySettings | None = None, **options: bool
) -> AsyncGenerator[World, None]:
    here = World(ScriptedProvider(*scripts, **options), settings)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(here.host.serve)
        await wait_all_tasks_blocked()
        yield here
        tasks.cancel_scope.cancel()
