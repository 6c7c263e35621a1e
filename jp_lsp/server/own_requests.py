"""Questions that we put to the client, and what becomes of their answers.

An answer may come at any time: after the one who asked has lost interest, twice, or never. So a question's
future is never cancelled and never holds an exception. It is settled with a value, and whoever still waits
turns that value into a result or a `ClientAnswerError`; a late answer is dropped (query pipeline 4.5, T25).
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.message import as_object
from jp_lsp.server.wire_error import INTERNAL_ERROR, ClientAnswerError

_log = logging.getLogger(__name__)

_Send = Callable[[JsonObject], None]


@dataclass(frozen=True, slots=True)
class _Result:
    value: JsonValue


class PendingAnswer:
    """One question that is on its way; await it for the result, as often as you like.

    Awaiting raises `ClientAnswerError` when the client refuses. A wait that is cancelled leaves the question
    open, and its answer is dropped when it comes.
    """

    def __init__(
        self, request_id: str, requests: "OwnRequests", future: "asyncio.Future[_Result | ClientAnswerError]"
    ) -> None:
        self.id = request_id
        self._requests = requests
        self._future = future

    def __await__(self) -> Generator[object, None, JsonValue]:
        """Wait for the client's word.

        Raises:
            ClientAnswerError: it refused, or the connection ended.
        """
        return self._wait().__await__()

    def withdraw(self) -> None:
        """Tell the client that the answer is no longer wanted; most leave their dialog open all the same."""
        self._requests.withdraw(self.id)

    async def _wait(self) -> JsonValue:
        match await asyncio.shield(self._future):
            case _Result(value):
                return value
            case ClientAnswerError() as refusal:
                raise ClientAnswerError(refusal.code, refusal.message, refusal.data)


class OwnRequests:
    """The book of our open questions to one client."""

    def __init__(self, send: _Send) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[str, asyncio.Future[_Result | ClientAnswerError]] = {}

    def __contains__(self, request_id: object) -> bool:
        return request_id in self._open

    def ask(self, method: str, params: JsonValue) -> PendingAnswer:
        """Send a request now, behind everything that was sent before."""
        request_id = f"jp-{next(self._numbers)}"
        future: asyncio.Future[_Result | ClientAnswerError] = asyncio.get_running_loop().create_future()
        self._open[request_id] = future
        self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return PendingAnswer(request_id, self, future)

    def settle(self, request_id: object, message: JsonObject) -> bool:
        """Take an answer; tells whether it belongs to an open question. A late one is dropped."""
        future = self._open.pop(request_id, None) if isinstance(request_id, str) else None
        if future is None:
            return False
        if (error := message.get("error")) is not None:
            future.set_result(read_refusal(error))
        else:
            future.set_result(_Result(message.get("result")))
        return True

    def refuse(self, request_id: str, reason: str) -> None:
        """End one open question that cannot be answered, for a reason of ours."""
        if (future := self._open.pop(request_id, None)) is not None:
            future.set_result(ClientAnswerError(INTERNAL_ERROR, reason))

    def withdraw(self, request_id: str) -> None:
        """Send a cancellation for an open question; the question itself stays in the book."""
        if request_id in self._open:
            self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}})

    def refuse_all(self, reason: str) -> None:
        """End every question, because nobody is left to answer."""
        for request_id in list(self._open):
            _log.debug("no answer will come to request %s", request_id)
            self.refuse(request_id, reason)


def read_refusal(error: JsonValue) -> ClientAnswerError:
    """Read the `error` member of an answer; a client may send anything there."""
    members = as_object(error) or {}
    code, message = members.get("code"), members.get("message")
    return ClientAnswerError(
        code if isinstance(code, int) and not isinstance(code, bool) else INTERNAL_ERROR,
        message if isinstance(message, str) and message else "the client gave no reason",
        members.get("data"),
    )
