"""Titles beside the query that wants them, and what clients are told of conversations (query pipeline 7.1, 7.5)."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.ports.provider import CachePolicy, Effort, ModelId, ModelParameters
from jp_lsp.ports.settings import QuerySettings, TitleSettings
from jp_lsp.turn.inputs import Pressed
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.stream_event import Flush
from tests.support.fakes import lines
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Bug, Gate, ScriptedProvider, Silence
from tests.support.turns import done, failure, message, structured, tool_call

pytestmark = pytest.mark.anyio

BIG, SMALL = ModelId("test", "big"), ModelId("test", "small")
PARAMETERS = ModelParameters(reasoning=Effort("low", exclude=True), cache=CachePolicy(0))
ANSWER = [message("ok"), done()]
TITLE = [structured('{"titles": ["Greetings"]}'), Flush(0), done()]


def titled(
    titles: ScriptedProvider | None, *answers: Sequence[object], from_heading: bool = True
) -> AbstractAsyncContextManager[World]:
    """A host whose user wants titles of the small model."""
    settings = QuerySettings(BIG, {}, title=TitleSettings(from_heading, SMALL, PARAMETERS))
    return world(*(answers or [ANSWER]), settings=settings, others={"small": titles})


async def settled(here: World) -> None:
    """Wait until nothing is done beside the queries."""
    await here.clock.advance(2)
    await here.host.background.drain(5)


@pytest.mark.requirement("F24", "R242", "R229", "R241", "R314")
async def test_the_title_of_the_named_model_comes_behind_the_answer() -> None:
    gate = Gate()
    titles = ScriptedProvider([gate, *TITLE])
    async with titled(titles) as here:
        await here.answer(here.ask("hello there"))
        assert here.store.stored[NEW].title is None, "the answer did not wait"
        assert here.host.background.names == (f"the title of {NEW}",)
        gate.opened.set()
        await settled(here)
        assert here.store.stored[NEW].title == "Greetings"
        assert lines(here.store, NEW) == ["turn", "user: hello there", "message: ok"]
        assert here.store.held == set()
        assert here.news.told == [("created", None), ("updated", None), ("updated", "Greetings")]
    (request,) = titles.requests
    assert (request.model.id, request.parameters, request.tools) == (SMALL, PARAMETERS, ())
    assert request.thread.schema is not None
    (section,) = request.thread.system_parts
    assert "50 characters" in section
    asked = [event.event.kind for event in request.thread.events]
    assert [kind.content for kind in asked if isinstance(kind, ChatRequest)] == [
        "hello there",
        "Generate a title for this conversation.",
    ]


@pytest.mark.requirement("F24")
@pytest.mark.parametrize("query", [{"persist": False}, {"title": "Mine"}, {"title": ""}])
async def test_no_title_is_made_that_nobody_wants(query: dict[str, Any]) -> None:
    titles = ScriptedProvider(TITLE)
    async with titled(titles) as here:
        await here.answer(here.ask(**query))
        await settled(here)
        stored = here.store.stored.get(NEW)
        assert (stored and stored.title) == (query.get("title") or None)
        assert titles.requests == []
        assert here.news.notices == []
        assert bool(here.news.changes) == query.get("persist", True)


@pytest.mark.requirement("R242")
async def test_a_heading_is_the_title_at_once_and_no_model_is_asked() -> None:
    titles = ScriptedProvider(TITLE)
    async with titled(titles) as here:
        await here.answer(here.ask("---\ntags: x\n---\n## The *plan*\n\nGo on."))
        assert here.news.told == [("created", "The plan"), ("updated", "The plan")]
    assert titles.requests == []


async def test_a_heading_is_only_a_heading_where_the_user_wants_that() -> None:
    titles = ScriptedProvider(TITLE)
    async with titled(titles, from_heading=False) as here:
        await here.answer(here.ask("# The plan"))
        await settled(here)
        assert here.store.stored[NEW].title == "Greetings"


async def test_a_conversation_that_has_a_title_keeps_it() -> None:
    titles = ScriptedProvider()
    async with titled(titles, ANSWER, ANSWER) as here:
        await here.answer(here.ask(title="Mine"))
        await here.answer(here.ask("# Other", "again"))
        assert here.store.stored[NEW].title == "Mine"
    assert titles.requests == []


@pytest.mark.requirement("R242")
async def test_a_title_is_stored_and_told_while_the_turn_still_runs() -> None:
    gate = Gate()
    async with titled(ScriptedProvider(TITLE), [message("o"), gate, message("k"), done()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert here.store.stored[NEW].title == "Greetings"
        assert here.news.told[-1] == ("updated", "Greetings")
        gate.opened.set()
        assert (await here.answer(runner)).text == "ok"
        assert here.store.stored[NEW].title == "Greetings"


async def test_the_title_of_the_user_wins() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE]), ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        await here.answer(here.ask("more", "again", title="Mine"))
        gate.opened.set()
        await settled(here)
        assert here.store.stored[NEW].title == "Mine"


@pytest.mark.requirement("F24")
@pytest.mark.parametrize(
    ("titles", "reason"),
    [
        (None, "set TEST_API_KEY"),
        (ScriptedProvider([failure("auth", "the key is wrong")]), "the key is wrong"),
        (
            ScriptedProvider(*[[structured('{"titles": []}'), Flush(0), done()]] * 3),
            "it gave no answer in the form",
        ),
        (ScriptedProvider(*[[message("I cannot"), done()]] * 3), "the answer is not valid JSON"),
        (ScriptedProvider([structured('{"titles": [" "]}'), Flush(0), done()]), "it gave none"),
    ],
)
async def test_what_fails_is_told_once_and_writes_nothing(
    titles: ScriptedProvider | None, reason: str
) -> None:
    async with titled(titles, ANSWER, ANSWER) as here:
        assert (await here.answer(here.ask())).notices == ()
        await settled(here)
        (notice,) = here.news.notices
        assert (notice.level, notice.code) == ("warning", "title")
        assert notice.text.startswith("test/small made no title for this conversation: ")
        assert reason in notice.text
        assert here.store.stored[NEW].title is None
        if titles is not None:
            titles.will_play([failure("auth")])
        await here.answer(here.ask("more", "again"))
        await wait_all_tasks_blocked()
        assert len(here.news.notices) == 1, "the second time it is only logged"


async def test_a_later_query_tries_again() -> None:
    titles = ScriptedProvider([failure("auth")], TITLE)
    async with titled(titles, ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        await wait_all_tasks_blocked()
        await here.answer(here.ask("more", "again"))
        await settled(here)
        assert here.store.stored[NEW].title == "Greetings"
        assert len(titles.requests[1].thread.events) == 4


async def test_a_title_that_is_under_way_is_not_asked_for_twice() -> None:
    gate = Gate()
    titles = ScriptedProvider([gate, *TITLE])
    async with titled(titles, ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        await here.answer(here.ask("more", "again"))
        gate.opened.set()
        await settled(here)
        assert here.store.stored[NEW].title == "Greetings"
    assert len(titles.requests) == 1


@pytest.mark.requirement("R242")
async def test_a_failed_title_request_is_repeated_within_its_own_budget() -> None:
    passing = failure("transient")
    titles = ScriptedProvider([passing], [passing], [passing], TITLE)
    async with titled(titles) as here:
        await here.answer(here.ask())
        await here.clock.advance(1 + 2 + 4 + 1)
        assert here.store.stored[NEW].title == "Greetings"
        assert here.news.notices == []


async def test_a_silent_title_request_is_given_up() -> None:
    titles = ScriptedProvider(*([Silence()] for _ in range(4)))
    async with titled(titles) as here:
        await here.answer(here.ask())
        await here.clock.advance(4 * 65 + 7)
        assert titles.closed == 4
        assert len(here.news.notices) == 1


@pytest.mark.requirement("S8")
async def test_an_aborted_first_cycle_takes_title_and_conversation_with_it() -> None:
    titles = ScriptedProvider([Silence()])
    async with titled(titles, [message("o"), Silence()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert len(titles.requests) == 1
        runner.press(Pressed("abort"))
        assert (await here.answer(runner)).outcome is Outcome.ABORTED
        await wait_all_tasks_blocked()
        assert here.host.background.names == ()
        assert titles.closed == 1
        assert here.store.stored == {}
        assert here.news.told == [("created", None), ("removed", None)]


async def test_an_aborted_first_cycle_of_an_old_conversation_cancels_the_title_only() -> None:
    titles = ScriptedProvider([failure("auth")], [Silence()])
    async with titled(titles, ANSWER, [message("o"), Silence()]) as here:
        await here.answer(here.ask())
        runner = here.ask("more", "again")
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        await here.answer(runner)
        assert here.host.background.names == ()
        assert lines(here.store, NEW) == ["turn", "user: hi", "message: ok"]


async def test_a_later_abort_leaves_the_title_alone() -> None:
    gate = Gate()
    cycles = ([*tool_call(0, "c", "t"), done()], [message("o"), Silence()])
    async with titled(ScriptedProvider([gate, *TITLE]), *cycles) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        await here.answer(runner)
        gate.opened.set()
        await settled(here)
        assert here.store.stored[NEW].title == "Greetings"


@pytest.mark.requirement("C65")
async def test_a_removed_conversation_does_not_come_back() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE])) as here:
        await here.answer(here.ask())
        del here.store.stored[NEW]
        gate.opened.set()
        await settled(here)
        assert here.store.stored == {}
        assert here.news.notices == []


async def test_while_another_program_has_the_conversation_storing_is_tried_again() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE])) as here:
        await here.answer(here.ask())
        here.store.held.add(NEW)
        gate.opened.set()
        await here.clock.advance(1.0)
        assert here.store.stored[NEW].title is None
        here.store.held.clear()
        await here.clock.advance(1.0)
        assert here.store.stored[NEW].title == "Greetings"


async def test_a_conversation_that_stays_locked_keeps_no_title_and_no_task() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE])) as here:
        await here.answer(here.ask())
        here.store.held.add(NEW)
        gate.opened.set()
        await here.clock.advance(60)
        assert here.host.background.names == ()
        here.store.held.clear()
        assert here.store.stored[NEW].title is None


async def test_a_title_that_cannot_be_saved_breaks_nothing() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE]), ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        here.store.failing_saves = {3: "the disk is full"}
        gate.opened.set()
        await wait_all_tasks_blocked()
        assert here.store.stored[NEW].title is None
        assert here.store.held == set()
        assert here.news.told == [("created", None), ("updated", None)]


async def test_a_bug_in_the_adapter_concerns_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    async with titled(ScriptedProvider([Bug("oh")])) as here:
        assert (await here.answer(here.ask())).outcome is Outcome.COMPLETED
        await wait_all_tasks_blocked()
        assert f"the title of {NEW} broke" in caplog.text


@pytest.mark.requirement("R242")
async def test_a_hanging_title_is_dropped_when_the_server_ends() -> None:
    titles = ScriptedProvider([Silence()])
    async with titled(titles) as here:
        await here.answer(here.ask())
        await here.host.close(is_client_gone=False, turn_budget=3, budget=3, background_budget=0)
        await wait_all_tasks_blocked()
        assert titles.closed == 1
        assert here.store.stored[NEW].title is None


async def test_a_title_finishes_while_the_server_ends() -> None:
    gate = Gate()
    async with titled(ScriptedProvider([gate, *TITLE])) as here:
        await here.answer(here.ask())
        async with anyio.create_task_group() as tasks:
            budgets = {"turn_budget": 5, "budget": 5, "background_budget": 5}
            tasks.start_soon(partial(here.host.close, is_client_gone=False, **budgets))
            await wait_all_tasks_blocked()
            gate.opened.set()
        assert here.store.stored[NEW].title == "Greetings"


async def test_a_query_waits_the_moment_in_which_a_title_is_stored() -> None:
    async with titled(ScriptedProvider(TITLE), ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        await settled(here)
        gate = anyio.Event()

        async def hold(_: object) -> None:
            await gate.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.host.use, NEW, here.store, hold)
            await wait_all_tasks_blocked()
            assert not await here.host.use(NEW, here.store, hold), "one at a time"
            runner = here.ask("more", "again", interactive=False)
            await wait_all_tasks_blocked()
            assert not runner.finished.is_set(), "another program would have been refused"
            gate.set()
            assert (await here.answer(runner)).outcome is Outcome.COMPLETED


@pytest.mark.requirement("R241")
async def test_each_saved_point_of_a_query_is_told() -> None:
    async with world([*tool_call(0, "c", "t"), done()], ANSWER, ANSWER) as here:
        await here.answer(here.ask())
        assert here.news.told == [("created", None), ("updated", None), ("updated", None)]
        await here.answer(here.ask("more", "again"))
        assert here.news.told[3:] == [("updated", None), ("updated", None)]
        assert {change.conversation for change in here.news.changes} == {NEW}
        last = here.news.changes[-1]
        assert last.last_activated_at == here.store.stored[NEW].last_activated_at
