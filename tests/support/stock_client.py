"""An editor that knows nothing of us, as pytest-lsp emulates it, with what a person at its screen would do.

The library's own handler of `$/progress` knows only the progress of some work, so it is replaced: here all
values are kept by token. Message requests wait for the test to press a button.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import attrs
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests.support.jp_client import PATIENCE, check_chunks, transcript_of
from tests.support.jp_server import ServerLog, serve_command
from tests.support.user_folders import UserFolders


@dataclass
class Question:
    """A message request that is on the screen."""

    params: types.ShowMessageRequestParams
    pressed: asyncio.Future[types.MessageActionItem | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def titles(self) -> list[str]:
        return [action.title for action in self.params.actions or []]

    def press(self, title: str | None) -> None:
        """Press a button; `None` closes the message. One that the server took back is off the screen already."""
        assert title is None or title in self.titles, f"there is no {title!r} among {self.titles}"
        if self.pressed.cancelled():
            return
        self.pressed.set_result(None if title is None else types.MessageActionItem(title))


class StockClient(LanguageClient):
    """Use `begin` and `end`. `order` has the method of each message that came, or `answer`."""

    def __init__(self, kind: str) -> None:
        super().__init__(converter_factory=default_converter)
        register_lsp_features(self)
        self.kind = kind
        self.values: dict[int | str, list[Any]] = defaultdict(list)
        self.asked: list[Question] = []
        self.order: list[str] = []
        self._looked_at = 0
        self._news = asyncio.Event()
        # The library keeps the first handler of a method.
        self.protocol.fm.features.pop(types.PROGRESS)
        self.feature(types.PROGRESS)(_take_progress)
        self.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(_take_question)
        handle_message = self.protocol.handle_message

        def note_and_handle(message: Any) -> None:
            self.order.append(getattr(message, "method", "answer"))
            handle_message(message)

        self.protocol.handle_message = note_and_handle  # type: ignore[method-assign]

    async def begin(self, user: UserFolders, encoding: str | None = None) -> types.InitializeResult:
        """Start a server and greet it as this editor does; `encoding` is the one unit of positions that it knows."""
        command, *arguments = serve_command()
        await self.start_io(command, *arguments, env=user.environment())
        server = self._server
        assert server is not None
        assert server.stderr is not None
        assert self._stderr_forwarder is not None
        self._stderr_forwarder.cancel()
        self.log = ServerLog(server.stderr)
        folder = types.WorkspaceFolder(user.workspace.as_uri(), "workspace")
        capabilities = client_capabilities(self.kind)
        if encoding is not None:
            general = capabilities.general or types.GeneralClientCapabilities()
            capabilities.general = attrs.evolve(general, position_encodings=[encoding])
        return await self.initialize_session(types.InitializeParams(capabilities, workspace_folders=[folder]))

    async def end(self) -> None:
        """End the server as this editor does; its log must be clean."""
        for question in self.asked:
            if not question.pressed.done():
                question.press(None)
        await self.shutdown_session()
        await self.stop()
        await self.log.finished()
        self.log.check()

    async def call(self, method: str, params: Any, request_id: str | None = None) -> Any:
        """Send a request and give its result."""
        async with asyncio.timeout(PATIENCE):
            return await self.protocol.send_request_async(method, params, msg_id=request_id)

    async def ask(self, text: str, token: str, request_id: str | None = None, **params: Any) -> Any:
        """Ask in a new conversation."""
        asked = {"text": text, "conversation": "new", "partialResultToken": token, **params}
        return await self.call("jp/query", asked, request_id)

    async def question(self) -> Question:
        """Wait for a message request that was not looked at yet."""
        number = self._looked_at
        self._looked_at += 1
        async with asyncio.timeout(PATIENCE):
            while len(self.asked) <= number:
                self._news.clear()
                await self._news.wait()
        return self.asked[number]

    async def wait_for_chunk(self, token: str, kind: str) -> Any:
        """Wait for a chunk of a type."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._news.clear()
                found = next((value for value in self.values[token] if value.get("type") == kind), None)
                if found is not None:
                    return found
                await self._news.wait()

    async def wait_for_text(self, token: str, text: str) -> None:
        """Wait until the transcript of a query ends with a text."""
        async with asyncio.timeout(PATIENCE):
            while not self.transcript(token).endswith(text):
                self._news.clear()
                await self._news.wait()

    def transcript(self, token: str) -> str:
        """What a query has shown, its chunks checked."""
        check_chunks(self.values[token])
        return transcript_of(self.values[token])

    def take_value(self, params: types.ProgressParams) -> None:
        """Keep a value of `$/progress`."""
        self.values[params.token].append(params.value)
        self._news.set()

    def take_question(self, question: Question) -> None:
        """Show a message request."""
        self.asked.append(question)
        self._news.set()


def _take_progress(client: StockClient, params: types.ProgressParams) -> None:
    client.take_value(params)


async def _take_question(
    client: StockClient, params: types.ShowMessageRequestParams
) -> types.MessageActionItem | None:
    question = Question(params)
    client.take_question(question)
    return await question.pressed
