"""Turns that are to answer with a value: does it fit, is it asked for again, what is kept (query pipeline 7.2)."""

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jp_lsp.conversation.event import ChatRequest, MessageResponse, StructuredResponse
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.turn import shown
from jp_lsp.turn.answer_schema import find_misfits, find_schema_problem
from jp_lsp.turn.failure import FailureKind
from jp_lsp.turn.inputs import Prepared, PreparedTurn, Start, TimerElapsed
from jp_lsp.turn.options import RetryPolicy, TurnOptions
from jp_lsp.turn.outcome import Outcome, StructuredResult
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import Flush, MaxTokens, OtherReason, Refused, StreamEvent
from tests.support.calls import spec
from tests.support.turns import CONVERSATION, Desk, done, failure, message, reasoning, structured, tool_call

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"size": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
    "required": ["size"],
}
FITS = '{"size": 3}'
WRONG = '{"size": "3"}'
NO_JSON = '{"size": 3'
NOT_AN_INTEGER = "size: '3' is not of type 'integer'"


def value(text: str, index: int = 0) -> list[StreamEvent]:
    return [structured(text, index), Flush(index), done()]


def asked() -> Desk:
    return Desk().start("How large?", SCHEMA)


@pytest.mark.requirement("R258", "R225")
def test_a_value_that_fits_is_the_result() -> None:
    desk = asked().says(*value(FITS))
    assert desk.result.outcome is Outcome.COMPLETED
    assert desk.result.structured == StructuredResult({"size": 3}, is_valid=True)
    assert desk.result.text == ""
    assert desk.stored == ["turn", "user: How large?", "data: {'size': 3}"]
    assert len(desk.requests) == 1


@pytest.mark.requirement("R258")
@pytest.mark.parametrize("wrong", [WRONG, NO_JSON, "I cannot say.", "[]", "null"])
def test_a_value_that_does_not_fit_is_taken_back_and_asked_for_again(wrong: str) -> None:
    desk = asked().says(reasoning("hm", 0), Flush(0), structured(wrong, 1), Flush(1), done())
    assert shown.Retracted("attempt", "restart") in desk.shown
    assert desk.stored == ["turn", "user: How large?"]
    desk.says(*value(FITS))
    assert desk.stored == ["turn", "user: How large?", "data: {'size': 3}"]
    assert desk.result.structured == StructuredResult({"size": 3}, is_valid=True)
    assert (desk.result.turns[0].cycles, len(desk.requests)) == (1, 2)


@pytest.mark.parametrize(
    ("wrong", "answer", "problem"),
    [
        (WRONG, StructuredResponse({"size": "3"}), NOT_AN_INTEGER),
        ("sorry", MessageResponse("sorry"), "the answer is not valid JSON: Expecting value"),
        ('"[1]"', MessageResponse("[1]"), "the value: is a text with JSON in it"),
    ],
)
def test_the_model_is_shown_its_answer_and_what_is_wrong_with_it(
    wrong: str, answer: object, problem: str
) -> None:
    desk = asked().says(*value(wrong))
    first, again = desk.requests
    assert first.correction == ()
    shown_answer, complaint = again.correction
    assert shown_answer.kind == answer
    assert isinstance(complaint.kind, ChatRequest)
    assert f"\n- {problem}" in complaint.kind.content
    assert complaint.kind.schema is None


def test_what_was_taken_back_is_saved_before_the_model_is_asked_again() -> None:
    desk = Desk(holds_saves=["P6"]).start("How large?", SCHEMA)
    desk.says(*value(WRONG))
    assert (len(desk.requests), desk.phase) == (1, Phase.WAITING)
    desk.report_saved()
    assert len(desk.requests) == 2


@pytest.mark.requirement("R258")
def test_a_value_is_asked_for_again_twice_and_then_taken_as_it_is() -> None:
    desk = asked()
    for _ in range(3):
        desk.says(*value(WRONG))
    assert len(desk.requests) == 3
    assert desk.waits == []
    assert desk.stored[2:] == ["data: {'size': '3'}"]
    assert desk.result.outcome is Outcome.COMPLETED
    assert desk.result.structured == StructuredResult(
        {"size": "3"}, is_valid=False, problems=(NOT_AN_INTEGER,)
    )


