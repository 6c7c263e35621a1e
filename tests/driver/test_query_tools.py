"""Whole queries with tools: consent, parallel passes, questions, interrupts, memory."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.ports.toolset import Reply, ToolRun
from jp_lsp.tools.outcome import Succeeded, ToolOutcome, ToolQuestion
from jp_lsp.tools.responses import NOT_RUN
from jp_lsp.tools.spec import Command, ToolSpec
from jp_lsp.turn.inputs import Answered, CancelRequested, Dismissed, Pressed
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.phase import Phase
from tests.support.fake_toolbox import asks, spec
from tests.support.fakes import lines
from tests.support.frontend import RecordingFrontend
from tests.support.query_world import NEW, world
from tests.support.scripted_provider import Silence
from tests.support.turns import done, message, tool_call

pytestmark = pytest.mark.anyio

FREE = {"run_mode": "unattended"}


def with_tools(*tools: ToolSpec) -> QuerySettings:
    return QuerySettings(ModelId("test", "big"), {}, tools=tools)


CALLS = [*tool_call(0, "a", "one"), *tool_call(1, "b", "two"), done()]
END = [message("ok"), done()]


@pytest.mark.requirement("R13", "R93", "R152", "S2", "T10")
async def test_calls_run_together_and_are_answered_in_their_order() -> None:
    settings = with_tools(spec("one", **FREE), spec("two", **FREE))
    async with world(CALLS, END, settings=settings) as here:
        first = anyio.Event()

        async def one(run: ToolRun) -> ToolOutcome:
            await first.wait()
            return Succeeded("late")

        async def two(run: ToolRun) -> ToolOutcome:
            return Succeeded("early")

        here.toolbox.work = {"one": one, "two": two}
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert here.toolbox.most == 2
        assert lines(here.store, NEW)[-1] == "result b: early"
        first.set()
        assert (await here.answer(runner)).outcome is Outcome.COMPLETED
        assert here.provider is not None
        told = [item.event.kind for item in here.provider.requests[1].thread.events]
        assert [getattr(kind, "content", None) for kind in told[-2:]] == ["late", "early"]
        assert [tool.name for tool in here.provider.requests[0].tools] == ["one", "two"]


@pytest.mark.requirement("R94", "R276", "G52")
async def test_nothing_runs_before_it_is_allowed() -> None:
    async with world(CALLS, END, settings=with_tools(spec("one"), spec("two"))) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert here.toolbox.runs == []
        (first, allow), (second, dismiss) = here.frontend.asked
        assert (first.call_id, second.call_id) == ("a", "b")
        assert first.choices[0].id == "skip"
        allow(Answered(first.id, "run"))
        await wait_all_tasks_blocked()
        assert [run.call for run in here.toolbox.runs] == ["a"]
        dismiss(Dismissed(second.id))
        await here.answer(runner)
        assert [run.call for run in here.toolbox.runs] == ["a"]
        assert lines(here.store, NEW)[4:6] == ["result a: one {}", "result b: Tool skipped by user."]


@pytest.mark.requirement("R101", "R175")
async def test_a_call_that_waits_behind_an_open_text_is_answered_when_the_user_stops() -> None:
    """Some vendors close the text only at the end of the response, behind the calls."""
    script = [message("I look.", 1), *tool_call(2, "a", "one"), Silence()]
    async with world(script, settings=with_tools(spec("one", **FREE))) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.post(CancelRequested())
        assert (await here.answer(runner)).outcome is Outcome.STOPPED
        assert here.toolbox.runs == []
        assert lines(here.store, NEW)[-3:] == ["message: I look.", "call a: one({})", f"error a: {NOT_RUN}"]


@pytest.mark.requirement("G25")
async def test_nobody_to_ask_is_a_no() -> None:
    async with world(CALLS, END, settings=with_tools(spec("one"), spec("two"))) as here:
        await here.answer(here.ask(frontend=RecordingFrontend(can_prompt=False)))
        assert here.toolbox.runs == []


@pytest.mark.requirement("R151")
async def test_a_question_of_a_tool_is_answered_and_it_is_run_again() -> None:
    question = ToolQuestion("colour", "Which colour?", "select", options=("red", "blue"))
    call = [*tool_call(0, "a", "paint"), done()]
    async with world(call, END, settings=with_tools(spec("paint", **FREE))) as here:
        here.toolbox.work = {"paint": asks(question, lambda answer: f"painted {answer}")}
        runner = here.ask()
        await wait_all_tasks_blocked()
        here.frontend.choose("blue")
        await here.answer(runner)
        assert [dict(run.answers) for run in here.toolbox.runs] == [{}, {"colour": "blue"}]
        assert "result a: painted blue" in lines(here.store, NEW)


async def test_a_question_while_a_tool_runs_is_answered_without_a_second_pass() -> None:
    question = ToolQuestion("sure", "Sure?", "boolean")
    call = [*tool_call(0, "a", "one"), done()]
    async with world(call, END, settings=with_tools(spec("one", **FREE))) as here:

        async def one(run: ToolRun) -> ToolOutcome:
            assert here.toolbox.questions is not None
            reply = await here.toolbox.questions.ask(run, question)
            return Succeeded(f"{reply.value}" if isinstance(reply, Reply) else reply)

        here.toolbox.work = {"one": one}
        runner = here.ask()
        await wait_all_tasks_blocked()
        here.frontend.choose(text="perhaps")
        await wait_all_tasks_blocked()
        here.frontend.choose("yes")
        await here.answer(runner)
        assert len(here.toolbox.runs) == 1
        assert "result a: True" in lines(here.store, NEW)
        closed = [(decision.id, "answered") for decision, _ in here.frontend.asked]
        assert here.frontend.withdrawn == closed, "an open question is in the way of the next one"


async def _forever(run: ToolRun) -> ToolOutcome:
    await anyio.sleep_forever()
    raise AssertionError("it never ends by itself")


@pytest.mark.requirement("R133", "R141", "R161", "S8")
async def test_a_press_opens_the_tool_menu_and_stop_ends_what_runs() -> None:
    settings = with_tools(spec("one", **FREE), spec("two", **FREE))
    async with world(CALLS, END, settings=settings) as here:
        here.toolbox.work = {"one": _forever}
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.press(Pressed())
        await wait_all_tasks_blocked()
        assert runner.phase is Phase.INTERRUPTED_TOOLS
        (menu, _) = here.frontend.asked[-1]
        assert menu.choices[0].id == "continue"
        here.frontend.choose("stop")
        result = await here.answer(runner)
        assert here.toolbox.cancelled == ["a"]
        stored = lines(here.store, NEW)
        assert "result b: two {}" in stored
        assert sum(line.split(": ")[0] in {"result a", "error a"} for line in stored) == 1
        assert result.outcome in {Outcome.STOPPED, Outcome.COMPLETED}


@pytest.mark.requirement("R287", "S12")
async def test_a_cancelled_query_ends_its_tools_and_answers_their_calls() -> None:
    settings = with_tools(spec("one", **FREE), spec("two", **FREE))
    async with world(CALLS, settings=settings) as here:
        here.toolbox.work = {"one": _forever, "two": _forever}
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.post(CancelRequested())
        await here.answer(runner)
        assert sorted(here.toolbox.cancelled) == ["a", "b"]
        answered = [line.split(": ")[0].split()[-1] for line in lines(here.store, NEW)[4:]]
        assert sorted(answered) == ["a", "b"]
        assert here.toolbox.running == 0


@pytest.mark.requirement("R292")
async def test_what_is_remembered_for_the_conversation_holds_in_the_next_query() -> None:
    again = [*tool_call(0, "z", "one"), done()]
    async with world(
        [*tool_call(0, "a", "one"), done()], END, again, END, settings=with_tools(spec("one"))
    ) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        here.frontend.choose("run_remember")
        await wait_all_tasks_blocked()
        here.frontend.choose("conversation")
        await here.answer(runner)
        asked = len(here.frontend.asked)
        assert here.store.decisions[NEW] == {"version": 1, "permissions": {"one": "run"}, "answers": {}}
        await here.answer(here.ask("again"))
        assert [run.call for run in here.toolbox.runs] == ["a", "z"]
        assert len(here.frontend.asked) == asked


@pytest.mark.requirement("F39")
async def test_a_formatter_that_fails_keeps_the_tool_from_running() -> None:
    tool = spec("one", run_mode="unattended", formatter=Command("show"))
    async with world([*tool_call(0, "a", "one"), done()], END, settings=with_tools(tool)) as here:
        await here.answer(here.ask())
        assert here.toolbox.runs == []
        assert "exit code 1" in lines(here.store, NEW)[3]


@pytest.mark.requirement("R250")
async def test_the_end_of_the_server_ends_tools(caplog: pytest.LogCaptureFixture) -> None:
    async with world([*tool_call(0, "a", "one"), done()], settings=with_tools(spec("one", **FREE))) as here:
        here.toolbox.work = {"one": _forever}
        here.ask()
        await wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await here.host.close(is_client_gone=True, turn_budget=3.0, budget=3.0, background_budget=1.0)
        assert here.toolbox.cancelled == ["a"]
        assert here.store.held == set()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_tool_that_breaks_in_our_hands_costs_one_error(caplog: pytest.LogCaptureFixture) -> None:
    settings = with_tools(spec("one", **FREE), spec("two", **FREE))
    async with world(CALLS, END, settings=settings) as here:

        async def broken(run: ToolRun) -> ToolOutcome:
            raise ZeroDivisionError("oh")

        here.toolbox.work = {"one": broken}
        result = await here.answer(here.ask())
        assert result.outcome is Outcome.COMPLETED
        stored = lines(here.store, NEW)
        assert any(line.startswith("error a: ") and "oh" in line for line in stored)
        assert "result b: two {}" in stored
        assert "a tool broke in our hands" in caplog.text
