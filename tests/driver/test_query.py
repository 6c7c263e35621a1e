"""Whole queries with fakes at every port: order, guards, saves, concurrency, endings."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.runner import Refused
from jp_lsp.ports.provider import STREAMING_UNSUPPORTED, ModelId
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings, StreamGuards
from jp_lsp.turn.inputs import CancelRequested, Pressed
from jp_lsp.turn.outcome import Outcome, QueryResult
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.shown import NoticeGiven, RetryScheduled
from jp_lsp.turn.stream_event import Flush, ToolCallStart
from tests.support.fakes import lines
from tests.support.frontend import RecordingFrontend
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Bug, Bytes, Gate, Silence
from tests.support.turns import done, failure, message, reasoning, tool_call

pytestmark = pytest.mark.anyio

FULL = "the disk is full"


def guarded(**guards: float) -> QuerySettings:
    return QuerySettings(ModelId("test", "big"), {}, guards=StreamGuards(**guards))  # type: ignore[arg-type]


@pytest.mark.requirement(
    "R1", "R4", "R49", "R209", "R222", "R254", "R281", "S1", "R307", "R309", "R311", "R316", "R232"
)
async def test_a_query_streams_is_stored_and_the_next_one_continues_it() -> None:
    async with world(
        [reasoning("hm"), Flush(0), message("Hello", 1), done()], [message("Again"), done()]
    ) as here:
        result = await here.answer(here.ask())
        assert (result.outcome, result.conversation, result.text) == (Outcome.COMPLETED, NEW, "Hello")
        assert lines(here.store, NEW) == ["turn", "user: hi", "reasoning: hm", "message: Hello"]
        assert here.frontend.text == "hmHello"
        again = await here.answer(here.ask("more"))
        assert again.conversation == NEW
        assert lines(here.store, NEW)[-2:] == ["user: more", "message: Again"]
        assert here.provider is not None
        seen = [item.event.kind for item in here.provider.requests[1].thread.events]
        assert len(seen) == 4
        assert here.store.held == set()


@pytest.mark.requirement("R19", "R171", "R275", "R179")
async def test_the_follow_up_carries_the_tool_responses() -> None:
    async with world([*tool_call(0, "c", "t"), done()], [message("ok"), done()]) as here:
        await here.answer(here.ask())
        assert here.provider is not None
        assert len(here.provider.requests[1].thread.events) == 3


@pytest.mark.requirement("R290", "S11", "T04")
async def test_flushed_events_are_on_disk_while_the_turn_still_runs() -> None:
    gate = Gate()
    async with world([reasoning("hm"), Flush(0), gate, message("x", 1), done()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert lines(here.store, NEW) == ["turn", "user: hi"]
        await here.clock.advance(0.25)
        assert lines(here.store, NEW)[-1] == "reasoning: hm"
        gate.opened.set()
        await here.answer(runner)


async def test_many_flushes_are_few_saves() -> None:
    gate = Gate()
    events = [item for number in range(50) for item in (message("x", number), Flush(number))]
    async with world([*events, gate, done()]) as here:
        runner = here.ask()
        await here.clock.advance(0.3)
        assert here.store.save_count == 2
        gate.opened.set()
        await here.answer(runner)
        assert here.store.save_count == 3


@pytest.mark.requirement("T13", "F07", "R53")
async def test_a_silent_stream_is_given_up_told_and_retried() -> None:
    async with world(
        [message("a"), Silence()], [message("b"), done()], settings=guarded(idle_timeout=60)
    ) as here:
        runner = here.ask()
        await here.clock.advance(59)
        assert runner.phase is Phase.STREAMING
        await here.clock.advance(1.5)
        (retry,) = [item for item in here.frontend.shown if isinstance(item, RetryScheduled)]
        assert retry.cause == "Timeout"
        assert here.provider is not None
        assert here.provider.closed == 1
        await here.clock.advance(2)
        assert (await here.answer(runner)).text == "ab"


@pytest.mark.requirement("F08", "R312")
async def test_a_machine_that_slept_notices_within_three_seconds() -> None:
    async with world(
        [message("a"), Silence()], [message("b"), done()], settings=guarded(idle_timeout=60)
    ) as here:
        runner = here.ask()
        await here.clock.advance(3)
        here.clock.jump(600)
        await here.clock.advance(3)
        assert runner.phase is Phase.BACKOFF
        await here.clock.advance(1)
        assert (await here.answer(runner)).text == "ab"


@pytest.mark.requirement("F07")
@pytest.mark.parametrize("pauses", [True, False])
async def test_silence_within_arguments_is_no_timeout_for_vendors_that_do_that(pauses: bool) -> None:
    start = [ToolCallStart(0, "c", "t"), Silence()]
    async with world(start, start, settings=guarded(idle_timeout=10), pauses_in_arguments=pauses) as here:
        runner = here.ask()
        await here.clock.advance(25)
        assert (runner.phase is Phase.STREAMING) == pauses
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_silence_within_arguments_is_not_endless() -> None:
    script = [ToolCallStart(0, "c", "t"), Silence()]
    async with world(script, script, settings=guarded(idle_timeout=10), pauses_in_arguments=True) as here:
        runner = here.ask()
        await here.clock.advance(600.5)
        assert runner.phase is Phase.BACKOFF
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_an_answer_that_comes_whole_may_take_long() -> None:
    features = frozenset({STREAMING_UNSUPPORTED})
    script = [Silence()]
    async with world(script, script, settings=guarded(idle_timeout=10), features=features) as here:
        runner = here.ask()
        await here.clock.advance(599)
        assert runner.phase is Phase.WAITING
        await here.clock.advance(1.5)
        assert runner.phase is Phase.BACKOFF
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_no_idle_timeout_when_switched_off() -> None:
    async with world([message("a"), Silence()], settings=guarded(idle_timeout=0)) as here:
        runner = here.ask()
        await here.clock.advance(100_000)
        assert runner.phase is Phase.STREAMING
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_comments_keep_a_stream_alive() -> None:
    gates = [Gate() for _ in range(3)]
    script = [message("a"), *[step for gate in gates for step in (gate, Bytes())], Silence()]
    async with world(script, settings=guarded(idle_timeout=60)) as here:
        runner = here.ask()
        for gate in gates:
            await here.clock.advance(50)
            gate.opened.set()
            await wait_all_tasks_blocked()
        await here.clock.advance(50)
        assert runner.phase is Phase.STREAMING
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_the_output_ceiling_ends_the_turn_with_its_content() -> None:
    async with world(
        [message("x" * 60), message("y" * 60), message("z"), done()], settings=guarded(max_response_bytes=100)
    ) as here:
        result = await here.answer(here.ask())
        assert (result.outcome, len(result.text)) == (Outcome.FAILED, 120)
        assert result.failure is not None
        assert result.failure.failure.kind == "output_limit"


@pytest.mark.requirement("R341", "S21")
async def test_a_slow_client_holds_the_reading_and_nothing_else() -> None:
    async with world([message("a"), message("b"), Flush(0), done()]) as here:
        here.frontend.is_ready = anyio.Event()
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert here.frontend.text == ""
        runner.post(CancelRequested())
        result = await here.answer(runner)
        assert (result.outcome, result.was_cancelled) == (Outcome.STOPPED, True)


@pytest.mark.requirement("S5", "R177", "R180")
async def test_a_menu_holds_the_stream_and_continue_goes_on_with_it() -> None:
    gate = Gate()
    async with world([message("The "), gate, message("answer"), done()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert runner.press(Pressed()).handled == "menu"
        gate.opened.set()
        await wait_all_tasks_blocked()
        assert here.frontend.text == "The "
        here.frontend.choose("continue")
        assert (await here.answer(runner)).text == "The answer"
        assert here.provider is not None
        assert len(here.provider.requests) == 1


@pytest.mark.requirement("T17", "R337")
async def test_after_a_stop_nothing_of_the_old_turn_is_shown() -> None:
    gate = Gate()
    async with world([message("old"), gate, message("late"), done()], [message("new"), done()]) as here:
        first = here.ask()
        await wait_all_tasks_blocked()
        first.press(Pressed("stop"))
        second_frontend = RecordingFrontend()
        await here.answer(first)
        gate.opened.set()
        second = here.ask("next", "t2", second_frontend)
        assert (await here.answer(second)).text == "new"
        assert here.frontend.text == "old"
        assert second_frontend.text == "new"
        assert here.provider is not None
        assert here.provider.closed == 2


@pytest.mark.requirement("R337", "S23")
async def test_two_conversations_run_side_by_side() -> None:
    gate = Gate()
    async with world([message("a"), gate, done()], [message("b"), done()]) as here:
        first = here.ask("one", "t1", conversation="new")
        await wait_all_tasks_blocked()
        second = here.ask("two", "t2", RecordingFrontend(), conversation="new")
        assert (await here.answer(second)).text == "b"
        assert not first.finished.is_set()
        gate.opened.set()
        assert (await here.answer(first)).text == "a"


@pytest.mark.requirement("R338", "S23", "T18", "R279")
async def test_a_second_query_on_a_busy_conversation_is_refused_or_queued() -> None:
    gate = Gate()
    async with world([message("a"), gate, done()], [message("b"), done()]) as here:
        first = here.ask("one", "t1")
        await wait_all_tasks_blocked()
        refused = here.ask("two", "t2", RecordingFrontend(), conversation=NEW)
        await refused.finished.wait()
        assert isinstance(refused.outcome, Refused)
        assert (refused.outcome.error.code, refused.outcome.draft) == ("conversation_busy", "two")
        queued = here.ask("three", "t3", RecordingFrontend(), conversation=NEW, queue=True)
        await wait_all_tasks_blocked()
        assert not queued.finished.is_set()
        gate.opened.set()
        await here.answer(first)
        assert (await here.answer(queued)).text == "b"
        assert lines(here.store, NEW) == [
            "turn",
            "user: one",
            "message: a",
            "turn",
            "user: three",
            "message: b",
        ]


async def test_one_token_names_one_query() -> None:
    async with world([message("a"), Silence()]) as here:
        runner = here.ask()
        with pytest.raises(Refusal, match="is in use"):
            here.ask("again")
        runner.post(CancelRequested())
        await here.answer(runner)


async def test_a_press_that_overtakes_its_query_waits_for_it() -> None:
    async with world([message("a"), done()]) as here:
        assert here.host.press(Pressed("stop"), "t", None).handled == "latched"
        runner = here.ask()
        result = await here.answer(runner)
        assert result.outcome is Outcome.CANCELLED_BEFORE_START
        assert here.host.press(Pressed(), None, None).handled == "none"


@pytest.mark.requirement("R343", "R344", "R299")
async def test_refusals_come_before_anything_is_made() -> None:
    async with world() as here:
        for query in ({"overrides": ("bad",)}, {"conversation": ConversationId("jp-c99")}):
            runner = here.ask(**query)  # pyright: ignore[reportArgumentType]  # fields of Query
            await runner.finished.wait()
            assert isinstance(runner.outcome, Refused)
            assert runner.outcome.draft == "hi"
        assert here.store.save_count == 0


@pytest.mark.requirement("R56")
async def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    here = World(None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(here.host.serve)
        await wait_all_tasks_blocked()
        runner = here.ask()
        await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert runner.outcome.error.origin == "TEST_API_KEY"
        assert here.store.stored == {}
        tasks.cancel_scope.cancel()


async def test_an_empty_query_touches_nothing() -> None:
    async with world() as here:
        result = await here.answer(here.ask("  \n"))
        assert result.outcome is Outcome.EMPTY_QUERY
        assert here.store.held == set()


@pytest.mark.requirement("S22", "R344", "R278")
@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_each_save_may_fail(number: int) -> None:
    script = [*tool_call(0, "c", "t"), done()], [message("ok"), done()]
    async with world(*map(list, script)) as here:
        here.store.failing_saves = dict.fromkeys(range(number, number + 3), FULL)
        runner = here.ask()
        await here.clock.advance(1)
        with anyio.fail_after(5):
            await runner.finished.wait()
        if number == 1:
            assert isinstance(runner.outcome, Refused)
            assert runner.outcome.draft == "hi"
        elif number in {2, 3}:
            assert isinstance(runner.outcome, QueryResult)
            assert runner.outcome.outcome is Outcome.FAILED
        assert here.store.held == set()


@pytest.mark.requirement("S22")
async def test_a_last_save_that_fails_for_good_leaves_a_recovery_copy() -> None:
    async with world([message("text"), done()]) as here:
        here.store.failing_saves = dict.fromkeys(range(2, 5), FULL)
        runner = here.ask()
        await here.clock.advance(1)
        result = await here.answer(runner)
        assert not result.is_persisted
        assert result.recovery_uri is not None
        assert "text" in here.store.recovery[result.recovery_uri].events
        assert result.text == "text"


async def test_a_last_save_that_works_at_the_second_try() -> None:
    async with world([message("text"), done()]) as here:
        here.store.failing_saves = {2: FULL}
        runner = here.ask()
        await here.clock.advance(1)
        assert (await here.answer(runner)).is_persisted


@pytest.mark.requirement("D6", "R344")
async def test_abort_removes_the_new_conversation_and_keeps_the_draft() -> None:
    async with world([message("a"), Silence()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.ABORTED, "hi")
        assert here.store.stored == {}
        assert here.store.drafts == {NEW: "hi"}


@pytest.mark.requirement("S10", "R335", "R336", "R336", "R250")
@pytest.mark.parametrize("is_client_gone", [True, False])
async def test_closing_the_host_stores_every_turn(is_client_gone: bool) -> None:
    async with world([message("a"), Silence()], [message("b"), Silence()]) as here:
        first = here.ask("one", "t1", conversation="new")
        second = here.ask("two", "t2", RecordingFrontend(), conversation="new")
        await wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await here.host.close(is_client_gone=is_client_gone, turn_budget=3, budget=3, background_budget=1)
        assert first.finished.is_set()
        assert second.finished.is_set()
        assert [lines(here.store, name)[-1] for name in here.store.stored] == ["message: a", "message: b"]
        assert here.store.held == set()
        with pytest.raises(Refusal, match="is closing"):
            here.ask("three", "t3")


async def test_a_mistake_in_an_adapter_ends_its_turn_only(caplog: pytest.LogCaptureFixture) -> None:
    async with world([message("a"), Bug("oops")], [message("b"), done()]) as here:
        result = await here.answer(here.ask())
        assert (result.outcome, result.text) == (Outcome.FAILED, "a")
        assert (await here.answer(here.ask("again", "t2"))).text == "b"
    assert "a task of a query broke" in caplog.text


@pytest.mark.requirement("T23", "S9", "R314")
async def test_cancel_at_any_moment_is_answered() -> None:
    async with world(*[[message("a"), done()] for _ in range(50)]) as here:
        for steps in range(50):
            runner = here.ask(token=f"t{steps}", frontend=RecordingFrontend(), conversation="new")
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            runner.post(CancelRequested())
            result = await here.answer(runner)
            assert result.outcome in {Outcome.COMPLETED, Outcome.STOPPED, Outcome.CANCELLED_BEFORE_START}
        assert here.store.held == set()


@pytest.mark.requirement("F14")
async def test_a_cancel_during_a_long_wait_sends_nothing_more() -> None:
    async with world([failure("rate_limit", "wait", 30.0)]) as here:
        runner = here.ask()
        await here.clock.advance(0.05)
        runner.post(CancelRequested())
        assert (await here.answer(runner)).outcome is Outcome.STOPPED
        await here.clock.advance(60)
        assert here.provider is not None
        assert len(here.provider.requests) == 1


async def test_without_persistence_nothing_is_saved() -> None:
    async with world([message("a"), done()]) as here:
        result = await here.answer(here.ask(persist=False))
        assert (result.text, result.is_persisted) == ("a", False)


async def test_warnings_of_the_settings_are_shown() -> None:
    settings = QuerySettings(ModelId("test", "big"), {}, warnings=("`x` is not known",))
    async with world([message("a"), done()], settings=settings) as here:
        await here.answer(here.ask())
        assert [item.notice.text for item in here.frontend.shown if isinstance(item, NoticeGiven)] == [
            "`x` is not known"
        ]


@pytest.mark.requirement("R310", "R255", "R291")
async def test_two_hosts_do_not_influence_each_other() -> None:
    async with world([message("a"), Silence()]) as one, world([message("b"), done()]) as two:
        running = one.ask()
        assert (await two.answer(two.ask())).text == "b"
        assert two.host.running == ()
        running.post(CancelRequested())
        await one.answer(running)
