"""Teaches pygls our wire: the protocol object between frames and handlers, for one client.

pygls gives the standard features: typed messages, document sync, capabilities. What it does with bytes, with
errors and with cancellation is replaced here, because every request must be answered, whatever is in it, and
because parameters of our own methods are plain JSON that no library may rename (components 1.8, traps 41-66).

A message takes one of three ways:

* a method or command registered here gets the JSON that was sent, checked by its own model;
* a standard feature of pygls gets its typed message;
* an answer to a request of ours goes to whoever asked (`own_requests`).

This module and `features.py` are the ones that bend pygls' types.
"""

import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

import attrs
import cattrs
from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.features import (
    announced_commands,
    call_feature,
    find_feature,
    find_user_feature,
    structure_initialize,
    structure_params,
    to_wire_error,
)
from jp_lsp.server.framing import BadFrame, encode_frame
from jp_lsp.server.json_codec import decode_json, encode_json
from jp_lsp.server.lifecycle import ClosingReason, Lifecycle
from jp_lsp.server.message import (
    Answer,
    Malformed,
    Notification,
    Request,
    RequestId,
    as_object,
    as_request_id,
    leading_id,
    read_message,
)
from jp_lsp.server.method import Command, Handler, Method, ParamsModel
from jp_lsp.server.own_requests import OwnRequests, PendingAnswer
from jp_lsp.server.phase import Phase, refusal_of_request, takes_notifications
from jp_lsp.server.running import RunningRequests
from jp_lsp.server.typed_requests import TypedRequests
from jp_lsp.server.wire_error import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    WireError,
    edge_error,
    shorten,
)
from jp_lsp.server.writer import Writer

_log = logging.getLogger(__name__)

_END_REQUESTS_WITHIN = 1.0
_CLIENT_IS_GONE = "the client is gone"


