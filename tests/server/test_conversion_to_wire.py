"""Domain values become JSON that the protocol's models accept, with every field in its place."""

from typing import Any, get_args

import pytest
from pydantic import BaseModel

from jp_lsp.conversation.event import AnswerType, InquiryRequest, InquirySource, Question
from jp_lsp.conversation.ids import CallId, ConversationId, InquiryId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.news import ConversationChange
from jp_lsp.protocol import errors, model, tool, turn
from jp_lsp.protocol.conversation import ConversationChangedNotification
from jp_lsp.protocol.errors import ERRORS, CancelledData, ErrorData
from jp_lsp.protocol.notice import NoticeNotification
from jp_lsp.protocol.prompt import PromptKind, PromptParams
from jp_lsp.protocol.reading import read
from jp_lsp.protocol.turn import InterruptResult, TurnListResult
from jp_lsp.server import to_wire, wire_error
from jp_lsp.tools.decision import Choice, Decision, DecisionId, DecisionKind
from jp_lsp.turn import listing
from jp_lsp.turn.failure import ErrorCode, FailureKind, QueryError, StreamFailure
from jp_lsp.turn.interrupt import Handled, PressReport
from jp_lsp.turn.outcome import (
    FailureReport,
    Notice,
    Outcome,
    QueryResult,
    StructuredResult,
    TurnSummary,
)
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import Usage

CONVERSATION = ConversationId("jp-c17912345678")
SUMMARY = TurnSummary(index=3, outcome=Outcome.COMPLETED, cycles=2, events_from=4, events_to=9)
SUMMARY_JSON = {"index": 3, "outcome": "completed", "cycles": 2, "eventsFrom": 4, "eventsTo": 9}


def check(value: JsonValue, expected: JsonValue, promised: type[BaseModel]) -> None:
    """The JSON is exactly this, keeps the promise, and has nothing that the promise does not know."""
    assert value == expected
    kept = read(promised, value, promised.__name__)
    assert kept.model_dump(mode="json", by_alias=True, exclude_unset=True) == expected


@pytest.mark.requirement("R326", "R344")
def test_a_result_with_everything() -> None:
    result = QueryResult(
        conversation=CONVERSATION,
        outcome=Outcome.FAILED,
        turns=(SUMMARY,),
        text="Half an ans",
        structured=StructuredResult({"a": [1, "x"]}, is_valid=False, problems=("`a` is wrong",)),
        usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, reasoning_tokens=4),
        draft="the text",
        failure=FailureReport(
            StreamFailure(FailureKind.RATE_LIMIT, "slow down", 3.0, 429, "openai"), attempts=6
        ),
        notices=(Notice("warning", "truncated", "Cut."),),
        is_persisted=True,
        recovery_uri="file:///recovery",
    )
    check(
        to_wire.query_result(result, last_seq=7),
        {
            "conversation": "jp-c17912345678",
            "outcome": "failed",
            "turns": [SUMMARY_JSON],
            "text": "Half an ans",
            "data": {"a": [1, "x"]},
            "dataValid": False,
            "dataErrors": ["`a` is wrong"],
            "usage": {"inputTokens": 1, "outputTokens": 2, "cachedTokens": 3, "reasoningTokens": 4},
            "draft": "the text",
            "error": {
                "class": "rate_limit",
                "message": "Rate limited: slow down",
                "provider": "openai",
                "status": 429,
                "attempts": 6,
                "chain": ["gave up after 6 attempts", "Rate limited (openai, HTTP 429)", "slow down"],
            },
            "notices": [{"level": "warning", "code": "truncated", "text": "Cut."}],
            "persisted": True,
            "recoveryUri": "file:///recovery",
            "lastSeq": 7,
        },
        turn.QueryResult,
    )


def test_a_result_with_nothing() -> None:
    check(
        to_wire.query_result(QueryResult(None, Outcome.EMPTY_QUERY), last_seq=0),
        {"outcome": "empty_query", "turns": [], "text": "", "notices": [], "persisted": False, "lastSeq": 0},
        turn.QueryResult,
    )


def test_a_structured_null_is_a_value() -> None:
    result = QueryResult(CONVERSATION, Outcome.COMPLETED, structured=StructuredResult(None, is_valid=True))
    value = to_wire.query_result(result, last_seq=0)
    assert value["data"] is None
    assert value["dataValid"] is True
    assert "dataErrors" not in value


@pytest.mark.requirement("R203", "R256", "R60")
@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            FailureReport(StreamFailure(FailureKind.AUTH, "bad key", status=401, provider="openai"), 1),
            {
                "class": "auth",
                "message": "Authentication failed: bad key",
                "provider": "openai",
                "status": 401,
                "attempts": 1,
                "chain": ["Authentication failed (openai, HTTP 401)", "bad key"],
            },
        ),
        (
            FailureReport(StreamFailure(FailureKind.TIMEOUT, "silent for 60 s"), 3),
            {
                "class": "timeout",
                "message": "Timeout: silent for 60 s",
                "attempts": 3,
                "chain": ["gave up after 3 attempts", "Timeout", "silent for 60 s"],
            },
        ),
    ],
)
def test_failures_say_class_vendor_status_and_cause(report: FailureReport, expected: JsonObject) -> None:
    check(to_wire.failure(report), expected, model.Failure)


