"""Compaction by the rules of the settings, and summaries that a model writes (conversation format 7.10)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.compact import TurnsWanted
from jp_lsp.conversation.directive import Compaction, OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.turn_bounds import AtTurn, BehindLast, KeptTurns, compactions_of
from jp_lsp.driver.amending import Amender
from jp_lsp.driver.caretaker import Caretaker, Copy
from jp_lsp.driver.compacting import CompactionWanted
from jp_lsp.driver.desk import Desk
from jp_lsp.driver.runner import Refused
from jp_lsp.ports.compaction import CompactionRule, SummaryWish
from jp_lsp.ports.provider import CachePolicy, ModelId, ModelParameters
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.failure import FailureKind
from tests.driver.test_caretaker import Care
from tests.support.fakes import lines, surroundings
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Gate, ScriptedProvider, Step
from tests.support.turns import done, failure, message

pytestmark = pytest.mark.anyio

BIG, SMALL = ModelId("test", "big"), ModelId("test", "small")
LONG = "a long answer " * 20
STRIP = CompactionRule(TurnsWanted(last=(KeptTurns(1),)), StripReasoning(), StripToolCalls(-1, -1))
AS_SET = CompactionWanted()
OURS = CompactionRule(summary=SummaryWish())
SUMMARY = CompactionRule(summary=SummaryWish(SMALL, ModelParameters(max_tokens=99)))


class Compacting(Care):
    """A conversation of three turns with long answers, to be compacted."""

    def __init__(self, here: World, summaries: ScriptedProvider | None) -> None:
        super().__init__(here)
        around = surroundings(
            here.provider, here.store, here.clock, here.settings, others={"small": summaries}
        )
        desk = Desk(here.host, around, lambda: self.upkeep, here.clock, here.news)
        self.taker = Caretaker(desk)
        self.amender = Amender(desk)
        self.reports: list[str] = []

    @property
    def provider(self) -> ScriptedProvider:
        assert self.world.provider is not None
        return self.world.provider

    async def compact(self, wanted: CompactionWanted = AS_SET) -> list[Compaction]:
        amended = await self.amender.compact(NEW, wanted, self.reports.append)
        return compactions_of(amended.stream)

    async def refusal(self, wanted: CompactionWanted = AS_SET) -> str:
        """Why it is refused; nothing is stored then."""
        before = self.world.store.stored[NEW]
        with pytest.raises(Refusal) as caught:
            await self.compact(wanted)
        assert self.world.store.stored[NEW] == before
        assert self.world.store.held == set()
        return f"{caught.value.error.code}: {caught.value.error.message}"


@asynccontextmanager
async def compacting(
    summaries: ScriptedProvider | None = None, *rules: CompactionRule
) -> AsyncGenerator[Compacting]:
    settings = QuerySettings(BIG, {}, ModelParameters(temperature=0.5), compaction=rules)
    async with world(*([message(LONG), done()] for _ in range(3)), settings=settings) as here:
        for text in ("one", "two", "three"):
            await here.answer(here.ask(text))
        here.news.changes.clear()
        yield Compacting(here, summaries)


def requests_of(provider: ScriptedProvider) -> list[list[str]]:
    """What the user says in each request."""
    return [
        [
            event.event.kind.content
            for event in request.thread.events
            if isinstance(event.event.kind, ChatRequest)
        ]
        for request in provider.requests
    ]


@pytest.mark.requirement("R281")
async def test_the_rules_of_the_settings_make_one_compaction_each() -> None:
    omit = CompactionRule(TurnsWanted((AtTurn(3),)), tool_calls=OmitToolCalls())
    nothing = CompactionRule(TurnsWanted())
    async with compacting(None, STRIP, nothing, omit) as three:
        added = await three.compact()
        assert [(each.from_turn, each.to_turn) for each in added] == [(0, 1), (2, 2)]
        assert (added[0].reasoning, added[0].tool_calls) == (StripReasoning(), StripToolCalls(-1, -1))
        assert added[1].tool_calls == OmitToolCalls()
        assert [change.change for change in three.world.news.changes] == ["updated"]


async def test_a_range_of_the_request_is_that_of_every_rule() -> None:
    async with compacting(None, STRIP, STRIP) as three:
        added = await three.compact(CompactionWanted(first=(AtTurn(2),), last=(AtTurn(-1),)))
        assert [(each.from_turn, each.to_turn) for each in added] == [(1, 2), (1, 2)]
        assert len(await three.compact(CompactionWanted(first=(BehindLast(),)))) == 2, "nothing is left"


@pytest.mark.requirement("R281")
async def test_a_summary_is_written_from_what_was_said() -> None:
    summaries = ScriptedProvider([message("Short."), done()], [message("All in short."), done()])
    async with compacting(summaries, SUMMARY) as three:
        assert [each.summary for each in await three.compact(CompactionWanted(last=(AtTurn(2),)))] == [
            "Short."
        ]
        (first, second) = await three.compact(CompactionWanted(first=(AtTurn(2),)))
        assert (first.from_turn, first.to_turn) == (0, 1)
        assert (second.summary, second.from_turn, second.to_turn) == ("All in short.", 0, 2)
    assert three.reports == ["Summing up turns 1 to 2", "Summing up turns 1 to 3"]
    ask = "Sum up this conversation."
    assert requests_of(summaries) == [["one", "two", ask], ["one", "two", "three", ask]]
    request = summaries.requests[0]
    assert request.model.id == SMALL
    assert request.parameters == ModelParameters(max_tokens=99, cache=CachePolicy(0))
    assert (request.tools, request.thread.schema) == ((), None)
    (instructions,) = request.thread.system_parts
    assert "what is still open" in instructions


@pytest.mark.requirement("R281")
async def test_the_assistants_own_model_is_asked_as_the_user_wants() -> None:
    async with compacting() as three:
        three.provider.will_play([message("Short."), done()])
        wish = SummaryWish(instructions="Name {every} file.", context="We go on with the tests.")
        await three.compact(CompactionWanted(CompactionRule(summary=wish)))
        request = three.provider.requests[-1]
        assert request.model.id == BIG
        assert request.parameters == ModelParameters(temperature=0.5, cache=CachePolicy(0))
        (instructions,) = request.thread.system_parts
        assert "Name {every} file." in instructions
        assert "what is still open" not in instructions
        assert "About this summary: We go on with the tests." in instructions


@pytest.mark.requirement("T14")
@pytest.mark.parametrize("answer", [LONG * 9, "one two three" + LONG * 3])
async def test_a_summary_that_is_no_shorter_is_tried_once(answer: str) -> None:
    summaries = ScriptedProvider([message(answer), done()])
    async with compacting(summaries, STRIP, SUMMARY) as three:
        problem = await three.refusal()
        assert problem.startswith(
            "compaction_failed: The summary of turns 1 to 3 is not shorter than what it would replace"
        )
        assert "The conversation is as it was." in problem
        assert three.world.news.changes == []
    assert len(summaries.requests) == 1


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            [failure(FailureKind.AUTH, "no such key")],
            "compaction_failed: test/small made no summary: no such key.",
        ),
        (
            [message(" "), done()],
            "compaction_failed: test/small made no summary: it answered without a text.",
        ),
        (None, "provider_auth: set TEST_API_KEY"),
    ],
)
async def test_without_a_summary_nothing_is_changed(script: Sequence[Step] | None, problem: str) -> None:
    summaries = None if script is None else ScriptedProvider(script)
    async with compacting(summaries, STRIP, SUMMARY) as three:
        assert (await three.refusal()).startswith(problem)


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ((), "invalid_params: The settings have no rules for this"),
        (
            (CompactionRule(summary=SummaryWish(problem="`tiny` is no alias")),),
            "config_invalid: The model of the rule for compaction cannot be used: `tiny` is no alias.",
        ),
    ],
)
async def test_rules_that_cannot_be_followed_say_so(rules: tuple[CompactionRule, ...], problem: str) -> None:
    async with compacting(None, *rules) as three:
        assert (await three.refusal()).startswith(problem)


@pytest.mark.requirement("R281")
async def test_nobody_changes_the_conversation_meanwhile_and_a_cancelled_one_changes_nothing() -> None:
    gate = Gate()
    summaries = ScriptedProvider([gate, message("Short."), done()], [message("Short."), done()])
    async with compacting(summaries, SUMMARY) as three:
        before = three.world.store.stored[NEW]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(three.compact)
            await wait_all_tasks_blocked()
            await three.world.clock.advance(0)
            await wait_all_tasks_blocked()
            assert three.world.store.held == {NEW}
            tasks.cancel_scope.cancel()
        assert three.world.store.held == set()
        assert three.world.store.stored[NEW] == before
        assert len(await three.compact()) == 1


async def test_a_preview_asks_no_model() -> None:
    async with compacting(None, STRIP, SUMMARY) as three:
        before = three.world.store.stored[NEW]
        found = compactions_of(await three.amender.preview_compaction(NEW, CompactionWanted()))
        assert [(each.from_turn, each.to_turn, each.summary is not None) for each in found] == [
            (0, 1, False),
            (0, 2, True),
        ]
        assert three.world.store.stored[NEW] == before


async def test_what_a_person_wrote_needs_no_settings() -> None:
    """However long it is: they know what they want."""
    async with compacting() as three:
        resolved = three.world.settings.resolved
        (added,) = await three.compact(CompactionWanted(CompactionRule(text=LONG * 9)))
        assert added.summary == LONG * 9
        assert three.world.settings.resolved == resolved


async def test_a_copy_is_compacted_and_its_source_is_not() -> None:
    async with compacting(None, STRIP) as three:
        before = three.world.store.stored[NEW]
        copy = await three.taker.copy(Copy(NEW, is_compacted=True))
        stored = three.world.store.stored
        assert '"compaction"' in stored[copy.id].events
        assert stored[NEW] == before


@pytest.mark.requirement("T14")
async def test_a_copy_whose_compaction_fails_is_not_made() -> None:
    async with compacting(ScriptedProvider([message(LONG * 9), done()]), SUMMARY) as three:
        with pytest.raises(Refusal, match="not shorter"):
            await three.taker.copy(Copy(NEW, is_compacted=True))
        assert list(three.world.store.stored) == [NEW]
        assert three.world.store.held == set()


@pytest.mark.requirement("T14")
async def test_a_query_compacts_first_and_asks_with_what_is_left() -> None:
    async with compacting(None, STRIP, OURS) as three:
        three.provider.will_play([message("Short."), done()], [message("ok"), done()])
        await three.world.answer(three.world.ask("four", compacts=True))
        summary, asked = three.provider.requests[-2:]
        assert requests_of(three.provider)[-2:] == [
            ["one", "two", "three", "Sum up this conversation."],
            ["[Summary of previous conversation]", "four"],
        ]
        assert summary.model.id == asked.model.id == BIG
        assert lines(three.world.store, NEW)[-3:] == ["turn", "user: four", "message: ok"]
        assert three.world.store.stored[NEW].events.count('"compaction"') == 2


@pytest.mark.requirement("T14")
async def test_a_query_whose_compaction_does_not_shrink_does_not_begin() -> None:
    async with compacting(None, OURS) as three:
        three.provider.will_play([message(LONG * 9), done()])
        before, asked = three.world.store.stored[NEW], len(three.provider.requests)
        runner = three.world.ask("four", compacts=True)
        await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert runner.outcome.error.code == "compaction_failed"
        assert len(three.provider.requests) == asked + 1, "one try"
        assert three.world.store.stored[NEW] == before
        assert three.world.store.drafts[NEW] == "four", "what was typed is kept"


async def test_a_new_conversation_has_nothing_to_compact_before_its_query() -> None:
    async with compacting(None, OURS) as three:
        three.provider.will_play([message("ok"), done()])
        await three.world.answer(three.world.ask("hi", conversation="new", compacts=True))
        assert requests_of(three.provider)[-1] == ["hi"]


async def test_what_would_be_sent_is_told_without_a_summary() -> None:
    async with compacting(None, SUMMARY) as three:
        asked = len(three.provider.requests)
        await three.world.answer(three.world.ask("four", compacts=True, explain=True))
        assert len(three.provider.requests) == asked
