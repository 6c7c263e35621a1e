"""The course of a turn: requests, retries, empty answers, limits, what is stored and when."""

import pytest

from jp_lsp.turn import actions, shown
from jp_lsp.turn.failure import FailureKind, QueryError
from jp_lsp.turn.inputs import (
    CancelRequested,
    ClientGone,
    Crashed,
    PrepareFailed,
    ShutdownRequested,
    Start,
    TimerElapsed,
    UsageReported,
)
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, TurnOptions
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import IllegalInput, Phase
from jp_lsp.turn.stream_event import (
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)
from tests.support.calls import spec
from tests.support.turns import (
    Desk,
    done,
    failure,
    message,
    reasoning,
    structured,
    tool_call,
)

NO_RETRY = TurnOptions(retry=RetryPolicy(max_retries=0))


@pytest.mark.requirement("R14", "R18", "R148", "R149", "R150", "R151", "R159", "S1", "R15")
def test_reasoning_and_message_make_a_turn() -> None:
    desk = Desk().start("hi")
    assert desk.saved == ["P1"]
    desk.says(reasoning("Let me"), Flush(0), message("Hello", 1), Flush(1), done())
    assert desk.stored == ["turn", "user: hi", "reasoning: Let me", "message: Hello"]
    assert desk.phase is Phase.COMPLETE
    assert (desk.result.outcome, desk.result.text, desk.result.is_persisted) == (
        Outcome.COMPLETED,
        "Hello",
        True,
    )
    assert [(t.index, t.outcome, t.cycles) for t in desk.result.turns] == [(1, Outcome.COMPLETED, 1)]


@pytest.mark.requirement("R168", "R186", "R2", "R7", "R64")
def test_a_part_is_shown_in_the_step_that_brings_it() -> None:
    desk = Desk().start()
    desk.says(message("He"))
    assert desk.shown[-1] == shown.PartArrived(message("He"))


@pytest.mark.requirement("R169", "F03", "D13")
def test_a_rejected_part_is_neither_shown_nor_stored() -> None:
    desk = Desk().start().says(reasoning("x"))
    before = len(desk.shown)
    desk.says(message("y"))
    assert len(desk.shown) == before
    desk.says(Flush(0), message("z", 1), done())
    assert desk.stored[2:] == ["reasoning: x", "message: z"]


@pytest.mark.requirement(
    "R3", "R17", "R65", "R158", "R160", "R163", "R167", "R67", "S3", "S2", "R239", "R78", "G55"
)
def test_calls_are_answered_and_a_follow_up_goes_out_in_the_same_turn() -> None:
    desk = Desk().start(tool_choice="required")
    desk.says(message("I look."), Flush(0), *tool_call(1, "c1", "look"), *tool_call(2, "c2", "see"), done())
    assert desk.saved[-1] == "P4"
    assert [r.tool_choice for r in desk.requests] == ["required", "auto"]
    desk.says(message("Seen."), done())
    assert desk.stored == [
        "turn",
        "user: hi",
        "message: I look.",
        "call c1: look({})",
        "call c2: see({})",
        'error c1: Tool "look" is not enabled in this conversation; do not call it again until it is listed.',
        'error c2: Tool "see" is not enabled in this conversation; do not call it again until it is listed.',
        "message: Seen.",
    ]
    assert desk.result.turns[0].cycles == 2
    assert desk.result.text == "I look.Seen."


@pytest.mark.requirement("T09", "R16", "R297")
def test_a_call_with_broken_arguments_is_answered_with_the_problem() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t", "[1]"), done())
    assert "a JSON object was expected, not a list" in desk.stored[-1]
    assert desk.stored[-1].startswith("error c: ")


@pytest.mark.requirement("R216", "R246", "R212")
def test_two_hundred_tool_cycles_are_no_recursion() -> None:
    desk = Desk().start()
    for _ in range(200):
        desk.says(*tool_call(0, "same", "t"), done())
    desk.says(message("ok"), done())
    assert desk.result.turns[0].cycles == 201
    assert sum(line.startswith("error same") for line in desk.stored) == 200


def test_a_limit_of_cycles_stops_the_turn() -> None:
    desk = Desk(options=TurnOptions(max_cycles=2)).start()
    desk.says(*tool_call(0, "a", "t"), done()).says(*tool_call(0, "b", "t"), done())
    assert desk.result.outcome is Outcome.STOPPED
    assert len(desk.requests) == 2


