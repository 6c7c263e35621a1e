"""The queries of a server: started here, found here, and outliving the requests that began them."""

import logging
from collections.abc import Callable
from functools import partial

import anyio
from anyio.abc import TaskGroup

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.prepare import Preparation, Surroundings, prepare
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.refusal import Refusal
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import ClientGone, Pressed, ShutdownRequested
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
    """

    def __init__(self, around: Callable[[], Surroundings], jitter: Callable[[], float]) -> None:
        self._around = around
        self._jitter = jitter
        self._tasks: TaskGroup | None = None
        self._closing = anyio.Event()
        self._unstarted: list[QueryRunner] = []
        self._running: dict[int | str, QueryRunner] = {}
        self._conversations: dict[ConversationId, QueryRunner] = {}
        self._used_last: ConversationId | None = None
        self._latched: dict[int | str, tuple[Pressed, float]] = {}

    async def serve(self) -> None:
        """Run queries until `close`."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
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

    @property
    def running(self) -> tuple[QueryRunner, ...]:
        """The queries that run, oldest first."""
        return tuple(self._running.values())

    def conversation_of(self, runner: QueryRunner) -> ConversationId | None:
        """Tell which conversation a query has claimed."""
        return next((name for name, holder in self._conversations.items() if holder is runner), None)

    def find(
        self, token: int | str | None = None, conversation: ConversationId | None = None
    ) -> QueryRunner | None:
        """Find a query by token, else by conversation, else the one that was started last."""
        if token is not None:
            return self._running.get(token)
        if conversation is not None:
            return self._conversations.get(conversation)
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

    async def close(self, *, is_client_gone: bool, budget: float) -> None:
        """End every query with its content stored, within `budget` seconds; then `serve` returns."""
        self._closing.set()
        with anyio.move_on_after(budget):
            for runner in self.running:
                runner.post(ClientGone() if is_client_gone else ShutdownRequested())
            for runner in self.running:
                await runner.finished.wait()
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    async def _prepare(
        self, token: int | str, query: Query, around: Surroundings, frontend: Frontend
    ) -> Preparation:
        runner = self._running[token]
        while True:
            holders: list[QueryRunner] = []
            reserve = partial(self._reserve, runner, holders)
            try:
                return await prepare(query, around, frontend, used_last=self._used_last, reserve=reserve)
            except Refusal:
                if not (query.queue and holders):
                    raise
                await holders[0].finished.wait()

    def _reserve(self, runner: QueryRunner, holders: list[QueryRunner], conversation: ConversationId) -> None:
        holder = self._conversations.get(conversation)
        if holder is not None and holder is not runner:
            holders.append(holder)
            text = (
                f"Conversation {conversation} is busy with another query. Wait for it, stop it, "
                "ask in a new conversation, or send the query with `queue: true`."
            )
            raise Refusal("conversation_busy", text)
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
            for name in [name for name, holder in self._conversations.items() if holder is runner]:
                del self._conversations[name]
