"""What OpenAI, OpenRouter, Cerebras, DeepSeek and xAI offer: recorded pages, invented ones, and the tables."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from jp_lsp.ports.provider import Leveled, ModelDetails, ModelId, ProviderError, Unsupported
from jp_lsp.providers.chat import cerebras, deepseek, openrouter, xai
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.openai import adapter as openai
from jp_lsp.providers.openai.models import describe
from jp_lsp.turn.failure import FailureKind
from tests.adapters.providers.recorded_requests import load
from tests.adapters.providers.test_models import expected_details
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.shared import shared_path

pytestmark = pytest.mark.anyio

MAKERS: dict[str, Callable[[Connection], Any]] = {
    "cerebras": cerebras.make_provider,
    "deepseek": deepseek.make_provider,
    "openai": openai.make_provider,
    "openrouter": openrouter.make_provider,
    "xai": xai.make_provider,
}


def recorded(recording: Any) -> HttpServer:
    def answer(request: Request) -> Reply:
        for exchange in recording["exchanges"]:
            if exchange["request"]["path"] == request.path:
                return Reply.text(exchange["response"]["body"])
        return Reply.text("", 404)

    return HttpServer(answer)


async def listed(vendor: str, pages: dict[str, Any]) -> list[ModelDetails]:
    def answer(request: Request) -> Reply:
        page = pages.get(request.path)
        return Reply.text("not here", 404, "text/plain") if page is None else Reply.json(page)

    with HttpServer(answer) as server:
        made = MAKERS[vendor](Connection(server.url, "sk-key-of-nobody"))
        try:
            return list(await made.models())
        finally:
            await made.aclose()


@pytest.mark.shared
@pytest.mark.requirement("R240", "R258")
async def test_the_recorded_list_of_openai() -> None:
    recording = load(shared_path("recordings", "openai", "models.json"))
    with recorded(recording) as server:
        made = openai.make_provider(Connection(server.url))
        models = await made.models()
        await made.aclose()
    expected = [expected_details(given) for given in recording["expected_models"]]
    assert list(models) == sorted(expected, key=lambda details: details.id.name)


@pytest.mark.shared
@pytest.mark.requirement("R240", "R258")
@pytest.mark.parametrize("vendor", ["cerebras", "openrouter"])
async def test_recorded_details_are_asked_for_once_a_day(vendor: str) -> None:
    recording = load(shared_path("recordings", vendor, "model_details.json"))
    (step,) = recording["steps"]
    now = [1_800_000_000.0]
    with recorded(recording) as server:
        made = MAKERS[vendor](Connection(server.url, "sk-key-of-nobody", now=lambda: now[0]))
        found = await made.model_details(step["input"]["name"])
        assert [found] == [expected_details(given) for given in recording["expected_models"]]
        asked = len(server.requests)
        assert await made.model_details("private") == ModelDetails(ModelId(vendor, "private"))
        assert len(server.requests) == asked
        now[0] += 24 * 3600.0
        await made.model_details("private")
        assert len(server.requests) == 2 * asked
        await made.aclose()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("o3-2025-04-16", "o3"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
    ],
)
async def test_a_dated_name_shares_the_entry(name: str, other: str) -> None:
    assert describe(name).context_window
    assert describe(name).reasoning == describe(other).reasoning
    assert describe(name).id == ModelId("openai", name)


@pytest.mark.parametrize("name", ["gpt-9", "gpt-5.5-turbo", "gpt-4o-2024-05-13", "ft:gpt-4o:me::x"])
async def test_what_is_not_in_the_table_is_unknown(name: str) -> None:
    assert describe(name) == ModelDetails(ModelId("openai", name))


def entry(name: Any, /, **members: Any) -> Any:
    return {"id": name, **members}


async def test_openrouter_entries() -> None:
    reasoning = {"mandatory": False, "supported_efforts": ["max", "minimal", "none", "odd", 5]}
    listing = {
        "data": [
            entry("z/y", name="Z", context_length=100, top_provider={"context_length": 50}),
            entry("~a/b", context_length=100, supported_parameters=["tools"], knowledge_cutoff="soon"),
            entry(
                "a/c", supported_parameters=["structured_outputs", "reasoning"], knowledge_cutoff="2025-02-03"
            ),
            entry("a/d", reasoning=reasoning, top_provider={"max_completion_tokens": 7}),
            entry("a/e", reasoning={"mandatory": True}, architecture={"output_modalities": ["image"]}),
            entry("z/y", name="another"),
            *(entry("a blank"), entry(""), entry(5), 5, None),
        ]
    }

    def known(name: str, **details: Any) -> ModelDetails:
        return ModelDetails(ModelId("openrouter", name), **details)

    assert await listed("openrouter", {"/api/v1/models": listing}) == [
        known("a/c", structured_output=True, knowledge_cutoff=date(2025, 2, 3)),
        known("a/d", reasoning=Leveled(True, frozenset({"max", "xlow"})), max_output_tokens=7),
        known("a/e", answers_in_text=False),
        known("z/y", display_name="Z", context_window=50),
        known("~a/b", context_window=100, structured_output=False, reasoning=Unsupported()),
    ]


async def test_cerebras_works_without_its_catalogue() -> None:
    listing = {"data": [entry("new"), entry("gpt-oss-120b"), entry(None)]}
    levels = Leveled(False, frozenset({"low", "medium", "high"}))
    assert await listed("cerebras", {"/v1/models": listing}) == [
        ModelDetails(
            ModelId("cerebras", "gpt-oss-120b"),
            context_window=131_072,
            max_output_tokens=40_960,
            reasoning=levels,
        ),
        ModelDetails(ModelId("cerebras", "new")),
    ]
    settings = {"temperature": False, "top_p": True, "stop": False}
    catalogue = {
        "data": [
            entry("new", supported_parameters=settings, capabilities={"reasoning": False}, deprecated=True),
            *(entry("gone"), 5),
        ]
    }
    pages = {"/v1/models": {"data": [entry("new")]}, "/public/v1/models": catalogue}
    assert await listed("cerebras", pages) == [
        ModelDetails(
            ModelId("cerebras", "new"),
            reasoning=Unsupported(),
            deprecated=True,
            features=frozenset({"no_temperature", "no_stop"}),
        )
    ]


async def test_deepseek_lists_names_and_knows_limits() -> None:
    new, pro = await listed(
        "deepseek", {"/models": {"data": [entry("deepseek-v4-pro"), entry("deepseek-new")]}}
    )
    assert new == ModelDetails(ModelId("deepseek", "deepseek-new"), structured_output=False)
    assert pro.context_window == 1_048_576
    assert pro.reasoning == Leveled(True, frozenset({"low", "high", "max"}))


async def test_xai_lists_language_models_or_all() -> None:
    entries = [entry("grok-4.5"), entry("grok-new"), entry("grok-4-fast-non-reasoning")]
    rich = await listed("xai", {"/v1/language-models": {"models": entries}})
    assert rich == await listed("xai", {"/v1/models": {"data": entries}})
    fast, current, new = rich
    assert (fast.context_window, fast.reasoning, fast.features) == (2_000_000, Unsupported(), frozenset())
    assert (current.context_window, current.features) == (500_000, frozenset({"no_stop"}))
    assert new == ModelDetails(ModelId("xai", "grok-new"))


@pytest.mark.parametrize("vendor", MAKERS)
@pytest.mark.parametrize("strange", [{}, [], None, 5, {"data": None}, {"data": {"id": "a"}}])
async def test_strange_lists_are_empty(vendor: str, strange: Any) -> None:
    with HttpServer(lambda _: Reply.json(strange)) as server:
        made = MAKERS[vendor](Connection(server.url))
        assert await made.models() == []
        await made.aclose()


@pytest.mark.requirement("R256")
@pytest.mark.parametrize("vendor", MAKERS)
async def test_a_list_that_is_refused(vendor: str) -> None:
    with HttpServer(
        lambda _: Reply.json({"error": {"message": "no such key sk-key-of-nobody"}}, 401)
    ) as server:
        made = MAKERS[vendor](Connection(server.url, "sk-key-of-nobody"))
        with pytest.raises(ProviderError, match=r"no such key \*\*\* \(HTTP 401\)") as caught:
            await made.models()
        await made.aclose()
    assert caught.value.failure.kind is FailureKind.AUTH
