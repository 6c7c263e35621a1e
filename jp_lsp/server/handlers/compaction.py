"""Makes what models are shown of a conversation shorter, and undoes that (conversation format 7.10)."""

import secrets
from collections.abc import Mapping

import anyio

from jp_lsp.conversation.compact import remove_compactions
from jp_lsp.conversation.directive import OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turn_bounds import (
    AtTurn,
    BehindLast,
    Bound,
    KeptTime,
    KeptTurns,
    Recently,
    compactions_of,
)
from jp_lsp.driver.compacting import CompactionWanted
from jp_lsp.ports.compaction import CompactionRule, SummaryWish
from jp_lsp.protocol.compaction import ConversationCompactParams, SummaryByModel
from jp_lsp.protocol.reading import InvalidParams
from jp_lsp.server import from_wire
from jp_lsp.server.conversation_to_wire import compaction_range
from jp_lsp.server.refusals import refusals_answered
from jp_lsp.server.session import Session
from jp_lsp.server.wire_error import REQUEST_CANCELLED, edge_error
from jp_lsp.server.work_done import WorkDoneProgress

_METHOD = "jp/conversation/compact"

_TOOL_CALLS: Mapping[str, StripToolCalls | OmitToolCalls] = {
    "strip": StripToolCalls(-1, -1),
    "strip_requests": StripToolCalls(-1, None),
    "strip_responses": StripToolCalls(None, -1),
    "omit": OmitToolCalls(),
}


async def compact(session: Session, params: ConversationCompactParams) -> JsonObject:
    """Add compactions, or remove some. A cancelled request, or progress, ends it, and then nothing is changed.

    Raises:
        WireError: there is no such conversation, a summary could not be made, somebody has it, the disk refused,
            or it was cancelled.
    """
    with refusals_answered(_METHOD):
        conversation = from_wire.conversation_id(params.conversation)
        if params.reset is not None:
            stream = await _reset(session, conversation, params.reset, is_dry=params.dry_run)
            return _result(conversation, stream, added=0)
        wanted = _wanted(params)
        if params.dry_run:
            stream = await session.amender.preview_compaction(conversation, wanted)
        else:
            stream = await _compact(session, conversation, wanted, params.work_done_token)
        return _result(conversation, stream, added=stream.revision)  # each change of it was one of them


async def _reset(
    session: Session, conversation: ConversationId, which: str | int, *, is_dry: bool
) -> ConversationStream:
    def change(stream: ConversationStream, now: Timestamp) -> None:
        remove_compactions(stream, which if isinstance(which, int) else None)

    if is_dry:
        return await session.amender.preview(conversation, change)
    return (await session.amender.amend(conversation, change, keeps_copy=True)).stream


async def _compact(
    session: Session, conversation: ConversationId, wanted: CompactionWanted, token: int | str | None
) -> ConversationStream:
    """Have it done, and show that a model is at work.

    Raises:
        WireError: it was cancelled where the client shows the progress.
        Refusal: it was not possible.
    """
    progress = WorkDoneProgress(session.protocol.notify_raw)
    with anyio.CancelScope() as scope:
        async with progress.shown(session, token, f"jp-compact-{secrets.token_hex(6)}", scope.cancel):
            amended = await session.amender.compact(conversation, wanted, progress.report)
            return amended.stream
    raise edge_error(REQUEST_CANCELLED, "The compaction was cancelled; the conversation is as it was.")


def _wanted(params: ConversationCompactParams) -> CompactionWanted:
    first: list[Bound] = []
    last: list[Bound] = []
    if params.from_turn is not None:
        is_last = params.from_turn in ("last", "last-compaction")
        first.append(BehindLast() if is_last else _turn(params.from_turn, "fromTurn"))
    if params.since_last:
        first.append(BehindLast())
    if params.keep_first is not None:
        first.append(_kept(params.keep_first, "keepFirst"))
    if params.to_turn is not None:
        last.append(_turn(params.to_turn, "toTurn"))
    if params.keep_last is not None:
        last.append(_kept(params.keep_last, "keepLast"))
    model = None if params.summarize is None else params.summarize.model
    overrides = () if model is None else (f"assistant.model.id={model}",)
    return CompactionWanted(_rule(params), tuple(first), tuple(last), overrides)


def _rule(params: ConversationCompactParams) -> CompactionRule | None:
    rule = CompactionRule(
        reasoning=StripReasoning() if params.reasoning else None,
        tool_calls=None if params.tool_calls is None else _TOOL_CALLS[params.tool_calls],
        text=params.summary,
        summary=None if params.summarize is None else _wish(params.summarize),
    )
    return None if rule == CompactionRule() else rule


def _wish(summarize: SummaryByModel) -> SummaryWish:
    return SummaryWish(instructions=summarize.instructions, context=summarize.context)


def _turn(bound: int | str, field: str) -> Bound:
    if isinstance(bound, str):
        return Recently(_nanoseconds(bound, field))
    if bound == 0:
        raise InvalidParams(
            f"{_METHOD}: `{field}` counts from 1, or from -1 at the end, so there is no turn 0"
        )
    return AtTurn(bound)


def _kept(bound: int | str, field: str) -> Bound:
    return KeptTime(_nanoseconds(bound, field)) if isinstance(bound, str) else KeptTurns(bound)


def _nanoseconds(text: str, field: str) -> int:
    return round(from_wire.duration(text, _METHOD, field) * 1e9)


def _result(conversation: ConversationId, stream: ConversationStream, *, added: int) -> JsonObject:
    compactions = [compaction_range(each) for each in compactions_of(stream)]
    return {
        "conversation": conversation,
        "compactions": compactions,
        "added": compactions[len(compactions) - added :],
    }
