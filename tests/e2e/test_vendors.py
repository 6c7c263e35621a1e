"""Whole turns against servers that were not written here: a fake of several vendors, and the local model's.

The fake vendor (llmock) grades its clients: `assert_resilient` fails when a wait that a vendor asked for was cut
short, when what can be tried again was not, or when what cannot be was.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from llmock.scenarios import Fail, Match, Reply

from jp_lsp.providers.local.adapter import build_model
from jp_lsp.providers.local.process import Endpoint
from jp_lsp.providers.local.settings import LocalModelSettings
from tests.support.jp_client import JpClient
from tests.support.jp_server import JpServer, initialized_server
from tests.support.local_model import local_model_folder
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.filterwarnings("default")]

KEY = "a-key-for-nobody"
ANTHROPIC = "anthropic/claude-sonnet-4-5"
CHAT = "compatible/gpt-4o"
GOOGLE = "google/gemini-2.5-flash"
RESPONSES = "openai/gpt-4o"
XAI = "xai/grok-3"


ANSWERS = Match(stream=True)
"""What is asked of a model; questions about models are not."""


def reply(llmock: Any, text: str, times: int | None = 1) -> None:
    llmock.add(Reply(text=text, times=times, match=ANSWERS))


def user_of(folder: Path, model: str, providers: str = "") -> UserFolders:
    user = UserFolders(folder)
    (user.config / "config.toml").write_text(
        f"assistant.model.id = '{model}'\nassistant.request.base_backoff_ms = 1\n"
        f"conversation.title.generate.auto = false\n{providers}",
        encoding="utf-8",
    )
    return user


@pytest.fixture(params=[ANTHROPIC, CHAT, GOOGLE, RESPONSES, XAI])
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def vendor_user(tmp_path: Path, model: str, llmock: Any) -> UserFolders:
    address = (
        f"providers.llm.anthropic.base_url = '{llmock.base_url('anthropic')}'\n"
        f"providers.llm.google.base_url = '{llmock.base_url('gemini')}/v1beta'\n"
        f"providers.llm.openai.base_url = '{llmock.base_url('openai')}'\n"
    )
    return user_of(tmp_path, model, address)


@pytest_asyncio.fixture(loop_scope="session")
async def vendor_server(vendor_user: UserFolders, llmock: Any) -> AsyncIterator[JpServer]:
    options = {"jp": {"compatible": {"base_url": llmock.url}}}
    names = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "XAI_API_KEY")
    environment = {**dict.fromkeys(names, KEY), "XAI_BASE_URL": llmock.base_url("xai")}
    async with initialized_server(vendor_user, environment=environment, options=options) as server:
        yield server


async def test_a_whole_turn_on_a_vendor(
    vendor_server: JpServer, vendor_user: UserFolders, llmock: Any, model: str
) -> None:
    reply(llmock, "Tabs *and* spaces.\n\nBoth.")
    result = await vendor_server.client.query("Tabs or spaces?", "t")
    assert (result["outcome"], result["text"]) == ("completed", "Tabs *and* spaces.\n\nBoth.")
    assert vendor_server.client.transcript("t").endswith("Tabs *and* spaces.\n\nBoth.")
    assert vendor_user.story(result["conversation"])[-1] == "message: Tabs *and* spaces.\n\nBoth."
    reply(llmock, "Tabs.")
    again = await vendor_server.client.query("One word.", "u", conversation=result["conversation"])
    assert again["text"] == "Tabs."
    asked = [record for record in llmock.requests if record.method == "POST"]
    names = ("messages", "contents", "input")
    said = [record.body[name] for record in asked for name in names if name in record.body]
    assert [len(each) for each in said] in ([1, 3], [2, 4])  # a system message may lead
    llmock.assert_resilient(strict=True)


def _limited(llmock: Any) -> None:
    llmock.add(Fail(429, retry_after=1.0, match=ANSWERS))


def _failing(llmock: Any) -> None:
    llmock.add(Fail(503, match=ANSWERS), Fail(500, match=ANSWERS))


def _overloaded(llmock: Any) -> None:
    llmock.add(Fail(529, match=ANSWERS))


def _cut(llmock: Any) -> None:
    llmock.disconnect(after_chunks=4)


def _ended_early(llmock: Any) -> None:
    llmock.truncate(after_chunks=4)


def _broken(llmock: Any) -> None:
    llmock.corrupt(after_chunks=4)


@pytest.mark.parametrize("trouble", [_limited, _failing, _overloaded, _cut, _ended_early, _broken])
async def test_trouble_that_passes_is_not_the_users(
    vendor_server: JpServer, llmock: Any, trouble: Callable[[Any], None]
) -> None:
    trouble(llmock)
    reply(llmock, "One two three four five six seven eight nine ten.", times=None)
    result = await vendor_server.client.query("Count to ten", "t")
    assert result["outcome"] == "completed"
    assert result["text"].endswith("seven eight nine ten.")
    if trouble is _ended_early:
        # The second request goes on behind what had come, which the grader takes for another question.
        assert len([record for record in llmock.requests if record.method == "POST"]) == 2
    else:
        llmock.assert_resilient()


@pytest.mark.requirement("R121", "R302")
async def test_trouble_that_stays_is_said_and_not_repeated(vendor_server: JpServer, llmock: Any) -> None:
    llmock.add(Fail(401, message="that key is not known here", times=None, match=ANSWERS))
    result = await vendor_server.client.query("Hello", "t")
    assert (result["outcome"], result["error"]["class"]) == ("failed", "auth")
    assert "that key is not known here" in result["error"]["message"]
    assert KEY not in str(vendor_server.client.messages)
    assert len([record for record in llmock.requests if record.method == "POST"]) == 1
    llmock.assert_resilient()


@pytest_asyncio.fixture(loop_scope="session")
async def local_endpoint() -> AsyncIterator[Endpoint]:
    folder = local_model_folder()
    model = build_model(LocalModelSettings(folder))
    try:
        yield await model.start()
    finally:
        await model.aclose()


async def test_a_whole_turn_on_a_real_model_over_http(tmp_path: Path, local_endpoint: Endpoint) -> None:
    user = user_of(
        tmp_path,
        "llamacpp/smollm2-135m",
        f"assistant.model.parameters.max_tokens = 40\n"
        f"providers.llm.llamacpp.base_url = '{local_endpoint.base_url}'\n",
    )
    environment = {"LLAMACPP_API_KEY": local_endpoint.key}
    async with initialized_server(user, environment=environment) as server:
        client: JpClient = server.client
        result = await client.query("Say hello in one sentence.", "t")
        assert result["outcome"] == "completed"
        assert any(character.isalpha() for character in result["text"])
        assert len(client.progress("t")) > 3
        assert client.transcript("t").rstrip().endswith(result["text"].rstrip())
        (*_, last) = user.story(result["conversation"])
        assert last.startswith("message: ")
