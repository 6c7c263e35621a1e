"""A base URL counts for every request of a vendor, however it is written: questions, lists and second pages."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import anyio
import pytest

from jp_lsp.ports.provider import ModelDetails
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.connection import Connection
from tests.adapters.providers.making import DONE, Observer, delta, model, request, sse
from tests.support.http_server import HttpServer, Reply, Request

pytestmark = pytest.mark.anyio

VENDORS: Mapping[str, tuple[ModuleType, str, Mapping[str, Any]]] = {
    "cerebras": (
        cerebras,
        "/v1/chat/completions",
        {
            "/v1/models": {"data": [{"id": "a"}]},
            "/public/v1/models": {"data": [{"id": "a", "limits": {"max_context_length": 7}}]},
        },
    ),
    "compatible": (
        compatible,
        "/v1/chat/completions",
        {"/v1/models": {"data": [{"id": "a", "max_model_len": 7}]}},
    ),
    "llamacpp": (
        llamacpp,
        "/v1/chat/completions",
        {
            "/v1/models": {"data": [{"id": "a"}]},
            "/props": {"default_generation_settings": {"n_ctx": 7}},
        },
    ),
    "lmstudio": (
        lmstudio,
        "/v1/chat/completions",
        {"/api/v0/models": {"data": [{"id": "a", "type": "llm", "loaded_context_length": 7}]}},
    ),
    "xai": (xai, "/v1/chat/completions", {"/v1/language-models": {"models": [{"id": "a"}]}}),
}
"""By vendor: where the question goes, and the pages about its models."""

UNVERSIONED: Mapping[str, tuple[ModuleType, str, Mapping[str, Any]]] = {
    "deepseek": (deepseek, "/chat/completions", {"/models": {"data": [{"id": "a"}]}}),
    "openrouter": (
        openrouter,
        "/api/v1/chat/completions",
        {"/api/v1/models": {"data": [{"id": "a", "context_length": 7}]}},
    ),
}


async def check(
    vendor: str, module: ModuleType, chat_path: str, pages: Mapping[str, Any], *, before: str, written: str
) -> None:
    """Ask and list at an address `written` by the user; everything has to arrive behind `before`."""

    def answer(asked: Request) -> Reply:
        path = asked.path.removeprefix(before)
        if path == chat_path:
            return Reply.sse(sse(delta("stop"), DONE))
        return Reply.json(pages[path]) if path in pages else Reply.text("not here", 404, "text/plain")

    with HttpServer(answer) as server, anyio.fail_after(20):
        made = module.make_provider(Connection(f"{server.url}{written}", "sk-key-of-nobody"))
        listed: list[ModelDetails] = list(await made.models())
        _ = [event async for event in made.stream(request(of=model(f"{vendor}/a")), Observer())]
        await made.aclose()
    assert [details.id.name for details in listed] == ["a"]
    assert listed[0].context_window == (7 if "7" in str(pages) else None)
    assert {asked.path for asked in server.requests} == {f"{before}{path}" for path in (chat_path, *pages)}
    assert {asked.headers["authorization"] for asked in server.requests} == {"Bearer sk-key-of-nobody"}


@pytest.mark.requirement("R255")
@pytest.mark.parametrize("written", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("before", ["", "/behind/a/proxy"])
@pytest.mark.parametrize("vendor", VENDORS)
async def test_all_requests_go_to_the_base_url(vendor: str, before: str, written: str) -> None:
    await check(vendor, *VENDORS[vendor], before=before, written=before + written)


@pytest.mark.requirement("R255")
@pytest.mark.parametrize("written", ["", "/"])
@pytest.mark.parametrize("before", ["", "/behind/a/proxy"])
@pytest.mark.parametrize("vendor", UNVERSIONED)
async def test_the_same_without_a_version_to_double(vendor: str, before: str, written: str) -> None:
    await check(vendor, *UNVERSIONED[vendor], before=before, written=before + written)


@pytest.mark.requirement("R255")
@pytest.mark.parametrize("before", ["", "/behind/a/proxy"])
async def test_a_server_without_a_version_is_told_by_the_whole_address(before: str) -> None:
    chat_path, pages = "/chat/completions", {"/models": {"data": [{"id": "a", "max_model_len": 7}]}}
    await check("compatible", compatible, chat_path, pages, before=before, written=f"{before}{chat_path}")


@pytest.mark.requirement("R255")
@pytest.mark.parametrize("vendor", [*VENDORS, *UNVERSIONED])
async def test_the_whole_address_is_understood_everywhere(vendor: str) -> None:
    module, chat_path, pages = {**VENDORS, **UNVERSIONED}[vendor]
    await check(vendor, module, chat_path, pages, before="", written=chat_path)


async def test_the_address_that_openrouter_gives_is_understood() -> None:
    await check("openrouter", *UNVERSIONED["openrouter"], before="", written="/api/v1")
