"""Shows a stored conversation again (query pipeline 5.9)."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.turns import Turn, split
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.conversation import (
    RenderOverlay,
    RenderParams,
    TurnRange,
)
from jp_lsp.render.chunk import Chunk
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay
from jp_lsp.render.replay import StoredTurn, export_markdown, render_turns
from jp_lsp.server import to_wire
from jp_lsp.server.chunk_to_wire import Origin, chunk_to_wire
from jp_lsp.server.session import Session
from jp_lsp.server.turn_settings import TurnSettings
from jp_lsp.server.wire_error import invalid_params, new_trace
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
    settings = TurnSettings(stored.stream, stored.settings, stored.resolve, params.config)
    chosen = chosen_turns(split(stored.stream.entries), params.turns, "jp/conversation/render")
    turns = [_with_overlay(_stored_turn(turn, settings), params.overlay) for turn in chosen]
    notices = [to_wire.notice(notice) for notice in settings.notices]
    token = params.partial_result_token
    if token is None and not session.capabilities.chunks:
        text = export_markdown(turns, is_user_only=params.user_only)
        return {"turns": len(turns), "seq": 0, "md": text, "notices": notices}
    chunks = render_turns(
        turns,
        is_user_only=params.user_only,
        result_uri=lambda event: session.workplace.result_uri(stored.id, event),
    )
    await _send(session, token, params.conversation, chunks)
    return {"turns": len(turns), "seq": len(chunks), "notices": notices}


def transcript_of(stored: StoredConversation) -> str:
    """Give a whole conversation as one Markdown text."""
    return markdown_of(stored, split(stored.stream.entries))


def markdown_of(stored: StoredConversation, turns: Iterable[Turn]) -> str:
    """Give some turns of a conversation as one Markdown text."""
    settings = TurnSettings(stored.stream, stored.settings, stored.resolve, "per_turn")
    return export_markdown([_stored_turn(turn, settings) for turn in turns])


def _stored_turn(turn: Turn, by_turn: TurnSettings) -> StoredTurn:
    """Give a turn with how it is shown."""
    number = turn.index + 1
    settings = by_turn.at(turn.start, number)
    labels = Labels(
        settings.user_name or Labels().user,
        settings.assistant_name or Labels().assistant,
        str(settings.model),
    )
    age = time.time() - turn.events[0].timestamp.nanoseconds / 1e9
    return StoredTurn(number, turn.events, age, None, settings.display, labels)


def chosen_turns(turns: list[Turn], wanted: TurnRange | None, method: str) -> list[Turn]:
    """Give the turns that are wanted.

    Raises:
        WireError: one of them is not there; names the method.
    """
    if wanted is None:
        return turns
    if wanted.last is not None:
        return turns[-wanted.last :]
    first, last = wanted.from_turn or 1, wanted.to_turn or len(turns)
    if first > len(turns) or last > len(turns):
        problem = f"turns: the conversation has {len(turns)} turns, so there is no turn {max(first, last)}"
        raise invalid_params(method, [problem])
    return turns[first - 1 : last]


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
