"""Teaches pygls our wire: the protocol object between frames and handlers, for one client.

pygls gives the standard features: typed messages, document sync, capabilities. What it does with bytes, with
errors and with cancellation is replaced here, because every request must be answered, whatever is in it, and
because parameters of our own methods are plain JSON that no library may rename (components 1.8, traps 41-66).

A message takes one of three ways:

* a method or command registered here gets the JSON that was sent, checked by its own model;
* a standard feature of pygls gets its typed message;
* an answer to a request of ours goes to whoever asked (`own_requests`).

This is the one module that bends pygls' types.
"""

import asyncio
import contextvars
import enum
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, Protocol, cast

import attrs
import cattrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.feature_manager import is_thread_function
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.framing import BadFrame, encode_frame
from jp_lsp.server.json_codec import decode_json, encode_json
from jp_lsp.server.method import Command, Handler, Method, ParamsModel
from jp_lsp.server.own_requests import OwnRequests, PendingAnswer
from jp_lsp.server.running import RequestId, RunningRequests
from jp_lsp.server.wire_error import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    ClientAnswerError,
    WireError,
    edge_error,
    invalid_params,
    new_trace,
    shorten,
)
from jp_lsp.server.writer import Writer

_log = logging.getLogger(__name__)

_END_REQUESTS_WITHIN = 1.0

_LEADING_ID = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,256}")'
)


class ClosingReason(enum.StrEnum):
    """Why a connection ends; the first reason is the one that counts."""

    SHUTDOWN = "shutdown"
    EXIT = "exit"
    EOF = "eof"
    BROKEN_PIPE = "broken_pipe"
    PARENT_GONE = "parent_gone"
    FOREIGN = "foreign"
    SIGTERM = "sigterm"
    SIGINT = "sigint"
    SIGHUP = "sighup"

    @property
    def is_client_gone(self) -> bool:
        """Whether nobody is left to read or to answer."""
        return self in {
            ClosingReason.EOF,
            ClosingReason.BROKEN_PIPE,
            ClosingReason.PARENT_GONE,
            ClosingReason.FOREIGN,
        }


class Phase(enum.Enum):
    """Where the connection stands in the protocol's life."""

    NEW = "before `initialize`"
    INITIALIZING = "`initialize` is being worked on"
    INITIALIZED = "`initialize` is answered, `initialized` has not come"
    READY = "open for everything"
    STOPPING = "`shutdown` has come, or the connection is ending"


class Lifecycle(Protocol):
    """What the protocol tells whoever owns the connection."""

    async def end_work(self, reason: ClosingReason) -> None:
        """End the turns and save; time-boxed, done once however often it is awaited."""

    def exit(self, code: int) -> None:
        """The client sent `exit`; `code` is what the process is to end with."""

    def client_process(self, process_id: int) -> None:
        """The client told its process id."""


