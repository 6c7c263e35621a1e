"""Tool calls from the flushed request to the one response: modes, questions, results, cancelling."""

import pytest

from jp_lsp.conversation.ids import CallId
from jp_lsp.tools import actions, responses
from jp_lsp.tools.call import CallPhase
from jp_lsp.tools.memory import MemoryLayer, ToolMemory
from jp_lsp.tools.spec import AssistantTarget, Command, QuestionPolicy
from tests.support.calls import AT, Calls, asks, failed, spec


@pytest.mark.requirement("R3", "R24", "R26", "R98", "R102", "R112", "R113", "R170")
def test_a_call_is_asked_about_at_once_and_runs_after_the_response() -> None:
    calls = Calls().call(spec())
    assert calls.open == ["Run local tool look?"]
    assert calls.of("c1").phase is CallPhase.AWAITING_RUN_MODE
    calls.choose("run")
    assert calls.runs == []
    calls.begin()
    assert [(run.call, run.pass_number, dict(run.arguments)) for run in calls.runs] == [
        ("c1", 1, {"path": "a.txt"})
    ]
    calls.returns("done")
    assert calls.responses == ["ok c1: done"]
    assert calls.metadata["c1"] == {"decision": "run"}  # type: ignore[index]
    assert calls.tools.is_done


@pytest.mark.requirement("F39", "R116")
def test_the_arguments_are_shown_before_the_question() -> None:
    calls = Calls().call(spec())
    kinds = [type(action) for action in calls.log]
    assert kinds.index(actions.ShowCall) < kinds.index(actions.AskUser)


def test_the_harmless_choice_stands_first() -> None:
    calls = Calls().call(spec())
    assert calls.asked[0].choices[0].id == "skip"
    assert len({choice.title for choice in calls.asked[0].choices}) == len(calls.asked[0].choices)


@pytest.mark.requirement("R92", "R95", "R96", "R101", "S13", "S2", "R13")
def test_calls_run_at_once_and_are_stored_as_they_complete() -> None:
    calls = Calls()
    for number in (1, 2, 3):
        calls.call(spec(run_mode="unattended"), f"c{number}")
    calls.begin()
    assert [run.call for run in calls.runs] == ["c1", "c2", "c3"]
    calls.returns("two", "c2").returns("three", "c3").returns("one", "c1")
    assert calls.responses == ["ok c2: two", "ok c3: three", "ok c1: one"]


@pytest.mark.requirement("R99", "F39", "G25")
@pytest.mark.parametrize(
    ("mode", "asked", "answer"),
    [
        ("unattended", [], []),
        ("skip", [], ["ok c1: Tool skipped by configuration."]),
        ("ask", ["Run local tool look?"], []),
        ("edit", ["Arguments of look"], []),
    ],
)
def test_run_modes(mode: str, asked: list[str], answer: list[str]) -> None:
    calls = Calls().call(spec(run_mode=mode)).begin()
    assert (calls.open, calls.responses) == (asked, answer)
    assert len(calls.runs) == (mode == "unattended")


@pytest.mark.requirement("R103", "R110", "S14", "R330")
@pytest.mark.parametrize(
    ("how", "answer"),
    [
        ("skip", "ok c1: Tool skipped by user."),
        ("dismiss", "ok c1: Tool skipped by user."),
        ("cannot ask", "error c1: The user's approval could not be obtained. The tool did not run."),
    ],
)
def test_what_is_not_approved_never_runs(how: str, answer: str) -> None:
    calls = Calls().call(spec())
    match how:
        case "dismiss":
            calls.dismiss()
        case "cannot ask":
            calls.cannot_ask()
        case _:
            calls.choose("skip")
    calls.begin()
    assert (calls.responses, calls.runs) == ([answer], [])


