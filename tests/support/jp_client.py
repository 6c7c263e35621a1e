"""A client that speaks to a server in plain frames, over pipes or a socket, and keeps all that comes in order.

It answers requests of the server as the test says (`answers`), can stop reading, and knows how chunks become a
transcript. Every wait is bounded.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

Json = dict[str, Any]
Handler = Callable[[Json], Any]
"""Takes the params of a request of the server; gives the result, or an awaitable of it, or raises `WireFault`."""

_T = TypeVar("_T")

PATIENCE = 30.0
"""Seconds after which a test gives up."""

METHOD_NOT_FOUND = -32601

JP_CLIENT: Json = {"experimental": {"jp": {"version": 1, "chunks": True}}}
"""The capabilities of an editor that knows our methods."""


class WireFault(Exception):
    """The error with which a request was answered."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error.get('message')} ({error.get('code')})")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class JpClient:
    """One connection. `messages` has everything that came, in order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.messages: list[Json] = []
        self.answers: dict[str, Handler] = {}
        self._reader = reader
        self._writer = writer
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._news = asyncio.Event()
        self._ended: str | None = None
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._answering: set[asyncio.Task[None]] = set()
        self._reading = asyncio.ensure_future(self._read())

    async def initialize(
        self,
        workspace: Path | None,
        *,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        process_id: int | None = None,
    ) -> Json:
        """Begin, as an editor with one folder does."""
        folders = [] if workspace is None else [{"uri": workspace.as_uri(), "name": workspace.name}]
        params = {
            "processId": process_id,
            "rootUri": None,
            "workspaceFolders": folders,
            "capabilities": dict(capabilities or {}),
            "initializationOptions": dict(options or {}),
        }
        result = await self.request("initialize", params)
        self.notify("initialized", {})
        return result  # type: ignore[no-any-return]

    def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self._writer.write(data)

    def send(self, message: Json) -> None:
        """Send a message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def start(self, method: str, params: object = None) -> tuple[int, asyncio.Future[Json]]:
        """Send a request; gives its id and what will be the whole answer."""
        request_id = next(self._ids)
        self._waiting[request_id] = future = asyncio.get_running_loop().create_future()
        self.send({"id": request_id, "method": method, "params": params})
        return request_id, future

    async def request(self, method: str, params: object = None) -> Any:
        """Send a request and give its result.

        Raises:
            WireFault: it was answered with an error.
        """
        return await result_of(self.start(method, params)[1])

    async def refusal(self, method: str, params: object = None) -> WireFault:
        """Send a request that must be answered with an error, and give that."""
        return await fault_of(self.start(method, params)[1])

    async def query(self, text: str, token: str, **params: object) -> Json:
        """Ask, and give the result."""
        asked = {"text": text, "partialResultToken": token, **params}
        return await self.request("jp/query", asked)  # type: ignore[no-any-return]

    def start_query(self, text: str, token: str, **params: object) -> tuple[int, asyncio.Future[Json]]:
        """Ask, without waiting."""
        return self.start("jp/query", {"text": text, "partialResultToken": token, **params})

    def cancel(self, request_id: int) -> None:
        """Cancel a request."""
        self.notify("$/cancelRequest", {"id": request_id})

    async def wait_for(self, look: Callable[[], _T | None]) -> _T:
        """Wait until `look` finds something in what has come."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._news.clear()
                if found := look():
                    return found
                assert self._ended is None, self._ended
                await self._news.wait()

    async def wait_for_chunk(self, token: str, kind: str, **fields: object) -> Json:
        """Wait for a chunk of a type whose fields have these values."""

        def look() -> Json | None:
            wanted = {"type": kind, **fields}
            return next((chunk for chunk in self.chunks(token) if wanted.items() <= chunk.items()), None)

        return await self.wait_for(look)

    async def wait_for_text(self, token: str, text: str) -> None:
        """Wait until the transcript of a query ends with a text."""
        await self.wait_for(lambda: self.transcript(token).endswith(text))

    def progress(self, token: int | str) -> list[Json]:
        """The values of all `$/progress` on a token."""
        return [
            message["params"]["value"]
            for message in self.messages
            if message.get("method") == "$/progress" and message["params"]["token"] == token
        ]

    def chunks(self, token: int | str) -> list[Json]:
        """The chunks of a query, checked for what holds of all."""
        chunks = self.progress(token)
        check_chunks(chunks)
        return chunks

    def transcript(self, token: int | str) -> str:
        """What a query has shown so far."""
        return transcript_of(self.chunks(token))

    def received(self, method: str) -> list[Json]:
        """The params of all notifications and requests of a method."""
        return [message.get("params", {}) for message in self.messages if message.get("method") == method]

    def stop_reading(self) -> None:
        """Take nothing more off the wire, beyond what is on its way into this object already."""
        self._may_read.clear()

    def read_on(self) -> None:
        """Read again."""
        self._may_read.set()

    def hang_up(self) -> None:
        """Close the way to the server."""
        self._writer.close()

    async def close(self) -> None:
        """Leave nothing behind."""
        for task in (self._reading, *self._answering):
            task.cancel()
        await asyncio.gather(self._reading, *self._answering, return_exceptions=True)
        with suppress(OSError):
            self._writer.close()
            await self._writer.wait_closed()

    async def _read(self) -> None:
        try:
            while True:
                await self._may_read.wait()
                header = await self._reader.readuntil(b"\r\n\r\n")
                name, _, size = header.strip().partition(b": ")
                assert name == b"Content-Length", f"something else is on the wire: {header!r}"
                self._take(json.loads(await self._reader.readexactly(int(size))))
        except (asyncio.IncompleteReadError, OSError):
            self._end("the server hung up")
        except Exception as error:
            self._end(f"{type(error).__name__}: {error}")
            raise

    def _end(self, reason: str) -> None:
        """Nothing will come any more."""
        self._ended = reason
        self._news.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError(reason))
                future.exception()  # whoever still waits gets it; nobody has to

    def _take(self, message: Json) -> None:
        self.messages.append(message)
        self._news.set()
        if "method" not in message:
            future = self._waiting.pop(message["id"], None)
            assert future is not None, f"an answer to nothing, or a second one: {message}"
            future.set_result(message)
        elif "id" in message:
            task = asyncio.ensure_future(self._answer(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answer(self, message: Json) -> None:
        handler = self.answers.get(message["method"])
        if handler is None:
            error = {"code": METHOD_NOT_FOUND, "message": f"no {message['method']} here"}
            self.send({"id": message["id"], "error": error})
            return
        try:
            result = handler(message.get("params") or {})
            if isinstance(result, Awaitable):
                result = await result
        except WireFault as fault:
            self.send({"id": message["id"], "error": {"code": fault.code, "message": fault.message}})
        else:
            self.send({"id": message["id"], "result": result})
        self._news.set()  # whoever waits for what the answer did


async def answer_of(future: asyncio.Future[Json]) -> Json:
    """Wait for the whole answer."""
    async with asyncio.timeout(PATIENCE):
        return await future


async def result_of(future: asyncio.Future[Json]) -> Any:
    """Wait for the result.

    Raises:
        WireFault: it is an error.
    """
    answer = await answer_of(future)
    if "error" in answer:
        raise WireFault(answer["error"])
    return answer["result"]


async def fault_of(future: asyncio.Future[Json]) -> WireFault:
    """Wait for an answer that must be an error, and give that."""
    answer = await answer_of(future)
    assert "error" in answer, answer
    return WireFault(answer["error"])


def check_chunks(chunks: list[Json]) -> None:
    """What holds of the chunks of every query (query pipeline 5.1)."""
    assert [chunk["seq"] for chunk in chunks] == list(range(1, len(chunks) + 1))
    for chunk in chunks:
        assert chunk["v"] == 1
        assert "kind" not in chunk, "stock clients take it for the progress of some work"
        assert chunk["class"] in {"durable", "ephemeral", "control"}
        assert ("md" in chunk and "slot" not in chunk) or chunk["class"] != "durable"
        assert "slot" in chunk or chunk["class"] != "ephemeral"


def transcript_of(chunks: list[Json]) -> str:
    """Put the durable chunks together, without what was taken back."""
    kept: list[Json] = []
    for chunk in chunks:
        if chunk["type"] == "retract":
            kept = [each for each in kept if each["seq"] < chunk["fromSeq"]]
        elif chunk["class"] == "durable":
            kept.append(chunk)
    return "".join(each["md"] for each in kept)
