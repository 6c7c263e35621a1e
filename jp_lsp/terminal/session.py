"""One query over one connection: from `initialize` to the end of the server.

Three things run side by side: reading what the server sends, a clock that keeps the status line alive, and the
conversation itself. Signals and lost outputs come in as plain calls; each either tells the server something
or, when the user has waited long enough, leaves at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.protocol.capability import ClientCapabilities, PromptCapability
from jp_lsp.protocol.notice import NoticeLevel
from jp_lsp.protocol.reading import InvalidParams, read
from jp_lsp.protocol.turn import InterruptResult, QueryResult
from jp_lsp.terminal import report
from jp_lsp.terminal.connection import METHOD_NOT_FOUND, Connection, RequestError, RequestId
from jp_lsp.terminal.framing import WireBroken
from jp_lsp.terminal.operations import Say
from jp_lsp.terminal.presenter import TICK_SECONDS, Presenter
from jp_lsp.terminal.presses import Presses
from jp_lsp.terminal.questions import Questions
from jp_lsp.terminal.report import Ending
from jp_lsp.terminal.server_process import ServerGone, ServerProcess

TOKEN = "jp-terminal"
PROMPT_KINDS = ("menu", "approval", "pick", "text", "secret", "edit")

INITIALIZE_WITHIN = 60.0
"""Seconds for the server to start, on a machine that is very busy."""

STOP_WITHIN = 10.0
"""Seconds for a stopped query to be saved and answered before we leave."""

_SHUTDOWN_WITHIN = 12.0
_END_WITHIN = 10.0

Stage = Literal["starting", "running", "closing"]


@dataclass(frozen=True, slots=True)
class Client:
    """What the server is told of us."""

    version: str
    folder: Path
    process_id: int

    def initialize_params(self, *, can_ask: bool) -> JsonObject:
        """Give the params of `initialize`."""
        uri = self.folder.absolute().as_uri()
        capabilities = ClientCapabilities(
            prompt=PromptCapability(kinds=PROMPT_KINDS) if can_ask else None, interrupt_menu=True, chunks=True
        )
        return {
            "processId": self.process_id,
            "clientInfo": {"name": "jp-lsp query", "version": self.version},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self.folder.name or str(self.folder)}],
            "capabilities": {
                "workspace": {"workspaceFolders": True},
                "experimental": {"jp": capabilities.to_json()},
            },
        }


class CannotAsk(Exception):
    """There will be no query; `ending` says why."""

    def __init__(self, ending: Ending) -> None:
        super().__init__("there will be no query")
        self.ending = ending


class Session:
    """Runs one query.

    Args:
        server: the running server.
        client: who we are.
        presenter: shows what happens.
        questions: asks the user; `None` when there is nobody to ask.
        has_menu: whether Ctrl+C opens the menu; else it stops the query.
        leave: ends the process at once.
    """

    def __init__(
        self,
        server: ServerProcess,
        client: Client,
        presenter: Presenter,
        questions: Questions | None,
        *,
        has_menu: bool,
        leave: Callable[[int], None],
    ) -> None:
        self._server = server
        self._client = client
        self._presenter = presenter
        self._questions = questions
        self._has_menu = has_menu
        self._leave = leave
        self._connection = Connection(server.send, self)
        self._presses = Presses()
        self._stage: Stage = "starting"
        self._query_id: RequestId | None = None
        self._forced_code: int | None = None
        self._ending_code = report.FAILED
        self._patience: asyncio.TimerHandle | None = None
        """Leaves when a query that was stopped does not end."""

    async def run(self, build_params: Callable[[], Awaitable[JsonObject]]) -> Ending:
        """Run to the end; the server has ended then, too.

        Args:
            build_params: gives the params of `jp/query`, beside the tokens, while the server starts; raises
                `CannotAsk` when there is nothing to ask.
        """
        async with asyncio.TaskGroup() as tasks:
            if self._questions is not None:
                self._questions.connect(self._connection.respond, tasks)
            helpers = [tasks.create_task(self._read()), tasks.create_task(self._tick())]
            ending = await self._converse(build_params)
            if self._patience is not None:
                self._patience.cancel()
            self._stage, self._ending_code = "closing", ending.exit_code
            if self._questions is not None:
                await self._questions.close()
            self._presenter.doing("finishing")
            await self._close()
            for helper in helpers:
                helper.cancel()
        return ending

    # What the user and the system do.

    def press(self) -> None:
        """Ctrl+C."""
        if self._stage != "running":
            self._leave(report.INTERRUPTED if self._stage == "starting" else self._ending_code)
        elif not self._has_menu:
            self.stop(report.INTERRUPTED)
        elif self._presses.press() == "leave":
            self._leave(report.INTERRUPTED)
        else:
            self._interrupt({})

    def stop(self, exit_code: int) -> None:
        """Stop the query, keep what came, and end with this code; when told twice, leave at once."""
        if self._stage != "running" or self._forced_code is not None:
            self._leave(exit_code)
        else:
            self._forced_code = exit_code
            self._presses.end()
            self._presenter.doing("stopping")
            self._interrupt({"action": "stop"})
            self._patience = asyncio.get_running_loop().call_later(STOP_WITHIN, self._leave, exit_code)

    def output_lost(self, exit_code: int) -> None:
        """Nobody reads the answer any more: stop the query, unless it is being stopped or over."""
        if self._stage == "running" and self._forced_code is None:
            self.stop(exit_code)

    def _interrupt(self, params: JsonObject) -> None:
        request = self._connection.request("jp/interrupt", {"turn": TOKEN, **params})
        request.answer.add_done_callback(lambda done: self._was_handled(done, is_stop="action" in params))

    def _was_handled(self, answer: "asyncio.Future[JsonValue]", *, is_stop: bool) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        try:
            handled = read(InterruptResult, answer.result(), "jp/interrupt").handled
        except InvalidParams:
            handled = "none"
        self._presses.answered(handled)
        if is_stop and handled == "none" and self._query_id is not None:
            # The phase knows no such choice; a cancellation is one fixed action in every phase (4.4).
            self._connection.notify("$/cancelRequest", {"id": self._query_id})

    # The conversation.

    async def _converse(self, build_params: Callable[[], Awaitable[JsonObject]]) -> Ending:
        try:
            await self._initialize()
            return await self._query(await build_params())
        except CannotAsk as problem:
            return problem.ending
        except RequestError as error:
            self._presenter.error(error.error)
            return self._forced(report.ending_of_error(error))
        except (ServerGone, WireBroken) as error:
            self._presenter.error({"code": -32603, "message": str(error)})
            log = self._server.last_lines()
            says = [Say(f"error: {error}", "error"), *(Say(f"  {line}") for line in log)]
            return self._forced(Ending(report.FAILED, tuple(says)))

    async def _initialize(self) -> None:
        params = self._client.initialize_params(can_ask=self._questions is not None)
        request = self._connection.request("initialize", params)
        try:
            async with asyncio.timeout(INITIALIZE_WITHIN):
                await request.answer
        except TimeoutError:
            raise ServerGone(f"The server did not start within {INITIALIZE_WITHIN:.0f} seconds.") from None
        self._connection.notify("initialized", {})

    async def _query(self, params: JsonObject) -> Ending:
        began = asyncio.get_running_loop().time()
        self._stage = "running"
        self._presenter.began()
        self._presenter.doing("working")
        interactive: JsonObject = {} if self._questions is not None else {"interactive": False}
        request = self._connection.request("jp/query", {**params, **interactive, "partialResultToken": TOKEN})
        self._query_id = request.id
        answer = await request.answer
        raw: JsonObject = answer if isinstance(answer, Mapping) else {}
        try:
            result = read(QueryResult, raw, "jp/query")
        except InvalidParams as problem:
            raise WireBroken(f"the server's answer makes no sense: {problem}") from None
        self._presenter.result(raw, result)
        ending = report.ending_of_result(result)
        summary = report.summary(result, asyncio.get_running_loop().time() - began)
        return self._forced(replace(ending, summary=summary))

    def _forced(self, ending: Ending) -> Ending:
        return ending if self._forced_code is None else replace(ending, exit_code=self._forced_code)

    async def _close(self) -> None:
        """End the server as an editor does, so that it finishes what runs beside the turn."""
        with suppress(RequestError, ServerGone, WireBroken, TimeoutError):
            async with asyncio.timeout(_SHUTDOWN_WITHIN):
                await self._connection.request("shutdown", {}).answer
            self._connection.notify("exit", {})
        await self._server.end(_END_WITHIN)

    async def _read(self) -> None:
        """Take what the server sends, no faster than it can be shown."""
        try:
            while data := await self._server.read():
                self._connection.receive(data)
                await self._presenter.has_room()
        except WireBroken as problem:
            self._connection.end(problem)
        else:
            self._connection.end(ServerGone("The server ended before it had answered."))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._presenter.tick()

    # What the server sends (`Listener`).

    def on_notification(self, method: str, params: JsonObject) -> None:
        """See `Listener`."""
        match method:
            case "$/progress":
                value = params.get("value")
                if params.get("token") == TOKEN and isinstance(value, Mapping):
                    self._on_chunk(value)
            case "jp/notice" | "window/showMessage":
                self._on_notice(params)
            case "$/cancelRequest" if self._questions is not None:
                self._questions.cancel(params.get("id"))
            case _:
                pass  # such as logs, and changes of other conversations

    def on_request(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        """See `Listener`."""
        match method:
            case "jp/prompt" | "window/showMessageRequest":
                if self._questions is None:
                    self._connection.respond(request_id, None)
                else:
                    self._questions.ask(request_id, method, params, self._presenter.held_back)
            case "workspace/configuration":
                items = params.get("items")
                count = len(items) if isinstance(items, list) else 0
                self._connection.respond(request_id, [None] * count)
            case (
                "window/workDoneProgress/create" | "client/registerCapability" | "client/unregisterCapability"
            ):
                self._connection.respond(request_id, None)
            case _:
                self._connection.refuse(request_id, METHOD_NOT_FOUND, f"jp-lsp query has no {method}")

    def _on_chunk(self, value: JsonObject) -> None:
        self._presenter.chunk(value)
        if value.get("type") == "prompt_closed" and self._questions is not None:
            self._questions.closed(value.get("decisionId"), value.get("how"))

    def _on_notice(self, params: JsonObject) -> None:
        text = params.get("text", params.get("message"))
        if isinstance(text, str) and text.strip():
            self._presenter.notice(_level(params), text)


def _level(params: JsonObject) -> NoticeLevel:
    """Read how much a message matters, by our word or by LSP's number."""
    match params.get("level"), params.get("type"):
        case ("error", _) | (_, 1):
            return "error"
        case ("warning", _) | (_, 2):
            return "warning"
        case _:
            return "info"
