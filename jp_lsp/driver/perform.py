"""Performing: one function for each action of the core.

None of them waits. What takes time is started as a task of the query's own group, and what it learns
comes back as an input.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import assert_never

import anyio
from anyio.abc import TaskGroup

from jp_lsp.driver.cycle_request import build_request
from jp_lsp.driver.hooks import TurnHooks
from jp_lsp.driver.inquiry import ask_assistant
from jp_lsp.driver.preparation import EmptyQuery, Preparation
from jp_lsp.driver.pump import Pump
from jp_lsp.driver.query_document import read_document
from jp_lsp.driver.reasoning_summaries import ReasoningSummaries
from jp_lsp.driver.remembered import to_remembered
from jp_lsp.driver.result_files import QueryResults
from jp_lsp.driver.saver import Saver
from jp_lsp.driver.tool_runs import ToolRuns
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import OpenConversation, StoreError
from jp_lsp.tools.actions import AskAssistant, CancelPass, FormatArguments, Remember, RunPass
from jp_lsp.turn import actions
from jp_lsp.turn.actions import Action
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import (
    AttemptId,
    Crashed,
    Input,
    NothingToAsk,
    Prepared,
    PrepareFailed,
    Saved,
    SaveFailed,
    TimerElapsed,
)
from jp_lsp.turn.outcome import Notice, QueryResult
from jp_lsp.turn.shown import NoticeGiven, Shown

_log = logging.getLogger(__name__)


class Performer:
    """Performs the actions of one query.

    Args:
        prepare: does the preparation.
        post: takes inputs for the core.
        frontend: whoever watches.
        clock: waits.
        tasks: where everything runs that takes time.
        hooks: told at each point of the query, once it is saved.
    """

    def __init__(
        self,
        prepare: Callable[[], Awaitable[Preparation]],
        post: Callable[[Input], None],
        frontend: Frontend,
        clock: Clock,
        tasks: TaskGroup,
        hooks: TurnHooks,
    ) -> None:
        self.result: QueryResult | None = None
        self.error: QueryError | None = None
        self.draft: str | None = None
        self.done = anyio.Event()
        self._prepare = prepare
        self._post = post
        self._frontend = frontend
        self._clock = clock
        self._tasks = tasks
        self._hooks = hooks
        self._turn_count = 0
        self._is_removed = False
        self._preparation: Preparation | None = None
        self._preparing = anyio.CancelScope()
        self._wait = anyio.CancelScope()
        self._saver: Saver | None = None
        self._tools: ToolRuns | None = None
        self._results: QueryResults | None = None
        self._summaries: ReasoningSummaries | None = None
        self._pumps: dict[AttemptId, Pump] = {}

    def perform(self, action: Action) -> None:
        """Do what the core asks."""
        match action:
            case actions.Prepare():
                self._spawn(self._perform_prepare)
            case actions.CancelPreparation():
                self._preparing.cancel()
            case actions.Publish(shown):
                self._perform_publish(shown)
            case actions.Ask(decision):
                self._frontend.ask(decision, self._post)
            case actions.Withdraw(decision, how):
                self._frontend.withdraw(decision, how)
            case actions.RequestCycle():
                self._perform_request(action)
            case actions.CloseStream(attempt):
                self._pumps[attempt].close()
            case actions.PauseReading(attempt):
                self._pumps[attempt].pause()
            case actions.ResumeReading(attempt):
                self._pumps[attempt].resume()
            case actions.Wait(seconds):
                self._wait = scope = anyio.CancelScope()
                self._spawn(lambda: self._perform_wait(seconds, scope))
            case actions.CancelWait():
                self._wait.cancel()
            case actions.Save(point):
                self._open_saver.save(point)
            case actions.DiscardConversation():
                self._is_removed = True
                self._open_saver.run_in_order(self._perform_discard)
            case actions.KeepDraft(text):
                self._perform_draft(lambda: self._opened.conversation.keep_draft(text))
            case actions.ClearDraft():
                self._perform_draft(self._opened.conversation.clear_draft)
            case RunPass():
                self._open_tools.start(action)
            case CancelPass(call):
                self._open_tools.cancel(call)
            case FormatArguments():
                self._open_tools.format(action)
            case AskAssistant():
                self._perform_inquiry(action)
            case Remember(scope=scope):
                self._perform_remember(scope)
            case actions.Finish(result):
                self.result = result
                if self._turn_count and not self._is_removed:
                    self._hooks.turn_finished(self._opened, result.outcome)
                self.done.set()
            case actions.Refuse(error, draft):
                self.error, self.draft = error, draft
                self.done.set()
            case _:
                assert_never(action)

    def use(self, work: Callable[[OpenConversation], Awaitable[None]]) -> None:
        """Let somebody else work on the open conversation, between two saves."""
        self._open_saver.run_in_order(lambda: self._perform_use(work))

    async def close(self) -> None:
        """Finish what is being written and give the conversation back."""
        for pump in self._pumps.values():
            pump.close()
        if self._saver is not None:
            self._saver.close()
            await self._saver.finished.wait()
        unsent = await self._frontend.unsent()
        text = None if unsent is None else read_document(unsent).query
        if text:
            self._add_to_draft(text)
        if self._preparation is not None:
            if self._results is not None and not self._preparation.turn.options.persist:
                await self._results.forget()
            conversation = self._preparation.conversation
            if text:
                await _without_failing(lambda: conversation.keep_draft(text))
            await conversation.release()

    def _add_to_draft(self, text: str) -> None:
        """What the user was writing when its question ended is a draft too: on disk, and in the answer (7.3)."""
        if self.result is None:
            self.draft = text if self.draft is None else f"{self.draft}\n\n{text}"
        else:
            draft = text if self.result.draft is None else f"{self.result.draft}\n\n{text}"
            self.result = replace(self.result, draft=draft)

    @property
    def _opened(self) -> Preparation:
        assert self._preparation is not None, "the core saves and asks only after it was prepared"
        return self._preparation

    @property
    def _open_saver(self) -> Saver:
        assert self._saver is not None, "the core saves only after it was prepared"
        return self._saver

    @property
    def _open_tools(self) -> ToolRuns:
        assert self._tools is not None, "tools run only after the query was prepared"
        return self._tools

    def _perform_publish(self, shown: Shown) -> None:
        self._frontend.publish(shown)
        if self._summaries is not None:
            self._summaries.see(shown)

    async def _perform_prepare(self) -> None:
        with self._preparing:
            try:
                preparation = await self._prepare()
            except Refusal as refusal:
                self._post(PrepareFailed(refusal.error))
                return
            except EmptyQuery:
                self._post(NothingToAsk())
                return
            self._preparation = preparation
            around = preparation.around
            self._results = QueryResults(around.results, preparation.conversation.id)
            self._tools = ToolRuns(
                preparation.toolset,
                preparation.conversation.id,
                around.workspace_id,
                around.root,
                self._results,
                self._post,
                self._tasks,
            )
            self._saver = Saver(preparation.conversation, self._report_save, self._clock, self._tasks)
            self._spawn(self._saver.run)
            if (wanted := preparation.settings.reasoning_summary) is not None:
                self._summaries = ReasoningSummaries(
                    preparation, wanted, self._frontend.publish, self._clock, self._spawn_beside
                )
            self._post(Prepared(preparation.turn))
            for warning in preparation.warnings:
                notice = Notice("warning", "settings", warning)
                self._frontend.publish(NoticeGiven(notice, is_durable=False))

    def _report_save(self, outcome: Saved | SaveFailed) -> None:
        """Tell the core, then the hooks: what the turn does next is under way before what runs beside it."""
        self._post(outcome)
        match outcome:
            case Saved("P1"):
                self._turn_count += 1
                self._hooks.turn_started(self._opened, is_first=self._turn_count == 1)
            case Saved("P4"):
                self._hooks.cycle_committed(self._opened)
            case _:
                pass

    async def _perform_discard(self) -> None:
        was_stored = not self._opened.conversation.is_new
        try:
            await self._opened.conversation.discard()
        except StoreError as error:
            _log.warning("a conversation that was taken back could not be removed: %s", error)
            return
        if was_stored:
            self._hooks.conversation_removed(self._opened)

    async def _perform_use(self, work: Callable[[OpenConversation], Awaitable[None]]) -> None:
        try:
            await work(self._opened.conversation)
        except Exception:
            _log.exception("work beside a query broke")

    def _perform_request(self, action: actions.RequestCycle) -> None:
        parts = self._opened.parts
        stream = self._opened.turn.stream.copy()
        pump = Pump(action.attempt, self._post, self._frontend.ready, self._clock, parts.guards)
        self._pumps[action.attempt] = pump
        self._spawn(lambda: pump.run(parts.provider, lambda: build_request(stream, parts, action)))

    def _perform_draft(self, job: Callable[[], Awaitable[None]]) -> None:
        """A draft comes back with the answer too, so a disk that refuses it ends no turn."""
        self._open_saver.run_in_order(lambda: _without_failing(job))

    def _perform_inquiry(self, action: AskAssistant) -> None:
        opened = self._opened
        stream = opened.turn.stream.copy()
        self._spawn(lambda: ask_assistant(action, stream, opened.parts, self._clock, self._post))

    def _perform_remember(self, scope: str) -> None:
        """What holds for the session lives in memory; what holds for the conversation is kept."""
        memory = self._opened.turn.memory
        if scope == "conversation" and memory is not None:
            decisions = to_remembered(memory.conversation)
            self._open_saver.run_in_order(lambda: self._opened.conversation.keep_remembered(decisions))

    async def _perform_wait(self, seconds: float, scope: anyio.CancelScope) -> None:
        with scope:
            await self._clock.sleep(seconds)
            if not scope.cancel_called:
                self._post(TimerElapsed())

    def _spawn_beside(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task that the turn can do without, whatever happens in it."""
        self._tasks.start_soon(_without_harm, task)

    def _spawn(self, task: Callable[[], Awaitable[None]]) -> None:
        self._tasks.start_soon(self._run, task)

    async def _run(self, task: Callable[[], Awaitable[None]]) -> None:
        """Run a task; a mistake of ours in it ends this turn, with its content, and nothing else."""
        try:
            await task()
        except Exception as error:
            _log.exception("a task of a query broke")
            self._post(Crashed(f"internal error: {type(error).__name__}: {error}", ""))


async def _without_harm(task: Callable[[], Awaitable[None]]) -> None:
    try:
        await task()
    except Exception:
        _log.exception("work beside a query broke")


async def _without_failing(job: Callable[[], Awaitable[None]]) -> None:
    try:
        await job()
    except StoreError as error:
        _log.warning("a draft was not stored: %s", error)
