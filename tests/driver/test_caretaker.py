"""What a client does to conversations beside asking in them, and what is in its way."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.metadata_edit import Activate, ChangeLabels, SetExpiry, SetPin, SetTitle
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.caretaker import Caretaker, Copy, NewConversation
from jp_lsp.driver.desk import Desk
from jp_lsp.driver.patience import PATIENCE
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.upkeep import ConversationFacts
from tests.support.fake_upkeep import FakeUpkeep
from tests.support.fakes import lines, surroundings
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Gate
from tests.support.turns import done, message

pytestmark = pytest.mark.anyio

ANSWER = [message("ok"), done()]


class Care:
    """A caretaker with its fakes."""

    def __init__(self, here: World) -> None:
        self.world = here
        self.upkeep = FakeUpkeep(here.store)
        around = surroundings(here.provider, here.store, here.clock, here.settings)
        self.taker = Caretaker(Desk(here.host, around, lambda: self.upkeep, here.clock, here.news))

    @property
    def now(self) -> Timestamp:
        return Timestamp(self.world.clock.now().nanoseconds)

    async def one(self) -> ConversationId:
        """A conversation with a turn in it."""
        await self.world.answer(self.world.ask())
        self.world.news.changes.clear()
        return NEW


@asynccontextmanager
async def care(*scripts: Sequence[object]) -> AsyncGenerator[Care]:
    async with world(*(scripts or (ANSWER,))) as here:
        yield Care(here)


async def refused(attempt: object) -> str:
    """The code with which something is refused."""
    with pytest.raises(Refusal) as caught:
        await attempt  # type: ignore[misc]
    return caught.value.error.code


@pytest.mark.requirement("R281", "R241")
async def test_each_change_is_made_once_and_told_once() -> None:
    async with care() as here:
        one, taker = await here.one(), here.taker
        await taker.set_title(one, "T")
        await taker.set_pin(one, None)
        await taker.set_expiry(one, 60)
        await taker.set_expiry(one, None)
        await taker.edit(one, ChangeLabels({"a": "b"}))
        await taker.move(one, is_local=True)
        await taker.archive(one)
        await taker.unarchive(one)
        await taker.remove(one)
        later = Timestamp(here.now.nanoseconds + 60_000_000_000)
        assert here.upkeep.done == [
            ("edit", one, SetTitle("T")),
            ("edit", one, SetPin(here.now, None)),
            ("edit", one, SetExpiry(later)),
            ("edit", one, SetExpiry(None)),
            ("edit", one, ChangeLabels({"a": "b"})),
            ("relocate", one, True),
            ("archive", one),
            ("unarchive", one),
            ("remove", one),
        ]
        assert [change.change for change in here.world.news.changes] == [
            *["updated"] * 6,
            "archived",
            "unarchived",
            "removed",
        ]


@pytest.mark.requirement("T24")
async def test_another_program_is_given_a_moment() -> None:
    async with care() as here:
        one = await here.one()
        here.upkeep.hold(one, len(PATIENCE) - 1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.taker.archive, one)
            await here.world.clock.advance(sum(PATIENCE))
        assert here.upkeep.done == [("archive", one)]


@pytest.mark.requirement("T24")
async def test_and_no_longer_than_that() -> None:
    async with care() as here:
        one = await here.one()
        here.upkeep.hold(one, len(PATIENCE))
        codes: list[str] = []

        async def attempt() -> None:
            codes.append(await refused(here.taker.set_title(one, "x")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attempt)
            await here.world.clock.advance(sum(PATIENCE))
        assert codes == ["lock_timeout"]
        assert here.world.news.changes == []


async def test_other_troubles_are_not_tried_again() -> None:
    async with care() as here:
        one = await here.one()
        here.upkeep.troubles.append(Refusal("persist_failed", "the disk is full"))
        assert await refused(here.taker.archive(one)) == "persist_failed"
        assert here.world.news.changes == []


@pytest.mark.requirement("R338", "R337")
async def test_metadata_change_in_the_middle_of_a_query_and_the_rest_waits_for_its_end() -> None:
    gate = Gate()
    async with care([message("Hel"), gate, message("lo"), done()]) as here:
        runner = here.world.ask()
        await here.world.clock.advance(1)
        assert (await here.taker.set_title(NEW, "In between")).title == "In between"
        assert here.upkeep.done == [], "the query has it open, and so the query's own save stores it"
        for attempt in (
            here.taker.archive(NEW),
            here.taker.remove(NEW),
            here.taker.move(NEW, is_local=True),
        ):
            assert await refused(attempt) == "conversation_busy"
        gate.opened.set()
        await here.world.answer(runner)
        assert here.world.store.stored[NEW].title == "In between"
        assert lines(here.world.store, NEW) == ["turn", "user: hi", "message: Hello"]
        await here.taker.archive(NEW)
        assert here.upkeep.done == [("archive", NEW)]


async def test_a_change_that_the_running_query_cannot_store_is_refused() -> None:
    gate = Gate()
    async with care([message("Hel"), gate, message("lo"), done()]) as here:
        runner = here.world.ask()
        await here.world.clock.advance(1)
        here.world.store.failing_saves = {here.world.store.save_count + 1: "the disk is full"}
        assert await refused(here.taker.set_title(NEW, "x")) == "persist_failed"
        gate.opened.set()
        await here.world.answer(runner)


async def test_a_query_waits_for_the_moment_that_a_change_takes() -> None:
    async with care(ANSWER, ANSWER) as here:
        one = await here.one()
        async with here.world.host.claim(one):
            runner = here.world.ask("more", conversation=one)
            await here.world.clock.advance(1)
            assert not runner.finished.is_set()
        await here.world.answer(runner)
        assert lines(here.world.store, one)[-2:] == ["user: more", "message: ok"]


@pytest.mark.requirement("R222", "R279")
async def test_queries_without_a_place_go_where_the_user_chose() -> None:
    async with care(ANSWER, ANSWER, ANSWER) as here:
        one = await here.one()
        await here.world.answer(here.world.ask("other", conversation="new"))
        facts = await here.taker.select(one)
        assert here.upkeep.done == [("edit", one, Activate(here.now))]
        assert facts.id == here.world.host.used_last == one
        await here.world.answer(here.world.ask("back"))
        assert "user: back" in lines(here.world.store, one)


async def test_choosing_waits_for_nobody() -> None:
    """Who has the conversation notes by itself that it is used (1.9)."""
    async with care() as here:
        one = await here.one()
        here.upkeep.hold(one, 1)
        assert (await here.taker.select(one)).id == one
        assert (here.upkeep.done, here.world.news.changes) == ([], [])
        here.upkeep.archived.add(one)
        assert await refused(here.taker.select(one)) == "conversation_not_found"


@pytest.mark.requirement("R230", "R281")
async def test_a_new_conversation_has_what_it_is_given() -> None:
    async with care(ANSWER) as here:
        facts = await here.taker.create(NewConversation(title="Plans", expires_after=60))
        assert (facts.id, facts.title) == (NEW, "Plans")
        assert facts.expires_at == Timestamp(1_791_234_567_800_000_000 + 60_000_000_000)
        assert here.world.news.told == [("created", "Plans")]
        assert here.world.store.held == set()
        await here.world.answer(here.world.ask())
        assert lines(here.world.store, NEW) == ["turn", "user: hi", "message: ok"]


@pytest.mark.parametrize("attempt", ["settings", "disk"])
async def test_a_new_conversation_that_cannot_be_made(attempt: str) -> None:
    async with care() as here:
        wanted = NewConversation(("bad",)) if attempt == "settings" else NewConversation()
        here.world.store.failing_saves = {1: "the disk is full"}
        expected = "config_invalid" if attempt == "settings" else "persist_failed"
        assert await refused(here.taker.create(wanted)) == expected
        assert (here.world.store.held, here.world.host.used_last) == (set(), None)


@pytest.mark.requirement("R281")
async def test_a_copy_of_a_part() -> None:
    async with care(ANSWER, ANSWER, ANSWER) as here:
        one = await here.one()
        await here.world.answer(here.world.ask("two"))
        await here.world.answer(here.world.ask("three"))
        here.world.news.changes.clear()

        async def asked(facts: ConversationFacts) -> list[str]:
            return [line for line in lines(here.world.store, facts.id) if line.startswith("user")]

        copy = await here.taker.copy(Copy(one, first_turns=1, title="First"))
        assert await asked(copy) == ["user: hi"]
        assert here.world.host.used_last == one
        copy = await here.taker.copy(Copy("last", first_turns=1, last_turns=1, is_selected=True))
        assert here.world.host.used_last == copy.id
        assert await asked(copy) == ["user: hi"], "`last` is the copy that was just made"
        assert await asked(await here.taker.copy(Copy(one, last_turns=1))) == ["user: three"]
        assert await asked(await here.taker.copy(Copy(one, last_turns=0))) == []
        assert await asked(await here.taker.copy(Copy(one))) == ["user: hi", "user: two", "user: three"]
        assert [title for _, title in here.world.news.told] == ["First", "First", None, None, None]
        assert await refused(here.taker.copy(Copy(ConversationId("jp-c1")))) == "conversation_not_found"
