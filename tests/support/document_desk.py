"""A broker of questions with an editor that opens documents and shows messages, all in one event loop.

The test is the person in front of it: it writes into files, presses buttons, and sees what was taken back.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.server.prompt_ways import PromptWays
from jp_lsp.server.prompts import Answer, Asker, Closing, PromptBroker
from jp_lsp.server.text_documents import DocumentHost
from jp_lsp.server.wire_error import ClientAnswerError
from jp_lsp.tools.decision import Choice, Decision, DecisionId
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed
from jp_lsp.workspace.scratch import ScratchFolder

PATIENCE = 10.0
"""Seconds after which a test gives up."""

POLL = 0.005
"""Seconds between two looks at a file."""

DOCUMENTS = PromptWays(shows_documents=True)


@dataclass
class Request:
    """A request that the editor got."""

    method: str
    params: JsonObject
    is_withdrawn: bool = False
    answered: "asyncio.Future[JsonValue | ClientAnswerError]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def __await__(self) -> Generator[Any, None, JsonValue]:
        answer = yield from asyncio.shield(self.answered).__await__()
        if isinstance(answer, ClientAnswerError):
            raise answer
        return answer

    def withdraw(self) -> None:
        self.is_withdrawn = self.is_withdrawn or not self.answered.done()

    @property
    def text(self) -> str:
        return str(self.params["message"])

    @property
    def titles(self) -> list[str]:
        actions: Any = self.params["actions"]
        return [action["title"] for action in actions]

    def press(self, title: str) -> None:
        """Press a button."""
        assert title in self.titles, f"there is no {title!r} among {self.titles}"
        self.answered.set_result({"title": title})

    def give(self, answer: object) -> None:
        """Answer with anything."""
        self.answered.set_result(cast("JsonValue | ClientAnswerError", answer))


class Desk:
    """Use `desk`. `opening` is how the editor answers when it is to open a document."""

    def __init__(
        self,
        folder: Path,
        ways: PromptWays,
        *,
        save_commits: bool,
        show_seconds: float,
        menu_seconds: float,
    ) -> None:
        self.folder = folder
        self.requests: list[Request] = []
        self.opening: object = {"success": True}
        self.opens_at_once = True
        self.in_editor: dict[str, str] = {}
        self.answers: dict[str, Answer] = {}
        self.shown: list[str] = []
        self.closed: list[tuple[str, Closing]] = []
        self.unsent: list[str] = []
        self._looked_at = 0
        self._news = asyncio.Event()
        scratch = ScratchFolder(folder)
        self._host = DocumentHost(
            self._ask,
            lambda: scratch,
            self.in_editor.get,
            save_commits,
            POLL,
            show_seconds,
        )
        self._ways = ways
        self._menu_seconds = menu_seconds

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["Desk", None]:
        async with anyio.create_task_group() as tasks:

            def spawn(task: Callable[[], Awaitable[None]]) -> None:
                tasks.start_soon(_run, task)

            self.broker = PromptBroker(self._ask, spawn, self._ways, self._host, self._menu_seconds)
            yield self
            tasks.cancel_scope.cancel()

    def put(self, decision: Decision) -> None:
        """Ask a question."""

        def answer(given: Answer) -> None:
            assert decision.id not in self.answers, "a question was answered twice"
            self.answers[decision.id] = given
            self._news.set()

        async def keep_unsent(text: str) -> None:
            self.unsent.append(text)

        def shown(what: Decision) -> None:
            self.shown.append(what.id)

        def closed(what: DecisionId, how: Closing) -> None:
            self.closed.append((what, how))

        self.broker.ask(decision, Asker(answer, shown, closed, keep_unsent))

    async def message(self) -> Request:
        """Wait for a message that was not looked at yet."""
        number = self._looked_at
        self._looked_at += 1
        async with asyncio.timeout(PATIENCE):
            while len(self.messages) <= number:
                self._news.clear()
                await self._news.wait()
        return self.messages[number]

    async def answer(self, decision: str = "q") -> Answered | Dismissed | AskFailed:
        """Wait for the answer to a question."""
        async with asyncio.timeout(PATIENCE):
            while decision not in self.answers:
                self._news.clear()
                await self._news.wait()
        return self.answers[decision]

    async def until_empty(self) -> None:
        """Wait until no file is left."""
        async with asyncio.timeout(PATIENCE):
            while self.files:
                await asyncio.sleep(POLL)

    async def settle_down(self) -> None:
        """Let everything happen that is under way, and several looks at the file."""
        await asyncio.sleep(20 * POLL)

    @property
    def messages(self) -> list[Request]:
        return [request for request in self.requests if request.method == "window/showMessageRequest"]

    @property
    def opened(self) -> list[JsonObject]:
        return [request.params for request in self.requests if request.method == "window/showDocument"]

    @property
    def files(self) -> list[Path]:
        present = self.folder.iterdir() if self.folder.exists() else ()
        return sorted(path for path in present if not path.name.startswith("."))

    @property
    def file(self) -> Path:
        (path,) = self.files
        return path

    def save(self, data: str | bytes) -> None:
        """Save the one file, as editors do: a new file takes the place of the old one."""
        path = self.file
        fresh = path.with_suffix(".new")
        fresh.write_bytes(data if isinstance(data, bytes) else data.encode())
        os.replace(fresh, path)

    def _ask(self, method: str, params: JsonObject) -> Request:
        request = Request(method, params)
        self.requests.append(request)
        if method == "window/showDocument" and self.opens_at_once:
            request.give(self.opening)
        self._news.set()
        return request


async def _run(task: Callable[[], Awaitable[None]]) -> None:
    await task()


@asynccontextmanager
async def desk(
    folder: Path,
    ways: PromptWays = DOCUMENTS,
    *,
    save_commits: bool = False,
    show_seconds: float = PATIENCE,
    menu_seconds: float = 0,
) -> AsyncGenerator[Desk, None]:
    """A desk for the length of a block."""
    made = Desk(
        folder / "scratch",
        ways,
        save_commits=save_commits,
        show_seconds=show_seconds,
        menu_seconds=menu_seconds,
    )
    async with made.running():
        yield made


def reply(id: str = "q") -> Decision:
    """The question for a reply."""
    return Decision(DecisionId(id), "text", "Your reply")


def arguments(id: str = "q", value: str = '{\n  "n": 1\n}') -> Decision:
    """The question for edited arguments."""
    return Decision(DecisionId(id), "edit", "Arguments of write_note", value=value, language="json")


def menu(id: str = "m") -> Decision:
    """A menu, which goes before all else."""
    return Decision(
        DecisionId(id), "menu", "What next?", (Choice("continue", "Continue"), Choice("stop", "Stop"))
    )
