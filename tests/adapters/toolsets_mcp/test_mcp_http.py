"""Servers that are reached over HTTP: the library's own server on the loopback, and rude ones."""

import json
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import pytest
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

from jp_lsp.ports.mcp import HttpServer, McpError
from jp_lsp.ports.toolset import Reply
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.outcome import Failed, Succeeded
from jp_lsp.tools.spec import McpSource, ToolSpec
from jp_lsp.toolsets.mcp import http
from jp_lsp.toolsets.mcp.executor import McpExecutor
from jp_lsp.toolsets.mcp.resources import ServerResources
from jp_lsp.toolsets.mcp.servers import McpServers
from jp_lsp.toolsets.mcp.tools import McpTools
from tests.adapters.toolsets_mcp.scripted import Observer, Stopwatch, User, pool, run_of
from tests.support.http_server import Hold, Request
from tests.support.http_server import HttpServer as RudeServer
from tests.support.http_server import Reply as RudeReply

pytestmark = pytest.mark.anyio

BOTH_ERAS = pytest.mark.parametrize("is_old", [False, True], ids=["modern", "handshake"])


class Name(BaseModel):
    name: str


def ask_for_name() -> Elicit[Name]:
    return Elicit("Who are you?", Name)


class Remote:
    """A server with a few tools, and what was seen of it; one that `is_old` speaks the older protocol only."""

    def __init__(self, *, is_old: bool = False) -> None:
        self.is_old = is_old
        self.port = 0
        self.headers: list[dict[str, str]] = []
        self.is_running = anyio.Event()
        self.was_cancelled = anyio.Event()
        self.server = MCPServer("remote")
        self.server.tool()(self.greet)
        self.server.tool()(self.never)
        self.server.tool()(self.steps)
        self.server.tool()(self.ask)
        self.server.resource("memo://one")(self.memo)

    def greet(self, name: str, times: int = 1) -> str:
        """Greet somebody. Many times."""
        return f"Hello {name}" * times

    async def never(self) -> str:
        """Never answer."""
        self.is_running.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.was_cancelled.set()
        return ""

    async def steps(self, ctx: Context) -> str:
        """Tell of progress."""
        await ctx.report_progress(1, 2, "half")
        return "done"

    def ask(self, answer: Annotated[Name, Resolve(ask_for_name)]) -> str:
        """Ask for a name."""
        return f"Hello {answer.name}"

    def memo(self) -> str:
        return "remember"

    def config(self, **more: Any) -> HttpServer:
        return HttpServer("remote", f"http://127.0.0.1:{self.port}/mcp", **more)


