"""A stored call has one response, however the turn ends and whoever knew of the call by then.

A call can be stored without being handed over to the tools: it was complete while a text in front of it was
still open, and came out with what was kept; its arguments could not be read, which is decided on at the end of
the response; or it waits in a turn that is taken up again.
"""

from collections.abc import Callable

import pytest

from jp_lsp.conversation.event import ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.sanitize import INTERRUPTED
from jp_lsp.tools import responses
from jp_lsp.turn.inputs import CancelRequested, ClientGone, Crashed, ShutdownRequested
from jp_lsp.turn.options import RetryPolicy, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import Flush, MaxTokens, MetadataPatch, Patch, Refused, RetryRequested
from tests.support.calls import spec
from tests.support.turns import Desk, done, failure, message, tool_call

TOOLS = {"look": spec("look", run_mode="unattended"), "see": spec("see")}
NO_RETRY = TurnOptions(retry=RetryPolicy(max_retries=0))
REPAIRS = Patch((MetadataPatch("signature", "old"),))

Step = Callable[[Desk], object]


def started(options: TurnOptions | None = None) -> Desk:
    return Desk(options=options).start(tools=TOOLS)


def behind_an_open_text(options: TurnOptions | None = None) -> Desk:
    """The call is complete, and held back until the text in front of it is."""
    return started(options).says(message("I look", 0), *tool_call(3, "c1", "look"))


def with_unreadable_arguments(options: TurnOptions | None = None) -> Desk:
    """The call is stored, and what becomes of it is open: the output limit would take it back."""
    return started(options).says(message("I look"), Flush(0), *tool_call(1, "c1", "look", "[1]"))


def answers_of(desk: Desk) -> dict[str, int]:
    """How many responses each stored call has."""
    kinds = [event.kind for event in desk.stream.events()]
    answered = [kind.id for kind in kinds if isinstance(kind, ToolCallResponse)]
    return {kind.id: answered.count(kind.id) for kind in kinds if isinstance(kind, ToolCallRequest)}


ENDS: dict[str, tuple[Step, Outcome]] = {
    "a fatal failure": (lambda desk: desk.says(failure("auth")), Outcome.FAILED),
    "a request for a retry without a reason": (
        lambda desk: desk.says(done(RetryRequested())),
        Outcome.FAILED,
    ),
    "a crash": (lambda desk: desk.feed(Crashed("a bug", "")), Outcome.FAILED),
    "a cancel": (lambda desk: desk.feed(CancelRequested()), Outcome.STOPPED),
    "stop": (lambda desk: desk.press().choose("stop"), Outcome.STOPPED),
    "stop, without the menu": (lambda desk: desk.press("stop"), Outcome.STOPPED),
    "a dismissed menu": (lambda desk: desk.press().dismiss(), Outcome.INTERRUPTED),
    "escalation": (lambda desk: desk.press().press(), Outcome.INTERRUPTED),
}


@pytest.mark.requirement("R101", "R175", "R133", "S18")
@pytest.mark.parametrize("given", [behind_an_open_text, with_unreadable_arguments])
@pytest.mark.parametrize("how", ENDS)
def test_a_call_that_no_tool_heard_of_is_answered_as_not_run(given: Callable[[], Desk], how: str) -> None:
    step, outcome = ENDS[how]
    desk = given()
    step(desk)
    assert desk.result.outcome is outcome
    assert desk.stored[2:] == ["message: I look", desk.stored[3], f"error c1: {responses.NOT_RUN}"]
    assert desk.stored[3].startswith("call c1: look")
    assert (desk.runs, desk.core.open_decisions) == ([], {})


@pytest.mark.requirement("R101", "R138")
@pytest.mark.parametrize("given", [behind_an_open_text, with_unreadable_arguments])
def test_a_reply_opens_its_turn_behind_the_answer(given: Callable[[], Desk]) -> None:
    desk = given().press("reply", "never mind")
    assert desk.stored[-3:] == [f"error c1: {responses.NOT_RUN}", "turn", "user: never mind"]
    assert answers_of(desk) == {"c1": 1}


@pytest.mark.requirement("R101")
def test_a_failed_save_keeps_what_was_said_and_answers_all_calls() -> None:
    desk = Desk(holds_saves=["P3"], failing_saves=["P3"]).start(tools=TOOLS)
    desk.says(*tool_call(0, "c0", "see"), message("I look", 1), *tool_call(3, "c1", "look"))
    desk.choose("run").report_saved()
    assert desk.result.outcome is Outcome.FAILED
    assert desk.stored[2:] == [
        "call c0: see({})",
        "message: I look",
        "call c1: look({})",
        f"error c0: {responses.NOT_RUN}",
        f"error c1: {responses.NOT_RUN}",
    ]


