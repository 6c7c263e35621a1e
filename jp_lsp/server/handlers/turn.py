"""Asking, steering, answering, listing (query pipeline 1.10, 4)."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.ports.refusal import Refusal
from jp_lsp.protocol.prompt import AnswerParams
from jp_lsp.protocol.reading import InvalidParams
from jp_lsp.protocol.turn import InterruptParams, QueryParams, TurnListParams
from jp_lsp.server import from_wire, to_wire
from jp_lsp.server.handlers import query_document
from jp_lsp.server.handlers.conversation import keep_transcript
from jp_lsp.server.outbox import Outbox
from jp_lsp.server.session import Session
from jp_lsp.server.wire_error import invalid_params, new_trace
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import CancelRequested, Pressed
from jp_lsp.turn.listing import ActiveTurn

_log = logging.getLogger(__name__)

INDICATOR_INTERVAL = 0.5
"""Seconds between two looks at the clock while a model thinks."""


def query(session: Session, params: QueryParams) -> Awaitable[JsonObject]:
    """Start a query at once, in message order; one in a document, once that was looked at. Awaiting gives its result.

    Raises:
        WireError: it cannot begin; awaiting raises one too, and when the query was cancelled.
    """
    token = params.partial_result_token
    if token is None:
        token = params.work_done_token
    if token is None:
        token = f"jp-{secrets.token_hex(6)}"
    if params.document is None:
        return _start(session, token, params, None)
    start = partial(_start, session, token)
    return query_document.send(session, params.document.uri, params, token, start)


def _start(
    session: Session, token: int | str, params: QueryParams, document: str | None
) -> Awaitable[JsonObject]:
    """Start a query; `document` is the path of the file that it is in.

    Raises:
        WireError: as in `query`.
    """
    try:
        asked = replace(from_wire.query(params), document=document)
    except InvalidParams as problem:
        raise invalid_params("jp/query", [str(problem)]) from None
    outbox = Outbox(session, token, params.partial_result_token, is_stored=asked.is_stored)
    try:
        runner = session.host.start(token, asked, outbox)
    except Refusal as refusal:
        raise to_wire.query_error(refusal.error, draft=asked.text, trace=new_trace()) from None
    return _finish(session, runner, outbox, params.work_done_token)


async def _finish(
    session: Session, runner: QueryRunner, outbox: Outbox, work_done_token: int | str | None
) -> JsonObject:
    """Wait for the end of a query. A cancelled request stops the query and tells what was kept (4.4)."""
    progress = asyncio.ensure_future(outbox.begin(work_done_token, _cancel_button(session, runner)))
    finished = asyncio.ensure_future(runner.finished.wait())
    try:
        while not finished.done():
            await asyncio.wait([finished], timeout=INDICATOR_INTERVAL)
            outbox.tick()
    except asyncio.CancelledError:
        runner.post(CancelRequested())
        await asyncio.wait([finished])
    finally:
        progress.cancel()
        outbox.close()
        session.show_notices()
    match runner.outcome:
        case Refused(error, draft):
            raise to_wire.query_error(error, draft=draft, trace=new_trace())
        case None:
            problem = QueryError("internal", "the query ended without a result; the log says why")
            raise to_wire.query_error(problem, draft=runner.query.text, trace=new_trace())
        case result if result.was_cancelled:
            raise to_wire.cancelled_error(result, trace=new_trace())
        case result:
            return to_wire.query_result(result, last_seq=outbox.last_seq)


def _cancel_button(session: Session, runner: QueryRunner) -> Callable[[], None]:
    """Give what the cancel button of the progress does: it stops the turn, or is a press like any other (4.2)."""
    if session.workplace.interrupt_settings.progress_cancel == "press":
        return lambda: _press(runner)
    return lambda: runner.post(CancelRequested())


def _press(runner: QueryRunner) -> None:
    report = runner.press(Pressed())
    _log.debug("the cancel button of the progress was a press: %s", report.handled)


def query_as_command(session: Session, params: QueryParams) -> Awaitable[JsonObject]:
    """Run a query for a client that may know nothing of `jp/`: let it also see the answer.

    Raises:
        WireError: as in `query`.
    """
    return _finish_as_command(session, query(session, params))


async def _finish_as_command(session: Session, running: Awaitable[JsonObject]) -> JsonObject:
    result = await running
    conversation = result.get("conversation")
    if session.is_plain and isinstance(conversation, str) and "explanation" not in result:
        await _show_answer(session, ConversationId(conversation), str(result["text"]))
    return result


async def _show_answer(session: Session, conversation: ConversationId, text: str) -> None:
    """Open the conversation as a document, or at least say its answer."""
    if session.has_show_document:
        try:
            uri, transcript = await keep_transcript(session, conversation)
        except (Refusal, OSError) as problem:
            _log.warning("the answer could not be opened as a document: %s", problem)
        else:
            start: JsonObject = {"line": _last_heading(transcript), "character": 0}
            shown: JsonObject = {"uri": uri, "takeFocus": False, "selection": {"start": start, "end": start}}
            session.protocol.send_request_raw("window/showDocument", shown)
            return
    session.protocol.notify_raw("window/showMessage", {"type": 3, "message": text})


def _last_heading(transcript: str) -> int:
    """Give the line, counted from 0, where the last turn begins to be answered."""
    lines = transcript.split("\n")
    return max((number for number, line in enumerate(lines) if line.startswith("## ")), default=0)


def interrupt(session: Session, params: InterruptParams) -> JsonObject:
    """Steer a running query; tells what became of the press."""
    target = None if params.conversation is None else ConversationId(params.conversation)
    return to_wire.interrupt_result(session.host.press(from_wire.press(params), params.turn, target))


def answer(session: Session, params: AnswerParams) -> None:
    """Answer an open question."""
    session.prompts.answer(params)


async def list_turns(session: Session, params: TurnListParams) -> JsonObject:
    """List what runs, with its open questions, and what was cut off and can be resumed."""
    running = session.host.running
    active = [
        ActiveTurn(
            runner.token,
            session.host.conversation_of(runner),
            runner.phase,
            decisions=tuple(runner.core.open_decisions.values()),
        )
        for runner in running
    ]
    try:
        unfinished = await session.workplace.unfinished(
            [turn.conversation for turn in active if turn.conversation is not None]
        )
    except Refusal:  # where there is no workspace, nothing was cut off
        unfinished = ()
    return to_wire.turn_list(active, unfinished)


def cancel_progress(session: Session, token: int | str) -> None:
    """The cancel button of the progress that a client shows (R333)."""
    cancel = session.progress_cancels.get(token)
    if cancel is not None:
        cancel()
