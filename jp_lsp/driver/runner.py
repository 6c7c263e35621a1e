"""One query from start to answer: takes inputs, feeds the core, has its actions performed."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from jp_lsp.driver.hooks import TurnHooks
from jp_lsp.driver.mailbox import Mailbox
from jp_lsp.driver.perform import Performer
from jp_lsp.driver.preparation import Preparation
from jp_lsp.driver.recorder import Recorder
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.store import OpenConversation
from jp_lsp.turn.actions import Action, Refuse
from jp_lsp.turn.coordinator import TurnCoordinator
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import Crashed, Input, Pressed, Start
from jp_lsp.turn.interrupt import PressReport
from jp_lsp.turn.outcome import Outcome, QueryResult
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.query import Query

_log = logging.getLogger(__name__)

_STEADY_PHASES = frozenset(
    {
        Phase.WAITING,
        Phase.STREAMING,
        Phase.INTERRUPTED_STREAM,
        Phase.BACKOFF,
        Phase.EVALUATING,
        Phase.EXECUTING,
        Phase.INTERRUPTED_TOOLS,
    }
)
"""Here the stream in memory is what may be saved, and the last save of the turn is still to come."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The query never became a turn."""

    error: QueryError
    draft: str | None


class QueryRunner:
    """Runs one query.

    Args:
        token: names the query.
        query: what was asked.
        prepare: does the preparation.
        frontend: whoever watches.
        clock: time.
        jitter: gives the seconds to add to a retry delay.
        hooks: told at each point of the query.
        recorder: writes down what happens.
    """

    def __init__(
        self,
        token: int | str,
        query: Query,
        prepare: Callable[[], Awaitable[Preparation]],
        frontend: Frontend,
        clock: Clock,
        jitter: Callable[[], float],
        hooks: TurnHooks,
        recorder: Recorder | None = None,
    ) -> None:
        self.token = token
        self.query = query
        self.core = TurnCoordinator(str(token), jitter if recorder is None else recorder.jitter)
        self.finished = anyio.Event()
        self.outcome: QueryResult | Refused | None = None
        self._prepare = prepare
        self._frontend = frontend
        self._clock = clock
        self._hooks = hooks
        self._recorder = recorder
        self._mailbox = Mailbox(self._deliver)
        self._performer: Performer | None = None
        self._early: list[Input] = []

    @property
    def phase(self) -> Phase:
        """Where the query stands."""
        return self.core.phase

    def post(self, item: Input) -> None:
        """Tell the query that something happened; what follows from it is under way on return."""
        if self._performer is None:
            self._early.append(item)
        else:
            self._mailbox.put(item)

    def press(self, press: Pressed) -> PressReport:
        """Steer the query, and tell what became of it."""
        if self._performer is None:
            self._early.append(press)
            return PressReport("latched", self.phase)
        self._mailbox.put(press)
        return self.core.last_press

    def use(self, work: Callable[[OpenConversation], Awaitable[None]]) -> bool:
        """Let somebody else work on the open conversation soon; not where a save that counts is under way."""
        if self._performer is None or self.phase not in _STEADY_PHASES:
            return False
        self._performer.use(work)
        return True

    async def run(self) -> None:
        """Run to the end. The answer is in `outcome` when `finished` is set."""
        try:
            if self._has_something_to_do:
                await self._run()
            else:
                self.outcome = QueryResult(None, Outcome.EMPTY_QUERY)
        finally:
            self.finished.set()

    @property
    def _has_something_to_do(self) -> bool:
        """Whether there is something to ask, or somebody who can be asked what."""
        can_write = self.query.interactive and self._frontend.text_place is not None
        return can_write or not self.query.needs_text

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            performer = Performer(
                self._prepare, self._mailbox.put, self._frontend, self._clock, tasks, self._hooks
            )
            self._performer = performer
            if self._recorder is not None:
                tasks.start_soon(self._recorder.run)
            try:
                for item in (Start(self.query.text), *self._early):
                    self._mailbox.put(item)
                await performer.done.wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await performer.close()
                    if self._recorder is not None:
                        self._recorder.close()
                        await self._recorder.finished.wait()
            refused = performer.error and Refused(performer.error, performer.draft)
            self.outcome = refused or performer.result
            tasks.cancel_scope.cancel()

    def _deliver(self, item: Input) -> None:
        assert self._performer is not None, "inputs are delivered once the query runs"
        try:
            for action in self._handle(item):
                self._performer.perform(action)
        except Exception as error:
            _log.exception("the core of a query broke on %s", type(item).__name__)
            text = f"internal error: {type(error).__name__}: {error}"
            if isinstance(item, Crashed):  # not even that can be handled; whoever brought it is not to blame
                self._performer.perform(Refuse(QueryError("internal", text), self.query.text))
            else:
                self._mailbox.put(Crashed(text, ""))

    def _handle(self, item: Input) -> Sequence[Action]:
        now = self._clock.now()
        if self._recorder is None:
            return self.core.handle(item, now)
        return self._recorder.handle(self.core, item, now)
