"""Inputs that meet: a press, a failed save, the end of a tool, in an order that is rare but possible."""

import pytest

from jp_lsp.conversation.ids import CallId
from jp_lsp.tools.outcome import NeedsInput, Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.spec import Command
from jp_lsp.turn import shown
from jp_lsp.turn.actions import Refuse
from jp_lsp.turn.inputs import ArgumentsFormatted, Crashed, ToolProgressed
from jp_lsp.turn.options import InterruptOptions, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from tests.support.calls import spec
from tests.support.turns import Desk, done, message, tool_call

ALONE = TurnOptions(can_prompt=False)


def ended(desk: Desk) -> list[tuple[Outcome, bool]]:
    """How the turns ended, as it was shown."""
    return [(item.outcome, item.is_persisted) for item in desk.shown if isinstance(item, shown.TurnEnded)]


def running(*names: str, **policy: object) -> Desk:
    """A desk where unattended tools run."""
    tools = {name: spec(name, run_mode="unattended", **policy) for name in names}
    desk = Desk().start(tools=tools)
    for index, name in enumerate(names):
        desk.says(*tool_call(index, name, name))
    return desk.says(done())


@pytest.mark.requirement("R298", "S24")
def test_a_turn_that_could_not_be_saved_is_not_shown_as_completed() -> None:
    desk = Desk(failing_saves=["P7"]).start().says(message("Hello"), done())
    assert ended(desk) == [(Outcome.FAILED, False)]
    assert [turn.outcome for turn in desk.result.turns] == [desk.result.outcome] == [Outcome.FAILED]


@pytest.mark.requirement("R298")
def test_a_turn_whose_last_step_broke_is_not_shown_as_completed() -> None:
    desk = Desk(holds_saves=["P7"]).start().says(message("Hello"), done()).feed(Crashed("a bug", ""))
    assert ended(desk) == [(Outcome.FAILED, False)]


@pytest.mark.requirement("S24")
def test_a_begin_that_could_not_be_saved_ends_the_writing_of_a_reply() -> None:
    options = TurnOptions(interrupt=InterruptOptions(gap="reply"))
    desk = Desk(options=options, holds_saves=["P1"], failing_saves=["P1"]).start().press()
    assert desk.phase is Phase.REPLYING
    desk.report_saved()
    assert desk.phase is Phase.FAILED
    assert desk.core.open_decisions == {}
    (refused,) = desk.actions_of(Refuse)
    assert isinstance(refused, Refuse)
    assert (refused.error.code, refused.draft) == ("persist_failed", "hi")


@pytest.mark.requirement("R136")
def test_who_writes_instead_of_results_can_only_choose_what_tools_offer() -> None:
    desk = running("look").press().choose("respond")
    assert desk.phase is Phase.REPLYING
    desk.press("reply")
    assert (desk.core.last_press.handled, desk.core.last_press.allowed) == (
        "none",
        ("continue", "respond", "restart", "stop"),
    )
    desk.dismiss().choose("continue").tool_returns("look")
    assert len(desk.requests) == 2


def test_a_tool_that_is_answered_makes_no_progress() -> None:
    desk = running("look", "list")
    desk.tool_returns("look")
    before = len(desk.shown)
    desk.feed(ToolProgressed(CallId("look"), "still at it", 50))
    assert desk.shown[before:] == []
    desk.feed(ToolProgressed(CallId("list"), "half", 50))
    assert len(desk.shown) == before + 1


@pytest.mark.requirement("S3")
def test_a_query_that_is_stopped_while_it_is_stored_is_no_draft() -> None:
    desk = Desk(holds_saves=["P1", "P7"]).start().press("stop").report_saved()
    assert (desk.result.outcome, desk.result.draft) == (Outcome.STOPPED, None)
    assert desk.stored == ["turn", "user: hi"]


@pytest.mark.requirement("S3")
def test_a_query_that_was_stopped_and_could_not_be_stored_comes_back() -> None:
    desk = Desk(holds_saves=["P1", "P7"], failing_saves=["P1", "P7"]).start().press("stop").report_saved()
    assert (desk.result.outcome, desk.result.draft) == (Outcome.FAILED, "hi")


@pytest.mark.requirement("S17")
def test_what_may_run_does_so_before_a_turn_waits_for_somebody() -> None:
    tools = {"look": spec("look", detached_run="defer"), "list": spec("list", run_mode="unattended")}
    desk = Desk(options=ALONE).start(tools=tools)
    desk.says(*tool_call(0, "c1", "look"), *tool_call(1, "c2", "list"), done())
    assert (desk.runs, desk.phase) == (["c2"], Phase.EXECUTING)
    desk.tool_returns("c2")
    assert desk.result.outcome is Outcome.WAITING_FOR_INPUT
    assert desk.stored[-1] == "result c2: done"


@pytest.mark.requirement("S17")
@pytest.mark.parametrize(
    ("policy", "outcome"),
    [
        ({"detached_tool": "defer"}, NeedsInput(ToolQuestion("sure", "Sure?", "boolean"))),
        ({"detached_deliver": "defer", "result_mode": "ask"}, Succeeded("secret")),
    ],
)
def test_a_call_that_waits_for_an_answer_stays_open(policy: dict[str, object], outcome: ToolOutcome) -> None:
    tools = {"look": spec("look", run_mode="unattended", **policy)}
    desk = Desk(options=ALONE).start(tools=tools).says(*tool_call(0, "c1", "look"), done())
    desk.tool_returns("c1", outcome)
    assert desk.result.outcome is Outcome.WAITING_FOR_INPUT
    assert [line for line in desk.stored if line.startswith("result")] == []


@pytest.mark.requirement("R116")
def test_a_call_that_is_stopped_while_its_arguments_are_formatted_is_shown() -> None:
    desk = running("look", formatter=Command("fmt"))
    desk.press("stop")
    calls = [item for item in desk.shown if isinstance(item, shown.CallShown)]
    assert [(call.call, call.rendered) for call in calls] == [("look", None)]
    desk.feed(ArgumentsFormatted(calls[0].call, "late"))
    assert [item for item in desk.shown if isinstance(item, shown.CallShown)] == calls