@pytest.mark.requirement("R299", "R343", "R344")
def test_errors_carry_what_helps() -> None:
    error = QueryError(
        "config_invalid", "`a.b` must be a number", ("reading settings", "a.b"), ".jp/config.toml"
    )
    wire = to_wire.query_error(error, draft="the text", trace="t1")
    assert (wire.code, wire.message) == (-32803, "`a.b` must be a number")
    check(
        wire.data,
        {
            "code": "config_invalid",
            "chain": ["reading settings", "a.b"],
            "origin": ".jp/config.toml",
            "trace": "t1",
            "draft": "the text",
        },
        ErrorData,
    )


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("code", get_args(ErrorCode))
def test_each_code_goes_out_under_the_number_of_the_table(code: ErrorCode) -> None:
    wire = to_wire.query_error(QueryError(code, "x"), draft=None, trace="t1")
    assert wire.code == ERRORS[code].number
    check(wire.data, {"code": code, "chain": [], "trace": "t1"}, ErrorData)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize(
    "number",
    [
        wire_error.PARSE_ERROR,
        wire_error.INVALID_REQUEST,
        wire_error.METHOD_NOT_FOUND,
        wire_error.INVALID_PARAMS,
        wire_error.NOT_INITIALIZED,
        wire_error.REQUEST_CANCELLED,
    ],
)
def test_errors_of_the_edge_are_in_the_table_too(number: int) -> None:
    error = wire_error.edge_error(number, "x", trace="t1")
    data: Any = error.data
    read(ErrorData, data, "data")
    assert ERRORS[data["code"]].number == error.code == number


@pytest.mark.requirement("R331")
@pytest.mark.parametrize(("is_saved", "words"), [(True, "saved"), (False, "not saved")])
def test_a_cancelled_query_says_what_was_kept(is_saved: bool, words: str) -> None:
    result = QueryResult(CONVERSATION, Outcome.STOPPED, (SUMMARY,), is_persisted=is_saved, was_cancelled=True)
    wire = to_wire.cancelled_error(result, trace="t1")
    assert (wire.code, wire.message) == (-32800, f"The query was cancelled; what had come was {words}.")
    check(
        wire.data,
        {
            "code": "cancelled",
            "chain": [],
            "trace": "t1",
            "outcome": "stopped",
            "turns": [SUMMARY_JSON],
            "partialSaved": is_saved,
        },
        CancelledData,
    )


@pytest.mark.requirement("R332")
@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            PressReport("menu", Phase.INTERRUPTED_STREAM),
            {"handled": "menu", "phase": "interrupted_stream"},
        ),
        (
            PressReport("none", Phase.STREAMING, ("continue", "stop")),
            {"handled": "none", "phase": "streaming", "allowed": ["continue", "stop"]},
        ),
        (PressReport("none", Phase.IDLE), {"handled": "none", "phase": "idle"}),
    ],
)
def test_presses_are_acknowledged(report: PressReport, expected: JsonObject) -> None:
    check(to_wire.interrupt_result(report), expected, InterruptResult)


@pytest.mark.requirement("R328", "R342")
def test_a_prompt_with_everything() -> None:
    decision = Decision(
        id=DecisionId("d1"),
        kind="approval",
        message="Run \x1b[31mlocal\x1b[0m tool\nmake?",
        choices=(Choice("run", "Run\x07"), Choice("skip", "Skip"), Choice("edit", "Run")),
        detail="first\r\nsecond\x1b]0;title\x07",
        value="{\x1b[1m}",
        language="json",
        call_id=CallId("call_1"),
    )
    expected = {
        "decisionId": "d1",
        "kind": "approval",
        "message": "Run local tool make?",
        "detail": "first\nsecond",
        "value": "{}",
        "language": "json",
        "actions": [
            {"id": "skip", "title": "Skip"},
            {"id": "run", "title": "Run"},
            {"id": "edit", "title": "Run (2)"},
        ],
        "callId": "call_1",
    }
    check(to_wire.prompt(decision), expected, PromptParams)


@pytest.mark.requirement("R328")
@pytest.mark.parametrize(
    ("kind", "kinds", "shown"),
    [
        ("approval", {"approval", "pick"}, "approval"),
        ("approval", {"pick", "menu"}, "pick"),
        ("approval", {"menu"}, None),
        ("menu", {"menu"}, "menu"),
        ("menu", {"pick"}, None),
        ("secret", {"text"}, None),
        ("secret", set[str](), None),
        ("text", {"text", "hologram"}, "text"),
    ],
)
def test_a_prompt_is_only_for_clients_that_show_its_kind(
    kind: DecisionKind, kinds: set[str], shown: str | None
) -> None:
    value = to_wire.prompt(Decision(DecisionId("d1"), kind, "?"), kinds)
    assert (None if value is None else value["kind"]) == shown


