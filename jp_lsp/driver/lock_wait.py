"""A conversation that another program holds: wait for it a while, then let the user decide (query pipeline 1.4).

Two programs never write to one conversation. Who is in a hurry asks in a new one, or in a copy.
"""

import secrets

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.asking import ask_user
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore, OpenConversation
from jp_lsp.tools.decision import Choice, Decision, DecisionId
from jp_lsp.turn.inputs import Answered
from jp_lsp.turn.shown import Status

POLL_INTERVAL = 0.5
"""Seconds between two looks at a conversation that another program holds."""

INDICATOR_DELAY = 1.0
"""Seconds after which the user is told what is waited for."""

WAIT = Choice("wait", "Keep waiting")
NEW = Choice("new", "Ask in a new conversation")
FORK = Choice("fork", "Ask in a copy")
CANCEL = Choice("cancel", "Cancel query")


class LockWait:
    """The wait for one conversation.

    Args:
        wanted: the conversation.
        store: where it is.
        clock: paces the looks.
        frontend: shows the wait, and asks.
        patience: seconds to wait before the user is asked, and again after each *Keep waiting*.
        can_ask: whether the query may ask at all; if not, nothing is waited for.
        may_be_new: whether the query makes sense elsewhere, in a new conversation or in a copy.
    """

    def __init__(
        self,
        wanted: ConversationId,
        store: ConversationStore,
        clock: Clock,
        frontend: Frontend,
        *,
        patience: float,
        can_ask: bool,
        may_be_new: bool,
    ) -> None:
        self._wanted = wanted
        self._store = store
        self._clock = clock
        self._frontend = frontend
        self._patience = patience
        self._can_ask = can_ask
        self._may_be_new = may_be_new

    async def open(self) -> OpenConversation | None:
        """Give the conversation once it is free, or the copy that the user chose; `None` for a new one.

        Raises:
            Refusal: there is no such conversation, nobody can be asked, or the user gave up.
        """
        while True:
            conversation = await self._store.open(self._wanted)
            if conversation is None and self._can_ask:
                conversation = await self._wait()
            if conversation is not None:
                return conversation
            if not self._can_ask:
                raise await self._refusal()
            match await self._ask():
                case NEW.id:
                    return None
                case FORK.id:
                    return await self._store.fork(self._wanted, keep_turns=None, persist=True)
                case WAIT.id:
                    continue
                case _:
                    raise await self._refusal()

    async def _wait(self) -> OpenConversation | None:
        """Look again and again, within the patience."""
        waited, is_shown = 0.0, False
        conversation: OpenConversation | None = None
        while conversation is None and waited < self._patience:
            if waited >= INDICATOR_DELAY and not is_shown:
                is_shown = True
                self._frontend.publish(Status("preparing", f"waiting for {await self._holder()}"))
            await self._clock.sleep(POLL_INTERVAL)
            waited += POLL_INTERVAL
            conversation = await self._store.open(self._wanted)
        if is_shown:
            self._frontend.publish(Status("preparing", ""))
        return conversation

    async def _ask(self) -> str | None:
        choices = (WAIT, NEW, FORK, CANCEL) if self._may_be_new else (WAIT, CANCEL)
        message = f"Conversation {self._wanted} is in use by {await self._holder()}."
        decision = Decision(DecisionId(f"lock-{secrets.token_hex(4)}"), "pick", message, choices)
        answer = await ask_user(self._frontend, decision)
        return answer.choice if isinstance(answer, Answered) else None

    async def _refusal(self) -> Refusal:
        holder = await self._holder()
        text = (
            f"Conversation {self._wanted} is in use by {holder}. "
            "Try again when it is done, or ask in a new one."
        )
        return Refusal("lock_timeout", text)

    async def _holder(self) -> str:
        return await self._store.lock_holder(self._wanted) or "another program"