@pytest.mark.requirement("T16")
def test_a_skip_may_have_a_reason() -> None:
    calls = Calls().call(spec()).choose("skip_with_reason").choose(text="use grep instead")
    assert calls.responses == ["ok c1: Tool skipped by user: use grep instead"]
    assert Calls().call(spec()).choose("skip_with_reason").dismiss().responses == [
        "ok c1: Tool skipped by user."
    ]


@pytest.mark.requirement("R104")
def test_edited_arguments_run_and_are_recorded_beside_the_original() -> None:
    calls = Calls().call(spec()).choose("edit")
    assert calls.asked[-1].value == '{\n  "path": "a.txt"\n}'
    calls.choose(text='{"path": "b.txt"}').begin()
    assert dict(calls.runs[0].arguments) == {"path": "b.txt"}
    assert calls.metadata[CallId("c1")] == {"decision": "run", "edited_arguments": {"path": "b.txt"}}
    calls.returns("done")
    assert calls.responses == ["ok c1: done\n\n(The user changed the arguments of this call before it ran.)"]


@pytest.mark.parametrize("text", ["{", "[1]", '{"nonsense": 1}', '{"count": "many"}'])
def test_edited_arguments_that_do_not_fit_are_asked_for_again_with_the_text(text: str) -> None:
    calls = Calls().call(spec()).choose("edit").choose(text=text)
    assert calls.asked[-1].kind == "edit"
    assert calls.asked[-1].value == text
    assert calls.asked[-1].message != "Arguments of look"


def test_blank_arguments_lead_back_and_a_closed_editor_skips() -> None:
    assert Calls().call(spec()).choose("edit").choose(text=" ").open == ["Run local tool look?"]
    assert Calls().call(spec()).choose("edit").dismiss().responses == [
        "ok c1: Tool skipped by user: edit cancelled"
    ]


@pytest.mark.parametrize(
    ("mode", "answers", "wanted"),
    [
        ("unattended", [], [False]),
        ("ask", [(0, "run"), (1, "run")], [True, True]),
        ("ask", [(0, "run_remember"), (2, "turn")], [True, True]),
    ],
)
def test_a_tool_learns_whether_the_user_let_it_run(
    mode: str, answers: list[tuple[int, str]], wanted: list[bool]
) -> None:
    calls = Calls()
    for number in range(len(wanted)):
        calls.call(spec(run_mode=mode), f"c{number}")
    calls.begin()
    for asked, answer in answers:
        calls.choose(answer, asked=asked)
    assert [run.is_allowed for run in calls.runs] == wanted


@pytest.mark.requirement("R107")
def test_raw_arguments_are_shown_and_the_question_put_again() -> None:
    calls = Calls().call(spec()).choose("print_args")
    assert actions.ShowRawArguments(CallId("c1"), {"path": "a.txt"}) in calls.log
    assert calls.open == ["Run local tool look?"]


@pytest.mark.requirement("R105", "R292", "G53")
@pytest.mark.parametrize(("choice", "runs"), [("run_remember", 2), ("skip_remember", 0)])
def test_a_decision_may_hold_for_the_turn_and_for_calls_that_wait(choice: str, runs: int) -> None:
    calls = Calls().call(spec(), "c1").call(spec(), "c2").begin()
    calls.choose(choice, asked=0).choose("turn")
    assert len(calls.runs) == runs
    assert calls.open == []
    later = Calls(memory=calls.memory).call(spec(), "c3").begin()
    assert later.open == []
    if choice == "skip_remember":
        assert later.responses == ["ok c3: Tool skipped by user (remembered)."]


@pytest.mark.requirement("R293")
def test_a_decision_for_the_conversation_is_kept() -> None:
    calls = Calls().call(spec()).choose("run_remember").choose("conversation")
    assert [action.scope for action in calls.log if isinstance(action, actions.Remember)] == ["conversation"]
    layer = MemoryLayer(permissions={"look": "run"})
    assert Calls(memory=ToolMemory(conversation=layer)).call(spec()).open == []


