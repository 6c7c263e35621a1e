"""A scripted local model: the real child process with a stand-in for the runtime."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio.to_thread

from jp_lsp.providers.local.process import ChildOptions
from jp_lsp.turn.stream_event import Usage

FAKE_RUNTIME = Path(__file__).with_name("fake_runtime")


def scripted_options(folder: Path, **script: object) -> ChildOptions:
    """Write a model file that is a script (see `fake_runtime`) and give the options that load it."""
    model = folder / "model.json"
    model.write_text(json.dumps(script), encoding="utf-8")
    return ChildOptions(packages=FAKE_RUNTIME, model=model, alias="small")


class Gate:
    """Where a child that loads a model reports and waits; its connection ends when the child does."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._connection: socket.socket | None = None
        self.port: int = listener.getsockname()[1]
        self.pids: list[int] = []

    async def wait_for_child(self) -> int:
        """Wait until a child has begun to load, and give its process id."""
        connection, _address = await anyio.to_thread.run_sync(self._listener.accept)
        connection.settimeout(10)
        self.close_connection()
        self._connection = connection
        self.pids.append(int((await anyio.to_thread.run_sync(connection.recv, 32)).strip()))
        return self.pids[-1]

    def let_load(self) -> None:
        """Let the child go on."""
        assert self._connection is not None
        self._connection.sendall(b"!")

    async def wait_for_end(self, seconds: float = 2.0) -> None:
        """Wait until the child is gone, at most this long."""
        assert self._connection is not None
        self._connection.settimeout(seconds)
        assert await anyio.to_thread.run_sync(self._connection.recv, 1) == b""

    def close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()


@contextmanager
def open_gate() -> Generator[Gate]:
    """Listen for children."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        gate = Gate(listener)
        try:
            yield gate
        finally:
            gate.close_connection()


class Observer:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.byte_reports = 0
        self.usage: list[Usage] = []

    def bytes_received(self) -> None:
        self.byte_reports += 1

    def usage_reported(self, usage: Usage) -> None:
        self.usage.append(usage)
