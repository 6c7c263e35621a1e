"""A whole answer over HTTP: provider, child process and llama.cpp adapter, with a stand-in for the runtime."""

import json
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from jp_lsp.conversation.event import ChatRequest, ConversationEvent
from jp_lsp.conversation.thread import Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import CycleRequest, ModelParameters
from jp_lsp.providers.local.adapter import LocalProvider, connect_to_llamacpp
from jp_lsp.providers.local.process import LocalModel
from jp_lsp.providers.local.settings import LocalModelSettings, describe_model
from jp_lsp.providers.request_trace import RequestTrace
from jp_lsp.render.secrets import Secrets
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Completed, Finished, StreamEvent, TextPart
from tests.adapters.local.stand_ins import Observer, scripted_options

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def open_provider(folder: Path, **script: object) -> AsyncGenerator[LocalProvider]:
    provider = LocalProvider(
        LocalModelSettings(folder), LocalModel(scripted_options(folder, **script)), connect_to_llamacpp
    )
    try:
        with anyio.fail_after(20):
            yield provider
    finally:
        await provider.aclose()


async def ask(provider: LocalProvider, folder: Path) -> list[StreamEvent]:
    asked = ThreadEvent(ConversationEvent(Timestamp(1), ChatRequest("hi")), "local")
    thread = Thread(("Be brief.",), (), (asked,), None, Timestamp(1))
    request = CycleRequest(describe_model(LocalModelSettings(folder)), thread, ModelParameters())
    return [event async for event in provider.stream(request, Observer())]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextPart) and event.kind == "message")


async def test_what_the_model_is_asked_can_be_written_down(tmp_path: Path) -> None:
    trace = RequestTrace(tmp_path / "trace", Secrets([]))
    model = LocalModel(scripted_options(tmp_path, answer=["Good day."]))
    connect = partial(connect_to_llamacpp, trace=trace)
    provider = LocalProvider(LocalModelSettings(tmp_path), model, connect)
    with anyio.fail_after(20):
        assert text_of(await ask(provider, tmp_path)) == "Good day."
        key = (await model.start()).key
        await provider.aclose()
    (file,) = (tmp_path / "trace").iterdir()
    assert file.name.endswith("-local.json")
    written = file.read_text(encoding="utf-8")
    assert json.loads(written)["messages"][-1]["content"] == "hi"
    assert key not in written


@pytest.mark.requirement("R1")
async def test_an_answer_comes_through(tmp_path: Path) -> None:
    async with open_provider(tmp_path, answer=["Good ", "day, ", "you."]) as provider:
        events = await ask(provider, tmp_path)

    assert text_of(events) == "Good day, you."
    assert events[-1] == Finished(Completed())


async def test_the_users_proxy_is_not_asked_for_this_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy could not reach the child, and would learn the conversation and the key."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, address)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        async with open_provider(tmp_path, answer=["Hello."]) as provider:
            assert text_of(await ask(provider, tmp_path)) == "Hello."
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):
            proxy.accept()


@pytest.mark.requirement("R256")
async def test_a_child_that_dies_in_mid_answer_keeps_its_text_and_is_told(tmp_path: Path) -> None:
    async with open_provider(tmp_path, answer=["Half an answer that is long enough", "<die>"]) as provider:
        events = await ask(provider, tmp_path)

        assert text_of(events) == "Half an answer that is long enough"
        assert events[-1] == StreamFailure(
            FailureKind.TRANSIENT,
            "The local model was killed, perhaps because memory ran out. It is started again at the next attempt.",
            provider="local",
        )
        (tmp_path / "model.json").write_text('{"answer": ["Whole."]}', encoding="utf-8")
        assert text_of(await ask(provider, tmp_path)) == "Whole."


@pytest.mark.requirement("R256")
async def test_a_wrong_key_is_refused(tmp_path: Path) -> None:
    model = LocalModel(scripted_options(tmp_path))
    try:
        endpoint = await model.start()
        stranger = connect_to_llamacpp(type(endpoint)(endpoint.base_url, "guessed"))
        asked = ThreadEvent(ConversationEvent(Timestamp(1), ChatRequest("hi")), "local")
        thread = Thread((), (), (asked,), None, Timestamp(1))
        request = CycleRequest(describe_model(LocalModelSettings(tmp_path)), thread, ModelParameters())

        [failure] = [event async for event in stranger.stream(request, Observer())]

        assert isinstance(failure, StreamFailure)
        assert (failure.kind, failure.status) == (FailureKind.AUTH, 401)
        await stranger.aclose()
    finally:
        await model.aclose()
    assert "guessed" not in os.environ.values()