@pytest.mark.requirement("R25", "R26", "R164")
def test_nothing_counts_after_finished() -> None:
    desk = Desk().start().says(message("ok"), done())
    desk.says(message("more"), failure()).stream_ends()
    assert desk.stored[2:] == ["message: ok"]
    assert desk.result.outcome is Outcome.COMPLETED


@pytest.mark.requirement("F02", "R12", "R55", "R60", "R70", "R71", "S15", "R181")
def test_a_lost_stream_is_retried_with_the_partial_kept() -> None:
    desk = Desk().start().says(message("The total is")).stream_ends()
    assert desk.phase is Phase.BACKOFF
    assert (desk.saved[-1], desk.waits) == ("P6", [1.0])
    desk.feed(TimerElapsed()).says(message(" 12."), done())
    assert desk.stored[2:] == ["message: The total is", "message:  12."]
    assert desk.result.text == "The total is 12."
    assert desk.result.turns[0].cycles == 1


@pytest.mark.requirement("F01", "R53", "R60", "R61", "R206", "R294", "R295", "R213")
def test_retries_end_after_the_budget_with_doubled_waits() -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=2))).start()
    for _ in range(2):
        desk.stream_ends().feed(TimerElapsed())
    desk.stream_ends()
    assert (len(desk.requests), desk.waits) == (3, [1.0, 2.0])
    assert desk.result.outcome is Outcome.FAILED
    assert desk.result.failure is not None
    assert desk.result.failure.attempts == 3
    assert desk.stored == ["turn", "user: hi"]


@pytest.mark.requirement("R50")
def test_each_cycle_has_retries_of_its_own() -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=1))).start()
    for call_id in ("a", "b", "c"):
        desk.stream_ends().feed(TimerElapsed()).says(*tool_call(0, call_id, "t"), done())
    desk.stream_ends().feed(TimerElapsed()).says(message("ok"), done())
    assert desk.waits == [1.0] * 4
    assert desk.result.outcome is Outcome.COMPLETED


@pytest.mark.requirement("F01", "R294")
def test_a_stream_that_always_fails_after_some_words_ends_too() -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=2))).start()
    while desk.phase is not Phase.FAILED:
        desk.says(message("word")).stream_ends()
        if desk.phase is Phase.BACKOFF:
            desk.feed(TimerElapsed())
    assert len(desk.requests) == 7  # one, and 3 * max_retries retries
    assert desk.result.text == "word" * 7


@pytest.mark.parametrize(
    ("retry_after", "waited"),
    [(3.0, 3.0), (500.0, 60.0), (None, 1.0)],
    ids=["hint", "hint above the cap", "none"],
)
@pytest.mark.requirement("R51", "R52", "R202")
def test_wait_hints_are_honoured_up_to_the_cap(retry_after: float | None, waited: float) -> None:
    desk = Desk().start().says(failure("rate_limit", "slow down", retry_after))
    assert desk.waits == [waited]
    retry = next(item for item in desk.shown if isinstance(item, shown.RetryScheduled))
    assert ("asked to wait" in retry.cause) == (retry_after == 500.0)


@pytest.mark.parametrize(
    "kind", ["auth", "unknown_model", "quota", "malformed", "context_length", "output_limit"]
)
@pytest.mark.requirement("R56", "R57", "R58", "R59", "R203", "F06", "F13", "S15", "R300")
def test_fatal_failures_keep_what_was_seen_and_are_not_retried(kind: str) -> None:
    desk = Desk().start().says(message("Step one is done. "), failure(kind, "no"))
    assert len(desk.requests) == 1
    assert desk.saved[-1] == "P7"
    assert desk.stored[2:] == ["message: Step one is done. "]
    assert (desk.result.outcome, desk.result.text) == (Outcome.FAILED, "Step one is done. ")
    assert desk.result.failure is not None
    assert desk.result.failure.failure.kind == FailureKind(kind)


@pytest.mark.requirement("R61")
def test_no_retries_when_switched_off() -> None:
    assert Desk(options=NO_RETRY).start().says(failure()).result.outcome is Outcome.FAILED


@pytest.mark.requirement("D15", "T09", "F04")
def test_a_lost_stream_behind_a_complete_call_does_not_resend() -> None:
    desk = Desk().start()
    desk.says(message("a"), Flush(0), *tool_call(1, "c", "t"), ToolCallStart(2, "d", "half"), failure())
    assert "stream_ended_early" in desk.notices()
    assert desk.stored[2:4] == ["message: a", "call c: t({})"]
    assert desk.stored[4].startswith("error c: ")
    assert len(desk.requests) == 2
    assert desk.waits == []


