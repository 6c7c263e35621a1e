"""Whole turns over stdio against a fake vendor that others wrote, on every API that it speaks and we do."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from tests.support.aimock import aimock, requests_to
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

KEY = "a-key-for-nobody"
KEYS: tuple[str, ...] = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")

VENDORS = {
    "anthropic": ("anthropic/claude-sonnet-4-5", ""),
    "openai": ("openai/gpt-5", ""),
    "google": ("google/gemini-2.5-flash", "/v1beta"),
    "ollama": ("ollama/llama3", ""),
    "openrouter": ("openrouter/openai/gpt-4o", ""),
    "llamacpp": ("llamacpp/tiny", ""),
}
"""The model that is asked, and what stands behind the address."""

TOOLS = "".join(
    f"[conversation.tools.{name}]\nsource = 'local'\nenable = true\nrun = 'unattended'\ncommand = 'echo {name}'\n"
    for name in ("look", "see")
)

CALLS = [{"id": "call_1", "name": "look", "arguments": {}}, {"id": "call_2", "name": "see", "arguments": {}}]


def fails_first(word: str, **failure: Any) -> list[dict[str, Any]]:
    """The first request about something fails; all others are answered."""
    return [
        {"match": {"userMessage": word, "sequenceIndex": 0}, **failure},
        {"match": {"userMessage": word}, "response": {"content": f"{word}: done"}},
    ]


def error(status: int) -> dict[str, Any]:
    return {"response": {"error": {"message": "not now", "type": "overloaded_error"}, "status": status}}


FIXTURES = [
    {
        "match": {"userMessage": "tools", "hasToolResult": False},
        "response": {"content": "I look.", "reasoning": "Two looks.", "toolCalls": CALLS},
    },
    {"match": {"userMessage": "tools", "hasToolResult": True}, "response": {"content": "Both seen."}},
    *fails_first("busy429", **error(429)),
    *fails_first("busy500", **error(500)),
    *fails_first("busy529", **error(529)),
    *fails_first("cut", response={"content": "x" * 400}, truncateAfterChunks=10, latency=50),
    {"match": {"userMessage": "slow"}, "response": {"content": "slowly " * 20}, "latency": 20},
    {"match": {}, "response": {"content": "went on"}},
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A server whose user has one vendor, and the vendor."""

    server: JpServer
    user: UserFolders
    url: str

    async def query(self, text: str) -> Any:
        return await self.server.client.query(text, text, conversation="new")


@pytest_asyncio.fixture(params=VENDORS, scope="module", loop_scope="session")
async def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Asked]:
    vendor = str(request.param)
    model, path = VENDORS[vendor]
    user = UserFolders(tmp_path_factory.mktemp(vendor))
    with aimock(tmp_path_factory.mktemp("fake"), FIXTURES) as url:
        base = url + path
        (user.config / "config.toml").write_text(
            f"assistant.model.id = '{model}'\nassistant.request.base_backoff_ms = 1\n"
            f"conversation.title.generate.auto = false\nproviders.llm.{vendor}.base_url = '{base}'\n{TOOLS}",
            "utf-8",
        )
        environment = dict.fromkeys(KEYS, KEY)
        async with initialized_server(user, environment=environment) as server:
            yield Asked(server, user, url)


@pytest.mark.requirement("R1", "R13", "R95", "T09")
async def test_two_tools_and_reasoning(asked: Asked) -> None:
    result = await asked.query("tools")
    assert (result["outcome"], result["text"]) == ("completed", "I look.Both seen."), result
    kinds = [line.split(":")[0].split()[0] for line in asked.user.story(result["conversation"])]
    assert kinds.count("call") == kinds.count("result") == 2


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_a_vendor_that_is_busy_is_asked_again(asked: Asked, status: int) -> None:
    before = len(requests_to(asked.url))
    result = await asked.query(f"busy{status}")
    assert (result["outcome"], result["text"]) == ("completed", f"busy{status}: done"), result
    assert len(requests_to(asked.url)) - before == 2


async def test_a_cut_answer_is_gone_on_with(asked: Asked) -> None:
    result = await asked.query("cut")
    assert result["outcome"] == "completed", result
    assert result["text"].startswith("x")
    assert not result["text"].endswith("x")


async def test_a_slow_answer_arrives_whole(asked: Asked) -> None:
    result = await asked.query("slow")
    assert (result["outcome"], result["text"].strip()) == ("completed", ("slowly " * 20).strip())
