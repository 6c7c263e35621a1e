"""Tools within a turn: cycles, the tool menu, replies, refusals, aborts, endings, resuming."""

import pytest

from jp_lsp.conversation.ids import CallId
from jp_lsp.tools import responses
from jp_lsp.tools.actions import CancelPass
from jp_lsp.tools.memory import ToolMemory
from jp_lsp.turn import actions, shown
from jp_lsp.turn.inputs import ClientGone, ShutdownRequested, ToolEnded
from jp_lsp.turn.options import InterruptOptions, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import Flush, MaxTokens, Refused
from tests.support.calls import asks, spec
from tests.support.turns import Desk, done, failure, message, reasoning, tool_call

FREE = {name: spec(name, run_mode="unattended") for name in ("look", "see")}
ASKED = {name: spec(name) for name in ("look", "see")}


def executing(tools: object = FREE, **options: object) -> Desk:
    desk = Desk(options=TurnOptions(**options)).start(tools=tools)  # type: ignore[arg-type]
    return desk.says(
        message("I look."), Flush(0), *tool_call(1, "c1", "look"), *tool_call(2, "c2", "see"), done()
    )


@pytest.mark.requirement("R13", "R92", "R93", "R95", "R158", "R160", "R163", "R170", "R171", "S2", "D8")
def test_tools_run_together_and_the_follow_up_goes_out_when_all_are_answered() -> None:
    desk = executing()
    assert (desk.phase, desk.runs) == (Phase.EXECUTING, ["c1", "c2"])
    desk.tool_returns("c2", "two")
    assert desk.saved[-1] == "P3"
    desk.tool_returns("c1", "one")
    assert desk.saved[-1] == "P4"
    assert desk.stored[-2:] == ["result c2: two", "result c1: one"]
    desk.says(message("Seen."), done())
    assert (desk.result.outcome, desk.result.turns[0].cycles) == (Outcome.COMPLETED, 2)


@pytest.mark.requirement("R26", "D4", "R260", "R261", "R218", "R274")
def test_a_question_is_put_at_the_flush_and_the_stream_goes_on() -> None:
    desk = Desk().start(tools=ASKED).says(*tool_call(0, "c1", "look"))
    assert [decision.message for decision in desk.asked] == ["Run local tool look?"]
    desk.says(message("more", 1))
    assert desk.shown[-1] == shown.PartArrived(message("more", 1))
    desk.choose("run")
    assert desk.runs == []
    desk.says(Flush(1), done())
    assert desk.runs == ["c1"]


def test_an_answer_to_a_call_is_stored_behind_the_response_it_came_in() -> None:
    desk = Desk().start(tools=ASKED).says(*tool_call(0, "c1", "look")).choose("skip")
    desk.says(message("more", 1), Flush(1), done())
    assert desk.stored[2:] == ["call c1: look({})", "message: more", f"result c1: {responses.SKIPPED}"]


@pytest.mark.requirement("S17")
def test_a_refusal_takes_calls_back_and_closes_their_questions() -> None:
    desk = Desk().start(tools=ASKED).says(*tool_call(0, "c1", "look"), done(Refused()))
    assert (desk.core.open_decisions, desk.stored, desk.runs) == ({}, ["turn", "user: hi"], [])


@pytest.mark.requirement("R137")
def test_an_abort_withdraws_the_questions_of_its_cycle() -> None:
    desk = Desk().start(tools=ASKED).says(*tool_call(0, "c1", "look")).press("abort")
    assert (desk.core.open_decisions, desk.stored, desk.result.outcome) == ({}, [], Outcome.ABORTED)
    assert desk.runs == []


def test_a_fatal_failure_answers_calls_that_never_ran() -> None:
    desk = Desk().start(tools=ASKED).says(*tool_call(0, "c1", "look")).choose("run").says(failure("auth"))
    assert desk.stored[-1] == f"error c1: {responses.NOT_RUN}"
    assert desk.runs == []


@pytest.mark.requirement("D15")
def test_a_lost_stream_runs_the_calls_that_were_complete() -> None:
    desk = Desk().start(tools=FREE).says(*tool_call(0, "c1", "look")).stream_ends()
    assert desk.runs == ["c1"]
    assert len(desk.requests) == 1


def test_the_output_limit_runs_complete_calls_and_drops_cut_ones() -> None:
    desk = Desk().start(tools=FREE)
    desk.says(*tool_call(0, "c1", "look"), *tool_call(1, "c2", "see", '{"a":'), done(MaxTokens()))
    assert desk.runs == ["c1"]
    assert not any("c2" in line for line in desk.stored)


