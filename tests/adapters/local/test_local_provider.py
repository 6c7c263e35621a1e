"""The provider `local`: what it asks of the model, and how it meets a child that starts, dies or is missing."""

import logging
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment, Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import CycleObserver, CycleRequest, ModelParameters, ProviderError
from jp_lsp.providers.local.adapter import LocalProvider
from jp_lsp.providers.local.process import Endpoint, LocalModel
from jp_lsp.providers.local.settings import LocalModelSettings, describe_model
from jp_lsp.tools.definition import NamedTool, ToolDefinition
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Completed, Finished, KeepAlive, StreamEvent, TextPart
from tests.adapters.local.stand_ins import Observer, open_gate, scripted_options

pytestmark = pytest.mark.anyio

ANSWER: Sequence[StreamEvent] = (TextPart(1, "message", "Hello"), Finished(Completed()))
TEXT = TextAttachment("a.txt", "words")
IMAGE = BinaryAttachment("a.png", b"\x89PNG", "image/png")


@dataclass
class ScriptedBackend:
    """Answers with given events and remembers what it was asked."""

    endpoint: Endpoint
    events: Sequence[StreamEvent] = ANSWER
    requests: list[CycleRequest] = field(default_factory=list[CycleRequest])
    is_stream_closed: bool = False
    is_closed: bool = False

    async def stream(
        self, request: CycleRequest, observer: CycleObserver
    ) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        try:
            for event in self.events:
                yield event
        finally:
            self.is_stream_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


@dataclass
class Bench:
    """A provider over the real child process; `backends` are those that it has connected."""

    provider: LocalProvider
    settings: LocalModelSettings
    backends: list[ScriptedBackend]
    events: Sequence[StreamEvent] = ANSWER

    def connect(self, endpoint: Endpoint) -> ScriptedBackend:
        self.backends.append(ScriptedBackend(endpoint, self.events))
        return self.backends[-1]

    def request(self, **parts: object) -> CycleRequest:
        asked = ThreadEvent(ConversationEvent(Timestamp(1), ChatRequest("hi")), "local")
        thread = Thread(("Be brief.",), (), (asked,), None, Timestamp(1))
        return replace(CycleRequest(describe_model(self.settings), thread, ModelParameters()), **parts)  # type: ignore[arg-type]  # field names and values of the cases

    async def ask(self, request: CycleRequest | None = None) -> list[StreamEvent]:
        return [event async for event in self.provider.stream(request or self.request(), Observer())]

    async def seen(self, **parts: object) -> CycleRequest:
        await self.ask(self.request(**parts))
        return self.backends[-1].requests[-1]


@asynccontextmanager
async def open_bench(
    folder: Path, *, keep_alive: float = 10.0, model_path: Path | None = None, **script: object
) -> AsyncGenerator[Bench]:
    settings = LocalModelSettings(folder, model_path)
    bench: Bench

    def connect(endpoint: Endpoint) -> ScriptedBackend:
        return bench.connect(endpoint)

    model = LocalModel(scripted_options(folder, **script))
    bench = Bench(LocalProvider(settings, model, connect, keep_alive=keep_alive), settings, [])
    try:
        with anyio.fail_after(20):
            yield bench
    finally:
        await bench.provider.aclose()


