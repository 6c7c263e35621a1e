"""Listing models over a real connection, from recorded pages and invented ones."""

from datetime import date
from typing import Any

import pytest

from jp_lsp.ports.provider import Adaptive, Budgetted, ModelDetails, ModelId, ProviderError, Unsupported
from jp_lsp.providers.anthropic.adapter import AnthropicProvider
from jp_lsp.providers.anthropic.models import read_model
from jp_lsp.providers.chat import compatible, llamacpp, lmstudio
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.google.adapter import GoogleProvider
from jp_lsp.providers.ollama.adapter import OllamaProvider
from jp_lsp.turn.failure import FailureKind
from tests.adapters.providers.recorded_requests import load, reasoning_of
from tests.adapters.providers.replay import Json
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.shared import shared_path

MAKERS = {
    "anthropic": AnthropicProvider,
    "compatible": compatible.make_provider,
    "google": GoogleProvider,
    "llamacpp": llamacpp.make_provider,
    "lmstudio": lmstudio.make_provider,
    "ollama": OllamaProvider,
}


def site(pages: dict[str, Any]) -> HttpServer:
    """Serve pages by their path; others are missing."""

    def answer(request: Request) -> Reply:
        page = pages.get(request.path)
        return Reply.text("not here", 404, "text/plain") if page is None else Reply.json(page)

    return HttpServer(answer)


async def listed(provider: str, pages: dict[str, Any]) -> list[ModelDetails]:
    with site(pages) as server:
        made = MAKERS[provider](Connection(server.url))
        try:
            return list(await made.models())
        finally:
            await made.aclose()


def expected_details(given: Json) -> ModelDetails:
    provider, _, name = given["id"].partition("/")
    cutoff, deprecated = given["knowledge_cutoff"], given["deprecated"]
    return ModelDetails(
        ModelId(provider, name),
        display_name=given["display_name"],
        context_window=given["context_window"],
        max_output_tokens=given["max_output_tokens"],
        reasoning=reasoning_of(given["reasoning"]),
        knowledge_cutoff=date.fromisoformat(cutoff) if cutoff else None,
        deprecated=deprecated and deprecated["status"] == "deprecated",
        structured_output=given["structured_output"],
        prefill=given["prefill"],
        features=frozenset(given["features"]),
    )


@pytest.mark.shared
@pytest.mark.anyio
@pytest.mark.requirement("R240", "R258")
@pytest.mark.parametrize("provider", ["anthropic", "llamacpp", "google"])
async def test_recorded_lists(provider: str) -> None:
    recording = load(shared_path("recordings", provider, "models.json"))

    def answer(request: Request) -> Reply:
        for exchange in recording["exchanges"]:
            if exchange["request"]["path"].endswith(request.path.partition("?")[0]):
                return Reply.text(exchange["response"]["body"])
        return Reply.text("", 404)

    with HttpServer(answer) as server:
        made = MAKERS[provider](Connection(server.url))
        models = await made.models()
        await made.aclose()
    expected = [expected_details(given) for given in recording["expected_models"]]
    assert list(models) == sorted(expected, key=lambda details: details.id.name)


@pytest.mark.shared
@pytest.mark.anyio
@pytest.mark.requirement("R240", "R258")
async def test_recorded_details_of_ollama() -> None:
    recording = load(shared_path("recordings", "ollama", "model_details.json"))
    (step,), (exchange,) = recording["steps"], recording["exchanges"]
    with HttpServer([Reply.text(exchange["response"]["body"])]) as server:
        made = OllamaProvider(Connection(server.url))
        found = await made.model_details(step["input"]["name"])
        await made.aclose()
    assert server.requests[0].path == exchange["request"]["path"]
    assert [found] == [expected_details(given) for given in recording["expected_models"]]


@pytest.mark.anyio
async def test_google_turns_the_pages_and_keeps_the_key_out_of_the_address() -> None:
    pages = {
        "/models?pageSize=1000": {"models": [{"name": "models/b"}, {"name": 5}], "nextPageToken": "t"},
        "/models?pageSize=1000&pageToken=t": {"models": [{"name": "models/a"}], "nextPageToken": "t"},
    }
    with site(pages) as server:
        made = GoogleProvider(Connection(server.url, "AIza-secret-key"))
        assert [details.id.name for details in await made.models()] == ["a", "b"]
        assert await made.model_details("private") == ModelDetails(ModelId("google", "private"))
        await made.aclose()
    assert {request.headers["x-goog-api-key"] for request in server.requests} == {"AIza-secret-key"}
    assert not any("secret" in request.path for request in server.requests)


@pytest.mark.anyio
async def test_llamacpp_works_without_its_second_page() -> None:
    listing = {"data": [{"id": "org/a", "meta": {"n_ctx_train": 4096}}, {"id": ""}, 5, {"id": "b"}]}
    assert await listed("llamacpp", {"/v1/models": listing}) == [
        ModelDetails(ModelId("llamacpp", "a"), context_window=4096),
        ModelDetails(ModelId("llamacpp", "b")),
    ]


