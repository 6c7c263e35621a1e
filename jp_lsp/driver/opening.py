"""Which conversation a query works on: chosen, and opened (query pipeline 1.4, Preparing)."""

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.fork import open_fork
from jp_lsp.driver.lock_wait import LockWait
from jp_lsp.driver.preparation import Surroundings
from jp_lsp.ports.frontend import Frontend
from jp_lsp.ports.store import OpenConversation
from jp_lsp.turn.query import Query


async def choose_conversation(
    query: Query, around: Surroundings, used_last: ConversationId | None
) -> ConversationId | None:
    """Give the conversation to continue; `None` asks for a new one, or for a copy.

    Args:
        query: what was asked.
        around: the workspace.
        used_last: the conversation that this client used last, if any.
    """
    if query.fork is not None:
        return None
    wanted = query.conversation
    if wanted is None and used_last is not None and await around.store.find(used_last):
        return used_last
    if wanted is None:
        wanted = _selector(around.settings.default_conversation(query.overrides))
    if wanted == "new":
        return None
    return await around.store.last() if wanted == "last" else wanted


async def open_conversation(
    wanted: ConversationId | None, query: Query, around: Surroundings, frontend: Frontend
) -> OpenConversation | None:
    """Lock and load the conversation, or copy it; `None` where a new one is to be made.

    That is so too when another program has the wanted one and the user rather asks elsewhere.

    Raises:
        Refusal: there is no such conversation, it cannot be read, or nobody gives it back.
    """
    if query.fork is not None:
        return await open_fork(query.fork, around.store, is_stored=query.is_stored)
    if wanted is None:
        return None
    if not query.is_stored:
        return await around.store.copy(wanted)
    wait = LockWait(
        wanted,
        around.store,
        around.clock,
        frontend,
        patience=around.settings.lock_timeout(query.overrides),
        can_ask=frontend.can_prompt and query.interactive,
        may_be_new=not query.resume and query.replay is None,
    )
    return await wait.open()


def _selector(configured: str | None) -> ConversationId:
    """Read `conversation.default_id`; what needs a person to choose falls back to the last one."""
    if configured is None or not configured.startswith("jp-c"):
        return ConversationId("last")
    return ConversationId(configured)