@pytest.mark.requirement("R105")
def test_the_run_mode_may_be_changed_for_all_waiting_calls() -> None:
    calls = Calls().call(spec(), "c1").call(spec(), "c2").begin()
    calls.choose("change_run_mode", asked=0).choose("unattended").choose("turn")
    assert [run.call for run in calls.runs] == ["c1", "c2"]


@pytest.mark.requirement("R106")
def test_the_result_mode_may_be_changed() -> None:
    calls = Calls().call(spec()).choose("change_result_mode").choose("ask").choose("turn")
    assert calls.open == ["Run local tool look?"]
    calls.choose("run").begin().returns("secret")
    assert calls.open == ["Deliver the result of look (6 bytes)?"]


def test_configuration_that_turns_to_skip_counts_more_than_memory() -> None:
    memory = ToolMemory(conversation=MemoryLayer(permissions={"look": "run"}))
    assert Calls(memory=memory).call(spec(run_mode="skip")).begin().runs == []


@pytest.mark.requirement("T09", "R16", "G51", "G54")
def test_calls_that_cannot_run_are_answered_at_once() -> None:
    assert Calls().call(None).responses == [f"error c1: {responses.unavailable('gone')}"]
    broken = Calls().call(spec(), arguments_error="not valid JSON: x")
    assert broken.responses == [f"error c1: {responses.bad_json('not valid JSON: x')}"]
    unknown = Calls().call(spec(), arguments={"nonsense": 1})
    assert unknown.responses[0].startswith("error c1: Invalid arguments: ")
    assert unknown.asked == []


@pytest.mark.requirement("F20")
def test_arguments_are_coerced_before_they_are_shown() -> None:
    calls = Calls().call(spec(), arguments={"count": "3", "path": "007"})
    shown = next(action for action in calls.log if isinstance(action, actions.ShowCall))
    assert dict(shown.arguments) == {"count": 3, "path": "007"}


@pytest.mark.requirement("F39", "R99", "G59")
def test_a_formatter_waits_for_the_approval_unless_it_may_run_before() -> None:
    formatter = Command("fmt")
    calls = Calls().call(spec(formatter=formatter)).choose("run").begin()
    assert [type(action) for action in calls.log if not isinstance(action, actions.AmendCall)] == [
        actions.AskUser,
        actions.CloseQuestion,
        actions.FormatArguments,
    ]
    calls.do(calls.tools.formatted(CallId("c1"), "pretty", AT))
    assert len(calls.runs) == 1
    early = Calls().call(spec(formatter=formatter, formats_unasked=True))
    assert early.asked == []
    early.do(early.tools.formatted(CallId("c1"), "pretty", AT))
    assert early.open == ["Run local tool look?"]


@pytest.mark.requirement("F39")
def test_a_formatter_that_fails_keeps_the_tool_from_running() -> None:
    calls = Calls().call(spec(formatter=Command("fmt"), run_mode="unattended")).begin()
    calls.do(calls.tools.format_failed(CallId("c1"), "exit 1", AT))
    assert calls.runs == []
    assert calls.responses[0].startswith(
        "error c1: Tool 'look' was not executed because the argument formatter"
    )


# Questions of a tool.


@pytest.mark.requirement("R108", "R115")
def test_a_tool_may_ask_and_is_run_again_with_all_answers() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin()
    calls.returns(asks("a")).choose("yes")
    calls.returns(asks("b", "select", options=("x", "y"))).choose("y")
    calls.returns(asks("c", "text")).choose(text="hello")
    assert [dict(run.answers) for run in calls.runs] == [
        {},
        {"a": True},
        {"a": True, "b": "y"},
        {"a": True, "b": "y", "c": "hello"},
    ]
    assert calls.inquiries == [
        "asked c1.a.1",
        "answered c1.a.1: True",
        "asked c1.b.1",
        "answered c1.b.1: 'y'",
        "asked c1.c.1",
        "answered c1.c.1: 'hello'",
    ]
    calls.returns("done")
    assert calls.responses == ["ok c1: done"]


