"""The table of requests: which of ours wait for an answer, and whom the server's messages are for.

Sans-IO but for the futures of requests: bytes go out through a function and come in through `receive`.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Protocol

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.terminal.framing import MessageReader, encode_message

RequestId = int | str

METHOD_NOT_FOUND = -32601


class RequestError(Exception):
    """The server answered a request with an error; `error` is the whole error object."""

    def __init__(self, error: JsonObject) -> None:
        message = error.get("message")
        super().__init__(message if isinstance(message, str) and message else "the server gave no reason")
        self.error = error

    @property
    def code(self) -> int | None:
        """The JSON-RPC number, if there is one."""
        code = self.error.get("code")
        return code if isinstance(code, int) else None

    @property
    def data(self) -> JsonObject:
        """The data of the error; empty when it has none."""
        data = self.error.get("data")
        return data if isinstance(data, Mapping) else {}


class Listener(Protocol):
    """Who is told of what the server sends by itself."""

    def on_request(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        """The server asks something; to be answered with `respond` or `refuse`, now or later."""

    def on_notification(self, method: str, params: JsonObject) -> None:
        """The server tells something."""


class Connection:
    """One connection to a server.

    Args:
        send: writes bytes to the server, without waiting.
        listener: is told of the server's own messages, in their order.
    """

    def __init__(self, send: Callable[[bytes], None], listener: Listener) -> None:
        self._send = send
        self._listener = listener
        self._reader = MessageReader()
        self._ids = itertools.count(1)
        self._waiting: dict[RequestId, asyncio.Future[JsonValue]] = {}
        self._ended: Exception | None = None

    def request(self, method: str, params: JsonObject) -> "Request":
        """Send a request; await its `answer`."""
        request_id = next(self._ids)
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        # Nobody may be waiting any more when the answer, or the end, comes.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        if self._ended is not None:
            answer.set_exception(self._ended)
        else:
            self._waiting[request_id] = answer
            self._write({"id": request_id, "method": method, "params": params})
        return Request(request_id, answer)

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._write({"method": method, "params": params})

    def respond(self, request_id: RequestId, result: JsonValue) -> None:
        """Answer a request of the server."""
        self._write({"id": request_id, "result": result})

    def refuse(self, request_id: RequestId, code: int, message: str) -> None:
        """Answer a request of the server with an error."""
        self._write({"id": request_id, "error": {"code": code, "message": message}})

    def receive(self, data: bytes) -> None:
        """Take bytes of the server.

        Raises:
            WireBroken: they are not the protocol.
        """
        for message in self._reader.feed(data):
            self._dispatch(message)

    def end(self, reason: Exception) -> None:
        """Note that nothing more will come: whoever waits for an answer gets `reason`."""
        self._ended = reason
        while self._waiting:
            _, answer = self._waiting.popitem()
            if not answer.done():
                answer.set_exception(reason)

    def _write(self, message: JsonObject) -> None:
        if self._ended is None:
            self._send(encode_message({"jsonrpc": "2.0", **message}))

    def _dispatch(self, message: JsonObject) -> None:
        method, request_id = message.get("method"), message.get("id")
        if isinstance(method, str):
            given = message.get("params")
            params: JsonObject = given if isinstance(given, Mapping) else {}
            if isinstance(request_id, int | str):
                self._listener.on_request(request_id, method, params)
            else:
                self._listener.on_notification(method, params)
        elif isinstance(request_id, int | str):
            answer = self._waiting.pop(request_id, None)
            if answer is None or answer.done():
                return
            error = message.get("error")
            if isinstance(error, Mapping):
                answer.set_exception(RequestError(error))
            else:
                answer.set_result(message.get("result"))


class Request:
    """A request that was sent."""

    __slots__ = ("answer", "id")

    def __init__(self, request_id: int, answer: "asyncio.Future[JsonValue]") -> None:
        self.id = request_id
        self.answer = answer