@pytest.mark.requirement("R1")
async def test_the_first_request_starts_the_child_and_later_ones_share_it(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        assert await bench.ask() == list(ANSWER)
        assert await bench.ask() == list(ANSWER)

        assert len(bench.backends) == 1
        assert bench.backends[0].endpoint.base_url.startswith("http://127.0.0.1:")


async def test_signs_of_life_while_the_model_loads(tmp_path: Path) -> None:
    observer = Observer()
    with open_gate() as gate:
        async with (
            open_bench(tmp_path, keep_alive=0.01, port=gate.port) as bench,
            aclosing(bench.provider.stream(bench.request(), observer)) as events,
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(gate.wait_for_child)
                assert await anext(events) == KeepAlive()
            assert observer.byte_reports == 1
            gate.let_load()
            rest = [event async for event in events if event != KeepAlive()]

    assert rest == list(ANSWER)
    assert len(gate.pids) == 1


async def test_a_stream_that_is_closed_while_loading_leaves_the_child_to_the_next(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with open_bench(tmp_path, keep_alive=0.01, port=gate.port) as bench:
            async with aclosing(bench.provider.stream(bench.request(), Observer())) as events:
                assert await anext(events) == KeepAlive()
            await gate.wait_for_child()
            gate.let_load()

            assert [event for event in await bench.ask() if event != KeepAlive()] == list(ANSWER)
    assert len(gate.pids) == 1


async def test_closing_the_stream_closes_the_one_below(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        async with aclosing(bench.provider.stream(bench.request(), Observer())) as events:
            assert await anext(events) == ANSWER[0]
            assert not bench.backends[0].is_stream_closed
        assert bench.backends[0].is_stream_closed


@pytest.mark.requirement("R256")
async def test_a_child_that_cannot_start_is_a_fatal_failure_with_the_reason(tmp_path: Path) -> None:
    async with open_bench(tmp_path, load="refuse") as bench:
        assert await bench.ask() == [
            StreamFailure(
                FailureKind.OTHER,
                "The local model does not run: the local model could not be loaded: RuntimeError: failed to init "
                "(it said: loader: invalid magic characters; giving up).",
                provider="local",
            )
        ]
        assert bench.backends == []


@pytest.mark.requirement("R256")
async def test_a_child_that_dies_in_an_answer_is_said_and_replaced(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with open_bench(tmp_path, port=gate.port) as bench, anyio.create_task_group() as tasks:
            bench.events = (ANSWER[0], StreamFailure(FailureKind.CONNECT, "cannot connect"))

            async def load() -> None:
                await gate.wait_for_child()
                gate.let_load()

            tasks.start_soon(load)
            async with aclosing(bench.provider.stream(bench.request(), Observer())) as events:
                assert await anext(events) == ANSWER[0]
                os.kill(gate.pids[0], signal.SIGKILL)
                assert await anext(events) == StreamFailure(
                    FailureKind.TRANSIENT,
                    "The local model was killed, perhaps because memory ran out. "
                    "It is started again at the next attempt.",
                    provider="local",
                )
            bench.events = ANSWER
            tasks.start_soon(load)
            assert await bench.ask() == list(ANSWER)

        assert [backend.is_closed for backend in bench.backends] == [True, True]
    assert len(set(gate.pids)) == 2


@pytest.mark.parametrize(
    "failure",
    [
        StreamFailure(FailureKind.CONTEXT_LENGTH, "too long", status=400, provider="llamacpp"),
        StreamFailure(FailureKind.TRANSIENT, "the connection broke", retry_after=2.0, provider="llamacpp"),
    ],
)
async def test_a_failure_of_a_living_child_keeps_its_kind_and_gets_our_name(
    tmp_path: Path, failure: StreamFailure
) -> None:
    async with open_bench(tmp_path) as bench:
        bench.events = (failure,)
        assert await bench.ask() == [replace(failure, provider="local")]


@pytest.mark.requirement("R240")
async def test_the_small_model_gets_only_what_it_can_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_bench(tmp_path) as bench:
        request = bench.request(tools=(ToolDefinition("read", {}),), tool_choice=NamedTool("read"))
        request = replace(request, thread=replace(request.thread, attachments=(TEXT, IMAGE)))
        with caplog.at_level(logging.WARNING):
            await bench.ask(request)
            await bench.ask(request)
        sent = bench.backends[0].requests[0]

    assert (list(sent.tools), sent.tool_choice) == ([], "auto")
    assert list(sent.thread.attachments) == [TEXT]
    assert sent.thread.events == request.thread.events
    assert [record.getMessage() for record in caplog.records] == [
        "the local model cannot use tools, images or documents; they are not sent to it"
    ]


PARAMETERS = {
    "unset": (
        ModelParameters(),
        ModelParameters(max_tokens=1024, reasoning="off", temperature=0.2, top_p=0.9),
    ),
    "the user's win": (
        ModelParameters(
            max_tokens=9, reasoning="auto", temperature=0.0, top_p=0.5, top_k=3, stop_words=("x",)
        ),
        ModelParameters(
            max_tokens=9, reasoning="off", temperature=0.0, top_p=0.5, top_k=3, stop_words=("x",)
        ),
    ),
}


@pytest.mark.parametrize(("wished", "sent"), PARAMETERS.values(), ids=PARAMETERS)
async def test_the_small_model_is_kept_calm_and_brief(
    tmp_path: Path, wished: ModelParameters, sent: ModelParameters
) -> None:
    async with open_bench(tmp_path) as bench:
        assert (await bench.seen(parameters=wished)).parameters == sent


async def test_a_model_of_the_users_own_gets_the_request_as_it_is(tmp_path: Path) -> None:
    async with open_bench(tmp_path, model_path=tmp_path / "My Model.Q4.gguf") as bench:
        request = bench.request(tools=(ToolDefinition("read", {}),), tool_choice="required")

        await bench.ask(request)

        assert bench.backends[0].requests == [request]


@pytest.mark.requirement("R240", "R258")
async def test_there_is_one_model_and_it_says_that_it_is_small(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        [details] = await bench.provider.models()

        assert str(details.id) == "local/smollm2-135m"
        assert details.display_name == "SmolLM2 135M (built in, small)"
        assert details.context_window == 8192
        assert await bench.provider.model_details("smollm2-135m") == details
        assert bench.backends == []


@pytest.mark.requirement("R256")
async def test_another_model_is_not_answered_for(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        with pytest.raises(ProviderError) as raised:
            await bench.provider.model_details("llama3")

    assert raised.value.failure == StreamFailure(
        FailureKind.UNKNOWN_MODEL,
        "There is no model local/llama3; the local model is local/smollm2-135m.",
        provider="local",
    )


@pytest.mark.requirement("T06")
async def test_closing_the_provider_ends_the_child_and_the_connection(tmp_path: Path) -> None:
    with open_gate() as gate:
        async with (
            open_bench(tmp_path, keep_alive=0.01, port=gate.port) as bench,
            aclosing(bench.provider.stream(bench.request(), Observer())) as events,
        ):
            assert await anext(events) == KeepAlive()
            await gate.wait_for_child()
            gate.let_load()
            while await anext(events) == KeepAlive():
                assert not bench.backends
        await gate.wait_for_end()
        assert bench.backends[0].is_closed
