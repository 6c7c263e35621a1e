"""Summaries of reasoning beside the turn (query pipeline 5.6): who is asked, and what comes of it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.ports.provider import CachePolicy, ModelId, ModelParameters
from jp_lsp.ports.settings import QuerySettings, ReasoningSummarySettings
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.shown import ReasoningSummed
from tests.support.fakes import lines
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Bug, Gate, ScriptedProvider
from tests.support.turns import done, failure, message, reasoning

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R201")]

BIG, SMALL = ModelId("test", "big"), ModelId("test", "small")
PARAMETERS = ModelParameters(reasoning="off", cache=CachePolicy(0))


def thinking(
    summaries: ScriptedProvider | None, *answers: Sequence[Any]
) -> AbstractAsyncContextManager[World]:
    """A host whose user wants thoughts summed up by the small model."""
    settings = QuerySettings(BIG, {}, reasoning_summary=ReasoningSummarySettings(SMALL, PARAMETERS))
    return world(*answers, settings=settings, others={"small": summaries})


def summaries(here: World) -> list[tuple[int, str]]:
    return [(each.region, each.text) for each in here.frontend.shown if isinstance(each, ReasoningSummed)]


async def test_a_thought_that_is_over_is_summed_up_while_the_answer_comes() -> None:
    gate = Gate()
    answer = [reasoning("Plan: "), reasoning("look."), message("Once", 1), gate, message(" more", 1), done()]
    small = ScriptedProvider([message("It makes "), message("a plan."), done()])
    async with thinking(small, answer) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert summaries(here) == [(1, "It makes a plan.")]
        gate.opened.set()
        assert (await here.answer(runner)).text == "Once more"
        assert lines(here.store, NEW) == ["turn", "user: hi", "reasoning: Plan: look.", "message: Once more"]
    (request,) = small.requests
    assert (request.model.id, request.parameters, request.tools) == (SMALL, PARAMETERS, ())
    (asked,) = (event.event.kind for event in request.thread.events)
    assert isinstance(asked, ChatRequest)
    assert asked.content == "Plan: look."


async def test_the_answer_does_not_wait_for_a_summary_which_then_is_left_out() -> None:
    never = Gate()
    small = ScriptedProvider([never, message("Late."), done()])
    async with thinking(small, [reasoning("Hm."), message("Done", 1), done()]) as here:
        assert (await here.answer(here.ask())).text == "Done"
        never.opened.set()
        await wait_all_tasks_blocked()
        assert summaries(here) == []
    assert (len(small.requests), small.closed) == (1, 1)


@pytest.mark.parametrize(
    "small",
    [
        None,
        ScriptedProvider([failure("auth", "the key is wrong")]),
        ScriptedProvider([Bug("a mistake of ours")]),
        ScriptedProvider([message(" \n"), done()]),
    ],
    ids=["no key", "refused", "bug", "nothing said"],
)
async def test_what_goes_wrong_with_a_summary_is_nobodys_trouble(small: ScriptedProvider | None) -> None:
    gate = Gate()
    async with thinking(small, [reasoning("Hm."), message("o", 1), gate, message("k", 1), done()]) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        gate.opened.set()
        result = await here.answer(runner)
        assert (result.text, result.outcome) == ("ok", Outcome.COMPLETED)
        assert summaries(here) == []


async def test_each_region_is_summed_up_in_its_order() -> None:
    first, last = Gate(), Gate()
    answer = [reasoning("A."), message("x", 1), reasoning("B.", 2), message("y", 3), last, done()]
    small = ScriptedProvider([first, message("One."), done()], [message("Two."), done()])
    async with thinking(small, answer) as here:
        runner = here.ask()
        await wait_all_tasks_blocked()
        assert summaries(here) == []
        first.opened.set()
        await wait_all_tasks_blocked()
        assert summaries(here) == [(1, "One."), (2, "Two.")]
        last.opened.set()
        await here.answer(runner)
