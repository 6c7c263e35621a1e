"""Steering a turn: menus with each choice, presses, replies, continuing with a live and a dead stream."""

import pytest

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.turn import actions, shown
from jp_lsp.turn.inputs import Answered, AskFailed, FromProvider, Saved, Start, StreamEnded, TimerElapsed
from jp_lsp.turn.interrupt import MENUS, PressReport
from jp_lsp.turn.options import InterruptOptions, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.response import MAX_HELD_ITEMS
from jp_lsp.turn.stream_event import Flush
from tests.support.turns import Desk, done, failure, message, reasoning, structured, tool_call


def interrupted() -> Desk:
    return Desk().start("hi").says(reasoning("thin"), Flush(0), message("The ans", 1)).press()


@pytest.mark.requirement("R11", "R128", "R152", "R6", "R122", "R274")
def test_a_press_opens_the_menu_with_the_harmless_choice_first() -> None:
    desk = interrupted()
    assert desk.phase is Phase.INTERRUPTED_STREAM
    assert [choice.id for choice in desk.asked[0].choices] == ["continue", "reply", "stop", "abort"]
    assert desk.core.last_press == PressReport("menu", Phase.INTERRUPTED_STREAM)
    assert all(choices[0].id == "continue" for _, choices in MENUS.values())


@pytest.mark.requirement("R140", "R261")
def test_nothing_is_shown_between_menu_and_answer() -> None:
    desk = interrupted()
    before = len(desk.shown)
    desk.says(message("wer", 1), Flush(1), done())
    assert len(desk.shown) == before


@pytest.mark.requirement("R136", "R153", "R205", "R220", "S4", "T02", "F05")
def test_stop_keeps_what_was_shown_and_drops_what_was_not() -> None:
    desk = interrupted().says(message("wer", 1), done()).choose("stop")
    assert desk.stored == ["turn", "user: hi", "reasoning: thin", "message: The ans"]
    assert (desk.result.outcome, desk.result.text) == (Outcome.STOPPED, "The ans")
    assert desk.stream.events()[-1].metadata["interrupted"] is True
    assert len(desk.requests) == 1


@pytest.mark.requirement("F05", "T02")
def test_stop_within_reasoning_stores_reasoning() -> None:
    desk = Desk().start().says(reasoning("Plan: look at"), reasoning(" the lock")).press().choose("stop")
    assert desk.stored[2:] == ["reasoning: Plan: look at the lock"]


@pytest.mark.requirement("R137", "R154", "D6", "S4", "R344")
def test_abort_of_a_new_conversation_leaves_nothing_but_the_draft() -> None:
    desk = interrupted().choose("abort")
    assert desk.stored == []
    assert (desk.result.outcome, desk.result.draft, desk.phase) == (Outcome.ABORTED, "hi", Phase.ABORTED)
    assert desk.actions_of(actions.DiscardConversation)
    assert desk.actions_of(actions.KeepDraft) == [actions.KeepDraft("hi")]
    assert shown.Retracted("turn", "abort") in desk.shown


@pytest.mark.requirement("R137", "D6")
def test_abort_in_an_existing_conversation_restores_it_on_disk() -> None:
    first = Desk().start("a").says(message("b"), done())
    desk = (
        Desk(stream=first.stream, is_new=False)
        .start("c", config_delta=ConfigDelta({"x": 1}))
        .says(message("d"))
        .press()
    )
    desk.choose("abort")
    assert desk.stored == ["turn", "user: a", "message: b"]
    assert len(desk.stream) == 3
    assert desk.saved[-1] == "P7"
    assert not desk.actions_of(actions.DiscardConversation)


@pytest.mark.requirement("D6")
def test_abort_in_a_later_cycle_keeps_the_earlier_ones() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t"), done()).says(message("d")).press().choose("abort")
    assert [line.split(":")[0] for line in desk.stored] == ["turn", "user", "call c", "error c"]
    assert shown.Retracted("cycle", "abort") in desk.shown