def test_text_that_stays_no_json_is_the_value_in_the_end() -> None:
    desk = asked()
    for _ in range(3):
        desk.says(*value(NO_JSON))
    result = desk.result.structured
    assert result is not None
    assert (result.data, result.is_valid) == (NO_JSON, False)
    assert result.problems[0].startswith("the answer is not valid JSON: Expecting ',' delimiter")


def test_the_last_of_several_values_counts() -> None:
    desk = asked().says(structured(WRONG), Flush(0), *value(FITS, 1))
    assert desk.stored[2:] == ["data: {'size': '3'}", "data: {'size': 3}"]
    assert desk.result.structured == StructuredResult({"size": 3}, is_valid=True)


@dataclass(frozen=True)
class Missing:
    """A turn that comes to its end without a value, and what it comes to."""

    says: tuple[StreamEvent, ...]
    outcome: Outcome
    stored: tuple[str, ...] = ()


MISSING = {
    "words alone": Missing((message("Three."), done()), Outcome.FAILED, ("message: Three.",)),
    "nothing": Missing((done(),), Outcome.FAILED),
    "a blank value": Missing((structured(" \n"), Flush(0), done()), Outcome.FAILED),
    "stopped early": Missing((message("T"), done(OtherReason("x"))), Outcome.FAILED, ("message: T",)),
    "cut short": Missing((message("Thr"), done(MaxTokens())), Outcome.TRUNCATED, ("message: Thr",)),
    "a refusal": Missing((structured("{"), done(Refused())), Outcome.REFUSED),
    "a failure": Missing((structured("{"), failure("auth")), Outcome.FAILED),
}


@pytest.mark.requirement("R258")
@pytest.mark.parametrize("case", MISSING.values(), ids=MISSING)
def test_a_turn_without_a_value(case: Missing) -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=0))).start("How large?", SCHEMA)
    desk.says(*case.says)
    assert desk.result.outcome is case.outcome
    assert desk.result.structured is None
    assert tuple(desk.stored[2:]) == case.stored
    kind = None if desk.result.failure is None else desk.result.failure.failure.kind
    is_missing = case.outcome is Outcome.FAILED and case is not MISSING["a failure"]
    assert (kind is FailureKind.MISSING_STRUCTURED_DATA) == is_missing


def test_a_value_that_was_cut_is_kept_and_not_asked_for_again() -> None:
    desk = asked().says(structured(NO_JSON), done(MaxTokens()))
    assert (desk.result.outcome, len(desk.requests)) == (Outcome.TRUNCATED, 1)
    assert desk.result.structured is not None
    assert (desk.result.structured.data, desk.result.structured.is_valid) == (NO_JSON, False)


@pytest.mark.requirement("R258")
def test_a_cycle_with_calls_needs_no_value() -> None:
    desk = Desk().start("How large?", SCHEMA, tools={"look": spec("look", run_mode="unattended")})
    desk.says(structured("", 0), Flush(0), *tool_call(1, "c", "look"), done())
    desk.tool_returns("c", "3").says(*value(FITS))
    assert desk.stored[2:] == ["call c: look({})", "result c: 3", "data: {'size': 3}"]
    assert desk.result.structured == StructuredResult({"size": 3}, is_valid=True)


def test_a_model_may_call_a_tool_when_it_is_asked_again_and_is_not_asked_more_often_for_that() -> None:
    desk = Desk().start("How large?", SCHEMA, tools={"look": spec("look", run_mode="unattended")})
    desk.says(*value(WRONG)).says(*tool_call(0, "c", "look"), done()).tool_returns("c", "3")
    assert desk.requests[-1].correction == ()
    desk.says(*value(WRONG)).says(*value(WRONG))
    assert desk.result.outcome is Outcome.COMPLETED
    assert desk.stored[2:] == ["call c: look({})", "result c: 3", "data: {'size': '3'}"]


@pytest.mark.parametrize("trouble", [(failure(),), (done(),), (structured("{"), failure())], ids=str)
def test_trouble_on_the_way_does_not_forget_what_is_to_be_corrected(trouble: tuple[StreamEvent, ...]) -> None:
    desk = asked().says(*value(WRONG)).says(*trouble)
    assert desk.phase is Phase.BACKOFF
    desk.feed(TimerElapsed())
    assert desk.requests[-1].correction == desk.requests[1].correction != ()
    desk.says(*value(FITS))
    assert desk.stored[2:] == ["data: {'size': 3}"]