def test_a_closed_question_ends_the_call_without_running_again() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin().returns(asks()).dismiss()
    assert calls.responses == ["ok c1: Tool input cancelled by user."]
    assert calls.inquiries[-1] == "cancelled c1.sure.1: user"
    assert len(calls.runs) == 1


def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin().returns(asks("a", "select", options=("x",)))
    calls.choose("nonsense")
    assert "that is not one of the answers" in calls.open[0]


@pytest.mark.requirement("R292")
def test_an_answer_may_be_remembered_for_the_turn() -> None:
    calls = (
        Calls()
        .call(spec(run_mode="unattended"))
        .begin()
        .returns(asks())
        .choose("yes:remember")
        .choose("turn")
    )
    again = Calls(memory=calls.memory).call(spec(run_mode="unattended"), "c9").begin().returns(asks(), "c9")
    assert again.asked == []
    assert again.inquiries == ["asked c9.sure.1", "answered c9.sure.1: True"]


@pytest.mark.requirement("G60")
def test_a_configured_answer_is_recorded_when_asked_and_must_fit() -> None:
    good = spec(run_mode="unattended", questions={"sure": QuestionPolicy(has_answer=True, answer=True)})
    assert Calls().call(good).begin().returns(asks()).inquiries[-1] == "answered c1.sure.1: True"
    bad = spec(run_mode="unattended", questions={"sure": QuestionPolicy(has_answer=True, answer="yes")})
    calls = Calls().call(bad).begin().returns(asks())
    assert calls.inquiries[-1] == "cancelled c1.sure.1: invalid_static_answer"
    assert "conversation.tools.look.questions.sure.answer" in calls.responses[0]


def test_secrets_are_redacted_and_never_remembered() -> None:
    calls = (
        Calls()
        .call(spec(run_mode="unattended"))
        .begin()
        .returns(asks("key", "secret"))
        .choose(text="hunter2")
    )
    assert calls.inquiries == ["asked c1.key.1", "redacted c1.key.1"]
    assert calls.memory.answer("look", "key") is None
    assert "hunter2" not in str(calls.events)


def test_a_model_may_answer_but_not_what_is_for_the_user_alone() -> None:
    target = {"sure": QuestionPolicy(AssistantTarget())}
    calls = Calls().call(spec(run_mode="unattended", questions=target)).begin().returns(asks())
    assert calls.of("c1").phase is CallPhase.AWAITING_INQUIRY
    assert calls.open == []
    calls.do(calls.tools.inquiry_answered(CallId("c1"), 1, True, AT))
    assert dict(calls.runs[-1].answers) == {"sure": True}
    exclusive = Calls().call(spec(run_mode="unattended", questions=target)).begin()
    exclusive.returns(asks(is_exclusive=True))
    assert exclusive.inquiries[-1] == "cancelled c1.sure.1: assistant_routing_denied"


def test_a_model_that_fails_is_told_to_the_model_that_asked() -> None:
    target = {"sure": QuestionPolicy(AssistantTarget())}
    calls = Calls().call(spec(run_mode="unattended", questions=target)).begin().returns(asks())
    calls.do(calls.tools.inquiry_failed(CallId("c1"), 1, "no network", AT))
    assert "secondary assistant, which failed: no network" in calls.responses[0]


@pytest.mark.requirement("G27")
def test_a_tool_that_asks_for_ever_is_given_up() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin()
    for _ in range(50):
        calls.returns(asks()).choose("yes")
    assert calls.responses == [f"error c1: {responses.TOO_MANY_PASSES}"]
    assert len(calls.runs) == 50


def test_a_select_without_options_is_an_error() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin().returns(asks("a", "select"))
    assert calls.responses[0].startswith("error c1")


# Nobody to ask.


