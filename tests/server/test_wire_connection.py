"""A connection ends in one way, whatever ended it; and over TCP nobody gets in who should not."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from jp_lsp.server.framing import encode_frame
from jp_lsp.server.lifecycle import ClosingReason
from jp_lsp.server.process import handle_signals
from jp_lsp.server.transport import Connection, serve_tcp
from jp_lsp.server.wire import JpLanguageServer
from tests.support.wire_memory import MemoryWriter

pytestmark = pytest.mark.anyio


async def never(_process_id: int) -> None:
    await asyncio.Event().wait()


async def settle() -> None:
    for _ in range(20):
        await checkpoint()


class Host:
    """One connection in memory, with the order of what happened to it."""

    def __init__(self, *, closing_timeout: float = 5, parent_gone: Any = never) -> None:
        self.happened: list[str] = []
        self.hook_gate = asyncio.Event()
        self.hook_gate.set()
        self.server = JpLanguageServer("host", "1")
        self.server.on_closing = self.on_closing
        self.server.protocol.register_method("jp/turn", None, self.turn)
        self.server.protocol.register_method("jp/ask", None, self.ask)
        self.connection = Connection(self.server, closing_timeout=closing_timeout, parent_gone=parent_gone)
        self.writer = MemoryWriter()
        self.receiver = self.connection.attach(self.writer)
        self.serving = asyncio.ensure_future(self.connection.serve())
        self.send("initialize", 1, {"processId": 42, "rootUri": None, "capabilities": {}})
        self.send("initialized")

    async def on_closing(self, reason: ClosingReason) -> None:
        self.happened.append(f"closing {reason}")
        await self.hook_gate.wait()
        self.happened.append("saved")

    async def turn(self, _params: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.happened.append("turn cancelled")

    async def ask(self, _params: object) -> object:
        return await self.server.protocol.send_request_raw("jp/prompt", {})

    def send(self, method: str, request_id: int | None = None, params: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request_id is not None:
            message["id"] = request_id
        self.receiver.data_received(encode_frame(json.dumps(message).encode()))

    def written(self) -> list[Any]:
        return [json.loads(frame.partition(b"\r\n\r\n")[2]) for frame in self.writer.frames]


WAYS = {
    "eof": ("closing eof", 0),
    "broken pipe": ("closing broken_pipe", 0),
    "exit": ("closing exit", 1),
    "sigterm": ("closing sigterm", 143),
    "parent gone": ("closing parent_gone", 0),
}


@pytest.mark.requirement("R336", "S10")
@pytest.mark.parametrize("way", WAYS)
async def test_every_end_saves_before_the_loop_ends(way: str) -> None:
    gone = asyncio.Event()

    async def parent_gone(process_id: int) -> None:
        assert process_id == 42
        await gone.wait()

    host = Host(parent_gone=parent_gone)
    host.send("jp/turn", 2)
    await settle()
    match way:
        case "eof":
            host.receiver.eof_received()
        case "broken pipe":
            host.connection.close(ClosingReason.BROKEN_PIPE)
        case "exit":
            host.send("exit")
        case "sigterm":
            host.connection.close(ClosingReason.SIGTERM, 143)
        case _:
            gone.set()
    reason, exit_code = WAYS[way]
    assert await host.serving == exit_code
    assert host.happened == [reason, "saved", "turn cancelled"]
    assert host.writer.is_closed
    answer = host.written()[-1]
    assert (answer["id"], answer["error"]["code"]) == (2, -32800)


@pytest.mark.requirement("R335", "S10")
async def test_shutdown_saves_before_it_is_answered_and_only_once() -> None:
    host = Host()
    host.hook_gate.clear()
    host.send("shutdown", 2)
    await settle()
    assert host.happened == ["closing shutdown"]
    assert len(host.written()) == 1, "only `initialize` is answered"
    host.hook_gate.set()
    await settle()
    assert host.written()[-1] == {"jsonrpc": "2.0", "id": 2, "result": None}
    host.send("exit")
    assert await host.serving == 0
    assert host.happened == ["closing shutdown", "saved"]


async def test_exit_while_shutdown_still_saves() -> None:
    host = Host()
    host.hook_gate.clear()
    host.send("shutdown", 2)
    await settle()
    host.send("exit")
    host.send("jp/turn", 3)
    await settle()
    assert not host.serving.done()
    host.hook_gate.set()
    assert await host.serving == 0
    assert host.happened == ["closing shutdown", "saved"]
    assert [message["id"] for message in host.written()] == [1, 2], "what comes behind `exit` is not heard"


async def test_work_that_does_not_end_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    host = Host(closing_timeout=0.01)
    host.hook_gate.clear()
    host.receiver.eof_received()
    assert await host.serving == 0
    assert host.happened == ["closing eof"]
    assert "work was given up" in caplog.text


async def test_a_hook_that_fails_is_logged_and_the_end_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    host = Host()

    async def fail(_reason: ClosingReason) -> None:
        raise OSError("disk full")

    host.server.on_closing = fail
    host.send("shutdown", 2)
    host.send("exit")
    assert await host.serving == 0
    assert "OSError: disk full" in caplog.text
    assert host.written()[-1]["result"] is None


async def test_nothing_new_is_served_while_it_ends_but_answers_are_heard() -> None:
    host = Host()
    host.hook_gate.clear()
    host.send("jp/ask", 2)
    await settle()
    prompt = host.written()[-1]
    host.connection.close(ClosingReason.SIGTERM, 143)
    host.send("jp/turn", 3)
    await settle()
    assert host.written()[-1]["error"]["code"] == -32600
    answer = {"jsonrpc": "2.0", "id": prompt["id"], "result": "yes"}
    host.receiver.data_received(encode_frame(json.dumps(answer).encode()))
    await settle()
    assert host.written()[-1] == {"jsonrpc": "2.0", "id": 2, "result": "yes"}
    host.hook_gate.set()
    assert await host.serving == 143


async def test_whoever_waits_for_a_gone_client_is_told() -> None:
    host = Host()
    host.send("jp/ask", 2)
    await settle()
    host.receiver.eof_received()
    await host.serving
    assert host.written()[-1]["error"]["code"] == -32603


async def test_the_first_reason_counts() -> None:
    host = Host()
    host.connection.close(ClosingReason.SIGINT, 130)
    host.receiver.eof_received()
    host.connection.close(ClosingReason.SIGTERM, 143)
    assert await host.serving == 130
    assert host.happened[0] == "closing sigint"


# Signals.


async def test_a_second_signal_ends_the_process_at_once() -> None:
    closed: list[object] = []
    left: list[int] = []

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0)

    with handle_signals(lambda *reason: closed.append(reason), leave_now=left.append):
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: bool(closed))
        assert left == []
        os.kill(os.getpid(), signal.SIGINT)
        await until(lambda: left == [130])
        os.kill(os.getpid(), signal.SIGQUIT)
        await until(lambda: left == [130, 131])
    assert closed == [(ClosingReason.SIGTERM, 143)]


# TCP.


class TcpHost:
    def __init__(self) -> None:
        self.closings: list[ClosingReason] = []
        self.served: list[object] = []
        self.address: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self.serving = asyncio.ensure_future(
            serve_tcp(self.make_server, on_listening=lambda host, port: self.address.set_result((host, port)))
        )

    def make_server(self) -> JpLanguageServer:
        server = JpLanguageServer("tcp", "1")
        server.protocol.register_method(
            "jp/whoami", None, lambda params: self.served.append(params) or id(server)
        )
        server.on_closing = self.on_closing
        return server

    async def on_closing(self, reason: ClosingReason) -> None:
        self.closings.append(reason)

    async def connect(self) -> "TcpClient":
        return TcpClient(*await asyncio.open_connection(*await self.address))

    async def stop(self) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return await self.serving


class TcpClient:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def request(self, method: str, params: object = None) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.writer.write(encode_frame(json.dumps(message).encode()))
        return await self.receive()

    async def receive(self) -> Any:
        header = await self.reader.readuntil(b"\r\n\r\n")
        return json.loads(await self.reader.readexactly(int(header.split(b":")[1])))

    def notify(self, method: str) -> None:
        self.writer.write(
            encode_frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": {}}).encode())
        )

    async def initialize(self) -> None:
        await self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized")

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def tcp() -> AsyncIterator[TcpHost]:
    host = TcpHost()
    yield host
    if not host.serving.done():
        await host.stop()


@pytest.mark.requirement("R310")
async def test_each_tcp_client_has_a_server_of_its_own(tcp: TcpHost) -> None:
    first, second = await tcp.connect(), await tcp.connect()
    await first.initialize()
    await second.initialize()
    assert (await first.request("jp/whoami"))["result"] != (await second.request("jp/whoami"))["result"]
    await first.request("shutdown")
    first.notify("exit")
    assert await first.reader.read() == b""
    assert "result" in await second.request("jp/whoami"), "the other one is still served"
    assert await tcp.stop() == 143
    assert tcp.closings == [ClosingReason.SHUTDOWN, ClosingReason.SIGTERM]
    await first.close()
    await second.close()


async def test_a_tcp_client_that_goes_away_ends_only_its_own_connection(tcp: TcpHost) -> None:
    client = await tcp.connect()
    await client.initialize()
    await client.close()
    other = await tcp.connect()
    await other.initialize()
    async with asyncio.timeout(10):
        while not tcp.closings:
            await asyncio.sleep(0)
    assert tcp.closings == [ClosingReason.EOF]
    assert "result" in await other.request("jp/whoami")
    await other.close()


@pytest.mark.parametrize(
    "opening", [b"POST / HTTP/1.1\r\nHost: localhost\r\n", b"GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n"]
)
async def test_a_web_page_cannot_talk_to_the_server(tcp: TcpHost, opening: bytes) -> None:
    """A browser can send such a request to any local port, and its body would look like a frame."""
    client = await tcp.connect()
    bodies = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"processId": None, "rootUri": None, "capabilities": {}},
        },
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "jp/whoami"},
    ]
    client.writer.write(opening + b"".join(encode_frame(json.dumps(body).encode()) for body in bodies))
    assert await client.reader.read() == b""
    assert tcp.served == []
    await client.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "192.168.1.5", "example.org"])
async def test_other_machines_are_let_in_only_on_request(host: str) -> None:
    with pytest.raises(ValueError, match="can be reached from other machines"):
        await serve_tcp(lambda: JpLanguageServer("tcp", "1"), host)


async def test_a_slow_tcp_client_gets_everything_in_order(tcp: TcpHost) -> None:
    client = await tcp.connect()
    await client.initialize()
    big = "x" * 3_000_000
    message = {"jsonrpc": "2.0", "id": 5, "method": "jp/nope", "params": big}
    client.writer.write(encode_frame(json.dumps(message).encode()))
    for request_id in range(6, 200):
        message = {"jsonrpc": "2.0", "id": request_id, "method": "jp/whoami"}
        client.writer.write(encode_frame(json.dumps(message).encode()))
    await client.writer.drain()
    assert [(await client.receive())["id"] for _ in range(5, 200)] == list(range(5, 200))
    await client.close()
