"""A server as a process of its own, spoken to in raw frames, so that a test can be as rude as it likes."""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WIRE_SERVER = [sys.executable, str(ROOT / "tests" / "support" / "wire_server.py")]

_PATIENCE = 30
_STREAM_LIMIT = 64 * 1024 * 1024


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **extra}


class ServerProcess:
    """Use `start`, talk, and `stop`; every wait is bounded."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.notifications: list[Any] = []
        self.log: list[str] = []
        self._ids = itertools.count(1)
        self._marks: asyncio.Queue[str] = asyncio.Queue()
        self._reading_log = asyncio.ensure_future(self._read_log()) if process.stderr else None

    @classmethod
    async def start(
        cls,
        command: list[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        initialize: bool = True,
        stdout: int = asyncio.subprocess.PIPE,
        stderr: int | None = asyncio.subprocess.PIPE,
    ) -> "ServerProcess":
        process = await asyncio.create_subprocess_exec(
            *(command or WIRE_SERVER),
            env=environment(**(env or {})),
            limit=_STREAM_LIMIT,
            stdin=asyncio.subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
        )
        server = cls(process)
        if initialize:
            await server.initialize()
        return server

    async def initialize(self, process_id: int | None = None) -> Any:
        params = {"processId": process_id, "rootUri": None, "capabilities": {}}
        answer = await self.request("initialize", params)
        self.notify("initialized", {})
        return answer

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: object) -> None:
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_request(self, method: str, params: object = None) -> int:
        request_id = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    async def request(self, method: str, params: object = None) -> Any:
        """Send a request and give its answer; notifications before it are kept."""
        request_id = self.send_request(method, params)
        while True:
            message = await self.receive()
            if message.get("id") == request_id and "method" not in message:
                return message
            self.notifications.append(message)

    async def receive(self) -> Any:
        assert self.process.stdout is not None
        async with asyncio.timeout(_PATIENCE):
            header = await self.process.stdout.readuntil(b"\r\n\r\n")
            name, _, size = header.strip().partition(b": ")
            assert name == b"Content-Length", f"something else is on the wire: {header!r}"
            return json.loads(await self.process.stdout.readexactly(int(size)))

    async def wait_for_mark(self, word: str) -> None:
        async with asyncio.timeout(_PATIENCE):
            while await self._marks.get() != word:
                pass

    async def wait(self) -> int:
        """Wait for the process to end by itself; gives its exit code."""
        async with asyncio.timeout(_PATIENCE):
            code = await self.process.wait()
            if self._reading_log is not None:
                await self._reading_log
        return code

    @property
    def marks(self) -> list[str]:
        return [line.removeprefix("mark ") for line in self.log if line.startswith("mark ")]

    async def stop(self) -> int:
        """End it as an editor does."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.wait()

    async def kill(self) -> None:
        """Leave nothing behind, whatever the test did."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self._reading_log is not None:
            await self._reading_log

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            text = line.decode(errors="replace").rstrip("\n")
            self.log.append(text)
            if text.startswith("mark "):
                self._marks.put_nowait(text.removeprefix("mark "))