@pytest.mark.requirement("R317", "S14", "D14", "G25")
@pytest.mark.parametrize(
    ("policy", "runs", "answer"),
    [
        ("deny", 0, [f"error c1: {responses.NEEDS_APPROVAL}"]),
        ("auto", 1, []),
        ("defaults", 0, [f"error c1: {responses.NEEDS_APPROVAL}"]),
    ],
)
def test_without_a_client_ask_means_no(policy: str, runs: int, answer: list[str]) -> None:
    calls = Calls(can_prompt=False).call(spec(detached_run=policy)).begin()
    assert (len(calls.runs), calls.responses) == (runs, answer)


def test_without_a_client_a_turn_may_be_deferred() -> None:
    calls = Calls(can_prompt=False).call(spec(detached_run="defer"))
    assert calls.tools.is_deferred
    assert not calls.call(spec(run_mode="unattended"), "c2").begin().tools.is_deferred
    assert calls.returns("done", "c2").tools.is_deferred


@pytest.mark.parametrize(
    ("policy", "inquiry"),
    [("deny", "cancelled c1.sure.1: no_prompt_backend"), ("defaults", "answered c1.sure.1: True")],
)
def test_without_a_client_questions_follow_the_policy(policy: str, inquiry: str) -> None:
    calls = Calls(can_prompt=False).call(spec(run_mode="unattended", detached_tool=policy)).begin()
    assert calls.returns(asks(default=True)).inquiries[-1] == inquiry


# Results.


@pytest.mark.requirement("R100", "R109", "R111")
@pytest.mark.parametrize(
    ("mode", "steps", "answer"),
    [
        ("unattended", [], "ok c1: text"),
        ("skip", [], "ok c1: Result delivery skipped by configuration."),
        ("ask", ["deliver"], "ok c1: text"),
        ("ask", ["withhold"], "ok c1: Result delivery skipped by user."),
        ("ask", [None], "ok c1: Result delivery skipped by user."),
        ("ask", ["edit", "text:other"], "ok c1: other"),
        ("edit", ["text:other"], "ok c1: other"),
        ("edit", ["text: "], "ok c1: text"),
        ("edit", [None], "ok c1: text"),
    ],
)
def test_result_modes(mode: str, steps: list[str | None], answer: str) -> None:
    calls = Calls().call(spec(run_mode="unattended", result_mode=mode)).begin().returns("text")
    for step in steps:
        if step is None:
            calls.dismiss()
        elif step.startswith("text:"):
            calls.choose(text=step.removeprefix("text:"))
        else:
            calls.choose(step)
    assert calls.responses == [answer]


@pytest.mark.requirement("G26")
def test_an_edited_error_is_a_good_result() -> None:
    calls = Calls().call(spec(run_mode="unattended", result_mode="edit")).begin().returns(failed("bad"))
    assert calls.asked[-1].value == "bad"
    calls.choose(text="fine")
    assert calls.responses == ["ok c1: fine"]
    assert dict(calls.events[-1].metadata) == {"result_decision": "edit", "result_edited": True}


@pytest.mark.requirement("T05")
def test_a_huge_result_is_cut_for_the_model() -> None:
    calls = Calls().call(spec(run_mode="unattended", size_threshold=100)).begin().returns("x" * 10_000)
    assert len(calls.responses[0]) < 300


@pytest.mark.requirement("T10")
def test_an_empty_result_is_a_result() -> None:
    assert Calls().call(spec(run_mode="unattended")).begin().returns("").responses == ["ok c1: "]


@pytest.mark.requirement("R204")
def test_a_crash_of_ours_is_an_error_for_the_model() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin()
    calls.do(calls.tools.pass_crashed(CallId("c1"), 1, "KeyError: 'x'", AT))
    assert calls.responses == ["error c1: Tool 'look' could not be run: KeyError: 'x'"]


# Stopping.