@pytest.mark.requirement("R138", "R155", "R157", "R166", "D5", "S4")
def test_reply_stores_the_partial_and_opens_a_new_turn_in_the_same_query() -> None:
    desk = interrupted().choose("reply").choose(text="shorter please")
    desk.says(message("ok"), done())
    assert desk.stored == [
        "turn",
        "user: hi",
        "reasoning: thin",
        "message: The ans",
        "turn",
        "user: shorter please",
        "message: ok",
    ]
    assert [turn.outcome for turn in desk.result.turns] == [Outcome.REPLIED, Outcome.COMPLETED]
    assert desk.result.text == "ok"
    assert desk.saved.count("P1") == 2


@pytest.mark.requirement("S24")
def test_a_chain_of_three_replies_is_one_answer() -> None:
    desk = Desk().start()
    for number in range(3):
        desk.says(message(f"part {number}")).press("reply", f"reply {number}", later=5)
    desk.says(message("end"), done())
    assert [turn.index for turn in desk.result.turns] == [1, 2, 3, 4]
    assert sum(line == "turn" for line in desk.stored) == 4


@pytest.mark.requirement("R138")
def test_a_blank_reply_goes_back_to_the_menu() -> None:
    desk = interrupted().choose("reply").choose(text="  \n")
    assert desk.phase is Phase.INTERRUPTED_STREAM
    assert desk.asked[-1].kind == "menu"
    desk.choose("continue").says(message("wer", 1), done())
    assert desk.result.text == "The answer"


def test_a_press_while_replying_goes_back_to_the_menu() -> None:
    desk = interrupted().choose("reply").press(later=5)
    assert (desk.phase, desk.asked[-1].kind) == (Phase.INTERRUPTED_STREAM, "menu")


def test_a_client_without_text_input_is_told_of_the_reply_command() -> None:
    desk = interrupted().choose("reply")
    desk.feed(AskFailed(desk.open_decision, "no such method"))
    assert "reply_command" in desk.notices()
    assert desk.asked[-1].kind == "menu"


@pytest.mark.requirement("R139", "R156", "S4", "R177")
def test_continue_with_a_live_stream_goes_on_without_a_new_request() -> None:
    desk = interrupted().says(message("wer", 1)).choose("continue")
    assert desk.phase is Phase.STREAMING
    desk.says(message(".", 1), done())
    assert desk.stored[2:] == ["reasoning: thin", "message: The answer."]
    assert len(desk.requests) == 1


@pytest.mark.requirement("S4")
def test_continue_after_the_stream_finished_behind_the_menu() -> None:
    desk = interrupted().says(message("wer", 1), done()).stream_ends().choose("continue")
    assert (desk.result.outcome, desk.result.text, len(desk.requests)) == (Outcome.COMPLETED, "The answer", 1)


@pytest.mark.requirement("R139", "R177", "R178", "R182", "R183", "R185", "S5", "D12")
@pytest.mark.parametrize("end", ["failure", "lost"])
def test_continue_with_a_dead_stream_sends_one_continuation_at_no_cost(end: str) -> None:
    desk = interrupted().says(message("we", 1))
    desk.says(failure("malformed")) if end == "failure" else desk.stream_ends()
    desk.choose("continue")
    assert (len(desk.requests), desk.waits, desk.saved[-1]) == (2, [], "P6")
    assert desk.stored[2:] == ["reasoning: thin", "message: The answe"]
    desk.says(message("r"), done())
    assert desk.stored[-2:] == ["message: The answe", "message: r"]
    assert desk.result.text == "The answer"


@pytest.mark.requirement("D15")
def test_continue_with_a_dead_stream_behind_a_call_answers_the_call() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t")).press().says(failure()).choose("continue")
    assert desk.stored[-1].startswith("error c")
    assert len(desk.requests) == 2