class JpProtocol(LanguageServerProtocol):
    """The messages of one client. Frames come in through `receive` and go out through the writer."""

    def __init__(self, server: "JpLanguageServer", converter: cattrs.Converter) -> None:
        self._phase = Phase.NEW
        self._was_shut_down = False
        self._methods: dict[str, Method] = {}
        self._commands: dict[str, Command] = {}
        self._out: Writer | None = None
        self._lifecycle: Lifecycle | None = None
        self._own = OwnRequests(self._send)
        self._typed = TypedRequests(self._send)
        self._running = RunningRequests(self._answer, self._refuse, self._report)
        self._raw_initialize: JsonObject = {}
        self.experimental: JsonObject | None = None
        """What the server announces beside standard LSP; set before `initialize` comes."""
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

    def capability(self, *names: str) -> JsonValue:
        """Look up what the client said that it can do, such as `textDocument`, `hover`; `None` for nothing said."""
        here: JsonValue = self._raw_initialize.get("capabilities")
        for name in names:
            here = (as_object(here) or {}).get(name)
        return here

    @property
    def out(self) -> Writer | None:
        """The way to the client, for back-pressure (`drained`, `pending_bytes`); `None` before a connection."""
        return self._out

    def register_method(self, name: str, params_model: ParamsModel, handler: Handler) -> None:
        """Register the handler of a request or notification; it goes before a feature of pygls of that name.

        The handler may be synchronous, then it runs inside the read loop in the order of the messages, or
        give an awaitable, then the request is answered when that is done. A `WireError` that it raises is
        sent as it is; everything else becomes -32603 with a trace id, and its traceback is only logged.
        A request that comes before `initialized` is refused.

        Args:
            name: such as `jp/query`.
            params_model: checks the parameters (absent ones as `{}`); `None` hands the JSON over as it is.
            handler: called with the model or the JSON; gives something that has a JSON form.

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

        Like `register_method`, with the one argument of the command as parameters (query pipeline 1.10).

        Args:
            name: such as `jp.query`.
            params_model: checks the argument.
            handler: called with the model or the JSON.
            text_key: the member that a bare string stands for.

        Raises:
            ValueError: the name is taken.
        """
        commands = announced_commands(self.fm)
        if name in commands:
            raise ValueError(f"the command {name!r} is registered already")
        command = Command(Method(name, handler, params_model), text_key)
        self._commands[name] = command
        commands[name] = command.call  # announces it; calls are caught before they get there

    def notify_raw(self, method: str, params: JsonObject) -> None:
        """Send a notification of plain JSON; the quick way for chunks."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_request_raw(self, method: str, params: JsonObject) -> PendingAnswer:
        """Send a request of plain JSON now, behind all that was sent before.

        Returns:
            To be awaited for the result, as plain JSON; raises `ClientAnswerError` when the client refuses
            or is gone.
        """
        pending = self._own.ask(method, params)
        if self._out is None or self._out.is_closed:
            self._own.refuse(pending.id, _CLIENT_IS_GONE)
        return pending

    # What the connection uses.

    def connect(self, out: Writer, lifecycle: Lifecycle) -> None:
        """Say where frames go and who is told of the connection's end."""
        self._out = out
        self._lifecycle = lifecycle

    def receive(self, frame: bytes | BadFrame) -> None:
        """Take one frame. Never raises: whatever is wrong with it is answered or logged."""
        if isinstance(frame, BadFrame):
            self._receive_bad(frame)
            return
        try:
            message = read_message(decode_json(frame))
        except ValueError as error:
            self._send_error(None, edge_error(PARSE_ERROR, f"Parse error: {error}"))
            return
        match message:
            case Request():
                self._receive_request(message)
            case Notification():
                self._receive_notification(message)
            case Answer():
                self._receive_answer(message)
            case Malformed(request_id, problem):
                self._send_error(request_id, edge_error(INVALID_REQUEST, f"Invalid request: {problem}"))

    def stop_serving(self) -> None:
        """Refuse everything new from now on."""
        self._phase = Phase.STOPPING

    def end_questions(self) -> None:
        """End every wait for an answer of the client, because it is gone."""
        self._own.refuse_all(_CLIENT_IS_GONE)
        self._typed.refuse_all(_CLIENT_IS_GONE)

    async def end_requests(self, within: float, *, spare: RequestId | None = None) -> None:
        """Cancel the requests that still run and let them be answered, within so many seconds."""
        await self._running.end_all(within, spare=spare)

    # Messages that come in.

    def _receive_bad(self, frame: BadFrame) -> None:
        """Answer something that is no usable frame; under its id when that can be seen."""
        request_id = leading_id(frame.start)
        if isinstance(request_id, str) and request_id in self._own and b'"method"' not in frame.start:
            self._own.refuse(request_id, f"the client's answer was not read: {frame.message}")
        else:
            self._send_error(request_id, edge_error(INVALID_REQUEST, f"Invalid request: {frame.message}"))

    def _receive_request(self, request: Request) -> None:
        is_ours = request.method in self._methods or self._command_of(request) is not None
        refusal = refusal_of_request(self._phase, request.method, is_ours=is_ours)
        if refusal is None and request.id in self._running:
            refusal = edge_error(INVALID_REQUEST, "Invalid request: the id is still in use")
        if refusal is not None:
            self._send_error(request.id, refusal)
            return
        if request.method == types.SHUTDOWN:
            self._phase = Phase.STOPPING
            self._was_shut_down = True
        context = contextvars.copy_context()
        context.run(self._ctx_msg_id.set, request.id)
        self._running.run(request.id, partial(self._call, request), context)

    def _receive_notification(self, notification: Notification) -> None:
        method = notification.method
        if method == types.CANCEL_REQUEST:
            params = as_object(notification.params) or {}
            self._running.cancel(as_request_id(params.get("id")))
            return
        if method != types.EXIT and not takes_notifications(self._phase):
            _log.debug("dropped the notification %r: %s", shorten(method), self._phase.value)
            return
        if method == types.INITIALIZED:
            self._phase = Phase.READY
        self._running.run_unanswered(partial(self._call, notification), contextvars.copy_context())

    def _receive_answer(self, answer: Answer) -> None:
        request_id = as_request_id(answer.id)
        if request_id is None or self._own.settle(request_id, answer.whole):
            return
        if not self._typed.settle(request_id, answer.whole, self._converter):
            _log.debug("an answer came too late, or to a question that was never put")

    # Calling handlers.

    def _call(self, message: Request | Notification) -> object:
        """Call whoever handles the message.

        Raises:
            WireError: nobody does, or the parameters do not fit.
        """
        method = message.method
        if (registered := self._methods.get(method)) is not None:
            return registered.call(message.params)
        if (command := self._command_of(message)) is not None:
            return command.call(as_object(message.params) or {})
        handler = find_feature(self.fm, method)
        if handler is None:
            raise edge_error(METHOD_NOT_FOUND, f"Method not found: {shorten(method)}")
        message_type = self.get_message_type(method)
        if message_type is None:
            return call_feature(self._server, handler, message.params)
        if method == types.INITIALIZE:
            return self._initialize(handler, message, message_type)
        return call_feature(
            self._server, handler, structure_params(self._converter, method, message.whole, message_type)
        )

    def _command_of(self, message: Request | Notification) -> Command | None:
        if message.method != types.WORKSPACE_EXECUTE_COMMAND:
            return None
        name = (as_object(message.params) or {}).get("command")
        return self._commands.get(name) if isinstance(name, str) else None

    def _initialize(
        self, handler: Callable[..., Any], message: Request | Notification, message_type: Any
    ) -> object:
        """Start the conversation; when that fails nothing has begun, and the client may try again."""
        params = structure_initialize(self._converter, message.whole, message_type)
        self._raw_initialize = as_object(message.params) or {}
        self._phase = Phase.INITIALIZING
        try:
            result = call_feature(self._server, handler, params)
        except BaseException:
            self._phase = Phase.NEW
            raise
        if inspect.isawaitable(result):
            return self._initialize_later(result)
        self._end_initialize()
        return result

    async def _initialize_later(self, result: Awaitable[object]) -> object:
        try:
            answer = await result
        except BaseException:
            if self._phase is Phase.INITIALIZING:
                self._phase = Phase.NEW
            raise
        self._end_initialize()
        return answer

    def _end_initialize(self) -> None:
        if self._phase is Phase.INITIALIZING:
            self._phase = Phase.INITIALIZED
        if self.experimental is not None:
            self.server_capabilities.experimental = self.experimental
        process_id = self._raw_initialize.get("processId")
        if self._lifecycle is not None and isinstance(process_id, int) and process_id > 0:
            self._lifecycle.client_process(process_id)

    # Features of pygls that are replaced.

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """Let the connection end; the process is ended by whoever started it."""
        try:
            if (user_handler := find_user_feature(self.fm, types.EXIT)) is not None:
                yield user_handler, args, None
        finally:
            if self._lifecycle is not None:
                self._lifecycle.exit(0 if self._was_shut_down else 1)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """End the work, let every open request be answered, and only then answer this one (4.8)."""
        if (user_handler := find_user_feature(self.fm, types.SHUTDOWN)) is not None:
            yield user_handler, args, None
        if self._lifecycle is not None:
            yield self._lifecycle.end_work, (ClosingReason.SHUTDOWN,), None
        yield partial(self.end_requests, _END_REQUESTS_WITHIN, spare=self.msg_id), (), None
        self._shutdown = True

    # The originals keep every protocol object alive in a cache of the class.

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Give the type of a standard message."""
        return types.METHOD_TO_TYPES.get(method, (None,))[0]

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Give the type of a standard result."""
        return types.METHOD_TO_TYPES.get(method, (None, None))[1]

    # Messages that go out.

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification: typed parameters, or plain JSON for any method."""
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: RequestId | None = None,
    ) -> "Future[Any]":
        """Send a request with typed parameters and get a typed result.

        The future raises `ClientAnswerError`. It may be cancelled: the late answer is then dropped (T25).
        """
        return self._typed.ask(method, params, callback, msg_id)

    def _send_data(self, data: Any) -> None:
        """Send a message object; pygls calls this."""
        self._send(data)

    def _answer(self, request_id: RequestId, result: object) -> None:
        try:
            self._send({"jsonrpc": "2.0", "id": request_id, "result": result})
        except (TypeError, ValueError) as error:
            self._refuse(request_id, error)

    def _refuse(self, request_id: RequestId, error: BaseException) -> None:
        try:
            self._send_error(request_id, to_wire_error(error))
        except (TypeError, ValueError) as unsendable:
            self._send_error(request_id, to_wire_error(unsendable))

    def _report(self, error: BaseException) -> None:
        """Log what the handler of a notification raised; nobody waits for an answer."""
        refusal = to_wire_error(error)
        if refusal.code == METHOD_NOT_FOUND:
            _log.debug("ignored a notification: %s", refusal.message)
        elif refusal.code != INTERNAL_ERROR:
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
        raise TypeError(f"a {type(value).__name__} has no JSON form")


class JpLanguageServer(LanguageServer):
    """A pygls server for one client, with our protocol.

    Attributes:
        on_closing: awaited once when the connection is about to end: it ends the turns and saves. It has a
            few seconds (`transport.CLOSING_TIMEOUT`). The client can still be written to, unless it is gone.
    """

    protocol: JpProtocol  # pyright: ignore[reportIncompatibleVariableOverride]  # the class that is passed below

    def __init__(self, name: str, version: str, **options: Any) -> None:
        self.on_closing: Callable[[ClosingReason], Awaitable[None]] | None = None
        super().__init__(name, version, protocol_cls=JpProtocol, **options)  # pyright: ignore[reportUnknownMemberType]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it. pygls would show every such error to the user, who can do nothing about it."""
        _log.error("error in the language server library: %s", error)
