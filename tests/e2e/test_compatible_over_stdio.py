"""A server of nobody's making that speaks chat completions: how it is addressed, read, written down and refused."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.providers.making import DONE, delta, sse
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

KEY = "sk-planted-key-4712-of-nobody-" + "a1B2" * 20

Serve = Callable[..., AbstractAsyncContextManager[JpServer]]


@pytest.fixture
def compatible_user(tmp_path: Path) -> UserFolders:
    user = UserFolders(tmp_path)
    settings = "assistant.model.id = 'compatible/thinker'\nconversation.title.generate.auto = false\n"
    (user.config / "config.toml").write_text(settings, "utf-8")
    return user


@pytest.fixture
def serve(compatible_user: UserFolders) -> Serve:
    @asynccontextmanager
    async def run(address: str, **environment: str) -> AsyncGenerator[JpServer]:
        options = {"jp": {"compatible": {"base_url": address}}}
        given = {"COMPATIBLE_API_KEY": KEY, **environment}
        async with initialized_server(compatible_user, environment=given, options=options) as server:
            yield server

    return run


def in_parts(*parts: tuple[str, Any]) -> bytes:
    """A piece of an answer as models of Mistral write it; each part is what it is and what is in it."""
    return sse(delta(content=[{"type": kind, kind: inside} for kind, inside in parts]))


async def test_a_server_without_a_version_whose_model_thinks_in_parts(
    serve: Serve, compatible_user: UserFolders, tmp_path: Path
) -> None:
    def answer(asked: Request) -> Reply:
        if asked.path != "/plain/chat/completions":
            return (
                Reply.json({"data": [{"id": "thinker"}]})
                if asked.path == "/plain/models"
                else Reply.json({}, 404)
            )
        thoughts = [{"type": "text", "text": "Two "}, {"type": "text", "text": "looks."}]
        return Reply.sse(
            in_parts(("thinking", thoughts)),
            in_parts(("text", "I ")),
            sse(delta(content="look.")),
            sse(delta("stop"), DONE),
        )

    traced = tmp_path / "traced"
    with HttpServer(answer) as vendor:
        async with serve(f"{vendor.url}/plain/chat/completions", JP_TRACE_REQUESTS=str(traced)) as server:
            result = await server.client.query(f"My key is {KEY}, is it not?", "t")
        sent = [each.json() for each in vendor.requests if each.method == "POST"]
    assert (result["outcome"], result["text"]) == ("completed", "I look.")
    assert compatible_user.story(result["conversation"])[-2:] == ["reasoning: Two looks.", "message: I look."]
    (file,) = traced.iterdir()
    written = json.loads(file.read_text("utf-8"))
    assert written["messages"][-1]["content"] == "My key is ***, is it not?"
    assert sent[0]["messages"][-1]["content"] == f"My key is {KEY}, is it not?"
    assert {**written, "messages": []} == {**sent[0], "messages": []}


@pytest.mark.requirement("R256")
async def test_half_a_key_is_shown_to_nobody(serve: Serve, compatible_user: UserFolders) -> None:
    words = "so " * 650
    with HttpServer(
        lambda _: Reply.json({"error": {"message": f"{words}{KEY} and so on{words}"}}, 400)
    ) as vendor:
        async with serve(vendor.url) as server:
            result = await server.client.query("Hello", "t", conversation="new")
            said = json.dumps(server.client.messages)
        logged = "\n".join(server.log.lines)
    assert (result["outcome"], result["error"]["class"]) == ("failed", "malformed")
    assert "so so ***…" in result["error"]["message"]
    stored = "".join(path.read_text("utf-8") for path in compatible_user.data.rglob("*.json"))
    assert "Hello" in stored
    for text in (said, logged, stored):
        assert KEY[:6] not in text


async def test_a_proxy_with_a_port_that_cannot_be_is_named(serve: Serve) -> None:
    async with serve("https://models.invalid", HTTPS_PROXY="http://me:secret-word@127.0.0.1:99999") as server:
        result = await server.client.query("Hello", "t")
        said = json.dumps(server.client.messages)
    assert (result["outcome"], result["error"]["class"]) == ("failed", "other")
    assert "cannot connect to models.invalid: a proxy (HTTPS_PROXY" in result["error"]["message"]
    assert "Port out of range" in result["error"]["message"]
    assert "secret-word" not in said
