"""Requests to the client with typed parameters, as pygls' own convenience methods send them.

pygls hands out futures that a caller may cancel, and would then stumble over the answer (T25). Here a future
that nobody waits for is left alone. Prefer `own_requests` where plain JSON will do.
"""

import logging
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import cattrs
from lsprotocol import types

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.server.features import structure_problems
from jp_lsp.server.message import RequestId
from jp_lsp.server.own_requests import read_refusal
from jp_lsp.server.wire_error import INTERNAL_ERROR, ClientAnswerError

_log = logging.getLogger(__name__)


class TypedRequests:
    """The book of open typed requests to one client."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._open: dict[RequestId, tuple[Future[Any], Any]] = {}

    def ask(
        self,
        method: str,
        params: object,
        callback: Callable[[Any], None] | None,
        request_id: RequestId | None,
    ) -> "Future[Any]":
        """Send a request now; the future gives the typed result or raises `ClientAnswerError`."""
        request_id = str(uuid.uuid4()) if request_id is None else request_id
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(partial(_call_back, callback))
        result_type = types.METHOD_TO_TYPES.get(method, (None, None))[1]
        self._open[request_id] = (future, result_type)
        message: dict[str, object] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)
        return future

    def settle(self, request_id: RequestId, whole: JsonObject, converter: cattrs.Converter) -> bool:
        """Take an answer; tells whether it belongs to an open request."""
        future, result_type = self._open.pop(request_id, (None, None))
        if future is None:
            return False
        if (error := whole.get("error")) is not None:
            _settle(future, read_refusal(error))
        else:
            _settle(future, _typed_result(whole, result_type, converter))
        return True

    def refuse_all(self, reason: str) -> None:
        """End every request, because nobody is left to answer."""
        while self._open:
            _, (future, _) = self._open.popitem()
            _settle(future, ClientAnswerError(INTERNAL_ERROR, reason))


def _typed_result(whole: JsonObject, result_type: Any, converter: cattrs.Converter) -> object:
    if result_type is None:
        return whole.get("result")
    try:
        return converter.structure({"result": None, **whole}, result_type).result
    except Exception as error:  # the hooks of a converter raise what they like
        problems = "; ".join(structure_problems(error))
        return ClientAnswerError(INTERNAL_ERROR, f"the client's answer does not fit: {problems}")


def _settle(future: "Future[Any]", outcome: object) -> None:
    if future.done() or not future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, ClientAnswerError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _call_back(callback: Callable[[Any], None], future: "Future[Any]") -> None:
    if future.cancelled():
        return
    if (error := future.exception()) is not None:
        _log.info("the client refused a request: %s", error)
    else:
        callback(future.result())
