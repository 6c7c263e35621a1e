"""A long conversation is worked on beside the event loop, so that whatever else is wanted meanwhile is answered.

What works for long here waits until the loop has turned, or until the test is over: on the loop itself it would
wait in vain.
"""

import gc
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import anyio
import pytest
from anyio import to_thread
from anyio.lowlevel import checkpoint

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.beside import LONG, beside_when_long, look_through
from jp_lsp.driver.cycle_request import build_request
from jp_lsp.driver.preparation import CycleParts
from jp_lsp.driver.runner import QueryRunner
from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelDetails, ModelId, ModelParameters
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.turn.actions import RequestCycle
from jp_lsp.turn.inputs import AttemptId, CancelRequested
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.stream_event import StreamEvent
from jp_lsp.workspace.memory import StoredConversation
from tests.support.query_world import World, world
from tests.support.scripted_provider import ScriptedProvider
from tests.support.streams import message, result, stream_of, turn, user
from tests.support.turns import done
from tests.support.turns import message as says

pytestmark = pytest.mark.anyio

STORED = ConversationId("jp-c17912345600")
AT_MOST = 10.0
"""Seconds that a work waits before it fails; it waits that long only where it keeps the loop from turning."""

ENTRIES = [turn(), user("hi"), *(message(f"m{number}") for number in range(LONG))]


@dataclass(slots=True)
class Loop:
    """Tells a worker thread that the loop has turned."""

    turned: threading.Event = field(default_factory=threading.Event)

    async def turn(self) -> None:
        for _ in range(100):
            await checkpoint()
        self.turned.set()

    def has_turned(self) -> bool:
        return self.turned.wait(AT_MOST)


async def while_turning(loop: Loop, work: Callable[[], Awaitable[object]]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loop.turn)
        await work()


class Sections(tuple[Section, ...]):
    """Sections that are read only once the loop has turned."""

    loop: Loop

    def __iter__(self) -> Iterator[Section]:
        assert self.loop.has_turned(), "the loop was kept from turning"
        return super().__iter__()


@pytest.mark.requirement("R126", "S7")
async def test_the_loop_turns_while_the_request_of_a_long_conversation_is_built() -> None:
    loop, sections = Loop(), Sections([Section("plain")])
    sections.loop = loop
    model = ModelDetails(ModelId("test", "big"))
    parts = CycleParts(ScriptedProvider(), model, ModelParameters(), StreamGuards(), None, sections, (), ())
    built: list[CycleRequest] = []

    async def build() -> None:
        built.append(await build_request(stream_of(*ENTRIES), parts, RequestCycle(AttemptId(1), "auto")))

    await while_turning(loop, build)
    assert len(built[0].thread.events) == LONG + 1


@pytest.mark.requirement("R126", "S7")
async def test_the_loop_turns_during_long_work_only() -> None:
    loop = Loop()

    async def work() -> None:
        assert await beside_when_long(LONG + 1, loop.has_turned)

    await while_turning(loop, work)
    caller = threading.get_ident()
    assert await beside_when_long(LONG, threading.get_ident) == caller


async def test_nothing_is_collected_during_long_work_and_everything_after_it() -> None:
    assert await beside_when_long(LONG, gc.isenabled)
    assert not await beside_when_long(LONG + 1, gc.isenabled)
    with pytest.raises(ZeroDivisionError):
        await beside_when_long(LONG + 1, lambda: 1 // 0)
    assert gc.isenabled()


async def test_a_long_conversation_is_found_sound_before_the_core_asks() -> None:
    sound, broken = stream_of(*ENTRIES), stream_of(*ENTRIES, result("nobody asked"))
    for stream in (sound, broken):
        await look_through(stream)
    assert (sound.is_sound, broken.is_sound) == (True, False)
    assert len(broken) == len(ENTRIES) + 1, "repair is the turn's own business"


class HeldProvider(ScriptedProvider):
    """Puts a request into its words until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__([says("never read"), done()])
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def stream(self, request: CycleRequest, observer: CycleObserver) -> AsyncGenerator[StreamEvent, None]:
        self.has_begun.set()
        assert self.may_end.wait(AT_MOST), "the query waited for the end of this"
        return super().stream(request, observer)


def put_long_conversation(here: World) -> None:
    stream: ConversationStream = stream_of(*ENTRIES)
    here.store.stored[STORED] = StoredConversation("{}", stream.events_text(), None, Timestamp(0))


@pytest.mark.requirement("R126", "S7", "T23", "R314")
async def test_a_query_is_cancelled_at_once_while_its_long_request_is_built() -> None:
    provider = HeldProvider()
    async with world(others={"big": provider}) as here:
        put_long_conversation(here)
        try:
            runner: QueryRunner = here.ask("more", conversation=STORED)
            assert await to_thread.run_sync(provider.has_begun.wait, AT_MOST)
            runner.post(CancelRequested())
            outcome = (await here.answer(runner)).outcome
        finally:
            provider.may_end.set()
        assert outcome is Outcome.STOPPED
        assert provider.requests == []