def test_continue_with_a_dead_stream_and_an_open_value_starts_it_again() -> None:
    desk = Desk().start().says(structured('{"a')).press().says(failure()).choose("continue")
    assert shown.Retracted("structured", "restart") in desk.shown
    assert len(desk.requests) == 2


@pytest.mark.requirement("F14")
def test_a_press_during_backoff_cuts_the_wait_short() -> None:
    desk = Desk().start().says(failure("rate_limit", "wait", 50.0)).press()
    assert desk.actions_of(actions.CancelWait)
    desk.choose("continue")
    assert (desk.phase, len(desk.requests)) == (Phase.WAITING, 2)


def test_a_press_before_anything_arrived() -> None:
    desk = Desk().start().press().choose("continue")
    assert (desk.phase, len(desk.requests)) == (Phase.WAITING, 1)


@pytest.mark.requirement("R130", "R132", "S6")
def test_a_second_press_within_the_cooldown_ends_the_turn() -> None:
    desk = interrupted().press()
    assert desk.core.last_press.handled == "escalated"
    assert (desk.result.outcome, desk.result.text) == (Outcome.INTERRUPTED, "The ans")
    assert desk.core.open_decisions == {}


@pytest.mark.requirement("S6")
def test_a_press_after_the_cooldown_and_a_continue_opens_a_second_menu() -> None:
    desk = interrupted().choose("continue").press()
    assert desk.core.last_press.handled == "menu"
    assert len(desk.asked) == 2


@pytest.mark.requirement("R132", "S6")
def test_a_late_press_on_an_open_menu_escalates_too() -> None:
    assert interrupted().press(later=60).result.outcome is Outcome.INTERRUPTED


@pytest.mark.requirement("R131", "R129")
def test_the_third_press_does_not_wait_for_the_save() -> None:
    desk = Desk(holds_saves=["P7"]).start().says(message("x")).press().press()
    assert desk.phase is Phase.FINISHING
    desk.press()
    assert (desk.core.last_press.handled, desk.result.outcome) == ("killed", Outcome.KILLED)


def test_without_a_cooldown_every_press_is_a_first_one() -> None:
    options = TurnOptions(interrupt=InterruptOptions(cooldown=0))
    desk = Desk(options=options).start().says(message("x")).press().choose("continue").press()
    assert desk.core.last_press.handled == "menu"


@pytest.mark.requirement("D11", "R330")
def test_a_dismissed_menu_stops_unless_configured_to_continue() -> None:
    assert interrupted().dismiss().result.outcome is Outcome.INTERRUPTED
    options = TurnOptions(interrupt=InterruptOptions(on_dismiss="continue"))
    desk = Desk(options=options).start().says(message("x")).press().dismiss()
    assert desk.phase is Phase.STREAMING


def test_a_menu_that_cannot_be_shown_counts_as_dismissed() -> None:
    desk = interrupted()
    desk.feed(AskFailed(desk.open_decision, "method not found"))
    assert desk.result.outcome is Outcome.INTERRUPTED


@pytest.mark.requirement("T19", "T17")
def test_late_and_double_answers_mean_nothing() -> None:
    desk = interrupted()
    menu = desk.open_decision
    desk.choose("stop")
    before = len(desk.log)
    desk.feed(Answered(menu, "abort"), FromProvider(desk.attempt, message("late")), StreamEnded(desk.attempt))
    assert len(desk.log) == before
    assert desk.stored[-1] == "message: The ans"


@pytest.mark.requirement("R126", "R127", "R162", "S7", "R123")
@pytest.mark.parametrize("gap", ["P1", "P4"])
def test_a_press_in_a_gap_ends_the_turn_with_everything_stored(gap: str) -> None:
    desk = Desk(holds_saves=[gap]).start()  # type: ignore[list-item]
    if gap == "P4":
        desk.says(*tool_call(0, "c", "t"), done())
    requests = len(desk.requests)
    desk.press().report_saved()
    assert desk.core.last_press.handled == "action"
    assert (desk.result.outcome, len(desk.requests)) == (Outcome.STOPPED, requests)
    assert desk.saved[-1] == "P7"


