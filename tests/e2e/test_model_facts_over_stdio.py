"""What a vendor says of its models is shown where one is chosen: in completion, in hovers, and in the list."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.http_server import HttpServer, Reply, Request
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

TEXT = '[assistant.model]\nid = "llamacpp/tiny"\n'


def reply_to(request: Request) -> Reply:
    if request.path != "/v1/models":
        return Reply.text("nothing here", 404, "text/plain")
    return Reply.json({"data": [{"id": "tiny", "meta": {"n_ctx_train": 4096}}]})


async def hover(client: JpClient, uri: str) -> str:
    at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 8}}
    found = await client.request("textDocument/hover", at)
    return str(found["contents"])


async def models(client: JpClient, uri: str) -> dict[str, str]:
    """Complete until the models are listed, which happens beside."""
    at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 6}}
    while True:
        result = await client.request("textDocument/completion", at)
        found: dict[str, Any] = {each["label"]: each.get("detail") for each in result["items"]}
        if any("/" in label for label in found):
            return found


@pytest.mark.requirement("R240", "R258")
async def test_the_size_of_the_context_is_told_wherever_a_model_is_chosen(tmp_path: Path) -> None:
    with HttpServer(reply_to) as vendor:
        user = UserFolders(tmp_path, vendor.url)
        async with initialized_server(user) as server:
            path = user.write(".jp/config.toml", TEXT)
            document = {"uri": path.as_uri(), "languageId": "toml", "version": 1, "text": TEXT}
            server.client.notify("textDocument/didOpen", {"textDocument": document})
            assert "tokens" not in await hover(server.client, path.as_uri()), "it is not known yet"
            assert (await models(server.client, path.as_uri()))["llamacpp/tiny"] == "4,096 tokens"
            assert (await hover(server.client, path.as_uri())).endswith("\n- reads 4,096 tokens")
            listed = await server.client.request("jp/model/list")
            (tiny,) = [each for each in listed["models"] if each["id"] == "llamacpp/tiny"]
            assert tiny["contextWindow"] == 4096
            assert "price" not in str(tiny).lower()