@pytest.mark.requirement("F04", "S18")
def test_an_open_call_at_the_end_is_dropped_and_named() -> None:
    desk = Desk().start()
    desk.says(
        message("t"), Flush(0), ToolCallStart(1, "c", "write_note"), ToolCallArguments(1, '{"te'), done()
    )
    assert desk.stored[2:] == ["message: t"]
    assert desk.result.notices[0].text == "Unfinished tool calls were dropped: write_note."


@pytest.mark.requirement("S18")
def test_the_output_limit_drops_cut_calls_and_is_no_empty_answer() -> None:
    desk = Desk().start()
    desk.says(*tool_call(0, "c", "cut", '{"a":'), ToolCallStart(1, "d", "open"), done(MaxTokens()))
    assert desk.stored == ["turn", "user: hi"]
    assert desk.result.outcome is Outcome.TRUNCATED
    assert desk.result.notices[0].text.endswith("Unfinished tool calls were dropped: cut, open.")


def test_the_output_limit_with_only_reasoning_is_truncated_not_empty() -> None:
    assert Desk().start().says(reasoning("hm"), done(MaxTokens())).result.outcome is Outcome.TRUNCATED


def test_complete_calls_before_the_output_limit_are_answered() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t"), done(MaxTokens()))
    assert len(desk.requests) == 2


@pytest.mark.requirement("R54", "R62", "R296", "S16", "D16")
def test_empty_answers_are_retried_with_a_hint_and_leave_nothing() -> None:
    desk = Desk().start()
    desk.says(reasoning("hm"), Flush(0), done()).feed(TimerElapsed())
    desk.says(done()).feed(TimerElapsed())
    desk.says(message("ok"), done())
    assert [r.hint is not None for r in desk.requests] == [False, True, True]
    assert desk.stored[2:] == ["message: ok"]
    assert desk.result.outcome is Outcome.COMPLETED
    assert sum(isinstance(i, shown.Retracted) and i.reason == "empty" for i in desk.shown) == 2


def test_an_answer_that_stays_empty_keeps_the_last_reasoning() -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=1))).start()
    desk.says(reasoning("a"), done()).feed(TimerElapsed()).says(reasoning("b"), done())
    assert desk.stored[2:] == ["reasoning: b"]
    assert desk.result.outcome is Outcome.EMPTY
    (notice,) = desk.result.notices
    # LM Studio answers with an empty stream when the prompt does not fit.
    assert notice.text == (
        "The model gave no answer in 2 attempts. If it runs on a server of your own, its context may be smaller"
        " than this conversation."
    )


def test_an_empty_answer_behind_tool_responses_is_retried_once() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t"), done())
    desk.says(done()).feed(TimerElapsed()).says(done())
    assert len(desk.requests) == 3
    assert desk.result.outcome is Outcome.COMPLETED


@pytest.mark.requirement("S17", "R18")
def test_a_refusal_rolls_its_attempt_back_and_no_call_stays() -> None:
    desk = Desk().start().says(message("a"), Flush(0), *tool_call(1, "c", "t"), done(Refused("cyber", "no")))
    assert desk.stored == ["turn", "user: hi"]
    assert desk.result.outcome is Outcome.REFUSED
    assert desk.result.notices[0].text == "The model refused to answer (cyber: no)."


def test_a_refusal_in_cycle_two_keeps_cycle_one() -> None:
    desk = Desk().start().says(*tool_call(0, "c", "t"), done()).says(message("x"), done(Refused()))
    assert [line.split(":")[0] for line in desk.stored] == ["turn", "user", "call c", "error c"]


def test_an_unknown_finish_word_is_told() -> None:
    desk = Desk().start().says(message("x"), done(OtherReason("SAFETY")))
    assert desk.result.outcome is Outcome.COMPLETED
    assert desk.result.notices[0].text == "The model stopped early (SAFETY)."


@pytest.mark.requirement("F15")
def test_a_rebuild_needs_a_change() -> None:
    desk = Desk().start()
    desk.says(message("kept"), Patch((MetadataPatch("k", "v"),)), done(RetryRequested()))
    assert len(desk.requests) == 1
    assert desk.result.outcome is Outcome.FAILED
    assert desk.result.text == "kept"
    assert "without changing anything" in desk.result.notices[0].text