class JpProtocol(LanguageServerProtocol):
    """The messages of one client. Bytes come in through `receive`, frames go out through the writer."""

    _server: "JpLanguageServer"

    def __init__(self, server: "JpLanguageServer", converter: cattrs.Converter) -> None:
        self._phase = Phase.NEW
        self._was_shut_down = False
        self._methods: dict[str, Method] = {}
        self._commands: dict[str, Command] = {}
        self._out: Writer | None = None
        self._lifecycle: Lifecycle | None = None
        self._own = OwnRequests(self._send)
        self._running = RunningRequests(self._answer, self._refuse, self._report)
        self._raw_initialize: JsonObject = {}
        super().__init__(server, converter)

    # What the app uses.

    @property
    def phase(self) -> Phase:
        """Where the connection stands."""
        return self._phase

    @property
    def raw_initialize(self) -> JsonObject:
        """The parameters of `initialize` as the JSON that was sent."""
        return self._raw_initialize

    @property
    def out(self) -> Writer | None:
        """The way to the client, for back-pressure (`drained`, `pending_bytes`); `None` before a connection."""
        return self._out

    def register_method(self, name: str, params_model: ParamsModel, handler: Handler) -> None:
        """Register the handler of a request or notification; it goes before a feature of pygls of that name.

        The handler may be synchronous, then it runs inside the read loop in the order of the messages, or
        give an awaitable, then the request is answered when that is done. Errors: a `WireError` is sent as it
        is, everything else becomes -32603 with a trace id. Called before `initialized`, a request is refused.

        Args:
            name: such as `jp/query`.
            params_model: checks the parameters (absent ones as `{}`); `None` hands the JSON over as it is.
            handler: called with the model or the JSON.

        Raises:
            ValueError: the name is taken.
        """
        if name in self._methods:
            raise ValueError(f"the method {name!r} is registered already")
        self._methods[name] = Method(name, handler, params_model)

    def register_command(
        self, name: str, params_model: ParamsModel, handler: Handler, *, text_key: str | None = None
    ) -> None:
        """Register what `workspace/executeCommand` calls under this name, and announce it.

        Like `register_method`, called with the one argument of the command; cancelling the request cancels it.

        Args:
            name: such as `jp.query`.
            params_model: checks the argument.
            handler: called with the model or the JSON.
            text_key: the member that a bare string stands for.

        Raises:
            ValueError: the name is taken.
        """
        if name in self.fm.commands:
            raise ValueError(f"the command {name!r} is registered already")
        command = Command(Method(name, handler, params_model), text_key)
        self._commands[name] = command
        self.fm.command(name)(lambda *arguments: command.call({"arguments": list(arguments)}))

    def notify_raw(self, method: str, params: JsonObject) -> None:
        """Send a notification of plain JSON; the quick way for chunks."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_request_raw(self, method: str, params: JsonObject) -> PendingAnswer:
        """Send a request of plain JSON now; await what it gives for the result.

        Raises (when awaited):
            ClientAnswerError: the client refused, or is gone.
        """
        pending = self._own.ask(method, params)
        if self._out is None or self._out.is_closed:
            self._own.refuse(pending.id, "the client is gone")
        return pending

    # What the connection uses.

    def connect(self, out: Writer, lifecycle: Lifecycle) -> None:
        """Say where frames go and who is told of the connection's end."""
        self._out = out
        self._lifecycle = lifecycle

    def receive(self, frame: "bytes | BadFrame") -> None:
        """Take one frame. Never raises: whatever is wrong with it is answered or logged."""
        if isinstance(frame, BadFrame):
            self._receive_bad(frame)
            return
        try:
            message = decode_json(frame)
        except ValueError as error:
            self._send_error(None, edge_error(PARSE_ERROR, f"Parse error: {error}"))
            return
        self._receive_message(message)

    def stop_serving(self) -> None:
        """Refuse everything new from now on."""
        self._phase = Phase.STOPPING

    def end_questions(self) -> None:
        """End every wait for an answer of the client, because it is gone."""
        self._own.refuse_all("the client is gone")
        for future in list(self._request_futures.values()):
            _settle(future, ClientAnswerError(INTERNAL_ERROR, "the client is gone"))
        self._request_futures.clear()

    async def end_requests(self, timeout: float, *, spare: RequestId | None = None) -> None:
        """Cancel the requests that still run and let them be answered, at most `timeout` seconds."""
        await self._running.end_all(timeout, spare=spare)

    # Messages that come in.

    def _receive_bad(self, frame: BadFrame) -> None:
        """Answer something that is no usable frame; under its id when that can be seen."""
        found = _LEADING_ID.match(frame.start)
        request_id = cast("RequestId", decode_json(found[1])) if found else None
        if b'"method"' not in frame.start and request_id in self._own:
            self._own.refuse(cast(str, request_id), f"the answer cannot be read: {frame.message}")
            return
        self._send_error(request_id, edge_error(INVALID_REQUEST, f"Invalid request: {frame.message}"))

    def _receive_message(self, message: JsonValue) -> None:
        if not isinstance(message, dict):
            self._send_error(
                None, edge_error(INVALID_REQUEST, "Invalid request: a message is one JSON object")
            )
            return
        members = cast("dict[str, JsonValue]", message)
        request_id = members.get("id")
        is_usable_id = isinstance(request_id, (str, int)) and not isinstance(request_id, bool)
        method = members.get("method")
        problem: str | None = None
        if members.get("jsonrpc") != "2.0":
            problem = 'jsonrpc must be "2.0"'
        elif "method" in members and not isinstance(method, str):
            problem = "method must be a string"
        elif "method" in members and "id" in members and not is_usable_id:
            problem = "id must be a string or an integer"
        elif "method" not in members and "id" not in members:
            problem = "neither a request, a notification nor a response"
        if problem is not None:
            known_id = cast("RequestId", request_id) if is_usable_id else None
            self._send_error(known_id, edge_error(INVALID_REQUEST, f"Invalid request: {problem}"))
        elif not isinstance(method, str):
            self._receive_answer(members)
        elif "id" in members:
            self._receive_request(cast("RequestId", request_id), method, members)
        else:
            self._receive_notification(method, members)

    def _receive_request(self, request_id: RequestId, method: str, message: dict[str, JsonValue]) -> None:
        if request_id in self._running:
            refusal: WireError | None = edge_error(
                INVALID_REQUEST, "Invalid request: this id is still in use"
            )
        else:
            refusal = self._refusal_in_phase(method, message)
        if refusal is not None:
            self._send_error(request_id, refusal)
            return
        if method == types.INITIALIZE:
            self._phase = Phase.INITIALIZING
        elif method == types.SHUTDOWN:
            self._phase = Phase.STOPPING
            self._was_shut_down = True
        context = contextvars.copy_context()
        context.run(self._ctx_msg_id.set, request_id)
        self._running.run(request_id, lambda: self._call(method, message), context)

    def _refusal_in_phase(self, method: str, message: dict[str, JsonValue]) -> WireError | None:
        """Say why the request cannot be served now (trap 60); `None` when it can."""
        match self._phase:
            case Phase.NEW | Phase.INITIALIZING if method != types.INITIALIZE or self._phase is not Phase.NEW:
                return edge_error(NOT_INITIALIZED, f"the server is not initialized: {self._phase.value}")
            case Phase.INITIALIZED if (
                method in self._methods or self._command_of(method, message) is not None
            ):
                return edge_error(NOT_INITIALIZED, f"the server is not initialized: {self._phase.value}")
            case Phase.INITIALIZED | Phase.READY if method == types.INITIALIZE:
                return edge_error(INVALID_REQUEST, "Invalid request: the server is initialized already")
            case Phase.STOPPING:
                return edge_error(INVALID_REQUEST, "Invalid request: the server is shutting down")
            case _:
                return None

    def _receive_notification(self, method: str, message: dict[str, JsonValue]) -> None:
        if method == types.CANCEL_REQUEST:
            params = message.get("params")
            self._running.cancel(params.get("id") if isinstance(params, dict) else None)
            return
        if method != types.EXIT and self._phase in {Phase.NEW, Phase.INITIALIZING, Phase.STOPPING}:
            _log.debug("dropped the notification %r: %s", shorten(method), self._phase.value)
            return
        if method == types.INITIALIZED:
            self._phase = Phase.READY
        self._running.run_unanswered(lambda: self._call(method, message), contextvars.copy_context())

    def _receive_answer(self, message: dict[str, JsonValue]) -> None:
        request_id = message.get("id")
        if self._own.settle(request_id, message):
            return
        future = self._request_futures.pop(request_id, None) if isinstance(request_id, (str, int)) else None
        result_type = self._result_types.pop(request_id, None) if future is not None else None
        if future is None:
            _log.debug("an answer came too late, or to a question that was never put")
        elif isinstance(error := message.get("error"), dict):
            _settle(future, _client_error(error))
        else:
            _settle(future, self._typed_result(message, result_type))

    def _typed_result(self, message: dict[str, JsonValue], result_type: Any) -> object:
        if result_type is None:
            return message.get("result")
        try:
            return self._converter.structure({"result": None, **message}, result_type).result
        except Exception as error:  # noqa: BLE001 - a converter's hooks raise what they like
            problems = "; ".join(_structure_problems(error))
            return ClientAnswerError(INTERNAL_ERROR, f"the client's answer cannot be read: {problems}")

    # Calling handlers.

    def _call(self, method: str, message: dict[str, JsonValue]) -> object:
        """Call whoever handles the message.

        Raises:
            WireError: nobody does, or the parameters do not fit.
        """
        if (registered := self._methods.get(method)) is not None:
            return registered.call(message.get("params"))
        if (command := self._command_of(method, message)) is not None:
            return command.call(cast("dict[str, JsonValue]", message["params"]))
        handler = self.fm.builtin_features.get(method) or self.fm.features.get(method)
        if handler is None:
            if "id" not in message:
                _log.debug("ignored the unknown notification %r", shorten(method))
                return None
            raise edge_error(METHOD_NOT_FOUND, f"Method not found: {shorten(method)}")
        message_type = self.get_message_type(method)
        if message_type is None:
            return self._start(handler, (message.get("params"),), {})
        if method == types.INITIALIZE:
            return self._initialize(handler, message, message_type)
        return self._start(handler, (self._structure(method, message, message_type),), {})

    def _command_of(self, method: str, message: dict[str, JsonValue]) -> Command | None:
        params = message.get("params")
        if method != types.WORKSPACE_EXECUTE_COMMAND or not isinstance(params, dict):
            return None
        name = params.get("command")
        return self._commands.get(name) if isinstance(name, str) else None

    def _initialize(
        self, handler: Callable[..., Any], message: dict[str, JsonValue], message_type: Any
    ) -> object:
        """Start the conversation; one that cannot start is left as it was, so that the client may try again.

        A client newer than we are may announce a capability in a form that we do not know. It is served
        without that group of capabilities.
        """
        params = message.get("params")
        self._raw_initialize = params if isinstance(params, dict) else {}
        try:
            while True:
                try:
                    structured = self._structure(types.INITIALIZE, message, message_type)
                    break
                except WireError as error:
                    if (fewer := _without_unreadable_capabilities(message, error)) is None:
                        raise
                    message = fewer
            result = self._start(handler, (structured,), {})
        except BaseException:
            self._phase = Phase.NEW
            raise
        return (
            self._finish_initialize(result) if inspect.isawaitable(result) else self._end_initialize(result)
        )

    async def _finish_initialize(self, result: Awaitable[object]) -> object:
        try:
            return self._end_initialize(await result)
        except BaseException:
            if self._phase is Phase.INITIALIZING:
                self._phase = Phase.NEW
            raise

    def _end_initialize(self, result: object) -> object:
        self._phase = Phase.INITIALIZED
        process_id = self._raw_initialize.get("processId")
        if self._lifecycle is not None and isinstance(process_id, int):
            self._lifecycle.client_process(process_id)
        return result

    def _structure(self, method: str, message: dict[str, JsonValue], message_type: Any) -> Any:
        try:
            return self._converter.structure(message, message_type).params
        except Exception as error:  # noqa: BLE001 - a converter's hooks raise what they like
            raise invalid_params(method, _structure_problems(error)) from None

    def _start(self, handler: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Call a handler of pygls' kind: a function, a coroutine, a thread's work, or a generator of these."""
        if is_thread_function(handler):
            pool = self._server.thread_pool
            return asyncio.get_running_loop().run_in_executor(pool, partial(handler, *args, **kwargs))
        result = handler(*args, **kwargs)
        if inspect.isgenerator(result):
            return self._advance(result, None)
        return result

    def _advance(self, steps: Generator[Any, Any, Any], value: object) -> object:
        """Run a built-in feature on, as far as it goes without waiting."""
        try:
            while True:
                handler, args, kwargs = steps.send(value)
                value = self._start(handler, tuple(args or ()), kwargs or {})
                if inspect.isawaitable(value):
                    return self._advance_later(steps, value)
        except StopIteration as stop:
            return stop.value

    async def _advance_later(self, steps: Generator[Any, Any, Any], waited_for: Awaitable[object]) -> object:
        result = self._advance(steps, await waited_for)
        return await result if inspect.isawaitable(result) else result

    # Features of pygls that are replaced.

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """Let the connection end; the process is ended by whoever started it."""
        try:
            if (user_handler := self.fm.features.get(types.EXIT)) is not None:
                yield user_handler, args, None
        finally:
            if self._lifecycle is not None:
                self._lifecycle.exit(0 if self._was_shut_down else 1)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """End the work, let every open request be answered, and only then answer this one (4.8)."""
        if (user_handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            yield user_handler, args, None
        if self._lifecycle is not None:
            yield self._lifecycle.end_work, (ClosingReason.SHUTDOWN,), None
        yield partial(self.end_requests, _END_REQUESTS_WITHIN, spare=self.msg_id), (), None
        self._shutdown = True

    def get_message_type(self, method: str) -> type[Any] | None:
        """Give the type of a standard message. Unlike its original, keeps no object alive in a cache."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:
        """Give the type of a standard result."""
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    # Messages that go out.

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification: typed parameters, or plain JSON for any method."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: RequestId | None = None,
    ) -> "Future[Any]":
        """Send a request with typed parameters; prefer `send_request_raw` where plain JSON will do.

        The future raises `ClientAnswerError`. It may be cancelled: the late answer is then dropped.
        """
        future = super().send_request(method, params, None, msg_id)
        if callback is not None:
            future.add_done_callback(lambda done: _call_back(done, callback))
        return future

    def _send_data(self, data: Any) -> None:
        """Pygls: send a message object."""
        self._send(data)

    def _answer(self, request_id: RequestId, result: object) -> None:
        try:
            self._send({"jsonrpc": "2.0", "id": request_id, "result": result})
        except (TypeError, ValueError) as error:
            self._refuse(request_id, error)

    def _refuse(self, request_id: RequestId, error: BaseException) -> None:
        refusal = _to_wire_error(error)
        try:
            self._send_error(request_id, refusal)
        except (TypeError, ValueError) as unsendable:
            self._send_error(request_id, _to_wire_error(unsendable))

    def _report(self, error: BaseException) -> None:
        """Log what the handler of a notification raised; nobody waits for an answer."""
        refusal = _to_wire_error(error)
        if refusal.code != INTERNAL_ERROR:
            _log.warning("a notification was not served: %s", refusal.message)

    def _send_error(self, request_id: RequestId | None, error: WireError) -> None:
        self._send({"jsonrpc": "2.0", "id": request_id, "error": error.to_json()})

    def _send(self, message: object) -> None:
        if self._out is not None:
            self._out.write(encode_frame(encode_json(message, self._to_plainer)))

    def _to_plainer(self, value: object) -> object:
        """Turn what is not JSON into something that is nearer to it, for the encoder."""
        if attrs.has(type(value)):
            return self._converter.unstructure(value)
        if (dump := getattr(value, "model_dump", None)) is not None:
            return dump(mode="json", by_alias=True)
        if isinstance(value, Mapping):
            return dict(cast("Mapping[object, object]", value))
        if isinstance(value, (tuple, set, frozenset)):
            return list(cast("tuple[object, ...]", value))
        raise TypeError(f"{type(value).__name__} has no JSON form")


