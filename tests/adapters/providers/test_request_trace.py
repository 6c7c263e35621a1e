"""What is sent to a vendor can be read afterwards: the bodies, without keys."""

import json
import logging
import os
import stat
from pathlib import Path

import pytest

from jp_lsp.ports.provider import ModelId
from jp_lsp.ports.providers import ProviderSettings
from jp_lsp.providers.registry import ProviderRegistry
from jp_lsp.providers.request_trace import TRACE_VARIABLE
from tests.adapters.providers.making import Observer, model, request, sse, stop, text_block, user
from tests.support.http_server import HttpServer, Reply

CLAUDE = ModelId("anthropic", "claude-x")
KEY = "sk-ant-secret-of-the-user"
ANSWER = sse(*text_block(0, "Hi"), *stop())


async def asked_twice(folder: str) -> list[object]:
    """Ask two questions; give the bodies that arrived."""
    with HttpServer([Reply.sse(ANSWER), Reply.sse(ANSWER)]) as server:
        environ = {"ANTHROPIC_API_KEY": KEY, TRACE_VARIABLE: folder}
        registry = ProviderRegistry({"anthropic": ProviderSettings(server.url)}, environ)
        for question in ("Zoë?", "And?"):
            provider = registry.get(CLAUDE)
            stream = provider.stream(request(user(question), of=model(str(CLAUDE))), Observer())
            assert len([event async for event in stream]) == 3
        await registry.aclose()
    assert [sent.headers["x-api-key"] for sent in server.requests] == [KEY, KEY]
    return [sent.json() for sent in server.requests]


@pytest.mark.anyio
async def test_each_body_is_a_file_of_the_users_own(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    bodies = await asked_twice(f" {folder} ")
    files = sorted(folder.iterdir())
    assert [json.loads(file.read_bytes()) for file in files] == bodies
    assert all(file.name.startswith(f"{os.getpid()}-") for file in files)
    assert all(file.name.endswith("-anthropic.json") for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert not any(KEY in file.read_text(encoding="utf-8") for file in files)


@pytest.mark.anyio
@pytest.mark.requirement("R256")
async def test_no_file_holds_a_key_that_got_into_a_conversation(tmp_path: Path) -> None:
    keys = {
        "ANTHROPIC_API_KEY": KEY,
        "MY_KEY": "key-of-another-vendor",
        "XAI_API_KEY": "xai-not-even-set-here",
    }
    settings = {"openai": ProviderSettings(api_key_env="MY_KEY")}
    with HttpServer([Reply.sse(ANSWER)]) as server:
        address = server.url.replace("://", "://me:the-password@")
        settings["anthropic"] = ProviderSettings(address)
        registry = ProviderRegistry(settings, {**keys, TRACE_VARIABLE: str(tmp_path)})
        said = f"env says {list(keys.values())} the-password, Zoë…"
        stream = registry.get(CLAUDE).stream(request(user(said), of=model(str(CLAUDE))), Observer())
        assert len([event async for event in stream]) == 3
        await registry.aclose()
    # The model is asked what the user wrote; only the file is for other eyes.
    assert said in server.requests[0].body.decode()
    (file,) = tmp_path.iterdir()
    assert "env says ['***', '***', '***'] ***, Zoë…" in file.read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_used_holds_no_request_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        assert len(await asked_twice(str(tmp_path / "file"))) == 2
    said = [record.getMessage() for record in caplog.records]
    assert [
        text.startswith("the request to anthropic could not be written down: ") for text in said[-2:]
    ] == [
        True,
        True,
    ]


@pytest.mark.anyio
async def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await asked_twice("  ")
    assert list(tmp_path.iterdir()) == []
