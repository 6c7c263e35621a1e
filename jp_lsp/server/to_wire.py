"""Domain values as the JSON that editors are promised, written by hand.

Everything here gives plain JSON objects, so that nothing of pydantic is needed to send. The models in
`jp_lsp.protocol` are the promise, and the tests hold each object against its model: it must validate, and no
field may get lost on the way. Chunks, which come by the thousand, are in `chunk_to_wire`.

No control sequence leaves here in a text that a model, a vendor, a tool or a file may have written (R342).
The user's own draft, and a structured value, are given as they are.
"""

from collections.abc import Collection, Iterable
from typing import assert_never

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.news import ConversationChange
from jp_lsp.render.text import clean, clean_line
from jp_lsp.server.explanation_to_wire import explanation_to_wire
from jp_lsp.server.message_request import MESSAGE_LIMIT, harmless_first, one_line, unique_titles
from jp_lsp.server.wire_error import INVALID_PARAMS, REQUEST_CANCELLED, REQUEST_FAILED, WireError
from jp_lsp.tools.decision import Decision, DecisionKind
from jp_lsp.turn.failure import NOTICE_WORDS, QueryError
from jp_lsp.turn.interrupt import PressReport
from jp_lsp.turn.listing import ActiveTurn, ListedCall, UnfinishedTurn
from jp_lsp.turn.outcome import FailureReport, Notice, QueryResult, TurnSummary
from jp_lsp.turn.stream_event import Usage

_NOTICE_LEVELS = frozenset({"info", "warning", "error"})


def query_result(result: QueryResult, *, last_seq: int) -> JsonObject:
    """Give the result of `jp/query`; `last_seq` is the number of the last chunk that was sent."""
    value: dict[str, JsonValue] = _present(conversation=result.conversation)
    value["outcome"] = result.outcome.value
    value["turns"] = [turn_summary(turn) for turn in result.turns]
    value["text"] = clean(result.text)
    if (structured := result.structured) is not None:
        value["data"] = structured.data
        value["dataValid"] = structured.is_valid
        if structured.problems:
            value["dataErrors"] = [clean(problem) for problem in structured.problems]
    value |= _present(
        usage=None if result.usage is None else usage(result.usage),
        draft=result.draft,
        error=None if result.failure is None else failure(result.failure),
    )
    value["notices"] = [notice(given) for given in result.notices]
    value["persisted"] = result.is_persisted
    explained = result.explanation
    value |= _present(
        recoveryUri=result.recovery_uri,
        explanation=None if explained is None else explanation_to_wire(explained),
    )
    value["lastSeq"] = last_seq
    return value


def query_error(error: QueryError, *, draft: str | None, trace: str) -> WireError:
    """Give the error of a query that never became a turn."""
    number = INVALID_PARAMS if error.code == "invalid_params" else REQUEST_FAILED
    data: JsonObject = {
        "code": error.code,
        "chain": [clean(step) for step in error.chain],
        **_present(origin=error.origin),
        "trace": trace,
        **_present(draft=draft),
    }
    return WireError(number, clean(error.message), data)


def cancelled_error(result: QueryResult, *, trace: str) -> WireError:
    """Give the error that answers a cancelled query, and says what was kept of it (4.4)."""
    saved = "saved" if result.is_persisted else "not saved"
    return WireError(
        REQUEST_CANCELLED,
        f"The query was cancelled; what had come was {saved}.",
        {
            "code": "cancelled",
            "chain": [],
            "trace": trace,
            **_present(draft=result.draft),
            "outcome": result.outcome.value,
            "turns": [turn_summary(turn) for turn in result.turns],
            "partialSaved": result.is_persisted,
        },
    )


def interrupt_result(report: PressReport) -> JsonObject:
    """Give the result of `jp/interrupt`."""
    value: dict[str, JsonValue] = {"handled": report.handled, "phase": report.phase.value}
    if report.allowed:
        value["allowed"] = list(report.allowed)
    return value