@pytest.mark.requirement("R339", "R114", "R217", "T12")
def test_a_list_of_turns_shows_calls_and_open_questions() -> None:
    menu = Decision(DecisionId("d2"), "menu", "What next?", (Choice("continue", "Continue"),))
    active = listing.ActiveTurn(
        token="t1",
        conversation=CONVERSATION,
        phase=Phase.INTERRUPTED_TOOLS,
        calls=(listing.ListedCall(CallId("c1"), "make\x1b[0m", "running"),),
        decisions=(menu,),
    )
    question = Question("Overwrite\nit?", AnswerType("boolean"))
    unfinished = listing.UnfinishedTurn(
        conversation=CONVERSATION,
        index=4,
        calls=(listing.ListedCall(CallId("c2"), "write", "pending"),),
        inquiries=(InquiryRequest(InquiryId("c2.overwrite"), InquirySource("tool", "write"), question),),
    )
    early = listing.ActiveTurn(token=7, conversation=None, phase=Phase.PREPARING)
    check(
        to_wire.turn_list([active, early], [unfinished]),
        {
            "active": [
                {
                    "turn": "t1",
                    "conversation": "jp-c17912345678",
                    "phase": "interrupted_tools",
                    "calls": [{"callId": "c1", "name": "make", "state": "running"}],
                    "decisions": [
                        {
                            "decisionId": "d2",
                            "kind": "menu",
                            "message": "What next?",
                            "actions": [{"id": "continue", "title": "Continue"}],
                        }
                    ],
                },
                {"turn": 7, "phase": "preparing", "calls": [], "decisions": []},
            ],
            "unfinished": [
                {
                    "conversation": "jp-c17912345678",
                    "index": 4,
                    "calls": [{"callId": "c2", "name": "write", "state": "pending"}],
                    "inquiries": [{"inquiryId": "c2.overwrite", "text": "Overwrite it?"}],
                }
            ],
        },
        TurnListResult,
    )


@pytest.mark.requirement("R241")
def test_a_changed_conversation() -> None:
    at = Timestamp.parse("2026-10-05 21:09:27.8")
    check(
        to_wire.conversation_changed(ConversationChange(CONVERSATION, "created", "A\x1b[0m title", at)),
        {
            "conversation": "jp-c17912345678",
            "change": "created",
            "title": "A title",
            "lastActivatedAt": "2026-10-05T21:09:27.800Z",
        },
        ConversationChangedNotification,
    )
    check(
        to_wire.conversation_changed(ConversationChange(CONVERSATION, "removed")),
        {"conversation": "jp-c17912345678", "change": "removed"},
        ConversationChangedNotification,
    )


def test_notices() -> None:
    check(
        to_wire.notice_notification(Notice("error", "x", "No."), conversation=CONVERSATION, turn=1),
        {"level": "error", "code": "x", "text": "No.", "conversation": "jp-c17912345678", "turn": 1},
        NoticeNotification,
    )
    check(
        to_wire.notice_notification(Notice("shout", "x", "No.")),
        {"level": "info", "code": "x", "text": "No."},
        NoticeNotification,
    )


@pytest.mark.requirement("R342")
def test_no_control_sequence_leaves_in_a_text_that_somebody_else_wrote() -> None:
    bad = "a\x1b[31mb\x9b1mc\x00d"
    failure = FailureReport(StreamFailure(FailureKind.OTHER, bad), attempts=1)
    notices = (Notice("info", "x", bad),)
    result = QueryResult(CONVERSATION, Outcome.FAILED, text=bad, failure=failure, notices=notices)
    value: Any = to_wire.query_result(result, last_seq=1)
    assert value["text"] == "abcd"
    assert value["error"]["message"] == "Stream error: abcd"
    assert value["error"]["chain"] == ["Stream error", "abcd"]
    assert value["notices"][0]["text"] == "abcd"
    error = to_wire.query_error(QueryError("mcp_failed", bad, (bad,)), draft=None, trace="t")
    assert error.message == "abcd"
    assert error.data == {"code": "mcp_failed", "chain": ["abcd"], "trace": "t"}


def words(alias: Any) -> set[str]:
    return set(get_args(alias.__value__))


def test_the_words_of_the_domain_are_words_of_the_wire() -> None:
    assert {outcome.value for outcome in Outcome} == words(turn.Outcome)
    assert {phase.value for phase in Phase} == words(turn.Phase)
    assert {kind.value for kind in FailureKind} == words(model.FailureClass)
    assert set(get_args(Handled)) == words(turn.Handled)
    assert set(get_args(DecisionKind)) == words(PromptKind)
    assert set(get_args(listing.CallState)) == words(tool.CallState)
    assert set(get_args(ErrorCode)) < words(errors.ErrorCode)
