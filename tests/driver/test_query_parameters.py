"""What a query may ask for beside its text: a fork, a turn again, an explanation, an end, no trace. And drafts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.driver.runner import QueryRunner, Refused
from jp_lsp.ports.attachment import AttachmentEntry
from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.spec import McpSource, ToolSpec
from jp_lsp.turn.inputs import CancelRequested, Pressed
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.query import Fork
from jp_lsp.turn.stream_event import Flush
from jp_lsp.workspace.memory import StoredConversation
from tests.support.fake_toolbox import spec
from tests.support.fakes import lines
from tests.support.query_world import NEW, World, world
from tests.support.scripted_provider import Silence
from tests.support.turns import done, message, structured

pytestmark = pytest.mark.anyio

COPY = ConversationId("jp-c17912345679")
TWO_TURNS = ["turn", "user: one", "message: 1", "turn", "user: two", "message: 2"]


@asynccontextmanager
async def two_turns(*scripts: Any, settings: QuerySettings | None = None) -> AsyncGenerator[World]:
    """A conversation of two turns; the scripts are for what comes then."""
    first, second = [message("1"), done()], [message("2"), done()]
    async with world(first, second, *scripts, settings=settings) as here:
        await here.answer(here.ask("one"))
        await here.answer(here.ask("two"))
        assert lines(here.store, NEW) == TWO_TURNS
        yield here


async def refusal(here: World, runner: QueryRunner) -> Refused:
    with anyio.fail_after(5):
        await runner.finished.wait()
    assert isinstance(runner.outcome, Refused), runner.outcome
    assert here.store.held == set()
    return runner.outcome


def sent(here: World) -> list[str]:
    """What the model was shown last."""
    assert here.provider is not None
    events = here.provider.requests[-1].thread.events
    return [
        getattr(item.event.kind, "content", None) or getattr(item.event.kind, "text", "") for item in events
    ]


# Fork.


@pytest.mark.requirement("R281")
@pytest.mark.parametrize("source", [NEW, "last"])
async def test_a_fork_asks_in_a_copy(source: Any) -> None:
    async with two_turns([message("3"), done()]) as here:
        before = here.store.stored[NEW]
        result = await here.answer(here.ask("three", fork=Fork(source)))
        assert result.conversation == COPY
        assert here.store.stored[NEW] == before
        assert lines(here.store, COPY) == [*TWO_TURNS, "turn", "user: three", "message: 3"]
        assert sent(here) == ["one", "1", "two", "2", "three"]
        assert result.turns[0].index == 3


@pytest.mark.parametrize(("count", "kept"), [(0, []), (1, TWO_TURNS[3:]), (9, TWO_TURNS)])
async def test_a_fork_keeps_so_many_turns(count: int, kept: list[str]) -> None:
    async with two_turns([message("3"), done()]) as here:
        await here.answer(here.ask("three", fork=Fork(NEW, count)))
        assert lines(here.store, COPY) == [*kept, "turn", "user: three", "message: 3"]


async def test_the_next_query_goes_on_in_the_copy() -> None:
    async with two_turns([message("3"), done()], [message("4"), done()]) as here:
        await here.answer(here.ask("three", fork=Fork(NEW)))
        assert (await here.answer(here.ask("four"))).conversation == COPY


async def test_a_source_may_be_busy() -> None:
    async with two_turns([message("x"), Silence()], [message("3"), done()]) as here:
        running = here.ask("long", token="a")
        await wait_all_tasks_blocked()
        result = await here.answer(here.ask("three", token="b", fork=Fork(NEW)))
        assert result.conversation == COPY
        running.post(CancelRequested())
        await here.answer(running)


@pytest.mark.requirement("R344")
async def test_abort_removes_the_copy() -> None:
    async with two_turns([message("3"), Silence()]) as here:
        runner = here.ask("three", fork=Fork(NEW))
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.ABORTED, "three")
        assert set(here.store.stored) == {NEW}
        assert here.store.drafts == {COPY: "three"}


@pytest.mark.parametrize("source", [ConversationId("jp-c1"), "last"])
async def test_what_is_not_there_cannot_be_copied(source: Any) -> None:
    async with world() as here:
        refused = await refusal(here, here.ask(fork=Fork(source)))
        assert refused.error.code == "conversation_not_found"
        assert here.store.stored == {}


# A turn again.


@pytest.mark.requirement("F35", "R281")
@pytest.mark.parametrize(
    ("number", "text", "stored"),
    [
        (2, "better", [*TWO_TURNS[:3], "turn", "user: better", "message: 3"]),
        (2, "", [*TWO_TURNS[:3], "turn", "user: two", "message: 3"]),
        (1, " \n", ["turn", "user: one", "message: 3"]),
    ],
)
async def test_a_turn_is_asked_again(number: int, text: str, stored: list[str]) -> None:
    async with two_turns([message("3"), done()]) as here:
        result = await here.answer(here.ask(text, replay=number))
        assert (result.conversation, result.turns[0].index) == (NEW, number)
        assert lines(here.store, NEW) == stored
        asked = [line.split(": ")[1] for line in stored if ": " in line]
        assert sent(here) == asked[:-1]


@pytest.mark.requirement("S22")
async def test_nothing_changes_before_the_new_turn_is_stored() -> None:
    async with two_turns() as here:
        here.store.failing_saves = {here.store.save_count + 1: "the disk is full"}
        refused = await refusal(here, here.ask("better", replay=1))
        assert (refused.error.code, refused.draft) == ("persist_failed", "better")
        assert lines(here.store, NEW) == TWO_TURNS


async def test_the_schema_of_the_old_turn_holds_again() -> None:
    schema = {"type": "object"}
    value = [structured("{}"), Flush(0), done()]
    async with world(value, value) as here:
        await here.answer(here.ask("one", schema=schema))
        await here.answer(here.ask("", replay=1))
        assert here.provider is not None
        assert here.provider.requests[-1].thread.schema == schema


async def test_a_turn_of_a_copy_is_asked_again() -> None:
    async with two_turns([message("3"), done()]) as here:
        result = await here.answer(here.ask("", fork=Fork(NEW), replay=1))
        assert lines(here.store, COPY) == ["turn", "user: one", "message: 3"]
        assert result.conversation == COPY
        assert lines(here.store, NEW) == TWO_TURNS


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"replay": 3}, "The conversation has 2 turns, so there is no turn 3 to ask again."),
        (
            {"replay": 1, "conversation": "new"},
            "The conversation has no turn, so there is no turn 1 to ask again.",
        ),
        ({"replay": 1, "fork": Fork(NEW, 1)}, "`fork.keepTurns` must be left out"),
    ],
)
async def test_a_turn_that_is_not_there_is_told(asked: dict[str, Any], words: str) -> None:
    async with two_turns() as here:
        refused = await refusal(here, here.ask("x", **asked))
        assert refused.error.code == "invalid_params"
        assert words in refused.error.message
        assert refused.draft == "x"
        assert lines(here.store, NEW) == TWO_TURNS


# Explain.


def explainable() -> QuerySettings:
    there = ToolSpec(ToolDefinition("search", {}), McpSource("web", "search"))
    entry = AttachmentEntry("cmd:git diff", "cmd", "git diff")
    return QuerySettings(
        ModelId("test", "big"), {}, system_prompt="Be brief.", tools=(spec("t"), there), attachments=(entry,)
    )


@pytest.mark.requirement("R285")
async def test_an_explained_query_is_prepared_and_no_more() -> None:
    async with two_turns(settings=explainable()) as here:
        stored, saves = dict(here.store.stored), here.store.save_count
        result = await here.answer(here.ask("three", explain=True, replay=2))
        assert (result.outcome, result.is_persisted, result.turns) == (Outcome.COMPLETED, False, ())
        assert (result.conversation, result.draft) == (NEW, None)
        explanation = result.explanation
        assert explanation is not None
        assert (explanation.model, explanation.system_prompt) == ("test/big", "Be brief.")
        assert [tool.name for tool in explanation.tools] == ["t", "search"]
        assert (explanation.request.content, explanation.event_count) == ("three", 2)
        assert [origin.key for origin in explanation.origins] == ["assistant.model.id"]
        assert explanation.attachments == (TextAttachment("git diff", "text of git diff"),)
        assert explanation.effects == (
            "MCP servers that did not run yet were started: web.",
            "Commands of attachments were run: cmd:git diff.",
        )
        assert (here.store.stored, here.store.save_count, here.store.drafts) == (stored, saves, {})
        assert here.provider is not None
        assert len(here.provider.requests) == 2
        assert here.host.running == ()


async def test_no_vendor_is_asked_anything_for_an_explanation() -> None:
    async with world() as here:
        assert here.provider is not None
        asked: list[str] = []
        details = here.provider.model_details

        async def counted(name: str) -> Any:
            asked.append(name)
            return await details(name)

        here.provider.model_details = counted  # type: ignore[method-assign]
        result = await here.answer(here.ask("", explain=True))
        assert (result.conversation, asked) == (None, [])
        assert result.explanation is not None
        assert result.explanation.request.content == ""
        assert here.store.stored == {}


async def test_an_explanation_takes_no_lock_and_waits_for_none() -> None:
    async with two_turns() as here:
        here.store.held.add(NEW)
        result = await here.answer(here.ask("three", explain=True))
        assert result.explanation is not None
        assert here.store.held == {NEW}


# An end.


@pytest.mark.parametrize(("seconds", "later"), [(3600.0, 3600), (0.0, 0)])
async def test_a_new_conversation_expires_so_long_after_its_birth(seconds: float, later: int) -> None:
    async with world([message("1"), done()], [message("2"), done()]) as here:
        await here.answer(here.ask(expires_after=seconds))
        born = 1_791_234_567_800_000_000
        expires_at = here.store.stored[NEW].expires_at
        assert expires_at is not None
        assert expires_at.nanoseconds == born + later * 1_000_000_000
        await here.answer(here.ask())
        assert here.store.stored[NEW].expires_at == expires_at, (
            "a query that says nothing of it changes nothing"
        )


async def test_an_old_conversation_expires_so_long_after_the_query() -> None:
    async with world([message("1"), done()], [message("2"), done()]) as here:
        await here.answer(here.ask())
        assert here.store.stored[NEW].expires_at is None
        await here.clock.advance(500)
        await here.answer(here.ask(expires_after=60))
        expires_at = here.store.stored[NEW].expires_at
        assert expires_at is not None
        assert expires_at.nanoseconds == here.clock.now().nanoseconds + 60_000_000_000


async def test_a_copy_does_not_expire_with_its_source() -> None:
    async with world([message("1"), done()], [message("2"), done()], [message("3"), done()]) as here:
        await here.answer(here.ask(expires_after=60))
        await here.answer(here.ask(token="b", fork=Fork(NEW)))
        assert here.store.stored[COPY].expires_at is None


# No trace.


def kept(stored: StoredConversation) -> tuple[str, Any]:
    return stored.events, stored.last_activated_at


@pytest.mark.requirement("F24")
async def test_without_persistence_nothing_is_changed() -> None:
    async with two_turns([message("3"), done()], [message("4"), done()]) as here:
        before, saves = kept(here.store.stored[NEW]), here.store.save_count
        told, recorded = list(here.news.changes), len(here.recordings.files)
        result = await here.answer(
            here.ask("# A heading\n\nthree", persist=False, title="No", expires_after=1)
        )
        assert (result.text, result.is_persisted, result.conversation) == ("3", False, NEW)
        assert (kept(here.store.stored[NEW]), here.store.save_count) == (before, saves)
        assert (here.store.stored[NEW].title, here.store.stored[NEW].expires_at) == (None, None)
        assert sent(here)[:4] == ["one", "1", "two", "2"], "the copy has what was there"
        assert (here.news.changes, len(here.recordings.files)) == (told, recorded)


async def test_without_persistence_no_lock_is_taken_or_waited_for() -> None:
    async with two_turns(
        [message("x"), Silence()], [message("3"), Silence()], [message("4"), done()]
    ) as here:
        stored = here.ask("long", token="a")
        await wait_all_tasks_blocked()
        copied = here.ask("beside", token="b", persist=False)
        await wait_all_tasks_blocked()
        assert here.host.conversation_of(copied) == NEW
        assert here.host.find(conversation=NEW) is stored, (
            "a press for the conversation is for the query that has it"
        )
        stored.post(CancelRequested())
        await here.answer(stored)
        assert here.host.find(conversation=NEW) is copied
        assert (await here.answer(here.ask("next", token="c"))).outcome is Outcome.COMPLETED
        copied.post(CancelRequested())
        assert (await here.answer(copied)).text == "3"
        assert here.host.find(conversation=NEW) is None


async def test_without_persistence_the_conversation_used_last_stays_the_same() -> None:
    async with two_turns(*[[message(str(number)), done()] for number in range(4)]) as here:
        other = (await here.answer(here.ask("other", conversation="new"))).conversation
        await here.answer(here.ask("x", conversation=NEW, persist=False))
        await here.answer(here.ask("y", conversation="new", persist=False))
        assert (await here.answer(here.ask("z"))).conversation == other


async def test_a_copy_without_persistence_is_a_copy_of_a_copy() -> None:
    async with two_turns([message("3"), done()]) as here:
        result = await here.answer(here.ask("three", persist=False, fork=Fork(NEW, 1)))
        assert (result.text, sent(here)) == ("3", ["two", "2", "three"])
        assert set(here.store.stored) == {NEW}


async def test_without_persistence_a_draft_comes_back_and_is_not_kept() -> None:
    async with two_turns([message("3"), Silence()]) as here:
        runner = here.ask("three", persist=False)
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        assert (await here.answer(runner)).draft == "three"
        assert (here.store.drafts, lines(here.store, NEW)) == ({}, TWO_TURNS)


# Drafts.


@pytest.mark.requirement("R344")
async def test_a_query_that_cannot_begin_leaves_its_text_as_a_draft() -> None:
    async with two_turns([message("3"), done()]) as here:
        refused = await refusal(here, here.ask("three", overrides=("bad",)))
        assert refused.draft == "three"
        assert here.store.drafts == {NEW: "three"}
        assert (await here.answer(here.ask("three"))).draft is None
        assert here.store.drafts == {}, "the text is in the conversation now"


@pytest.mark.requirement("R344")
@pytest.mark.parametrize(
    ("code", "drafts"),
    [("lock_timeout", {NEW: "three"}), ("conversation_not_found", {}), ("conversation_busy", {})],
)
async def test_a_text_for_a_conversation_that_cannot_be_opened(code: str, drafts: dict[str, str]) -> None:
    """It stays with the conversation, unless that is not there, or a query is at work that would clear drafts."""
    async with two_turns([message("x"), Silence()]) as here:
        running = here.ask("long", token="a") if code == "conversation_busy" else None
        await wait_all_tasks_blocked()
        if code == "lock_timeout":
            here.store.held.add(NEW)
        wanted = ConversationId("jp-c1") if code == "conversation_not_found" else NEW
        runner = here.ask("three", token="b", conversation=wanted, interactive=False)
        with anyio.fail_after(5):
            await runner.finished.wait()
        assert isinstance(runner.outcome, Refused)
        assert (runner.outcome.error.code, runner.outcome.draft) == (code, "three")
        assert here.store.drafts == drafts
        if running is not None:
            running.post(CancelRequested())
            await here.answer(running)


@pytest.mark.requirement("R344")
async def test_a_query_that_is_cancelled_before_it_begins_leaves_its_text_as_a_draft() -> None:
    async with two_turns(settings=explainable()) as here:

        async def never(*_: object) -> Any:
            await anyio.sleep_forever()

        here.attachments.fetching = never
        runner = here.ask("three")
        await wait_all_tasks_blocked()
        runner.post(CancelRequested())
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.CANCELLED_BEFORE_START, "three")
        await wait_all_tasks_blocked()
        assert here.store.drafts == {NEW: "three"}
        assert here.store.held == set()


@pytest.mark.requirement("R344", "R331")
@pytest.mark.parametrize("persist", [True, False])
async def test_what_the_user_was_writing_comes_back(persist: bool) -> None:
    async with two_turns([message("3"), Silence()]) as here:
        here.frontend.begun = "But wh"
        runner = here.ask("three", persist=persist)
        await wait_all_tasks_blocked()
        runner.press(Pressed("stop"))
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.STOPPED, "But wh")
        assert here.store.drafts == ({NEW: "But wh"} if persist else {})


@pytest.mark.requirement("R344")
async def test_what_the_user_was_writing_stands_behind_a_text_that_comes_back() -> None:
    async with two_turns([message("3"), Silence()]) as here:
        here.frontend.begun = "But wh"
        runner = here.ask("three")
        await wait_all_tasks_blocked()
        runner.press(Pressed("abort"))
        assert (await here.answer(runner)).draft == "three\n\nBut wh"
        assert here.store.drafts == {NEW: "three\n\nBut wh"}


@pytest.mark.requirement("R344")
async def test_a_disk_that_refuses_a_draft_ends_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    async with two_turns([message("3"), Silence()]) as here:
        runner = here.ask("three")
        await wait_all_tasks_blocked()
        here.store.failing_drafts = "the disk is full"
        runner.press(Pressed("abort"))
        result = await here.answer(runner)
        assert (result.outcome, result.draft) == (Outcome.ABORTED, "three")
        assert "a draft was not stored: the disk is full" in caplog.text
