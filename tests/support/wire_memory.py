"""A client in memory: what it sends goes straight to a protocol object, what it gets is kept as plain JSON."""

import asyncio
import json
from typing import Any

from jp_lsp.server.framing import FrameDecoder
from jp_lsp.server.lifecycle import ClosingReason
from jp_lsp.server.wire import JpLanguageServer


class MemoryWriter:
    """Keeps frames; `is_slow` makes it a client that reads nothing for now."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.unread = 0
        self.is_slow = False
        self.is_closed = False
        self.flowing = asyncio.Event()
        self.flowing.set()

    @property
    def pending_bytes(self) -> int:
        return self.unread

    def write(self, frame: bytes) -> None:
        if not self.is_closed:
            self.frames.append(frame)
            self.unread += len(frame) if self.is_slow else 0

    def stall(self) -> None:
        self.is_slow = True
        self.flowing.clear()

    def catch_up(self) -> None:
        self.is_slow = False
        self.unread = 0
        self.flowing.set()

    async def drained(self) -> None:
        await self.flowing.wait()

    async def close(self, within: float) -> None:
        self.is_closed = True


class RecordingLifecycle:
    def __init__(self) -> None:
        self.events: list[object] = []

    async def end_work(self, reason: ClosingReason) -> None:
        self.events.append(reason)

    def exit(self, code: int) -> None:
        self.events.append(("exit", code))

    def client_process(self, process_id: int) -> None:
        self.events.append(("process", process_id))


class MemoryClient:
    """One client and its server, in one event loop."""

    def __init__(self) -> None:
        self.writer = MemoryWriter()
        self.lifecycle = RecordingLifecycle()
        self.server = JpLanguageServer("memory", "1")
        self.protocol = self.server.protocol
        self.protocol.connect(self.writer, self.lifecycle)

    def send_bytes(self, body: bytes) -> None:
        self.protocol.receive(body)

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode())

    def request(self, request_id: object, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def cancel(self, request_id: object) -> None:
        self.notify("$/cancelRequest", {"id": request_id})

    def take(self) -> list[Any]:
        """Give what has arrived since the last time, as messages."""
        decoder = FrameDecoder()
        for frame in self.writer.frames:
            decoder.feed(frame)
        self.writer.frames.clear()
        messages: list[Any] = []
        while (body := decoder.next_frame()) is not None:
            assert isinstance(body, bytes), body
            messages.append(json.loads(body))
        return messages

    def take_one(self) -> Any:
        (message,) = self.take()
        return message

    def initialize(self, **params: object) -> Any:
        self.request("init", "initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params})
        answer = self.take_one()
        self.notify("initialized", {})
        return answer


def error_of(message: Any, code: int, name: str) -> str:
    """Check an error's number and stable name; gives its text."""
    assert "result" not in message
    assert message["error"]["code"] == code
    assert message["error"]["data"]["code"] == name
    assert message["error"]["data"]["trace"]
    return str(message["error"]["message"])