@pytest.mark.requirement("R97", "R143", "R145", "R175", "S12")
def test_cancelling_answers_everything_and_ends_what_runs() -> None:
    calls = Calls()
    calls.call(spec(run_mode="unattended"), "c1").call(spec(), "c2").call(
        spec(run_mode="unattended"), "c3"
    ).begin()
    calls.returns("done", "c3")
    calls.do(calls.tools.cancel(AT))
    assert actions.CancelPass(CallId("c1")) in calls.log
    assert [line.split(":")[0] for line in calls.responses] == ["ok c3", "ok c1", "ok c2"]
    assert calls.open == []
    assert calls.tools.is_done
    calls.returns("late", "c1")
    assert len(calls.responses) == 3


@pytest.mark.requirement("R142", "R176", "S8")
def test_cancelling_with_words_tells_the_model() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin()
    calls.do(calls.tools.cancel(AT, text="wrong file"))
    assert calls.responses == ["ok c1: Tool run cancelled by user with a custom message:\n\nwrong file"]


def test_a_result_that_waits_for_delivery_is_not_called_cancelled() -> None:
    calls = Calls().call(spec(run_mode="unattended", result_mode="ask")).begin().returns("text")
    calls.do(calls.tools.cancel(AT))
    assert calls.responses == [f"ok c1: {responses.DELIVERY_CANCELLED}"]


def test_a_tool_that_asks_after_it_was_cancelled_is_not_heard() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin()
    calls.do(calls.tools.cancel(AT))
    calls.returns(asks())
    assert calls.asked == []


def test_an_open_question_of_a_tool_is_recorded_as_cancelled() -> None:
    calls = Calls().call(spec(run_mode="unattended")).begin().returns(asks())
    calls.do(calls.tools.cancel(AT))
    assert calls.inquiries[-1] == "cancelled c1.sure.1: user"


@pytest.mark.requirement("R144", "S8")
def test_restart_runs_unfinished_calls_again_once_they_have_ended() -> None:
    calls = Calls().call(spec(run_mode="unattended"), "c1").call(spec(run_mode="unattended"), "c2").begin()
    calls.returns("done", "c2")
    calls.do(calls.tools.restart(AT)).do(calls.tools.restart(AT))
    assert len(calls.runs) == 2
    calls.returns("late", "c1")
    calls.do(calls.tools.pass_cancelled(CallId("c1"), AT))
    assert [(run.call, run.pass_number) for run in calls.runs] == [("c1", 1), ("c2", 1), ("c1", 2)]
    calls.returns("again", "c1")
    assert calls.responses == ["ok c2: done", "ok c1: again"]


def test_the_end_of_the_turn_answers_what_never_ran() -> None:
    calls = Calls().call(spec(), "c1").call(spec(run_mode="unattended"), "c2")
    calls.do(calls.tools.end_unstarted(AT)).begin()
    assert calls.responses == [f"error c1: {responses.NOT_RUN}", f"error c2: {responses.NOT_RUN}"]
    assert calls.runs == []


def test_a_cycle_that_is_taken_back_closes_its_questions_without_a_word() -> None:
    calls = Calls().call(spec())
    calls.do(calls.tools.discard())
    assert (calls.open, calls.responses) == ([], [])
    calls.choose("run").begin()
    assert calls.runs == []


@pytest.mark.requirement("R218")
def test_an_approval_under_an_open_menu_acts_after_it() -> None:
    calls = Calls().call(spec()).begin()
    calls.tools.hold()
    calls.choose("run")
    assert calls.runs == []
    calls.begin()
    assert len(calls.runs) == 1


def test_a_tool_that_runs_alone_waits_for_the_others() -> None:
    calls = Calls()
    calls.call(spec(run_mode="unattended"), "c1").call(
        spec(run_mode="unattended", runs_alone=True), "c2"
    ).begin()
    assert [run.call for run in calls.runs] == ["c1"]
    calls.call(spec(run_mode="unattended"), "c3").returns("x", "c1").returns("y", "c3")
    assert [run.call for run in calls.runs] == ["c1", "c3", "c2"]
