"""Turns that were cut off: the server was killed, the editor closed, the power gone (query pipeline 1.6)."""

import logging
from collections.abc import Collection, Sequence

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.incomplete import incomplete_turn
from jp_lsp.driver.shelf import Wanted, choose
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore
from jp_lsp.ports.upkeep import Upkeep
from jp_lsp.turn.listing import ListedCall, UnfinishedTurn

_log = logging.getLogger(__name__)

LOOKED_AT = 20
"""So many conversations, the latest first, are searched."""


async def unfinished_turns(
    store: ConversationStore, upkeep: Upkeep, running: Collection[ConversationId]
) -> Sequence[UnfinishedTurn]:
    """List them, of the conversations that were activated last.

    Args:
        store: the conversations.
        upkeep: knows which there are.
        running: where a query is at work; its turn is not cut off.
    """
    latest = choose(await upkeep.list(is_archived=False), Wanted(limit=LOOKED_AT))
    found: list[UnfinishedTurn] = []
    for listed in latest:
        if listed.id in running:
            continue
        try:
            stream = (await store.copy(listed.id)).stream
        except Refusal as error:
            _log.info("not looked at for unfinished turns: %s", error)
            continue
        if (turn := incomplete_turn(stream)) is not None:
            calls = tuple(
                ListedCall(call.id, call.name, "completed" if is_answered else "pending")
                for call, is_answered in turn.calls
            )
            found.append(UnfinishedTurn(listed.id, turn.index, calls, turn.inquiries))
    return found
