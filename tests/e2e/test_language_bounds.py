"""What no configuration file may do to the server, however large, deep or broken it is."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PATIENCE = 60.0
FEATURES = ("completion", "hover", "definition", "documentSymbol", "foldingRange", "documentLink")
TEXTS = {
    "toml that is large": ("toml", "[conversation.tools.x]\n" + 'summary = "𝄞"\n' * 700_000),
    "yaml that is large": ("yaml", "conversation:\n" + "  title: 𝄞\n" * 800_000),
    "json5 that is large": ("json5", "{" + "user: '𝄞',\n" * 800_000),
    "toml that is deep": ("toml", "a = " + "[" * 10_000),
    "toml of deep tables": ("toml", "a = " + "{b = " * 10_000),
    "toml of long keys": ("toml", "a." * 10_000),
    "yaml that is deep": ("yaml", "a: " + "[" * 10_000),
    "yaml of deep tables": ("yaml", "\n".join(" " * depth + "a:" for depth in range(900))),
    "yaml of deep items": ("yaml", "- " * 10_000),
    "yaml that holds itself": ("yaml", "assistant: &a\n  model: *a\n"),
    "json that is deep": ("json", "[" * 10_000),
    "json5 of deep tables": ("json5", "{a:" * 10_000),
    "json of half a character": ("json", '{"\\ud83d": "\\ud83d"}'),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(user: UserFolders) -> AsyncIterator[JpClient]:
    async with initialized_server(user) as server:
        yield server.client


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> UserFolders:
    return UserFolders(tmp_path_factory.mktemp("user"))


def opened(client: JpClient, path: Path, text: str) -> str:
    uri = path.as_uri()
    document = {"uri": uri, "languageId": path.suffix[1:], "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return uri


@pytest.mark.parametrize(("extension", "text"), TEXTS.values(), ids=TEXTS)
async def test_everything_is_answered(client: JpClient, user: UserFolders, extension: str, text: str) -> None:
    path = user.workspace / f".jp/config.{extension}"
    path.write_text("", encoding="utf-8")
    uri = opened(client, path, text)
    ends = {"line": text.count("\n"), "character": len(text) - text.rfind("\n") - 1}
    async with asyncio.timeout(PATIENCE):
        for feature in FEATURES:
            asked: dict[str, Any] = {"textDocument": {"uri": uri}, "position": ends}
            await client.request(f"textDocument/{feature}", asked)

        def published() -> Any:
            found = client.received("textDocument/publishDiagnostics")
            return next((each for each in found if each["uri"] == uri and each["diagnostics"]), None)

        assert all(len(each["message"]) < 500 for each in (await client.wait_for(published))["diagnostics"])
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    path.unlink()
    client.messages.clear()


async def test_a_file_of_a_conversation_is_no_configuration(client: JpClient, user: UserFolders) -> None:
    folder = user.workspace / ".jp/conversations/17000000000-a"
    folder.mkdir(parents=True)
    uri = opened(client, folder / "base_config.json", '{"nmae": 1}')
    hover = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}}
    assert await client.request("textDocument/hover", hover) is None
    assert not [each for each in client.received("textDocument/publishDiagnostics") if each["uri"] == uri]


async def test_a_text_is_not_checked_letter_by_letter(client: JpClient, user: UserFolders) -> None:
    path = user.workspace / ".jp/config.toml"
    path.write_text("", encoding="utf-8")
    uri = opened(client, path, "")

    def versions() -> list[int]:
        published = client.received("textDocument/publishDiagnostics")
        return [each["version"] for each in published if each["uri"] == uri]

    await client.wait_for(lambda: versions() or None)
    text = "nmae = 1"
    for count in range(1, len(text) + 1):
        document = {"uri": uri, "version": count + 1}
        client.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": [{"text": text[:count]}]},
        )
    await client.wait_for(lambda: versions()[-1] == len(text) + 1 or None)
    assert versions() == [1, len(text) + 1]
    path.unlink()