@pytest.mark.anyio
async def test_lmstudio_prefers_its_own_page() -> None:
    detailed = {
        "data": [
            {"id": "b", "type": "llm", "max_context_length": 100, "loaded_context_length": 50},
            {"id": "a", "type": "vlm", "max_context_length": 100},
            {"id": "c", "type": "embeddings"},
        ]
    }
    assert await listed("lmstudio", {"/api/v0/models": detailed}) == [
        ModelDetails(ModelId("lmstudio", "a"), context_window=100),
        ModelDetails(ModelId("lmstudio", "b"), context_window=50),
    ]
    assert await listed("lmstudio", {"/v1/models": {"data": [{"id": "x"}]}}) == [
        ModelDetails(ModelId("lmstudio", "x"))
    ]


@pytest.mark.anyio
async def test_compatible_servers_list_names() -> None:
    listing = {"data": [{"id": "z/y", "max_model_len": 8192}, {"id": "a"}]}
    assert await listed("compatible", {"/v1/models": listing}) == [
        ModelDetails(ModelId("compatible", "a")),
        ModelDetails(ModelId("compatible", "z/y"), context_window=8192),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("strange", [{}, [], None, 5, {"data": None}, {"data": {"id": "a"}}])
async def test_strange_lists_are_empty(strange: Any) -> None:
    assert await listed("compatible", {"/v1/models": strange if strange is not None else [None]}) == []


@pytest.mark.anyio
async def test_details_come_from_the_list_and_unknown_names_are_unknown() -> None:
    with site({"/v1/models": {"data": [{"id": "a", "max_model_len": 5}]}}) as server:
        made = compatible.make_provider(Connection(server.url))
        assert (await made.model_details("a")).context_window == 5
        assert await made.model_details("private") == ModelDetails(ModelId("compatible", "private"))
        await made.aclose()


@pytest.mark.anyio
async def test_anthropic_turns_the_pages() -> None:
    pages = {
        "/v1/models": {"data": [{"id": "b"}], "has_more": True, "last_id": "b"},
        "/v1/models?after_id=b": {"data": [{"id": "a"}], "has_more": False},
    }
    assert [details.id.name for details in await listed("anthropic", pages)] == ["a", "b"]


@pytest.mark.anyio
async def test_a_list_that_turns_in_circles_ends() -> None:
    page = {"data": [{"id": "b"}], "has_more": True, "last_id": "b"}
    models = await listed("anthropic", {"/v1/models": page, "/v1/models?after_id=b": page})
    assert [details.id.name for details in models] == ["b", "b"]


@pytest.mark.anyio
async def test_anthropic_remembers_a_model_for_a_day() -> None:
    now = [1000.0]
    with site({"/v1/models/claude-x": {"id": "claude-x", "max_tokens": 5}}) as server:
        made = AnthropicProvider(Connection(server.url, now=lambda: now[0]))
        for moment, asked in ((0.0, 1), (86_399.0, 1), (86_401.0, 2)):
            now[0] = 1000.0 + moment
            assert (await made.model_details("claude-x")).max_output_tokens == 5
            assert len(server.requests) == asked
        await made.aclose()


@pytest.mark.anyio
async def test_anthropic_does_not_ask_again_for_a_model_that_is_not_listed() -> None:
    missing = Reply.json({"error": {"type": "not_found_error", "message": "model: claude-haiku-4-5"}}, 404)
    with HttpServer([missing]) as server:
        made = AnthropicProvider(Connection(server.url))
        asked = [await made.model_details("claude-haiku-4-5") for _ in range(3)]
        await made.aclose()
    assert [details.prefill for details in asked] == [True, True, True]
    assert len(server.requests) == 1


@pytest.mark.anyio
@pytest.mark.requirement("R57", "R56", "R256")
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.json({"error": {"message": "bad key sk-secret-key"}}, 401), FailureKind.AUTH),
        (Reply.text("<html>", 200, "text/html"), FailureKind.TRANSIENT),
    ],
)
async def test_a_question_that_fails_says_how(reply: Reply, kind: FailureKind) -> None:
    with HttpServer([reply]) as server:
        made = AnthropicProvider(Connection(server.url, "sk-secret-key"))
        with pytest.raises(ProviderError) as caught:
            await made.model_details("x/y")
        await made.aclose()
    assert caught.value.failure.kind is kind
    assert "sk-secret-key" not in str(caught.value)
    assert server.requests[0].path == "/v1/models/x%2Fy"


@pytest.mark.parametrize(
    ("entry", "reasoning"),
    [
        ({"id": "old"}, None),
        (
            {"id": "claude-opus-4-5-20251101", "capabilities": {"thinking": {"supported": False}}},
            Unsupported(),
        ),
        (
            {
                "id": "x",
                "capabilities": {"thinking": {"supported": True, "types": {"enabled": {"supported": True}}}},
            },
            Budgetted(True, 1024),
        ),
        (
            {
                "id": "claude-fable-5",
                "capabilities": {
                    "thinking": {"types": {"adaptive": {"supported": True}}},
                    "effort": {"max": {"supported": True}},
                },
            },
            Adaptive(False, False, True),
        ),
        ({"id": "x", "capabilities": {"thinking": {"supported": "yes", "types": []}}}, None),
        ({"id": "x", "capabilities": "all", "max_tokens": 0, "max_input_tokens": -1}, None),
    ],
)
def test_what_entries_say_about_thinking(entry: Any, reasoning: Any) -> None:
    details = read_model(entry)
    assert details is not None
    assert details.reasoning == reasoning
    assert details.max_output_tokens is None
    assert details.context_window is None


def test_entries_without_a_name_are_left_out() -> None:
    assert read_model({}) is None
    assert read_model({"id": 5}) is None
