"""Whole turns over stdio against llmock, a fake of many vendors that others wrote, on every API that we speak too.

It knows no reasoning, so only words, calls and endings can be compared here; `test_aimock` compares reasoning.
Cohere's is the one of its APIs that we do not speak. `test_vendors` has further troubles, and the fake's own
opinion on how we met them.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from llmock.scenarios import Fail, Match, Reply, StreamFault, ToolCall
from llmock.testing import LLMockServer

from tests.support.jp_server import JpServer, initialized_server
from tests.support.two_tool_turn import CALLS, END, LONG, REST, SAID, TOOLS, check_turn
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.filterwarnings("default")]

KEYS: tuple[str, ...] = (
    "ANTHROPIC_API_KEY",
    "COMPATIBLE_API_KEY",
    "GEMINI_API_KEY",
    "OPENAI_API_KEY",
    "XAI_API_KEY",
)

MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "google/gemini-2.5-flash",
    "openai": "openai/gpt-4o",
    "xai": "xai/grok-3",
    # Chat completions of several vendors, each with its own small deviations.
    "ai21": "compatible/jamba-large",
    "groq": "compatible/llama-3.3-70b-versatile",
    "mistral": "compatible/mistral-large-latest",
    "perplexity": "compatible/sonar-pro",
    "together": "compatible/meta-llama/Llama-3.3-70B-Instruct-Turbo",
}
"""The model that is asked, by the fake's name of the vendor."""

ANSWERS = Match(stream=True)
"""What is asked of a model; questions about models are not."""

TOOL_CALLS = tuple(ToolCall(name, given) for name, given in CALLS.items())


def reply(text: str, calls: tuple[ToolCall, ...] = TOOL_CALLS) -> Reply:
    return Reply(text=text, tool_calls=calls, match=ANSWERS)


def refuse(status: int) -> Callable[[Any], None]:
    return lambda llmock: llmock.add(Fail(status, retry_after=0.01, match=ANSWERS), reply(SAID))


def cut(kind: Any) -> Callable[[Any], None]:
    fault = StreamFault(kind, after_chunks=12, match=ANSWERS)
    return lambda llmock: llmock.add(fault, reply(LONG), reply(REST))


def slow(llmock: Any) -> None:
    llmock.pace(20)
    llmock.add(reply(SAID))


FAULTS: dict[str, Callable[[Any], None]] = {
    "none": lambda llmock: llmock.add(reply(SAID)),
    **{f"status {status}": refuse(status) for status in (429, 500, 529)},
    "cut": cut("disconnect"),
    "ended early": cut("truncate"),
    "slow": slow,
}
"""What happens to the first request of a turn."""

UNDISTURBED = frozenset({"none", "slow"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A server whose user has one vendor."""

    server: JpServer
    user: UserFolders


@pytest_asyncio.fixture(params=MODELS, scope="module", loop_scope="session")
async def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, llmock_server: LLMockServer
) -> AsyncIterator[Asked]:
    vendor = str(request.param)
    user = UserFolders(tmp_path_factory.mktemp(vendor))
    url = llmock_server.base_url(vendor)
    (user.config / "config.toml").write_text(
        f"assistant.model.id = '{MODELS[vendor]}'\nassistant.request.base_backoff_ms = 1\n"
        "conversation.title.generate.auto = false\n"
        f"providers.llm.anthropic.base_url = '{url}'\n"
        f"providers.llm.google.base_url = '{url}/v1beta'\n"
        f"providers.llm.openai.base_url = '{url}'\n{TOOLS}",
        "utf-8",
    )
    environment = {**dict.fromkeys(KEYS, "a-key-for-nobody"), "XAI_BASE_URL": url}
    options = {"jp": {"compatible": {"base_url": url}}}
    async with initialized_server(user, environment=environment, options=options) as server:
        yield Asked(server, user)


@pytest.mark.requirement("R1", "R13", "R52", "R55", "T09")
@pytest.mark.parametrize("fault", FAULTS)
async def test_two_tools(asked: Asked, llmock: Any, fault: str) -> None:
    FAULTS[fault](llmock)
    llmock.add(reply(END, calls=()))
    result = await asked.server.client.query(fault, fault, conversation="new")
    events = asked.user.events(result["conversation"])
    check_turn(result, events, thinks=False, is_cut=fault in {"cut", "ended early"})
    asked_for = [record for record in llmock.requests if record.method == "POST"]
    assert len(asked_for) == (2 if fault in UNDISTURBED else 3)