class JpLanguageServer(LanguageServer):
    """A pygls server for one client, with our protocol.

    `on_closing` is awaited once when the connection is about to end, while the client can still be written to
    (unless it is gone): it ends the turns and saves. It has a few seconds.
    """

    protocol: JpProtocol

    def __init__(self, name: str, version: str, **options: Any) -> None:
        self.on_closing: Callable[[ClosingReason], Awaitable[None]] | None = None
        super().__init__(name, version, protocol_cls=JpProtocol, **options)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it. pygls would show every such error to the user, who can do nothing about it."""
        _log.error("error in the language server library: %s", error)


def _to_wire_error(error: BaseException) -> WireError:
    """Decide what a request is answered with when its handler raised (style 2.7: logged once, here)."""
    match error:
        case WireError():
            return error
        case asyncio.CancelledError():
            return edge_error(REQUEST_CANCELLED, "the request was cancelled")
        case JsonRpcException() if error.code in {INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND}:
            return edge_error(error.code, error.message)
        case _:
            trace = new_trace()
            _log.error("internal error, trace %s", trace, exc_info=error)
            message = f"Internal error; the server's log has the details under {trace}"
            return edge_error(INTERNAL_ERROR, message, trace=trace)


def _settle(future: "Future[Any]", outcome: object) -> None:
    """Give a typed request its outcome, unless nobody waits any more (T25)."""
    if future.done() or not future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, ClientAnswerError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _call_back(future: "Future[Any]", callback: Callable[[Any], None]) -> None:
    if future.cancelled():
        return
    if (error := future.exception()) is not None:
        _log.info("the client refused a request: %s", error)
        return
    callback(future.result())


def _client_error(error: JsonObject) -> ClientAnswerError:
    code, message = error.get("code"), error.get("message")
    return ClientAnswerError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "the client gave no reason",
        error.get("data"),
    )


def _structure_problems(error: Exception) -> list[str]:
    """Say what did not fit and where, in the wire's own spelling of names."""
    problems: list[str] = []
    for problem in cattrs.transform_error(error, path=""):
        what, _, place = problem.partition(" @ ")
        path = re.sub(r"_([a-z])", lambda found: found[1].upper(), place).removeprefix(".")
        problems.append(f"{path or 'params'}: {what}")
    return problems


_CAPABILITY_GROUP = re.compile(r"^params\.capabilities\.(\w+)")


def _without_unreadable_capabilities(
    message: dict[str, JsonValue], error: WireError
) -> dict[str, JsonValue] | None:
    """Give `initialize` without the groups of capabilities that could not be read; `None` if that is not it."""
    data = cast("dict[str, list[str]]", error.data)
    groups = [found[1] for problem in data["chain"] if (found := _CAPABILITY_GROUP.match(problem))]
    params = cast("dict[str, JsonValue]", message.get("params"))
    capabilities = cast("dict[str, JsonValue]", params.get("capabilities")) if groups else {}
    kept = {name: value for name, value in capabilities.items() if name not in groups}
    if len(kept) == len(capabilities):
        return None
    _log.warning(
        "the client announces capabilities in an unknown form, which are ignored: %s", ", ".join(groups)
    )
    return {**message, "params": {**params, "capabilities": kept}}