@pytest.mark.requirement("S24")
def test_a_reply_has_no_schema_and_the_result_is_that_of_its_turn() -> None:
    desk = asked().says(structured('{"siz')).press().choose("reply").choose(None, "Never mind, just say it.")
    assert desk.stored[-1] == "user: Never mind, just say it."
    desk.says(message("Three."), done())
    assert [turn.outcome for turn in desk.result.turns] == [Outcome.REPLIED, Outcome.COMPLETED]
    assert desk.result.structured is None
    assert desk.result.text == "Three."


def test_a_value_of_an_earlier_turn_is_never_the_result() -> None:
    first = asked().says(*value(FITS))
    options = TurnOptions(retry=RetryPolicy(max_retries=0))
    second = Desk(stream=first.stream, is_new=False, options=options).start("Again?", SCHEMA).says(done())
    assert second.result.outcome is Outcome.FAILED
    assert second.result.structured is None
    third = Desk(stream=first.stream, is_new=False).start("And in words?").says(message("Three."), done())
    assert (third.result.outcome, third.result.structured) == (Outcome.COMPLETED, None)


def test_a_turn_that_is_taken_up_again_still_has_its_schema() -> None:
    cut_off = asked()
    resumed = Desk(stream=cut_off.stream, is_new=False)
    prepared = PreparedTurn(CONVERSATION, resumed.stream, ChatRequest(""), TurnOptions(), is_resumed=True)
    resumed.feed(Start(""), Prepared(prepared)).says(*value(WRONG)).says(*value(FITS))
    assert resumed.result.structured == StructuredResult({"size": 3}, is_valid=True)


def test_stopping_between_two_attempts_keeps_no_value_that_does_not_fit() -> None:
    desk = asked().says(*value(WRONG)).press("stop")
    assert (desk.result.outcome, desk.result.structured) == (Outcome.STOPPED, None)
    assert desk.stored == ["turn", "user: How large?"]


MISFITS: dict[str, tuple[JsonObject, JsonValue, tuple[str, ...]]] = {
    "a text where text is fine": ({"type": "string"}, "hello", ()),
    "a text where several types are": ({"type": ["string", "null"]}, "hello", ()),
    "a text where nothing is said": ({}, "hello", ()),
    "a text by its pattern": ({"pattern": "^a"}, "b", ("the value: 'b' does not match '^a'",)),
    "a pattern that only JavaScript reads": ({"pattern": r"\p{L}"}, "b", ()),
    "an object without a type": (
        {"properties": {"a": {}}},
        "a: 1",
        ("the answer is not valid JSON: Expecting value: line 1 column 1 (char 0)",),
    ),
    "a format is not enforced": ({"type": "string", "format": "date"}, "soon", ()),
    "a choice": ({"enum": ["a", "b"]}, "c", ("the value: 'c' is not one of ['a', 'b']",)),
    "deep inside": (SCHEMA, {"size": 1, "names": ["a", 2]}, ("names[1]: 2 is not of type 'string'",)),
    "a circle says nothing": ({"$ref": "#"}, 1, ()),
    "a reference to no schema says nothing": ({"$ref": "#/x", "x": []}, 1, ()),
    "a number without end says nothing": ({"multipleOf": 0.1}, 10**400, ()),
}


_WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "$ref",
        "anyOf",
        "required",
        "enum",
        "$schema",
        "pattern",
        "multipleOf",
        "$id",
    ]
)
_VALUES = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
    | st.sampled_from(["object", "#", "#/items", "integer", "(", 10**400, "http://["]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(schema=st.dictionaries(_WORDS, _VALUES, max_size=3), data=_VALUES)
@example(schema={"$schema": "http://["}, data=None)
@example(schema={"$id": "http://[", "$ref": "#/items"}, data=None)
@example(schema={"$ref": "http://["}, data=None)
def test_no_schema_and_no_value_break_anything(schema: JsonObject, data: JsonValue) -> None:
    problem = find_schema_problem(schema)
    assert problem is None or problem
    assert len(find_misfits(schema, data)) <= 5


@pytest.mark.parametrize(("schema", "data", "misfits"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_fit_is_said(schema: JsonObject, data: JsonValue, misfits: tuple[str, ...]) -> None:
    assert find_misfits(schema, data) == misfits
