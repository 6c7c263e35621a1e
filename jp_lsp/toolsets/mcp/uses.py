"""Whose question is it? What is asked of a server, and the way from a server's question to a call of ours.

The newer protocol and HTTP tell which call a question belongs to. Over standard output the older protocol does
not, so there it may be any call that runs. The one that began last is shown with the question; should it end
while the question is open, it was not the one, and the next is shown with it. Meanwhile none of them runs into
its time limit.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import anyio

from jp_lsp.ports.toolset import NoReply, Reply
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.toolsets.mcp.elicitation import Ask, FormResult

Fill: TypeAlias = Callable[[Ask], Awaitable[FormResult]]
"""Has a form filled by whoever answers questions."""


class Asker(Protocol):
    """A call that can put questions to its user."""

    def hold_limit(self) -> AbstractContextManager[None]:
        """Stop the clock of the call's time limit, if it has one, while the block runs."""
        ...

    async def ask(self, question: ToolQuestion) -> Reply | NoReply:
        """Put a question and wait. Cancelling withdraws it."""
        ...


@dataclass(eq=False, slots=True)
class Use:
    """Something that is asked of a server; without an asker its questions are declined."""

    asker: Asker | None
    over: anyio.Event = field(default_factory=anyio.Event)


CURRENT: ContextVar[Use | None] = ContextVar("CURRENT", default=None)
"""The use that the running task works for, where that is known."""


async def fill_for_user(uses: Sequence[Use], fill: Fill) -> FormResult:
    """Have a server's form filled by the user of the call that it belongs to.

    Args:
        uses: all that runs, in the order of its beginning.
        fill: asks for the form's fields.
    """
    current = CURRENT.get()
    candidates = [use for use in reversed(uses) if use.asker] if current is None else [current]
    askers = [use.asker for use in candidates if use.asker]
    if not askers:
        return "decline"

    async def ask(question: ToolQuestion) -> Reply | NoReply:
        for use, asker in zip(candidates, askers, strict=True):
            reply = None if use.over.is_set() else await _ask_until_over(use, asker, question)
            if reply is not None:
                return reply
        return "dismissed"

    with ExitStack() as held:
        for asker in askers:
            held.enter_context(asker.hold_limit())
        return await fill(ask)


async def _ask_until_over(use: Use, asker: Asker, question: ToolQuestion) -> Reply | NoReply | None:
    """Wait for the answer; nothing when the use ends before it comes."""
    reply: Reply | NoReply | None = None

    async def withdraw() -> None:
        await use.over.wait()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(withdraw)
        reply = await asker.ask(question)
        tasks.cancel_scope.cancel()
    return reply
