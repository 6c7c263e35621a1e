"""The queries of a server: started here, found here, and outliving the requests that began them."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio.abc import TaskGroup

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.background import Background
from jp_lsp.driver.hooks import Announcer, HookList, TurnHooks
from jp_lsp.driver.preparation import Preparation, Surroundings
from jp_lsp.driver.prepare import prepare
from jp_lsp.driver.recorder import Recorder
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.driver.titles import Titles
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.news import News
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore, OpenConversation
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import ClientGone, Pressed, ShutdownRequested, Written
from jp_lsp.turn.interrupt import PressReport
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.query import Query

_log = logging.getLogger(__name__)

PRESS_LATCH_TIME = 2.0
"""Seconds that a press waits for a query which is still in the client's pipe."""


class QueryHost:
    """Owns the running queries. `serve` must run in a task that lives as long as the server.

    Args:
        around: the workspace's parts; asked for anew by each query.
        jitter: gives the seconds to add to a retry delay.
        news: told of conversations that change, and of what goes wrong beside the queries.
    """

    def __init__(self, around: Callable[[], Surroundings], jitter: Callable[[], float], news: News) -> None:
        self.background = Background()
        self._around = around
        self._jitter = jitter
        self._hooks = HookList((Announcer(news), Titles(self.background, news, self.use)))
        self._tasks: TaskGroup | None = None
        self._closing = anyio.Event()
        self._unstarted: list[QueryRunner] = []
        self._running: dict[int | str, QueryRunner] = {}
        self._conversations: dict[ConversationId, QueryRunner] = {}
        self._copied: dict[QueryRunner, ConversationId] = {}
        self._in_use: dict[ConversationId, anyio.Event] = {}
        self._used_last: ConversationId | None = None
        self._latched: dict[int | str, tuple[Pressed, float]] = {}

    async def serve(self) -> None:
        """Run queries until `close`."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self.background.serve)
            for runner in self._unstarted:
                tasks.start_soon(self._run, runner)
            self._unstarted.clear()
            await self._closing.wait()

    def start(self, token: int | str, query: Query, frontend: Frontend) -> QueryRunner:
        """Start a query at once, under the name `token`; its preparation goes on by itself.

        Raises:
            Refusal: a query with this token runs already, or the server is closing.
        """
        if self._closing.is_set():
            raise Refusal("internal", "The server is closing; restart it and try again")
        if token in self._running:
            raise Refusal("invalid_params", f"The token {token!r} is in use by a query that runs")
        around = self._around()
        runner = QueryRunner(
            token,
            query,
            partial(self._prepare, token, query, around, frontend),
            frontend,
            around.clock,
            self._jitter,
            self._hooks if query.is_stored else TurnHooks(),
            self._recorder(token, query, around),
        )
        self._running[token] = runner
        latched = self._latched.pop(token, None)
        if latched is not None and around.clock.now().monotonic - latched[1] <= PRESS_LATCH_TIME:
            runner.press(latched[0])
        if self._tasks is None:
            self._unstarted.append(runner)
        else:
            self._tasks.start_soon(self._run, runner)
        return runner

    def _recorder(self, token: int | str, query: Query, around: Surroundings) -> Recorder | None:
        """Record the query if that is wanted; of one that is not to be stored, nothing may reach the disk."""
        if around.recordings is None or not query.is_stored:
            return None
        return Recorder(str(token), around.recordings, self._jitter)

    @property
    def running(self) -> tuple[QueryRunner, ...]:
        """The queries that run, oldest first."""
        return tuple(self._running.values())

    def conversation_of(self, runner: QueryRunner) -> ConversationId | None:
        """Tell which conversation a query has claimed, or works on a copy of."""
        claimed = next((name for name, holder in self._conversations.items() if holder is runner), None)
        return self._copied.get(runner, claimed)

    def find(
        self, token: int | str | None = None, conversation: ConversationId | None = None
    ) -> QueryRunner | None:
        """Find a query by token, else by conversation, else the one that was started last."""
        if token is not None:
            return self._running.get(token)
        if conversation is not None:
            on_copies = (runner for runner, copied in self._copied.items() if copied == conversation)
            return self._conversations.get(conversation) or next(on_copies, None)
        return next(reversed(self._running.values()), None)

    def press(
        self, press: Pressed, token: int | str | None, conversation: ConversationId | None
    ) -> PressReport:
        """Steer a query. A press for an unknown token waits a moment: its query may be on the way."""
        runner = self.find(token, conversation)
        if runner is not None:
            return runner.press(press)
        if token is None:
            return PressReport("none", Phase.IDLE)
        try:
            now = self._around().clock.now().monotonic
        except Refusal:  # where no query can run, none is on the way
            return PressReport("none", Phase.IDLE)
        self._latched = {token: (press, now)}
        return PressReport("latched", Phase.IDLE)

    def holder(self, conversation: ConversationId) -> QueryRunner | None:
        """Give the query that has claimed a conversation."""
        return self._conversations.get(conversation)

    def busy(self) -> Collection[ConversationId]:
        """Give the conversations that a query has, or somebody else of us for a moment."""
        return {*self._conversations, *self._in_use}

    def select(self, conversation: ConversationId) -> None:
        """Let queries that name no conversation go to this one, as if it had been used last."""
        self._used_last = conversation

    @property
    def used_last(self) -> ConversationId | None:
        """The conversation that this client used last."""
        return self._used_last

    @asynccontextmanager
    async def claim(self, conversation: ConversationId) -> AsyncGenerator[None]:
        """Keep queries off a conversation for a moment; one that wants it meanwhile waits that moment.

        Raises:
            Refusal: a query has it.
        """
        while (over := self._in_use.get(conversation)) is not None:
            await over.wait()
        if conversation in self._conversations:
            text = f"Conversation {conversation} is busy with a query. Stop it, or wait for its end, and try again."
            raise Refusal("conversation_busy", text)
        over = self._in_use[conversation] = anyio.Event()
        try:
            yield
        finally:
            del self._in_use[conversation]
            over.set()

    async def use(
        self,
        conversation: ConversationId,
        store: ConversationStore,
        work: Callable[[OpenConversation], Awaitable[None]],
    ) -> bool:
        """Work on a conversation for a moment: between the saves of the query that has it, or alone.

        A query that wants it meanwhile waits that moment.

        Returns:
            Whether it was possible, if only soon; false while somebody else has the conversation.

        Raises:
            Refusal: there is no such conversation any more, or it cannot be read.
        """
        runner = self._conversations.get(conversation)
        if runner is not None:
            return runner.use(work)
        if conversation in self._in_use:
            return False
        async with self.claim(conversation):
            opened = await store.open(conversation)
            if opened is None:
                return False
            try:
                await work(opened)
            finally:
                with anyio.CancelScope(shield=True):
                    await opened.release()
            return True

    async def close(
        self, *, is_client_gone: bool, turn_budget: float, budget: float, background_budget: float
    ) -> None:
        """End every query with its content stored; then `serve` returns.

        Args:
            is_client_gone: whether nobody is there any more.
            turn_budget: seconds for each query that runs; they end side by side.
            budget: seconds for everything.
            background_budget: seconds of them, behind the queries, for what runs beside them.
        """
        self._closing.set()
        with anyio.move_on_after(budget):
            for runner in self.running:
                runner.post(ClientGone() if is_client_gone else ShutdownRequested())
            with anyio.move_on_after(turn_budget * len(self.running)):
                for runner in self.running:
                    await runner.finished.wait()
            await self.background.drain(background_budget)
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    async def _prepare(
        self, token: int | str, query: Query, around: Surroundings, frontend: Frontend
    ) -> Preparation:
        runner = self._running[token]
        while True:
            reserve = partial(self._reserve, runner)
            try:
                return await prepare(
                    query,
                    around,
                    frontend,
                    used_last=self._used_last,
                    reserve=reserve,
                    on_written=lambda text: runner.post(Written(text)),
                )
            except _Busy as busy:
                if not (busy.is_brief or query.queue):
                    raise
                await busy.over.wait()

    def _reserve(self, runner: QueryRunner, conversation: ConversationId) -> None:
        if not runner.query.is_stored:  # it works on a copy: nobody is in its way, and it changes nothing
            self._copied[runner] = conversation
            return
        if (over := self._in_use.get(conversation)) is not None:
            raise _Busy(f"Conversation {conversation} is being changed. Try again.", over, is_brief=True)
        holder = self._conversations.get(conversation)
        if holder is not None and holder is not runner:
            text = (
                f"Conversation {conversation} is busy with another query. Wait for it, stop it, "
                "ask in a new conversation, or send the query with `queue: true`."
            )
            raise _Busy(text, holder.finished, is_brief=False)
        self._give_back(runner)  # what it wanted first may be another program's, and is free for others
        self._conversations[conversation] = runner
        self._used_last = conversation

    async def _run(self, runner: QueryRunner) -> None:
        try:
            await runner.run()
        except Exception as error:
            _log.exception("query %s broke", runner.token)
            text = f"internal error: {type(error).__name__}: {error}"
            runner.outcome = runner.outcome or Refused(QueryError("internal", text), runner.query.text)
        finally:
            self._running.pop(runner.token, None)
            self._give_back(runner)

    def _give_back(self, runner: QueryRunner) -> None:
        self._copied.pop(runner, None)
        for name in [name for name, holder in self._conversations.items() if holder is runner]:
            del self._conversations[name]


class _Busy(Refusal):
    """Somebody of ours has the conversation until `over`; `is_brief` says that this is only a moment."""

    def __init__(self, text: str, over: anyio.Event, *, is_brief: bool) -> None:
        super().__init__("conversation_busy", text)
        self.over = over
        self.is_brief = is_brief