@pytest.mark.requirement("F15", "F18")
def test_rebuilds_end_after_ten_in_a_row() -> None:
    desk = Desk().start()
    for number in range(20):
        desk.says(reasoning("", number, k=str(number)), Flush(number))
    desk.says(message("x", 99), done()).report_saved()
    again = Desk(stream=desk.stream, is_new=False).start("again")
    number = 0
    while again.phase is Phase.WAITING:
        again.says(Patch((MetadataPatch("k", str(number)),)), done(RetryRequested()))
        number += 1
    assert len(again.requests) == 11
    assert again.waits == []
    assert "too many times" in again.result.notices[0].text


@pytest.mark.requirement("R191")
def test_an_unfinished_value_is_void_when_the_stream_dies() -> None:
    desk = Desk().start().says(structured('{"a"')).stream_ends()
    assert shown.Retracted("structured", "restart") in desk.shown
    desk.feed(TimerElapsed()).says(structured("{}"), Flush(0), done())
    assert desk.stored[2:] == ["data: {}"]


@pytest.mark.requirement("S22", "R344")
def test_a_query_that_cannot_be_stored_never_starts_and_comes_back_as_draft() -> None:
    desk = Desk(failing_saves=["P1"]).start("my text")
    (refusal,) = desk.actions_of(actions.Refuse)
    assert isinstance(refusal, actions.Refuse)
    assert (refusal.error.code, refusal.draft) == ("persist_failed", "my text")
    assert desk.stored == []
    assert desk.requests == []


@pytest.mark.requirement("S22")
@pytest.mark.parametrize("point", ["P4", "P6"])
def test_a_failed_save_within_the_turn_ends_it(point: str) -> None:
    desk = Desk(failing_saves=[point]).start()  # type: ignore[list-item]
    if point == "P4":
        desk.says(*tool_call(0, "c", "t"), done())
    else:
        desk.says(message("a")).stream_ends()
    assert desk.result.outcome is Outcome.FAILED
    assert "the disk is full" in desk.result.notices[0].text
    assert len(desk.requests) == 1


@pytest.mark.requirement("S22")
def test_a_failed_last_save_is_reported_with_both_facts() -> None:
    desk = Desk(failing_saves=["P7"]).start().says(message("a"), done())
    assert (desk.result.outcome, desk.result.is_persisted, desk.result.text) == (Outcome.FAILED, False, "a")
    assert desk.phase is Phase.FAILED


def test_a_failed_flush_save_stops_nothing() -> None:
    desk = Desk(failing_saves=["P2"]).start().says(message("a"), Flush(0), message("b", 1), done())
    assert desk.result.outcome is Outcome.COMPLETED


@pytest.mark.requirement("R299", "R344", "R233")
def test_failed_preparation_refuses_with_the_draft() -> None:
    desk = Desk().feed(Start("text"), PrepareFailed(QueryError("model_unknown", "no such model")))
    assert desk.log[-1] == actions.Refuse(QueryError("model_unknown", "no such model"), "text")
    assert desk.phase is Phase.FAILED


@pytest.mark.requirement("F14", "T23", "R205", "R331", "S9")
@pytest.mark.parametrize(
    "where", ["preparing", "opening", "waiting", "streaming", "backoff", "continuing", "menu", "reply"]
)
def test_cancel_keeps_content_and_answers_once_in_every_phase(where: str) -> None:
    desk = Desk(holds_saves={"opening": ["P1"], "continuing": ["P4"]}.get(where, []))  # type: ignore[arg-type]
    if where == "preparing":
        desk.feed(Start("hi"))
    else:
        desk.start("hi")
    if where in {"streaming", "backoff", "menu", "reply"}:
        desk.says(message("shown"))
    if where == "backoff":
        desk.says(failure("rate_limit", "wait", 30.0))
    if where == "continuing":
        desk.says(*tool_call(0, "c", "t"), done())
    if where in {"menu", "reply"}:
        desk.press()
    if where == "reply":
        desk.choose("reply")
    requests = len(desk.requests)
    desk.feed(CancelRequested(), CancelRequested()).report_saved()
    expected = Outcome.CANCELLED_BEFORE_START if where == "preparing" else Outcome.STOPPED
    assert (desk.result.outcome, desk.result.was_cancelled) == (expected, True)
    assert len(desk.requests) == requests
    assert desk.core.open_decisions == {}
    if where in {"streaming", "backoff", "menu", "reply"}:
        assert desk.result.text == "shown"
    if where == "preparing":
        assert desk.result.draft == "hi"


@pytest.mark.requirement("F14", "T01")
def test_a_flushed_call_that_never_ran_is_answered_when_the_turn_stops() -> None:
    desk = Desk().start(tools={"t": spec("t")}).says(*tool_call(0, "c", "t")).feed(CancelRequested())
    assert desk.stored[-1] == "error c: The turn ended before this tool ran."
    assert desk.core.open_decisions == {}


