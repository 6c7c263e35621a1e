"""A conversation that another program holds: who waits for it is told, and asked when that takes long."""

import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.driver.lock_wait import CANCEL, FORK, NEW, WAIT
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.turn.inputs import AskFailed, CancelRequested, Dismissed
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.shown import Status
from jp_lsp.turn.stream_event import StreamEvent
from tests.support.frontend import RecordingFrontend
from tests.support.query_world import World, world
from tests.support.turns import done, message

pytestmark = pytest.mark.anyio

ANSWER: list[StreamEvent] = [message("b"), done()]


async def held(
    here: World, frontend: RecordingFrontend | None = None, text: str = "two", **query: object
) -> QueryRunner:
    """A query in a conversation that somebody else took."""
    conversation = (await here.answer(here.ask("one", "first"))).conversation
    assert conversation is not None
    here.store.held.add(conversation)
    return here.ask(text, "t", frontend, **query)


def refusal(runner: QueryRunner) -> tuple[str, str | None]:
    assert isinstance(runner.outcome, Refused), runner.outcome
    return runner.outcome.error.code, runner.outcome.draft


@pytest.mark.requirement("T24", "R280")
async def test_who_waits_for_a_conversation_is_asked() -> None:
    async with world(ANSWER, ANSWER) as here:
        runner = await held(here)
        await here.clock.advance(9.5)
        assert here.frontend.asked == []
        assert Status("preparing", "waiting for another process") in here.frontend.shown
        await here.clock.advance(1)
        ((decision, _),) = here.frontend.asked
        assert decision.choices == (WAIT, NEW, FORK, CANCEL)
        assert "is in use by another process" in decision.message
        here.frontend.choose("wait")
        await here.clock.advance(3)
        here.store.held.clear()
        await here.clock.advance(1)
        result = await here.answer(runner)
        assert (result.outcome, len(result.turns), result.turns[0].index) == (Outcome.COMPLETED, 1, 2)
        assert Status("preparing", "") in here.frontend.shown


async def test_who_is_in_a_hurry_asks_in_a_new_conversation() -> None:
    async with world(ANSWER, ANSWER) as here:
        runner = await held(here)
        (busy,) = here.store.held
        await here.clock.advance(11)
        here.frontend.choose("new")
        result = await here.answer(runner)
        assert result.conversation not in {busy, None}
        assert (result.outcome, result.turns[0].index) == (Outcome.COMPLETED, 1)


async def test_who_needs_what_was_said_asks_in_a_copy() -> None:
    async with world(ANSWER, ANSWER) as here:
        runner = await held(here)
        (busy,) = here.store.held
        await here.clock.advance(11)
        here.frontend.choose("fork")
        result = await here.answer(runner)
        assert result.conversation not in {busy, None}
        assert (result.outcome, result.turns[0].index) == (Outcome.COMPLETED, 2)
        assert here.provider is not None
        assert len(here.provider.requests[-1].thread.events) == 3


async def test_a_conversation_that_was_not_waited_for_is_free_for_others() -> None:
    async with world(ANSWER, ANSWER, ANSWER) as here:
        runner = await held(here)
        (busy,) = here.store.held
        await here.clock.advance(11)
        here.frontend.choose("new")
        here.store.held.clear()
        other = here.ask("three", "other", conversation=busy)
        assert (await here.answer(other)).conversation == busy
        await here.answer(runner)


@pytest.mark.parametrize("way", ["cancel", "dismissed", "failed"])
async def test_who_gives_up_gets_the_text_back(way: str) -> None:
    async with world(ANSWER) as here:
        runner = await held(here)
        await here.clock.advance(11)
        decision, answer = here.frontend.asked[-1]
        match way:
            case "cancel":
                here.frontend.choose("cancel")
            case "dismissed":
                answer(Dismissed(decision.id))
            case _:
                answer(AskFailed(decision.id, "no screen"))
        await runner.finished.wait()
        assert refusal(runner) == ("lock_timeout", "two")


@pytest.mark.parametrize("can_prompt", [False, True])
async def test_where_nobody_can_be_asked_nothing_is_waited_for(can_prompt: bool) -> None:
    async with world(ANSWER) as here:
        frontend = RecordingFrontend(can_prompt=can_prompt)
        runner = await held(here, frontend, interactive=not can_prompt)
        await runner.finished.wait()
        assert refusal(runner) == ("lock_timeout", "two")
        assert frontend.asked == []


async def test_an_unfinished_turn_cannot_be_resumed_elsewhere() -> None:
    async with world(ANSWER) as here:
        await held(here, text="", resume=True)
        await here.clock.advance(11)
        assert here.frontend.asked[0][0].choices == (WAIT, CANCEL)


async def test_cancelling_the_query_closes_the_question() -> None:
    async with world(ANSWER) as here:
        runner = await held(here)
        await here.clock.advance(11)
        runner.post(CancelRequested())
        assert (await here.answer(runner)).outcome is Outcome.CANCELLED_BEFORE_START
        decision, _ = here.frontend.asked[0]
        assert here.frontend.withdrawn == [(decision.id, "withdrawn")]


async def test_a_conversation_that_does_not_exist_is_not_waited_for() -> None:
    async with world() as here:
        runner = here.ask(conversation=ConversationId("jp-c99"))
        await runner.finished.wait()
        assert refusal(runner)[0] == "conversation_not_found"
