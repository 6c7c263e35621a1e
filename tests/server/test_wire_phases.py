"""The life of a connection: what is served before `initialize`, after it, and after `shutdown`."""

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from jp_lsp.server.lifecycle import ClosingReason
from jp_lsp.server.phase import Phase
from tests.support.wire_memory import MemoryClient, error_of

pytestmark = pytest.mark.anyio

ODD = {"a-b": 1, "class": {"jsonrpc": "2.0", "x": [1, 2.5, None, True]}, "$ref": "#/x", "1": 4}


@pytest.fixture
def client() -> MemoryClient:
    client = MemoryClient()
    client.protocol.register_method("jp/echo", None, lambda params: params)
    return client


async def test_before_initialize_nothing_is_served(client: MemoryClient) -> None:
    client.notify("textDocument/didOpen", {"textDocument": {}})
    client.notify("initialized", {})
    client.request(1, "jp/echo", {})
    client.request(2, "shutdown")
    for message in client.take():
        error_of(message, -32002, "not_initialized")
    assert client.protocol.phase is Phase.NEW
    assert client.initialize()["result"]["serverInfo"] == {"name": "memory", "version": "1"}
    assert client.protocol.phase is Phase.READY


async def test_our_methods_wait_for_initialized(client: MemoryClient) -> None:
    client.server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: types.Hover("text"))
    client.protocol.register_command("jp.echo", None, lambda params: params)
    client.request(0, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    client.request(1, "jp/echo", {})
    client.request(2, "workspace/executeCommand", {"command": "jp.echo"})
    client.request(
        3,
        "textDocument/hover",
        {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}},
    )
    client.notify("initialized", {})
    client.request(4, "jp/echo", {"now": True})
    _, method, command, hover, served = client.take()
    error_of(method, -32002, "not_initialized")
    error_of(command, -32002, "not_initialized")
    assert hover["result"] == {"contents": "text"}
    assert served["result"] == {"now": True}


async def test_initialize_may_be_tried_again(client: MemoryClient) -> None:
    client.request(1, "initialize", {"capabilities": 5, "processId": "x"})
    error_of(client.take_one(), -32602, "invalid_params")
    assert "result" in client.initialize()


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_failed_initialize_handler_leaves_the_server_uninitialized(
    client: MemoryClient, is_async: bool
) -> None:
    failures = [RuntimeError("no")]

    def fail_once(_params: types.InitializeParams) -> Any:
        async def later() -> None:
            if failures:
                raise failures.pop()

        if is_async:
            return later()
        if failures:
            raise failures.pop()
        return None

    client.server.feature(types.INITIALIZE)(fail_once)
    client.request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    if is_async:
        client.request(2, "jp/echo")
        error_of(client.take_one(), -32002, "not_initialized")
    for _ in range(4):
        await asyncio.sleep(0)
    error_of(client.take_one(), -32603, "internal")
    assert client.protocol.phase is Phase.NEW
    client.request(3, "initialize", {"processId": 4242, "rootUri": None, "capabilities": {}})
    for _ in range(4):
        await asyncio.sleep(0)
    assert "result" in client.take_one()
    assert client.lifecycle.events == [("process", 4242)]


async def test_a_client_that_is_newer_than_we_are_is_served(
    client: MemoryClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.initialize(
        capabilities={
            "workspace": {"workspaceEdit": {"failureHandling": "a new way"}},
            "window": {"showDocument": 7},
            "general": {"positionEncodings": ["utf-8", "utf-99"]},
            "experimental": {"jp": ODD},
        }
    )
    assert answer["result"]["capabilities"]["positionEncoding"] == "utf-8"
    assert client.server.client_capabilities.experimental == {"jp": ODD}
    assert client.protocol.raw_initialize["capabilities"]["window"] == {"showDocument": 7}  # type: ignore[index]
    assert "capabilities of the client that cannot be read: workspace" in caplog.text


@pytest.mark.requirement("R335")
async def test_shutdown_is_answered_last_and_then_nothing_is_served(client: MemoryClient) -> None:
    order: list[str] = []

    async def turn(_params: object) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            order.append("turn ended")

    async def end_work(reason: ClosingReason) -> None:
        await asyncio.sleep(0)
        order.append(f"saved on {reason}")

    client.protocol.register_method("jp/turn", None, turn)
    client.lifecycle.end_work = end_work  # type: ignore[method-assign]
    client.initialize()
    client.request(1, "jp/turn")
    client.request(2, "shutdown")
    client.request(3, "jp/echo")
    for _ in range(10):
        await asyncio.sleep(0)
    late, turn_answer, shutdown = client.take()
    error_of(late, -32600, "invalid_request")
    error_of(turn_answer, -32800, "cancelled")
    assert shutdown == {"jsonrpc": "2.0", "id": 2, "result": None}
    assert order == ["saved on shutdown", "turn ended"]
    client.request(4, "shutdown")
    client.notify("jp/echo")
    error_of(client.take_one(), -32600, "invalid_request")
    client.notify("exit")
    assert client.lifecycle.events == [("exit", 0)]


@pytest.mark.parametrize("params", [None, {}, []])
async def test_exit_without_shutdown_is_an_error(client: MemoryClient, params: object) -> None:
    client.initialize()
    client.notify("exit", params)
    assert client.lifecycle.events == [("exit", 1)]


async def test_exit_is_heard_even_when_a_handler_for_it_fails(client: MemoryClient) -> None:
    @client.server.feature(types.EXIT)
    def fail(*_args: object) -> None:
        raise RuntimeError("no")

    client.initialize()
    client.notify("exit")
    assert client.lifecycle.events == [("exit", 1)]


@pytest.mark.parametrize("params", [None, {}, []])
async def test_shutdown_takes_any_parameters(client: MemoryClient, params: object) -> None:
    client.initialize()
    client.request(1, "shutdown", params)
    for _ in range(5):
        await asyncio.sleep(0)
    assert client.take_one()["result"] is None


async def test_experimental_capabilities_are_announced(client: MemoryClient) -> None:
    client.protocol.experimental = {"jp": {"version": 1, "a-b": ODD}}
    answer = client.initialize()
    assert answer["result"]["capabilities"]["experimental"] == {"jp": {"version": 1, "a-b": ODD}}
