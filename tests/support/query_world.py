"""A host of queries with fakes at every port. Every query is recorded, and played back in the end (S25)."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.host import QueryHost
from jp_lsp.driver.runner import QueryRunner
from jp_lsp.ports.results import ResultFiles
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.outcome import QueryResult
from jp_lsp.turn.query import Query
from jp_lsp.workspace.memory import MemoryStore
from tests.support.clock import FakeClock
from tests.support.fake_attachments import FakeAttachments
from tests.support.fake_toolbox import FakeToolbox
from tests.support.fakes import FakeSettings, surroundings
from tests.support.frontend import RecordingFrontend
from tests.support.news import RecordingNews
from tests.support.recordings import MemoryRecordings, play_back
from tests.support.scripted_provider import ScriptedProvider

NEW = ConversationId("jp-c17912345678")


class World:
    """A host with its fakes. `others` answer for the models that are named, `provider` for all else."""

    def __init__(
        self,
        provider: ScriptedProvider | None,
        settings: QuerySettings | None = None,
        others: Mapping[str, ScriptedProvider | None] = {},
        results: ResultFiles | None = None,
        source: FakeSettings | None = None,
    ) -> None:
        self.provider = provider
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.settings = source or FakeSettings(settings)
        self.toolbox = FakeToolbox()
        self.attachments = FakeAttachments()
        self.recordings = MemoryRecordings()
        around = surroundings(
            provider,
            self.store,
            self.clock,
            self.settings,
            self.toolbox,
            self.recordings.port,
            others=others,
            results=results,
            attachments=self.attachments,
        )
        self.news = RecordingNews()
        self.host = QueryHost(around, lambda: 0.0, self.news)
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
    *scripts: Sequence[object],
    settings: QuerySettings | None = None,
    others: Mapping[str, ScriptedProvider | None] = {},
    results: ResultFiles | None = None,
    source: FakeSettings | None = None,
    **options: bool | frozenset[str],
) -> AsyncGenerator[World, None]:
    here = World(ScriptedProvider(*scripts, **options), settings, others, results, source)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(here.host.serve)
        await wait_all_tasks_blocked()
        yield here
        tasks.cancel_scope.cancel()
    for recording in here.recordings.files:
        play_back(recording.text)
