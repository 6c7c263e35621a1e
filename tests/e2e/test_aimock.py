"""Whole turns over stdio against a fake vendor that others wrote, on every API that it speaks and we do.

The turn is always the same: the model thinks, says a sentence and calls two tools, then it says another. It must
come out the same whatever goes wrong on the way.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from jp_lsp.providers.continuation import CONTINUE
from tests.support.aimock import aimock, requests_to
from tests.support.jp_server import JpServer, initialized_server
from tests.support.two_tool_turn import CALLS, END, LONG, REST, SAID, THOUGHT, TOOLS, check_turn
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

KEY = "a-key-for-nobody"
KEYS: tuple[str, ...] = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")


@dataclass(frozen=True, slots=True)
class Api:
    """One API of the fake: the model that is asked there, what stands behind the address, and where it errs.

    `silent_about`: why its reasoning cannot arrive. `odd_finish`: the word with which it ends a cycle of calls,
    and which its vendor does not have; it is told to the user, as any word that we do not know.
    """

    model: str
    path: str = ""
    silent_about: str = ""
    odd_finish: str = ""


VENDORS = {
    "anthropic": Api("anthropic/claude-sonnet-4-5"),
    "openai": Api("openai/gpt-5"),
    "google": Api("google/gemini-2.5-flash", "/v1beta", odd_finish="FUNCTION_CALL"),
    "ollama": Api("ollama/qwen3", silent_about="written as `reasoning_content`; Ollama says `thinking`"),
    "openrouter": Api("openrouter/deepseek/deepseek-r1"),
    "llamacpp": Api("llamacpp/tiny"),
}

TOOL_CALLS = [{"id": f"call_{name}", "name": name, "arguments": given} for name, given in CALLS.items()]
WHOLE = {"content": SAID, "reasoning": THOUGHT, "toolCalls": TOOL_CALLS}
CONTINUED = {"content": REST, "toolCalls": TOOL_CALLS}

FAULTS: dict[str, dict[str, Any]] = {
    "none": {"response": WHOLE},
    **{
        f"status {status}": {
            "response": {"error": {"message": "not now", "type": "overloaded_error"}, "status": status}
        }
        for status in (429, 500, 529)
    },
    "cut": {"response": {**WHOLE, "content": LONG}, "truncateAfterChunks": 18, "latency": 20},
    "slow": {"response": WHOLE, "chunkSize": 3, "latency": 20},
}
"""What happens to the first request of a turn."""

UNDISTURBED = frozenset({"none", "slow"})


def fixtures() -> Iterator[dict[str, Any]]:
    """Each question is about a fault, which is met once."""
    for word, fault in FAULTS.items():
        again = CONTINUED if word == "cut" else WHOLE
        yield {"match": {"userMessage": word, "hasToolResult": False, "sequenceIndex": 0}, **fault}
        yield {"match": {"userMessage": word, "hasToolResult": False}, "response": again}
        yield {"match": {"userMessage": word, "hasToolResult": True}, "response": {"content": END}}
    # Models that cannot write on from their own words are asked to.
    yield {"match": {"userMessage": CONTINUE, "hasToolResult": False}, "response": CONTINUED}


@dataclass(frozen=True, slots=True)
class Asked:
    """A server whose user has one vendor, and the vendor."""

    api: Api
    server: JpServer
    user: UserFolders
    url: str


@pytest_asyncio.fixture(params=VENDORS, scope="module", loop_scope="session")
async def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Asked]:
    vendor = str(request.param)
    api = VENDORS[vendor]
    user = UserFolders(tmp_path_factory.mktemp(vendor))
    with aimock(tmp_path_factory.mktemp("fake"), list(fixtures())) as url:
        (user.config / "config.toml").write_text(
            f"assistant.model.id = '{api.model}'\nassistant.model.parameters.reasoning = 'low'\n"
            "assistant.request.base_backoff_ms = 1\nconversation.title.generate.auto = false\n"
            f"providers.llm.{vendor}.base_url = '{url}{api.path}'\n{TOOLS}",
            "utf-8",
        )
        environment = dict.fromkeys(KEYS, KEY)
        async with initialized_server(user, environment=environment) as server:
            yield Asked(api, server, user, url)


@pytest.mark.requirement("R1", "R13", "R52", "R55", "R95", "T09")
@pytest.mark.parametrize("fault", FAULTS)
async def test_two_tools_and_reasoning(asked: Asked, fault: str) -> None:
    api = asked.api
    before = len(requests_to(asked.url))
    result = await asked.server.client.query(fault, fault, conversation="new")
    check_turn(
        result,
        asked.user.events(result["conversation"]),
        thinks=not api.silent_about,
        is_cut=fault == "cut",
        odd_finish=api.odd_finish,
    )
    assert len(requests_to(asked.url)) - before == (2 if fault in UNDISTURBED else 3)