@pytest.mark.requirement("R161", "R123", "R125", "R141", "S8")
@pytest.mark.parametrize("finished", [0, 1, 2])
def test_the_tool_menu_continue(finished: int) -> None:
    desk = executing().press()
    assert (desk.phase, desk.core.last_press.handled) == (Phase.INTERRUPTED_TOOLS, "menu")
    assert [choice.id for choice in desk.asked[-1].choices] == ["continue", "respond", "restart", "stop"]
    for number in range(1, finished + 1):
        desk.tool_returns(f"c{number}")
    assert desk.phase is Phase.INTERRUPTED_TOOLS
    desk.choose("continue")
    for number in range(finished + 1, 3):
        desk.tool_returns(f"c{number}")
    assert len(desk.requests) == 2


@pytest.mark.requirement("R142", "R176", "S8")
def test_the_tool_menu_respond_tells_the_model_within_the_turn() -> None:
    desk = executing().tool_returns("c1", "one").press().choose("respond").choose(text="wrong file")
    assert desk.stored[-1] == "result c2: Tool run cancelled by user with a custom message:\n\nwrong file"
    assert CancelPass(CallId("c2")) in desk.log
    assert len(desk.requests) == 2
    assert sum(line == "turn" for line in desk.stored) == 1


@pytest.mark.requirement("R143")
def test_respond_without_words_uses_the_canned_text() -> None:
    desk = executing().press().choose("respond").choose(text=" ")
    assert desk.stored[-1].startswith("result c2: This tool request was intentionally rejected")
    assert len(desk.requests) == 2


def test_respond_when_all_have_finished_opens_a_new_turn_behind_the_results() -> None:
    desk = executing().press().tool_returns("c1").tool_returns("c2").choose("respond").choose(text="and now?")
    assert desk.stored[-2:] == ["turn", "user: and now?"]
    assert len(desk.requests) == 2


@pytest.mark.requirement("R144", "S8", "D8")
def test_the_tool_menu_restart_runs_unfinished_calls_once_more() -> None:
    desk = executing().tool_returns("c1", "one").press().choose("restart")
    assert CancelPass(CallId("c2")) in desk.log
    desk.tool_returns("c2", "late").feed(ToolEnded(CallId("c2")))
    assert desk.runs == ["c1", "c2", "c2"]
    desk.tool_returns("c2", "again")
    assert desk.stored[-1] == "result c2: again"
    assert len(desk.requests) == 2


def test_restart_with_nothing_left_goes_on() -> None:
    desk = executing().press().tool_returns("c1").tool_returns("c2").choose("restart")
    assert "nothing_to_restart" in desk.notices()
    assert len(desk.requests) == 2


@pytest.mark.requirement("S8", "R133")
@pytest.mark.parametrize(
    ("how", "outcome"),
    [("stop", Outcome.STOPPED), ("dismiss", Outcome.INTERRUPTED), ("press", Outcome.INTERRUPTED)],
)
def test_the_tool_menu_ends_the_turn_with_every_call_answered(how: str, outcome: Outcome) -> None:
    desk = executing().tool_returns("c1", "one").press()
    match how:
        case "stop":
            desk.choose("stop")
        case "dismiss":
            desk.dismiss()
        case _:
            desk.press()
    assert desk.result.outcome is outcome
    assert desk.stored[-2] == "result c1: one"
    assert desk.stored[-1].startswith("result c2: ")
    assert len(desk.requests) == 1


@pytest.mark.parametrize("action", ["continue", "restart", "respond", "stop"])
def test_a_configured_action_takes_the_place_of_the_tool_menu(action: str) -> None:
    desk = executing(interrupt=InterruptOptions(tool_call=action)).press()  # type: ignore[arg-type]
    expected = {
        "continue": Phase.EXECUTING,
        "restart": Phase.EXECUTING,
        "respond": Phase.REPLYING,
        "stop": Phase.COMPLETE,
    }
    assert desk.phase is expected[action]


@pytest.mark.requirement("R126")
def test_a_press_under_an_open_approval_opens_the_menu() -> None:
    desk = executing(ASKED).press()
    assert desk.asked[-1].kind == "menu"
    assert len(desk.core.open_decisions) == 3
    desk.choose("continue")
    assert len(desk.core.open_decisions) == 2


