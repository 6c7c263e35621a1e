"""Has a conversation alone for a while, and waits a moment for who has it (conversation format 7).

Two things can be in the way: a query of ours that runs in the conversation, and another program that holds
it. A query has to be waited for by whoever asks; another program is given a moment, in case it only wanted one
too. Nobody is asked.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.host import QueryHost
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.refusal import Refusal

PATIENCE = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Seconds before each try to change a conversation that somebody has."""

IN_USE = frozenset({"conversation_busy", "lock_timeout"})
"""What a refusal says while anybody has the conversation, a query of ours included."""

_ELSEWHERE = frozenset({"lock_timeout"})

_T = TypeVar("_T")


class Patience:
    """Tries what somebody may be in the way of.

    Args:
        host: the client's queries.
        clock: time.
    """

    def __init__(self, host: QueryHost, clock: Clock) -> None:
        self._host = host
        self._clock = clock

    async def alone(self, conversation: ConversationId, work: Callable[[], Awaitable[_T]]) -> _T:
        """Do something while no query of ours can begin in the conversation.

        Raises:
            Refusal: a query runs in it, another program still holds it, or the work was refused.
        """

        async def attempt() -> _T:
            async with self._host.claim(conversation):
                return await work()

        return await self.insist(attempt, _ELSEWHERE)

    async def insist(self, attempt: Callable[[], Awaitable[_T]], passing: Collection[str] = IN_USE) -> _T:
        """Try again, for a moment, while the refusal is one of those that pass by themselves.

        Raises:
            Refusal: another one, or that of the last try.
        """
        for delay in PATIENCE[:-1]:
            await self._clock.sleep(delay)
            try:
                return await attempt()
            except Refusal as refusal:
                if refusal.error.code not in passing:
                    raise
        await self._clock.sleep(PATIENCE[-1])
        return await attempt()
