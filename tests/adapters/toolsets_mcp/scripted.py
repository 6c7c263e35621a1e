"""Scripted servers as a test sees them: their configuration, what they report, and that none is left."""

import asyncio
import json
import math
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from jp_lsp.conversation.ids import CallId, ConversationId
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.mcp import StdioServer
from jp_lsp.ports.toolset import NoReply, Reply, ToolRun
from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.tools.outcome import ToolQuestion
from jp_lsp.tools.spec import McpSource, ToolPolicy, ToolSpec
from jp_lsp.toolsets.mcp.servers import McpServers

SCRIPTED = Path(__file__).parents[2] / "support" / "mcp_server.py"
PATIENCE = 20.0
"""Seconds after which a test that waits in vain fails."""


class Process:
    """One started server; its connection ends when it does."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.messages: list[Any] = []
        self._reader = reader
        self._writer = writer

    async def next_event(self) -> Any:
        with anyio.fail_after(PATIENCE):
            line = await self._reader.readline()
        assert line, "the server has ended"
        event = json.loads(line)
        if event["event"] == "message":
            self.messages.append(event["message"])
        return event

    async def wait_for(self, method: str) -> Any:
        """Wait until the server gets a message with this method, and give it."""
        while True:
            event = await self.next_event()
            if event["event"] == "message" and event["message"].get("method") == method:
                return event["message"]

    async def wait_for_event(self, name: str) -> None:
        while (await self.next_event())["event"] != name:
            pass

    def go_on(self) -> None:
        """Let it go on where it holds."""
        self._writer.write(b"!")

    async def wait_for_end(self, seconds: float = 2.0) -> None:
        """Wait until it is gone, at most this long."""
        with anyio.fail_after(seconds):
            while line := await self._reader.readline():
                event = json.loads(line)
                if event["event"] == "message":
                    self.messages.append(event["message"])

    def close(self) -> None:
        self._writer.close()


class Watch:
    """Where servers report."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.started: list[Process] = []
        self._unseen: asyncio.Queue[Process] = asyncio.Queue()

    def server(self, name: str = "notes", **script: Any) -> StdioServer:
        """Make the configuration of a scripted server."""
        arguments = ("-I", "-S", str(SCRIPTED), json.dumps({"report": self.port, **script}))
        return StdioServer(name, sys.executable, arguments)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        started = json.loads(await reader.readline())
        process = Process(started["pid"], reader, writer)
        self.started.append(process)
        self._unseen.put_nowait(process)

    async def next_process(self) -> Process:
        """Wait for the next server that starts."""
        with anyio.fail_after(PATIENCE):
            return await self._unseen.get()


@asynccontextmanager
async def watch() -> AsyncGenerator[Watch]:
    """Listen for servers; none of them may be left at the end."""
    watches: list[Watch] = []
    listener = await asyncio.start_server(
        lambda reader, writer: watches[0].take(reader, writer), "127.0.0.1", 0, limit=1 << 26
    )
    watches.append(Watch(listener.sockets[0].getsockname()[1]))
    try:
        yield watches[0]
        for process in watches[0].started:
            await process.wait_for_end()
    finally:
        for process in watches[0].started:
            process.close()
        listener.close()
        await listener.wait_closed()


@asynccontextmanager
async def pool(environment: Mapping[str, str] = os.environ) -> AsyncGenerator[McpServers]:
    servers = McpServers(environment)
    try:
        with anyio.fail_after(PATIENCE * 2):
            yield servers
    finally:
        await servers.aclose()


@asynccontextmanager
async def watched_pool(
    environment: Mapping[str, str] = os.environ,
) -> AsyncGenerator[tuple[Watch, McpServers]]:
    async with watch() as watching, pool(environment) as servers:
        yield watching, servers


class Stopwatch:
    """Measures from `start` on."""

    def __init__(self) -> None:
        self._begun = math.nan

    def start(self) -> None:
        self._begun = anyio.current_time()

    @property
    def seconds(self) -> float:
        assert not math.isnan(self._begun)
        return anyio.current_time() - self._begun


class Observer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str | None, int | None]] = []

    def progress(self, message: str | None, percentage: int | None) -> None:
        self.told.append((message, percentage))


class User:
    """Answers questions by id, in order; `None` is a question that stays open."""

    def __init__(self, **answers: Reply | NoReply | list[Reply | NoReply | None] | None) -> None:
        self.asked: list[ToolQuestion] = []
        self.runs: list[CallId] = []
        self.is_asked = anyio.Event()
        self.was_withdrawn = False
        self._answers: dict[str, list[Reply | NoReply | None]] = {
            name: [*answer] if isinstance(answer, list) else [answer] for name, answer in answers.items()
        }

    async def ask(self, run: ToolRun, question: ToolQuestion) -> Reply | NoReply:
        self.asked.append(question)
        self.runs.append(run.call)
        answers = self._answers[question.id]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        self.is_asked.set()
        if answer is not None:
            return answer
        try:
            await anyio.sleep_forever()
        finally:
            self.was_withdrawn = True
        raise AssertionError


def run_of(
    tool: str,
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    server: str = "notes",
    root: Path | str = "/",
    definition: ToolDefinition | None = None,
    call: str = "call_1",
    **policy: Any,
) -> ToolRun:
    """Make a pass of a call."""
    spec = ToolSpec(definition or ToolDefinition(tool, {}), McpSource(server, tool), ToolPolicy(**policy))
    conversation = ConversationId("jp-c17960412258")
    return ToolRun(CallId(call), spec, arguments or {}, {}, conversation, "w1", str(root))


async def until(is_so: Callable[[], bool]) -> None:
    """Give the event loop turns until something is so."""
    with anyio.fail_after(PATIENCE):
        while not is_so():
            await anyio.sleep(0.005)