@pytest.mark.requirement("R292", "R291")
def test_what_is_remembered_for_the_turn_holds_in_its_later_cycles_and_not_beyond() -> None:
    desk = Desk().start(tools=ASKED, memory=ToolMemory()).says(*tool_call(0, "c1", "look"), done())
    desk.choose("run_remember").choose("turn").tool_returns("c1")
    desk.says(*tool_call(0, "c2", "look"), done())
    assert desk.runs == ["c1", "c2"]
    desk.tool_returns("c2").says(message("ok")).press("reply", "again", later=5)
    desk.says(*tool_call(0, "c3", "look"), done())
    assert desk.asked[-1].message == "Run local tool look?"


def test_inquiry_ids_count_on_within_the_turn() -> None:
    desk = executing().tool_returns("c2").tool_returns("c1", asks()).choose("yes").tool_returns("c1", asks())
    kinds = [event.kind for event in desk.stream.events()]
    assert [getattr(kind, "id", None) for kind in kinds][-3:] == ["c1.sure.1", "c1.sure.1", "c1.sure.2"]


def test_too_many_calls_in_a_turn_are_answered_with_an_error() -> None:
    desk = Desk(options=TurnOptions(max_tool_calls=1)).start(tools=FREE)
    desk.says(*tool_call(0, "c1", "look"), *tool_call(1, "c2", "look"), done())
    assert desk.runs == ["c1"]
    desk.tool_returns("c1")
    assert f"error c2: {responses.TOO_MANY_CALLS}" in desk.stored


@pytest.mark.requirement("R317")
def test_a_deferred_turn_stays_unfinished() -> None:
    tools = {"look": spec("look", detached_run="defer")}
    desk = (
        Desk(options=TurnOptions(can_prompt=False))
        .start(tools=tools)
        .says(*tool_call(0, "c1", "look"), done())
    )
    assert desk.result.outcome is Outcome.WAITING_FOR_INPUT
    assert desk.stored[-1] == "call c1: look({})"


@pytest.mark.requirement("T08", "T12", "S10")
@pytest.mark.parametrize("end", [ShutdownRequested(), ClientGone()])
def test_what_waits_for_the_user_stays_open_when_the_server_ends(end: ShutdownRequested | ClientGone) -> None:
    desk = Desk().start(tools={"look": FREE["look"], "see": ASKED["see"]})
    desk.says(
        reasoning("hm"), Flush(0), *tool_call(1, "c1", "look"), *tool_call(2, "c2", "see"), done()
    ).feed(end)
    assert desk.stored[-1].startswith("result c1: This tool request was intentionally rejected")
    assert desk.core.open_decisions == {}
    assert CancelPass(CallId("c1")) in desk.log
    assert not any(
        line.split()[1].startswith("c2") for line in desk.stored if line.startswith(("result", "error"))
    )


@pytest.mark.requirement("T08", "R288")
def test_a_turn_that_was_cut_off_is_resumed_each_call_run_once() -> None:
    cut = executing(ASKED)
    cut.choose("run").tool_returns("c2", "two")
    again = Desk(stream=cut.stream, is_new=False).start(tools=ASKED, is_resumed=True)
    assert again.asked[-1].message == "Run local tool look?"
    assert again.runs == []
    again.choose("run").tool_returns("c1", "one")
    assert len(again.requests) == 1
    again.says(message("Done."), done())
    assert sum(line == "turn" for line in again.stored) == 1
    assert (again.result.outcome, again.stored[-1]) == (Outcome.COMPLETED, "message: Done.")


@pytest.mark.requirement("T08")
def test_a_call_that_may_have_run_is_asked_about_whatever_its_mode() -> None:
    cut = executing()
    again = Desk(stream=cut.stream, is_new=False).start(tools=FREE, is_resumed=True)
    assert again.runs == []
    assert "may have run already" in again.asked[0].message


def test_resuming_a_turn_whose_calls_are_answered_sends_the_follow_up() -> None:
    cut = executing().tool_returns("c1").tool_returns("c2")
    again = Desk(stream=cut.stream, is_new=False).start(tools=FREE, is_resumed=True)
    assert (again.phase, len(again.requests)) == (Phase.WAITING, 1)
    assert not again.actions_of(actions.Refuse)


def test_resuming_a_turn_that_never_got_an_answer_asks_for_one() -> None:
    cut = Desk().start("question")
    again = Desk(stream=cut.stream, is_new=False).start(tools=FREE, is_resumed=True)
    assert (again.phase, again.stored) == (Phase.WAITING, ["turn", "user: question"])