GOES_ON: dict[str, Step] = {
    "a stream that ends, and no retry": lambda desk: desk.stream_ends(),
    "a failure that could be retried": lambda desk: desk.says(failure("transient")),
    "a stream that ended behind a menu": lambda desk: desk.press().stream_ends().choose("continue"),
    "a repair by the provider": lambda desk: desk.says(REPAIRS, done(RetryRequested())),
    "an end": lambda desk: desk.says(done()),
}


@pytest.mark.requirement("R101", "D15")
@pytest.mark.parametrize("how", GOES_ON)
@pytest.mark.parametrize("options", [None, NO_RETRY], ids=["retries", "no retries"])
def test_complete_calls_go_on_in_place_of_a_second_request(how: str, options: TurnOptions | None) -> None:
    desk = started(options).says(message("Hm.", 0, signature="old"), Flush(0), message("I look", 1))
    GOES_ON[how](desk.says(*tool_call(3, "c1", "look")))
    assert (desk.runs, len(desk.requests), desk.waits) == (["c1"], 1, [])
    desk.tool_returns("c1", "seen")
    assert desk.stored[2:] == ["message: Hm.", "message: I look", "call c1: look({})", "result c1: seen"]
    assert len(desk.requests) == 2


@pytest.mark.requirement("R101", "D15", "R16")
@pytest.mark.parametrize("how", GOES_ON)
def test_an_unreadable_call_is_answered_in_place_of_a_second_request(how: str) -> None:
    desk = started().says(message("Hm.", 0, signature="old"), Flush(0), *tool_call(1, "c1", "look", "[1]"))
    GOES_ON[how](desk)
    assert desk.stored[-1].startswith("error c1: Arguments were not a JSON object")
    assert (answers_of(desk), len(desk.requests), desk.waits) == ({"c1": 1}, 2, [])


@pytest.mark.requirement("S17", "R137")
@pytest.mark.parametrize("given", [behind_an_open_text, with_unreadable_arguments])
@pytest.mark.parametrize(
    ("step", "stored"),
    [(lambda desk: desk.says(done(Refused())), ["turn", "user: hi"]), (lambda desk: desk.press("abort"), [])],
    ids=["refused", "aborted"],
)
def test_what_is_taken_back_needs_no_answer(given: Callable[[], Desk], step: Step, stored: list[str]) -> None:
    desk = given()
    step(desk)
    assert (desk.stored, desk.runs) == (stored, [])


@pytest.mark.requirement("S18")
def test_at_the_output_limit_a_held_call_runs_and_an_unreadable_one_was_cut() -> None:
    desk = behind_an_open_text().says(*tool_call(4, "c2", "look", '{"a":'), done(MaxTokens()))
    assert (desk.runs, answers_of(desk)) == (["c1"], {"c1": 0})
    assert answers_of(desk.tool_returns("c1")) == {"c1": 1}


@pytest.mark.requirement("T08", "S10")
@pytest.mark.parametrize("given", [behind_an_open_text, with_unreadable_arguments])
@pytest.mark.parametrize("end", [ShutdownRequested(), ClientGone()], ids=["shutdown", "gone"])
def test_a_turn_that_is_left_answers_its_call_when_it_is_resumed(
    given: Callable[[], Desk], end: ShutdownRequested | ClientGone
) -> None:
    left = given().feed(end)
    assert answers_of(left) == {"c1": 0}
    again = Desk(stream=left.stream, is_new=False).start(tools=TOOLS, is_resumed=True)
    if again.runs:
        again.tool_returns("c1")
    assert (answers_of(again), len(again.requests)) == ({"c1": 1}, 1)


@pytest.mark.requirement("R101", "T08", "S7")
@pytest.mark.parametrize(("was_approved", "told"), [(True, INTERRUPTED), (False, responses.NOT_RUN)])
@pytest.mark.parametrize("choice", ["stop", "reply"])
def test_a_resumed_turn_that_ends_before_its_calls_are_taken_up_answers_them(
    choice: str, was_approved: bool, told: str
) -> None:
    left = started().says(*tool_call(0, "c1", "see"), message("more", 1))
    if was_approved:
        left.choose("run")
    left.feed(ClientGone())
    again = Desk(stream=left.stream, is_new=False, holds_saves=["P1"]).start(tools=TOOLS, is_resumed=True)
    assert again.phase is Phase.OPENING
    again.press(choice, "leave it")
    assert again.stored[4] == f"error c1: {told}"
    assert answers_of(again) == {"c1": 1}
