"""One suite for every store: what the driver may rely on, on disk with both roots, on disk in the workspace
alone, and in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent, MessageResponse, TurnStart
from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.store import ConversationStore, OpenConversation, StoreError
from jp_lsp.workspace.memory import MemoryStore
from tests.support.streams import at, lines
from tests.support.workspaces import ID, Clock, Place

pytestmark = pytest.mark.anyio

BASE = {"assistant": {"model": {"id": {"provider": "test", "name": "m"}}}}


@dataclass
class Bench:
    """A store and its clock; `again` gives the store as another process would see it."""

    store: ConversationStore
    clock: Clock
    again: Callable[[], ConversationStore]
    damage: Callable[[ConversationId], None]
    remove: Callable[[ConversationId], None]


def disk_bench(place: Place) -> Bench:
    def folders(id: ConversationId) -> list[Path]:
        return [folder for root in place.open().in_reading_order for folder in root.folders_of(id)]

    def damage(id: ConversationId) -> None:
        for folder in folders(id):
            (folder / "events.json").write_text('[{"type": "chat_request"}]', encoding="utf-8")

    def remove(id: ConversationId) -> None:
        for folder in folders(id):
            folder.rename(folder.parent.parent / "gone")

    return Bench(place.store(), place.clock, place.store, damage, remove)


def memory_bench() -> Bench:
    clock = Clock()
    store = MemoryStore(clock)

    def damage(id: ConversationId) -> None:
        found = store.stored[id]
        store.stored[id] = type(found)(found.base_config, '[{"type": "chat_request"}]', None, at(0))

    return Bench(store, clock, lambda: store, damage, lambda id: store.stored.pop(id) and None)


@pytest.fixture(params=["both roots", "workspace alone", "memory"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    if request.param == "memory":
        return memory_bench()
    return disk_bench(Place(tmp_path, has_silo=request.param == "both roots"))


def say(stream: ConversationStream, text: str) -> None:
    stream.append(ConversationEvent(at(1), MessageResponse(text)))


def ask(stream: ConversationStream, text: str) -> None:
    stream.append(ConversationEvent(at(0), TurnStart()))
    stream.append(ConversationEvent(at(0), ChatRequest(text)))


async def make(bench: Bench, text: str = "hi", *, release: bool = True) -> OpenConversation:
    conversation = await bench.store.create(BASE, local=False, persist=True)
    ask(conversation.stream, text)
    await conversation.save()
    if release:
        await conversation.release()
    return conversation


async def reopened(store: ConversationStore, id: ConversationId) -> OpenConversation:
    conversation = await store.open(id)
    assert conversation is not None
    return conversation


@pytest.mark.requirement("R281", "R222", "R230", "R241", "R323")
async def test_a_conversation_is_created_saved_and_continued(bench: Bench) -> None:
    assert await bench.store.last() is None
    created = await bench.store.create(BASE, local=False, persist=True)
    assert (created.id, created.is_new, len(created.stream)) == (ID, True, 0)
    assert created.stream.base_config == BASE
    assert await bench.again().find(ID) is False
    ask(created.stream, "hi")
    await created.save()
    assert created.is_new is False
    await created.release()
    store = bench.again()
    assert await store.find(ID) is True
    assert await store.last() == ID
    opened = await reopened(store, ID)
    assert opened.is_new is False
    assert opened.stream.base_config == BASE
    say(opened.stream, "ho")
    await opened.save()
    await opened.release()
    copy = await bench.again().copy(ID)
    assert lines(copy.stream.events()) == ["turn", "user: hi", "message: ho"]


@pytest.mark.requirement("D7", "R277")
async def test_without_a_save_nothing_is_stored(bench: Bench) -> None:
    """Neither creating, nor appending, nor letting go saves anything."""
    conversation = await bench.store.create(BASE, local=False, persist=True)
    ask(conversation.stream, "hi")
    await conversation.release()
    del conversation
    assert await bench.again().find(ID) is False


@pytest.mark.requirement("R277")
async def test_an_opened_conversation_that_is_dropped_saves_nothing(bench: Bench) -> None:
    await make(bench)
    opened = await reopened(bench.store, ID)
    say(opened.stream, "lost")
    await opened.release()
    del opened
    assert lines((await bench.again().copy(ID)).stream.events()) == ["turn", "user: hi"]


@pytest.mark.requirement("T24", "R338")
async def test_a_conversation_is_open_once(bench: Bench) -> None:
    first = await make(bench, release=False)
    assert await bench.again().open(ID) is None
    assert await bench.again().lock_holder(ID) is not None
    say(first.stream, "mine")
    await first.save()
    await first.release()
    assert await bench.again().lock_holder(ID) is None
    second = await reopened(bench.again(), ID)
    assert lines(second.stream.events())[-1] == "message: mine"
    await second.release()


async def test_there_may_be_no_such_conversation(bench: Bench) -> None:
    unknown = ConversationId("jp-c5")
    assert await bench.store.find(unknown) is False
    assert await bench.store.lock_holder(unknown) is None
    for attempt in (bench.store.open, bench.store.copy):
        with pytest.raises(Refusal, match="no conversation jp-c5") as refused:
            await attempt(unknown)
        assert refused.value.error.code == "conversation_not_found"


@pytest.mark.requirement("C32")
async def test_files_that_cannot_be_read_are_refused_with_the_reason(bench: Bench) -> None:
    await make(bench)
    bench.damage(ID)
    for attempt in (bench.store.open, bench.store.copy):
        with pytest.raises(Refusal, match=r"entry 0 \(chat_request\): 'timestamp' is missing") as refused:
            await attempt(ID)
        assert refused.value.error.code == "conversation_unreadable"
    assert await bench.store.find(ID) is True
    assert await bench.again().lock_holder(ID) is None


@pytest.mark.requirement("C10")
async def test_ids_do_not_collide(bench: Bench) -> None:
    first = await make(bench)
    second = await bench.store.create(BASE, local=False, persist=True)
    third = await bench.store.create(BASE, local=False, persist=False)
    other = await bench.again().create(BASE, local=False, persist=True)
    assert (first.id, second.id, third.id) == (ID, "jp-c17912345679", "jp-c17912345680")
    assert other.id not in {first.id, second.id}


async def test_the_last_conversation_is_the_one_that_was_worked_with_last(bench: Bench) -> None:
    first = await make(bench)
    bench.clock.advance(60)
    second = await make(bench)
    assert await bench.again().last() == second.id
    bench.clock.advance(60)
    opened = await reopened(bench.store, first.id)
    say(opened.stream, "again")
    await opened.save()
    await opened.release()
    assert await bench.again().last() == first.id


@pytest.mark.requirement("R287", "R279", "F32")
async def test_when_the_last_conversation_is_gone_the_one_before_is_the_last(bench: Bench) -> None:
    first = await make(bench)
    bench.clock.advance(60)
    second = await make(bench)
    bench.remove(second.id)
    assert await bench.again().last() == first.id


class TestUnsaved:
    async def test_a_new_one_leaves_nothing(self, bench: Bench) -> None:
        conversation = await bench.store.create(BASE, local=False, persist=False)
        assert conversation.is_new
        ask(conversation.stream, "hi")
        await conversation.save()
        await conversation.keep_draft("text")
        await conversation.clear_draft()
        await conversation.discard()
        with pytest.raises(StoreError, match="asked not to be saved"):
            await conversation.save_recovery_copy()
        await conversation.release()
        assert await bench.again().find(conversation.id) is False

    async def test_a_copy_is_no_way_back(self, bench: Bench) -> None:
        held = await make(bench, release=False)
        copy = await bench.again().copy(ID)
        assert copy.is_new is False
        say(copy.stream, "only here")
        await copy.save()
        await copy.release()
        assert lines((await bench.again().copy(ID)).stream.events()) == ["turn", "user: hi"]
        assert await bench.again().open(ID) is None
        await held.release()


class TestForking:
    async def test_a_copy_goes_its_own_way(self, bench: Bench) -> None:
        held = await make(bench, release=False)
        held.set_title("Old title")
        await held.save()
        bench.clock.advance(60)
        copy = await bench.again().fork(ID, keep_turns=None, persist=True)
        assert (copy.is_new, copy.title, copy.stream.base_config) == (True, "Old title", BASE)
        assert await bench.again().find(copy.id) is False
        say(copy.stream, "only there")
        await copy.save()
        await copy.release()
        assert copy.is_new is False
        assert lines((await bench.again().copy(ID)).stream.events()) == ["turn", "user: hi"]
        theirs = (await bench.again().copy(copy.id)).stream
        assert lines(theirs.events()) == ["turn", "user: hi", "message: only there"]
        assert await bench.again().last() == copy.id
        await held.release()

    async def test_a_copy_can_be_taken_back(self, bench: Bench) -> None:
        await make(bench)
        copy = await bench.store.fork(ID, keep_turns=0, persist=True)
        assert len(copy.stream) == 0
        await copy.save()
        await copy.discard()
        await copy.release()
        assert (await bench.again().find(copy.id), await bench.again().find(ID)) == (False, True)

    async def test_a_copy_that_is_not_kept(self, bench: Bench) -> None:
        await make(bench)
        copy = await bench.store.fork(ID, keep_turns=None, persist=False)
        copy.set_expiry(at(9))
        await copy.save()
        await copy.release()
        assert copy.id != ID
        assert await bench.again().find(copy.id) is False

    async def test_what_is_not_there_cannot_be_copied(self, bench: Bench) -> None:
        with pytest.raises(Refusal, match="no conversation"):
            await bench.store.fork(ID, keep_turns=None, persist=True)


class TestSaving:
    @pytest.mark.requirement("R290", "R5")
    async def test_what_is_saved_is_the_stream_at_the_moment_of_the_call(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                say(conversation.stream, str(number))
                tasks.start_soon(conversation.save)
                await anyio.lowlevel.checkpoint()
            conversation.stream.truncate(4)
        assert len((await bench.again().copy(ID)).stream.events()) == 7
        await conversation.save()
        assert len((await bench.again().copy(ID)).stream.events()) == 4
        await conversation.release()

    @pytest.mark.requirement("D6")
    async def test_a_rollback_is_durable_with_the_next_save(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        mark = len(conversation.stream)
        say(conversation.stream, "refused")
        await conversation.save()
        conversation.stream.truncate(mark)
        await conversation.save()
        assert lines((await bench.again().copy(ID)).stream.events()) == ["turn", "user: hi"]

    async def test_a_conversation_that_is_gone_is_not_made_again(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        bench.remove(ID)
        say(conversation.stream, "kept")
        with pytest.raises(StoreError, match=r"conversation gone.*your copy is in"):
            await conversation.save()
        assert await bench.again().find(ID) is False
        await conversation.release()

    async def test_what_somebody_else_changed_is_never_overwritten(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        bench.damage(ID)
        say(conversation.stream, "kept")
        for _ in range(2):
            with pytest.raises(StoreError, match=r"changed by somebody else.*your copy is in"):
                await conversation.save()
        with pytest.raises(Refusal, match="cannot be read"):
            await bench.again().copy(ID)
        await conversation.release()

    async def test_a_recovery_copy_can_be_asked_for(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        uri = await conversation.save_recovery_copy()
        assert "/recovery/" in uri
        assert await conversation.save_recovery_copy() == uri
        await conversation.release()


class TestDiscarding:
    async def test_a_conversation_that_was_made_here_goes(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        await conversation.discard()
        assert conversation.is_new
        assert await bench.again().find(ID) is False
        await conversation.release()

    async def test_one_that_was_opened_stays(self, bench: Bench) -> None:
        await make(bench)
        opened = await reopened(bench.store, ID)
        await opened.discard()
        await opened.release()
        assert await bench.again().find(ID) is True

    async def test_one_that_was_never_saved_needs_no_removal(self, bench: Bench) -> None:
        conversation = await bench.store.create(BASE, local=False, persist=True)
        await conversation.discard()
        await conversation.release()
        assert await bench.again().find(ID) is False

    async def test_it_can_be_saved_again(self, bench: Bench) -> None:
        conversation = await make(bench, release=False)
        await conversation.discard()
        say(conversation.stream, "after all")
        await conversation.save()
        await conversation.release()
        assert lines((await bench.again().copy(ID)).stream.events())[-1] == "message: after all"


class TestFailingSaves:
    """Only the memory store fails on demand; the disk's failures are in `test_disk_store`."""

    async def test_the_save_with_the_number_fails_and_nothing_changes(self) -> None:
        store = MemoryStore(failing_saves={2: "the disk is full"})
        conversation = await store.create(BASE, local=False, persist=True)
        ask(conversation.stream, "hi")
        await conversation.save()
        say(conversation.stream, "ho")
        with pytest.raises(StoreError, match="the disk is full"):
            await conversation.save()
        assert lines((await store.copy(conversation.id)).stream.events()) == ["turn", "user: hi"]
        await conversation.save()
        assert store.save_count == 3
        assert lines((await store.copy(conversation.id)).stream.events())[-1] == "message: ho"


async def test_a_suggested_title_counts_while_the_present_one_is_the_expected_one(bench: Bench) -> None:
    conversation = await make(bench, release=False)
    conversation.suggest_title("First", None)
    assert conversation.title == "First"
    await conversation.save()
    conversation.suggest_title("Late", None)
    assert conversation.title == "First"
    conversation.suggest_title("Second", "First")
    conversation.set_title("Mine")
    await conversation.save()
    await conversation.release()
    again = await reopened(bench.again(), ID)
    assert again.title == "Mine"
    assert again.last_activated_at == conversation.last_activated_at
    await again.release()


async def test_a_title_alone_is_saved_and_is_no_activation(bench: Bench) -> None:
    first = await make(bench)
    bench.clock.advance(60)
    second = await reopened(bench.store, ID)
    second.suggest_title("Found later", None)
    await second.save()
    assert (second.title, second.last_activated_at) == ("Found later", first.last_activated_at)
    await second.release()