@pytest.mark.parametrize("choice", ["continue", "stop", "reply"])
def test_the_gap_menu(choice: str) -> None:
    options = TurnOptions(interrupt=InterruptOptions(gap="prompt"))
    desk = Desk(options=options, holds_saves=["P4"]).start().says(*tool_call(0, "c", "t"), done()).press()
    assert [c.id for c in desk.asked[-1].choices] == ["continue", "reply", "stop"]
    desk.report_saved()
    assert len(desk.requests) == 1
    desk.choose(choice)
    if choice == "reply":
        desk.choose(text="more")
    if choice == "stop":
        assert desk.result.outcome is Outcome.STOPPED
    else:
        assert len(desk.requests) == 2


@pytest.mark.requirement("S7")
def test_pressing_while_preparing_offers_to_wait_or_cancel() -> None:
    desk = Desk().feed(Start("hi")).press()
    assert [c.title for c in desk.asked[0].choices] == ["Keep waiting", "Cancel query"]
    desk.dismiss()
    assert desk.phase is Phase.PREPARING
    desk.press(later=5).choose("stop")
    assert (desk.result.outcome, desk.result.draft) == (Outcome.CANCELLED_BEFORE_START, "hi")


@pytest.mark.parametrize(("action", "outcome"), [("stop", Outcome.STOPPED), ("abort", Outcome.ABORTED)])
@pytest.mark.requirement("R332")
def test_a_press_may_carry_its_choice(action: str, outcome: Outcome) -> None:
    desk = Desk().start().says(message("x")).press(action)
    assert desk.result.outcome is outcome
    assert desk.asked == []


@pytest.mark.requirement("R124")
def test_a_choice_that_the_phase_does_not_have_is_refused_with_those_it_has() -> None:
    desk = Desk().start().says(message("x")).press("restart")
    assert desk.core.last_press.handled == "none"
    assert desk.core.last_press.allowed == ("continue", "reply", "stop", "abort")
    assert desk.phase is Phase.STREAMING


@pytest.mark.parametrize("action", ["continue", "stop", "abort", "reply"])
def test_a_configured_action_takes_the_place_of_the_menu(action: str) -> None:
    options = TurnOptions(interrupt=InterruptOptions(streaming=action))  # type: ignore[arg-type]
    desk = Desk(options=options).start().says(message("x")).press()
    expected = {
        "continue": Phase.STREAMING,
        "stop": Phase.COMPLETE,
        "abort": Phase.ABORTED,
        "reply": Phase.REPLYING,
    }
    assert desk.phase is expected[action]
    if action == "reply":
        desk.dismiss()
        assert desk.phase is Phase.STREAMING


def test_without_a_client_that_can_ask_a_press_stops() -> None:
    desk = Desk(options=TurnOptions(can_prompt=False)).start().says(message("x")).press()
    assert (desk.result.outcome, desk.asked) == (Outcome.STOPPED, [])


def test_a_long_menu_pauses_reading_and_continue_resumes_it() -> None:
    desk = interrupted()
    for _ in range(MAX_HELD_ITEMS + 5):
        desk.says(message(".", 1))
    assert len(desk.actions_of(actions.PauseReading)) == 1
    desk.choose("continue")
    assert len(desk.actions_of(actions.ResumeReading)) == 1
    assert desk.says(done()).result.text == "The ans" + "." * (MAX_HELD_ITEMS + 5)


def test_a_save_that_belongs_to_nothing_is_ignored() -> None:
    desk = Desk().start().says(message("x"))
    assert desk.feed(Saved("P7"), Saved("P4")).phase is Phase.STREAMING


def test_continue_waits_for_the_partial_to_be_durable() -> None:
    desk = Desk(holds_saves=["P6"]).start().says(message("x")).stream_ends().feed(TimerElapsed())
    assert len(desk.requests) == 1
    desk.report_saved()
    assert len(desk.requests) == 2
