"""Documents of servers."""

import pytest

from jp_lsp.ports.mcp import McpContent, McpError, McpResource
from jp_lsp.toolsets.mcp import resources
from jp_lsp.toolsets.mcp.resources import ServerResources
from tests.adapters.toolsets_mcp.scripted import watched_pool

pytestmark = pytest.mark.anyio

LISTED = (
    McpResource("memo://one", "one", "The first", None, "text/plain", 3),
    McpResource("memo://two", "two", None, "Bytes", "application/octet-stream"),
    McpResource("memo://three", "three"),
)


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.requirement("G35")
async def test_documents_are_listed_and_read(era: str) -> None:
    """Trap 35: a document alone is a reason to start the server."""
    async with watched_pool() as (watching, servers):
        documents = ServerResources(servers, {"notes": watching.server(era=era, page=2)}, "/")
        assert tuple(await documents.list_resources("notes")) == LISTED
        text = McpContent("memo://one", "text/plain", "äöü")
        assert tuple(await documents.read_resource("notes", "memo://one")) == (text,)
        data = McpContent("memo://two", "application/octet-stream", b"\x00\x01\x02\xff")
        assert tuple(await documents.read_resource("notes", "memo://two")) == (data,)
        assert len(watching.started) == 1


@pytest.mark.parametrize(
    ("server", "uri", "text"),
    [
        ("notes", "memo://none", "MCP server 'notes' refused: no document memo://none (code -32602)"),
        ("notes", "memo://three", "MCP server 'notes' sent memo://three in a form that cannot be read: "),
        ("other", "memo://one", "Unknown MCP server: other; declare it under `providers.mcp.other`"),
    ],
)
async def test_what_cannot_be_read_is_told(server: str, uri: str, text: str) -> None:
    async with watched_pool() as (watching, servers):
        documents = ServerResources(servers, {"notes": watching.server()}, "/")
        with pytest.raises(McpError) as raised:
            await documents.read_resource(server, uri)
        assert str(raised.value).startswith(text)


async def test_a_server_that_does_not_give_it_runs_into_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "READ_SECONDS", 0.1)
    async with watched_pool() as (watching, servers):
        config = watching.server(start="mute")
        await servers.connect(config, "/")
        documents = ServerResources(servers, {"notes": config}, "/")
        with pytest.raises(McpError, match=r"^MCP server 'notes' did not give memo://one within 0\.1 s$"):
            await documents.read_resource("notes", "memo://one")
