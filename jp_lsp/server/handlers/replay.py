"""Asks a turn of a conversation again (conversation format 7.3)."""

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.retain import request_of
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.replay import ConversationReplayParams
from jp_lsp.protocol.turn import QueryParams
from jp_lsp.server import from_wire
from jp_lsp.server.handlers.turn import query
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session


async def replay(session: Session, params: ConversationReplayParams) -> JsonObject:
    """Ask a turn again, as a query does.

    Raises:
        WireError: there is no such conversation or turn, or as `query` raises.
    """
    turn = params.turn
    if turn is None:
        with refusals_answered("jp/conversation/replay"):
            turn = await _last_asked(session, params)
    asked = QueryParams(
        conversation=params.conversation,
        replay=turn,
        text=params.text,
        config=params.config,
        work_done_token=params.work_done_token,
        partial_result_token=params.partial_result_token,
    )
    return await query(session, asked)


async def _last_asked(session: Session, params: ConversationReplayParams) -> int:
    """Find the last turn with a request.

    Raises:
        Refusal: there is no such conversation, or nothing was asked in it.
    """
    conversation = from_wire.conversation_id(params.conversation)
    await session.workplace.upkeep().facts(conversation)  # makes no workspace where there is none
    stream = (await session.workplace.surroundings().store.copy(conversation)).stream
    for turn in reversed(range(stream.turn_count)):
        if request_of(stream, turn) is not None:
            return turn + 1
    text = f"Nothing was asked in conversation {conversation} yet, so there is nothing to ask again."
    raise Refusal("invalid_params", text)