def test_cancel_may_be_configured_to_abort() -> None:
    options = TurnOptions(interrupt=InterruptOptions(cancel_means="abort"))
    desk = Desk(options=options).start().says(message("x")).feed(CancelRequested())
    assert desk.result.outcome is Outcome.ABORTED
    assert desk.stored == []


@pytest.mark.requirement("S10", "R134", "R335", "R336", "R298")
@pytest.mark.parametrize("end", [ShutdownRequested(), ClientGone()])
@pytest.mark.parametrize(
    "where", ["preparing", "opening", "waiting", "streaming", "backoff", "continuing", "menu", "reply"]
)
def test_the_end_of_server_or_client_stores_what_came(
    end: ShutdownRequested | ClientGone, where: str
) -> None:
    desk = Desk(holds_saves={"opening": ["P1"], "continuing": ["P4"]}.get(where, []))  # type: ignore[arg-type]
    desk.feed(Start("hi")) if where == "preparing" else desk.start("hi")
    if where in {"streaming", "backoff", "menu", "reply"}:
        desk.says(reasoning("thin"), Flush(0), message("sho", 1))
    if where == "backoff":
        desk.stream_ends()
    if where == "continuing":
        desk.says(*tool_call(0, "c", "t"), done())
    if where in {"menu", "reply"}:
        desk.press()
    if where == "reply":
        desk.choose("reply")
    desk.feed(end).report_saved()
    assert desk.phase.is_terminal
    if where == "preparing":
        assert desk.result.draft == "hi"
    else:
        assert desk.saved[-1] == "P8"
        assert desk.stored[:2] == ["turn", "user: hi"]
    if where in {"streaming", "backoff", "menu", "reply"}:
        assert desk.stored[2:] == ["reasoning: thin", "message: sho"]


@pytest.mark.requirement("R166")
def test_the_end_of_the_server_turns_a_pending_reply_into_a_draft() -> None:
    desk = Desk(holds_saves=["P7"]).start().says(message("x")).press("reply", "but why")
    desk.feed(ShutdownRequested()).report_saved()
    assert (desk.result.outcome, desk.result.draft) == (Outcome.STOPPED, "but why")
    assert desk.stored[-1] == "message: x"


def test_a_crash_in_the_driver_ends_the_turn_with_its_content() -> None:
    desk = Desk().start().says(message("x")).feed(Crashed("bug", ""))
    assert (desk.result.outcome, desk.result.text) == (Outcome.FAILED, "x")


def test_usage_is_summed_over_attempts() -> None:
    desk = Desk().start().feed(UsageReported(Usage(1, 2))).says(*tool_call(0, "c", "t"), done())
    desk.feed(UsageReported(Usage(10, 20, cached_tokens=5))).says(message("x"), done())
    assert desk.result.usage == Usage(11, 22, cached_tokens=5)


def test_keep_alives_do_not_count_as_content() -> None:
    desk = Desk(options=TurnOptions(retry=RetryPolicy(max_retries=1))).start().says(KeepAlive()).stream_ends()
    desk.feed(TimerElapsed()).says(KeepAlive())
    assert desk.phase is Phase.WAITING
    assert desk.stream_ends().result.outcome is Outcome.FAILED


@pytest.mark.requirement("R315")
def test_what_the_table_does_not_list_is_a_mistake_of_the_driver() -> None:
    desk = Desk().start()
    with pytest.raises(IllegalInput, match="Start cannot happen in phase waiting"):
        desk.feed(Start("again"))


@pytest.mark.requirement("F27", "R42")
def test_the_stream_is_repaired_when_a_turn_begins() -> None:
    desk = Desk().start().says(message("a"), done())
    desk.stream.append(desk.stream.events()[0])  # a lonely turn marker, as after an aborted start
    again = Desk(stream=desk.stream, is_new=False).start("b")
    assert again.stored == ["turn", "user: hi", "message: a", "turn", "user: b"]
    assert isinstance(again.shown[0], shown.TurnBegan)
    assert again.shown[0].index == 2


@pytest.mark.requirement("R313", "S25", "R320")
def test_the_same_inputs_give_the_same_actions() -> None:
    def play() -> Desk:
        desk = (
            Desk().start().says(reasoning("a"), Flush(0), message("b", 1)).stream_ends().feed(TimerElapsed())
        )
        return desk.says(message("c")).press().choose("continue").says(message("d"), done())

    assert play().log == play().log