@asynccontextmanager
async def listening(remote: Remote, **options: Any) -> AsyncGenerator[None]:
    """Serve on a free port of the loopback."""
    app = remote.server.streamable_http_app(**options)

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            remote.headers.append(headers)
            if remote.is_old and headers.get("mcp-method") == "server/discover":
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    with socket.create_server(("127.0.0.1", remote.port)) as listener:
        remote.port = listener.getsockname()[1]
        config = uvicorn.Config(
            watched, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            while not server.started:
                await anyio.sleep(0.005)
            try:
                yield
            finally:
                server.should_exit = True
                server.force_exit = True


@asynccontextmanager
async def remote_pool(
    environment: dict[str, str] | None = None, *, is_old: bool = False, **options: Any
) -> AsyncGenerator[tuple[Remote, McpServers]]:
    remote = Remote(is_old=is_old)
    async with listening(remote, **options), pool(environment or {}) as servers:
        yield remote, servers


@pytest.mark.requirement("R226")
@pytest.mark.parametrize("json_response", [False, True])
@BOTH_ERAS
async def test_a_tool_is_listed_and_called(json_response: bool, is_old: bool) -> None:
    async with remote_pool(json_response=json_response, is_old=is_old) as (remote, servers):
        configs = {"remote": remote.config()}
        wanted = [ToolSpec(ToolDefinition("hi", {}), McpSource("remote", "greet"))]
        complete = await McpTools(servers, configs, "/").complete(wanted)
        definition = complete.specs[0].definition
        assert definition.summary == "Greet somebody."
        assert definition.parameters["name"].required
        run = run_of("greet", {"name": "Ada", "times": 2}, server="remote", definition=definition)
        outcome = await McpExecutor(servers, configs).run(run, Observer())
        assert outcome == Succeeded("Hello AdaHello Ada")
        documents = await ServerResources(servers, configs, "/").read_resource("remote", "memo://one")
        assert [document.content for document in documents] == ["remember"]
        assert {headers["host"] for headers in remote.headers} == {f"127.0.0.1:{remote.port}"}
        assert not any("authorization" in headers for headers in remote.headers)


@BOTH_ERAS
async def test_progress_and_questions_come_through(is_old: bool) -> None:
    async with remote_pool(is_old=is_old) as (remote, servers):
        user = User(name=Reply("Ada"))
        executor = McpExecutor(servers, {"remote": remote.config()}, user)
        observer = Observer()
        assert await executor.run(run_of("steps", server="remote"), observer) == Succeeded("done")
        assert observer.told == [("half", 50)]
        assert await executor.run(run_of("ask", server="remote"), Observer()) == Succeeded("Hello Ada")


async def test_the_token_of_the_user_is_sent() -> None:
    async with remote_pool({"REMOTE_TOKEN": " secret\n"}) as (remote, servers):
        await servers.connect(remote.config(bearer_token_env="REMOTE_TOKEN"), "/")
        assert {headers.get("authorization") for headers in remote.headers} == {"Bearer secret"}


async def test_without_its_token_a_server_is_not_asked() -> None:
    async with remote_pool() as (remote, servers):
        with pytest.raises(McpError) as raised:
            await servers.connect(remote.config(bearer_token_env="REMOTE_TOKEN"), "/")
        text = "MCP server 'remote' needs a token: the environment variable REMOTE_TOKEN is not set"
        assert str(raised.value) == text
        assert remote.headers == []


@pytest.mark.requirement("R146", "R174")
@BOTH_ERAS
async def test_cancelling_returns_at_once_and_tells_the_server(is_old: bool) -> None:
    async with remote_pool(is_old=is_old) as (remote, servers):
        stopwatch = Stopwatch()
        executor = McpExecutor(servers, {"remote": remote.config()})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(executor.run, run_of("never", server="remote"), Observer())
            await remote.is_running.wait()
            stopwatch.start()
            tasks.cancel_scope.cancel()
        assert stopwatch.seconds < 0.1
        await remote.was_cancelled.wait()
        greeting = await executor.run(run_of("greet", {"name": "A"}, server="remote"), Observer())
        assert greeting == Succeeded("Hello A")


async def test_a_server_that_went_away_fails_the_call_and_is_found_when_it_is_back() -> None:
    remote = Remote()
    async with pool({}) as servers:
        executor = McpExecutor(servers, {"remote": remote.config()})
        async with listening(remote):
            executor = McpExecutor(servers, {"remote": remote.config()})
            assert await executor.run(run_of("greet", {"name": "A"}, server="remote"), Observer())
        outcome = await executor.run(run_of("greet", {"name": "A"}, server="remote"), Observer())
        assert isinstance(outcome, Failed)
        assert outcome.content.startswith("MCP server 'remote' cannot be used: it cannot be reached")
        again = Remote()
        again.port = remote.port
        async with listening(again):
            outcome = await executor.run(run_of("greet", {"name": "B"}, server="remote"), Observer())
            assert outcome == Succeeded("Hello B")


# ------------------------------------------------------------------------------------------ rude servers


def answered(result: Any, **headers: str) -> RudeReply:
    """An answer in the plain form; which request it belongs to is known from the connection."""
    # The library takes the id of the request for a stream of one event, whatever the event says.
    text = json.dumps({"jsonrpc": "2.0", "id": 0, "result": result})
    kind = {"content-type": "text/event-stream", **{name.replace("_", "-"): v for name, v in headers.items()}}
    return RudeReply.sse(f"data: {text}\n\n", headers=kind)


def initialized(session: str) -> RudeReply:
    """The answer of a server of the older protocol to the handshake."""
    server = {"name": "rude", "version": "1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    return answered(result, mcp_session_id=session)


def not_found() -> RudeReply:
    return RudeReply.text("no such page", 404, "text/plain")


async def connect_to(*replies: RudeReply, **config: Any) -> str:
    """Try to connect to a server with this script and give what went wrong."""
    with RudeServer(list(replies)) as server:
        async with pool({}) as servers:
            with pytest.raises(McpError) as raised:
                await servers.connect(HttpServer("rude", server.url, **config), "/")
    return str(raised.value)


async def test_a_refusal_says_its_status() -> None:
    replies = [RudeReply.text("who are you?", 401, "text/plain")] * 4
    assert await connect_to(*replies) == (
        "MCP server 'rude' cannot be used: Server returned an error response (code -32603)\n"
        "it answered:\n  HTTP 401 Scripted\n  HTTP 401 Scripted"
    )


async def test_a_refused_call_says_its_status_and_not_older_ones() -> None:
    script = ByMethod(
        server_discover=[not_found()],
        initialize=[initialized("one")],
        tools_list=[answered(LISTED)],
        tools_call=[RudeReply.text("no", 503, "text/plain"), RudeReply.text("no", 502, "text/plain")],
    )
    with RudeServer(script) as server:
        async with pool({}) as servers:
            executor = McpExecutor(servers, {"rude": HttpServer("rude", server.url)})
            outcomes = [await executor.run(run_of("echo", server="rude"), Observer()) for _ in range(2)]
    assert outcomes == [
        Failed(
            "MCP server 'rude' refused: Server returned an error response (code -32603)\n"
            f"it answered:\n  HTTP {status} Scripted"
        )
        for status in (503, 502)
    ]


async def test_a_page_that_is_no_server_is_told() -> None:
    message = await connect_to(*[RudeReply.text("<h1>Hi</h1>", content_type="text/html")] * 4)
    assert message.startswith("MCP server 'rude' cannot be used: Unexpected content type: text/html")


async def test_an_address_where_nobody_listens_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with pool({}) as servers:
        with pytest.raises(McpError, match=r"^MCP server 'rude' cannot be used: it cannot be reached: "):
            await servers.connect(HttpServer("rude", f"http://127.0.0.1:{port}/mcp"), "/")


@pytest.mark.parametrize("url", ["nonsense", "http://[::1", "ftp://127.0.0.1/x", "http://127.0.0.1:99999/"])
async def test_an_address_that_is_none_is_told(url: str) -> None:
    async with pool({}) as servers:
        with pytest.raises(McpError, match=r"^MCP server 'rude' cannot be used: "):
            await servers.connect(HttpServer("rude", url), "/")


@pytest.mark.requirement("T11")
async def test_a_server_that_never_answers_runs_into_the_limit() -> None:
    message = await connect_to(RudeReply.nothing(Hold()), startup_timeout=0.3)
    assert message == "MCP server 'rude' cannot be used: it did not answer within 0.3 s"


async def test_an_answer_beyond_all_measure_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SIZE", 10_000)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    big = RudeReply.json({"jsonrpc": "2.0", "id": 1, "result": {"x": "y" * 50_000}})
    message = await connect_to(big, big, big)
    assert "the answer is larger than 10000 bytes" in message


class ByMethod:
    """Answers by the method of a message, since two connections may ask in any order."""

    def __init__(self, **replies: list[RudeReply]) -> None:
        self.messages: list[Any] = []
        self._replies = {name.replace("_", "/"): list(answers) for name, answers in replies.items()}

    def __call__(self, request: Request) -> RudeReply:
        if request.method != "POST":
            return RudeReply.text("", 405, "text/plain")
        message = request.json()
        self.messages.append(message)
        replies = self._replies.get(message["method"], [ACCEPTED])
        return replies.pop(0) if len(replies) > 1 else replies[0]


ACCEPTED = RudeReply.text("", 202, "text/plain")
LISTED = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
MADE = {"content": [{"type": "text", "text": "made"}]}


async def test_a_session_that_expired_is_opened_anew_and_the_call_made_once() -> None:
    script = ByMethod(
        server_discover=[not_found()],
        initialize=[initialized("one"), initialized("two")],
        tools_list=[answered(LISTED)],
        tools_call=[not_found(), answered(MADE)],
    )
    with RudeServer(script) as server:
        async with pool({}) as servers:
            executor = McpExecutor(servers, {"rude": HttpServer("rude", server.url)})
            assert await executor.run(run_of("echo", server="rude"), Observer()) == Succeeded("made")
    assert [message["method"] for message in script.messages].count("tools/call") == 2


async def test_a_server_that_forgets_every_session_is_not_asked_for_ever() -> None:
    script = ByMethod(
        server_discover=[not_found()],
        initialize=[initialized("one")],
        tools_list=[answered(LISTED)],
        tools_call=[not_found()],
    )
    with RudeServer(script) as server:
        async with pool({}) as servers:
            executor = McpExecutor(servers, {"rude": HttpServer("rude", server.url)})
            outcome = await executor.run(run_of("echo", server="rude"), Observer())
    assert outcome == Failed("MCP server 'rude' refused: Session terminated (code -32600)")
    assert [message["method"] for message in script.messages].count("tools/call") == 2


TOKEN = "t0ken-of-the-user"


async def refused_call(code: int, message: str) -> str:
    """Call a tool of a server that refuses each call, and give what is told of it."""
    script = ByMethod(
        server_discover=[not_found()], initialize=[initialized("one")], tools_list=[answered(LISTED)]
    )

    def refuse(request: Request) -> RudeReply:
        if request.method != "POST" or request.json()["method"] != "tools/call":
            return script(request)
        error = {"code": code, "message": message}
        return RudeReply.json({"jsonrpc": "2.0", "id": request.json()["id"], "error": error})

    with RudeServer(refuse) as server:
        config = HttpServer("rude", server.url, bearer_token_env="REMOTE_TOKEN")
        async with pool({"REMOTE_TOKEN": TOKEN}) as servers:
            executor = McpExecutor(servers, {"rude": config})
            outcome = await executor.run(run_of("echo", server="rude"), Observer())
    assert isinstance(outcome, Failed)
    return outcome.content


@pytest.mark.parametrize("code", [-32000, -32603])
async def test_a_call_that_is_refused_has_an_answer_whatever_the_code(code: int) -> None:
    """The first is what the library says of a lost connection, and servers of anything."""
    assert await refused_call(code, "Not now") == f"MCP server 'rude' refused: Not now (code {code})"


@pytest.mark.parametrize("filler", [0, 3990, 5000], ids=["whole", "over the cut", "behind the cut"])
async def test_the_token_is_not_shown_when_a_server_quotes_it_back(filler: int) -> None:
    told = await refused_call(-32001, f"{'x' * filler} {TOKEN} is not allowed")
    assert ("***" in told, TOKEN[:3] in told) == (filler < 5000, False)
