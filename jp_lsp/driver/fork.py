"""A query in a copy of a conversation (query pipeline 1.10, conversation format 7.4)."""

from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore, OpenConversation
from jp_lsp.turn.query import Fork


async def open_fork(fork: Fork, store: ConversationStore, *, is_stored: bool) -> OpenConversation:
    """Copy the conversation that is meant.

    Raises:
        Refusal: there is none, or it cannot be copied.
    """
    source = await store.last() if fork.source == "last" else fork.source
    if source is None:
        text = "There is no conversation yet that could be copied."
        raise Refusal("conversation_not_found", text, origin="fork.from")
    return await store.fork(source, keep_turns=fork.keep_turns, persist=is_stored)
