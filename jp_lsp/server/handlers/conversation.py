"""Shows a stored conversation again (query pipeline 5.9)."""

import time
from collections.abc import Sequence
from dataclasses import replace

from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.conversation import RenderOverlay, RenderParams
from jp_lsp.render.chunk import Chunk
from jp_lsp.render.options import DisplayOptions, ReasoningDisplay
from jp_lsp.render.replay import StoredTurn, export_markdown, render_turns
from jp_lsp.server import to_wire
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire
from jp_lsp.server.session import Session
from jp_lsp.server.turn_settings import TurnSettings
from jp_lsp.server.viewed_turns import ViewedTurn, viewed_turns
from jp_lsp.server.wire_error import new_trace
from jp_lsp.server.workplace import StoredConversation

_CHUNKS_BEFORE_DRAINING = 64


async def render(session: Session, params: RenderParams) -> JsonObject:
    """Show stored turns as the chunks that showed them while they ran.

    Raises:
        WireError: there is no such conversation, or no such turn.
    """
    try:
        stored = await session.workplace.read(ConversationId(params.conversation))
    except Refusal as refusal:
        raise to_wire.query_error(refusal.error, draft=None, trace=new_trace()) from None
    size = len(stored.stream)
    settings = TurnSettings(stored.stream, stored.looks(stored.stream), params.config)

    def choose() -> list[StoredTurn]:
        chosen = viewed_turns(
            stored.stream, params.turns, "jp/conversation/render", is_compacted=params.compacted
        )
        return [_with_overlay(_stored_turn(turn, settings), params.overlay) for turn in chosen]

    turns = await beside_when_long(size, choose)
    notices = [to_wire.notice(notice) for notice in settings.notices]
    token = params.partial_result_token
    if token is None and not session.capabilities.chunks:
        text = await beside_when_long(size, lambda: export_markdown(turns, is_user_only=params.user_only))
        return {"turns": len(turns), "seq": 0, "md": text, "notices": notices}

    def find_result(event: ConversationEvent) -> str | None:
        return session.workplace.result_uri(stored.id, event)

    chunks = await beside_when_long(
        size, lambda: render_turns(turns, is_user_only=params.user_only, result_uri=find_result)
    )
    await _send(session, token, params.conversation, chunks)
    return {"turns": len(turns), "seq": len(chunks), "notices": notices}


async def keep_transcript(session: Session, conversation: ConversationId) -> tuple[str, str]:
    """Write a whole conversation into a file for the client to open; gives its URI and the text.

    Raises:
        Refusal: there is no such conversation, or it cannot be read.
        OSError: it could not be written.
    """
    stored = await session.workplace.read(conversation)
    turns = viewed_turns(stored.stream, None, "transcript", is_compacted=False)
    transcript = await markdown_of(stored, turns)
    # A name of its own: editors keep what they have read under a name.
    name = f"{conversation}-{stored.stream.turn_count}.md"
    return await session.workplace.keep_scratch(name, transcript), transcript


async def markdown_of(stored: StoredConversation, turns: Sequence[ViewedTurn]) -> str:
    """Give some turns of a conversation as one Markdown text."""
    settings = TurnSettings(stored.stream, stored.looks(stored.stream), "per_turn")

    def write() -> str:
        return export_markdown([_stored_turn(turn, settings) for turn in turns])

    return await beside_when_long(len(stored.stream), write)


def _stored_turn(turn: ViewedTurn, by_turn: TurnSettings) -> StoredTurn:
    """Give a turn with how it is shown."""
    number = turn.index + 1
    look = by_turn.at(turn.start, number)
    age = time.time() - turn.events[0].timestamp.nanoseconds / 1e9
    return StoredTurn(number, turn.events, age, turn.last_index + 1, look.options, look.labels)


def _with_overlay(turn: StoredTurn, overlay: RenderOverlay | None) -> StoredTurn:
    if overlay is None:
        return turn
    options: DisplayOptions = turn.options
    if overlay.reasoning is not None:
        options = replace(options, reasoning=ReasoningDisplay(overlay.reasoning, options.reasoning.limit))
    if overlay.show_tool_calls is not None:
        options = replace(options, show_tool_calls=overlay.show_tool_calls)
    return replace(turn, options=options)


async def _send(
    session: Session, token: int | str | None, conversation: str, chunks: Sequence[Chunk]
) -> None:
    """Send chunks at the client's pace."""
    protocol = session.protocol
    origin = Origin(token if token is not None else "render", conversation, 0)
    for seq, chunk in enumerate(chunks, start=1):
        value = chunk_to_wire(chunk, seq, origin)
        if token is not None:
            protocol.notify_raw("$/progress", {"token": token, "value": value})
        else:
            protocol.notify_raw("jp/chunk", value)
        if seq % _CHUNKS_BEFORE_DRAINING == 0 and protocol.out is not None:
            await protocol.out.drained()
