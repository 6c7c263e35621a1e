"""The program itself as a process of its own, with the client that talks to it, and with a look at its log."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.jp_client import PATIENCE, JpClient
from tests.support.user_folders import UserFolders

_ALARMS = ("ERROR", "CRITICAL", "Traceback", "Error in", "never retrieved", "never awaited", "Exception ")
_STREAM_LIMIT = 64 * 1024


def serve_command(*options: str) -> list[str]:
    """The command line that serves; `options` such as `--tcp`, `127.0.0.1:0`."""
    return [sys.executable, "-m", "jp_lsp", "serve", *options]


class ServerLog:
    """What a server writes to its standard error.

    `expected` are texts that make a line harmless.
    """

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self.lines: list[str] = []
        self.expected: list[str] = []
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read(stream))

    async def wait_for(self, text: str) -> str:
        """Wait for a line that contains a text."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._news.clear()
                found = next((line for line in self.lines if text in line), None)
                if found is not None:
                    return found
                await self._news.wait()

    async def finished(self) -> None:
        """Wait until the server can write no more."""
        async with asyncio.timeout(PATIENCE):
            await self._reading

    def check(self) -> None:
        """Nothing went wrong that the test did not expect."""
        alarming = [
            line
            for line in self.lines
            if any(alarm in line for alarm in _ALARMS) and not any(text in line for text in self.expected)
        ]
        assert not alarming, "\n".join(self.lines)

    async def _read(self, stream: asyncio.StreamReader) -> None:
        async for line in stream:
            self.lines.append(line.decode(errors="replace").rstrip("\n"))
            self._news.set()


class JpServer:
    """A running server. Use `jp_server`, or `start` and `kill`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        self.process = process
        self.log = ServerLog(process.stderr)
        self.clients: list[JpClient] = []

    @classmethod
    async def start(cls, user: UserFolders, *options: str, **environment: str) -> "JpServer":
        """Start a server for a user; over pipes unless the options say otherwise."""
        process = await asyncio.create_subprocess_exec(
            *serve_command(*options),
            cwd=user.workspace,
            env=user.environment(**environment),
            limit=_STREAM_LIMIT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return cls(process)

    @property
    def client(self) -> JpClient:
        """The client at the other end of the pipes."""
        if not self.clients:
            assert self.process.stdout is not None
            assert self.process.stdin is not None
            self.clients.append(JpClient(self.process.stdout, self.process.stdin))
        return self.clients[0]

    async def connect(self) -> JpClient:
        """Connect one more client to a server that listens on TCP."""
        line = await self.log.wait_for("listens on ")
        host, _, port = line.rpartition(" ")[2].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=_STREAM_LIMIT)
        client = JpClient(reader, writer)
        self.clients.append(client)
        return client

    async def wait(self, within: float = 10.0) -> int:
        """Wait for the process to end by itself, and give its exit code."""
        async with asyncio.timeout(within):
            code = await self.process.wait()
        await self.log.finished()
        return code

    async def stop(self) -> int:
        """End it as an editor does."""
        await self.client.request("shutdown")
        self.client.notify("exit")
        return await self.wait()

    async def kill(self) -> None:
        """Leave nothing behind, whatever the test did."""
        for client in self.clients:
            client.read_on()  # asyncio tells of the end of a process once its output was read
        if self.process.returncode is None:
            self.process.kill()
        async with asyncio.timeout(PATIENCE):
            await self.process.wait()
        for client in self.clients:
            await client.close()
        if not self.clients and self.process.stdin is not None:
            self.process.stdin.close()
        await self.log.finished()


@asynccontextmanager
async def jp_server(user: UserFolders, *options: str, **environment: str) -> AsyncGenerator[JpServer]:
    """A server for the length of a block; its log is checked at the end."""
    server = await JpServer.start(user, *options, **environment)
    try:
        yield server
    finally:
        await server.kill()
    server.log.check()


@asynccontextmanager
async def initialized_server(
    user: UserFolders, *, environment: dict[str, str] | None = None, **params: Any
) -> AsyncGenerator[JpServer]:
    """A server whose client is an editor in the user's workspace; `params` are those of `initialize`."""
    async with jp_server(user, **(environment or {})) as server:
        await server.client.initialize(user.workspace, **params)
        yield server


@asynccontextmanager
async def opened_workspace(user: UserFolders, **params: Any) -> AsyncGenerator[JpServer]:
    """The same, once the first opening of the workspace has copied the conversations that are there."""
    async with initialized_server(user, **params) as server:
        await server.client.request("jp/conversation/list")
        await user.wait_for_copies()
        yield server