def prompt(decision: Decision, kinds: Collection[str] | None = None) -> JsonObject | None:
    """Give the params of `jp/prompt`.

    Args:
        decision: The question.
        kinds: What the client shows; `None` for a list, where every kind may stand.

    Returns:
        `None` when the client does not show this kind. An approval is shown as a pick if need be.
    """
    if (kind := shown_as(decision.kind, kinds)) is None:
        return None
    choices = unique_titles(harmless_first(decision))
    return {
        "decisionId": decision.id,
        "kind": kind,
        "message": one_line(decision.message, MESSAGE_LIMIT),
        **_present(detail=_clean(decision.detail), value=_clean(decision.value), language=decision.language),
        "actions": [{"id": choice.id, "title": choice.title} for choice in choices],
        **_present(callId=decision.call_id),
    }


def shown_as(kind: DecisionKind, kinds: Collection[str] | None) -> str | None:
    """Give the kind of `jp/prompt` that shows a question; `None` when the client shows none that does."""
    if kinds is None or kind in kinds:
        return kind
    match kind:
        case "approval":
            return "pick" if "pick" in kinds else None
        case "menu" | "pick" | "text" | "secret" | "edit":
            return None
        case _:
            assert_never(kind)


def turn_list(active: Iterable[ActiveTurn], unfinished: Iterable[UnfinishedTurn]) -> JsonObject:
    """Give the result of `jp/turn/list`."""
    return {
        "active": [
            {
                "turn": turn.token,
                **_present(conversation=turn.conversation),
                "phase": turn.phase.value,
                "calls": [_call(call) for call in turn.calls],
                "decisions": [prompt(decision) for decision in turn.decisions],
            }
            for turn in active
        ],
        "unfinished": [
            {
                "conversation": turn.conversation,
                "index": turn.index,
                "calls": [_call(call) for call in turn.calls],
                "inquiries": [
                    {"inquiryId": inquiry.id, "text": one_line(inquiry.question.text, MESSAGE_LIMIT)}
                    for inquiry in turn.inquiries
                ],
            }
            for turn in unfinished
        ],
    }


def conversation_changed(change: ConversationChange) -> JsonObject:
    """Give the params of `jp/conversationChanged`."""
    activated_at = change.last_activated_at
    return {
        "conversation": change.conversation,
        "change": change.change,
        **_present(
            title=None if change.title is None else clean_line(change.title),
            lastActivatedAt=None if activated_at is None else activated_at.rfc3339(),
        ),
    }


def notice_notification(
    given: Notice, *, conversation: ConversationId | None = None, turn: int | str | None = None
) -> JsonObject:
    """Give the params of `jp/notice`."""
    return {**notice(given), **_present(conversation=conversation, turn=turn)}


def notice(given: Notice) -> JsonObject:
    """Give a notice; a level that editors do not know becomes `info`."""
    level = given.level if given.level in _NOTICE_LEVELS else "info"
    return {"level": level, "code": given.code, "text": clean(given.text)}


def turn_summary(turn: TurnSummary) -> JsonObject:
    """Give one turn of a query."""
    return {
        "index": turn.index,
        "outcome": turn.outcome.value,
        "cycles": turn.cycles,
        "eventsFrom": turn.events_from,
        "eventsTo": turn.events_to,
    }


def usage(tokens: Usage) -> JsonObject:
    """Give tokens, as far as they are known."""
    return _present(
        inputTokens=tokens.input_tokens,
        outputTokens=tokens.output_tokens,
        cachedTokens=tokens.cached_tokens,
        reasoningTokens=tokens.reasoning_tokens,
    )


def failure(report: FailureReport) -> JsonObject:
    """Give a fatal failure; its chain leads from giving up, over the kind of trouble, to the vendor's words."""
    cause = report.failure
    word, message = NOTICE_WORDS[cause.kind], clean(cause.message)
    where = ", ".join(
        part for part in (cause.provider, None if cause.status is None else f"HTTP {cause.status}") if part
    )
    gave_up = [f"gave up after {report.attempts} attempts"] if report.attempts > 1 else []
    return {
        "class": cause.kind.value,
        "message": f"{word}: {message}",
        **_present(provider=cause.provider, status=cause.status),
        "attempts": report.attempts,
        "chain": [*gave_up, f"{word} ({where})" if where else word, message],
    }


def _call(call: ListedCall) -> JsonObject:
    return {"callId": call.id, "name": clean_line(call.name), "state": call.state}


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    """Keep the fields that have a value; on this wire nothing is null that could be left out."""
    return {name: field for name, field in fields.items() if field is not None}
