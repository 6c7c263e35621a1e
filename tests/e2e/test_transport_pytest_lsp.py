"""A stock client library against our wire: the standard features of pygls still work."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.support.wire_process import WIRE_SERVER, environment

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

CONFIG = ClientServerConfig(server_command=WIRE_SERVER, server_env=environment())


@pytest_lsp.fixture(config=CONFIG, scope="session", params=["visual-studio-code", "neovim"])
async def client(lsp_client: LanguageClient, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            workspace_folders=[types.WorkspaceFolder(uri="file:///workspace", name="w")],
        )
    )
    yield
    await lsp_client.shutdown_session()


async def test_documents_are_synchronised(client: LanguageClient) -> None:
    document = types.TextDocumentItem("file:///workspace/a.py", "python", 1, "one\ntwo\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    change = types.TextDocumentContentChangePartial(
        types.Range(types.Position(1, 0), types.Position(1, 3)), "2 €"
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, document.uri), [change])
    )
    params = types.HoverParams(types.TextDocumentIdentifier(document.uri), types.Position(0, 0))
    hover = await client.text_document_hover_async(params)
    assert hover == types.Hover("one\n2 €\n")
    client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(document.uri))
    )


async def test_commands_and_custom_requests(client: LanguageClient) -> None:
    command = types.ExecuteCommandParams("jp.echo", [{"a-b": {"class": [1]}}])
    assert await client.workspace_execute_command_async(command) == {"a-b": {"class": [1]}}
    result = await client.protocol.send_request_async("jp/echo", {"plain": 1})
    assert result.plain == 1


@pytest.mark.requirement("T23")
async def test_cancelling(client: LanguageClient) -> None:
    asking = asyncio.create_task(client.protocol.send_request_async("jp/turn", {}, msg_id="77"))
    await asyncio.sleep(0)  # the library sends only when the task runs
    await client.protocol.send_request_async("jp/echo", {})
    client.cancel_request(types.CancelParams("77"))
    with pytest.raises(Exception, match="stopped") as caught:
        await asking
    assert getattr(caught.value, "code", None) == -32800
