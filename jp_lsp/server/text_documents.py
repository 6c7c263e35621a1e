"""Asking for a text with what every editor can do: a temporary document (query pipeline 4.7 C).

A file in the user's own data is opened in the editor, and a message request waits beside it:

* *Send* is the one thing that commits the text, as it is at that moment (`text_file`).
* *Discard*, and closing the message, cancel the question.
* *Keep editing* takes the message off the screen until the file is saved. It stands first because it is the
  harmless one, and because some editors can do nothing else while a message is open.

Closing the document is never consent: the user is asked again, with *Reopen* in place of *Keep editing*. So
is a text that cannot be taken: the file stays open, and the message says what is wrong with it. When the
question ends first, a text that was begun becomes a draft. Whatever happens, the file is removed at the end.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import anyio
from anyio.abc import TaskGroup

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.refusal import Refusal
from jp_lsp.server.message_request import MessageRequest, UnknownAnswer, message_requests, one_line
from jp_lsp.server.text_file import TextFile, UnusableText
from jp_lsp.server.wire_error import METHOD_NOT_FOUND, ClientAnswerError
from jp_lsp.server.workplace import Scratch
from jp_lsp.tools.decision import Choice, Decision
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed

_log = logging.getLogger(__name__)

CLOSING_TIME = 2.0
"""Seconds for a draft and the removal of the file when all is over."""

_EDIT = Choice("edit", "Keep editing")
_REOPEN = Choice("reopen", "Reopen")
_SEND = Choice("send", "Send")
_DISCARD = Choice("discard", "Discard")
_QUOTED = 90


class Pending(Protocol):
    """A request to the client that is on its way; awaiting it raises `ClientAnswerError` when it is refused."""

    def __await__(self) -> Generator[Any, None, JsonValue]:
        """Wait for the result."""
        ...

    def withdraw(self) -> None:
        """Tell the client that the answer is no longer wanted."""


Result: TypeAlias = Answered | Dismissed | AskFailed | ClientAnswerError
"""An answer, or how the client refused to show a message."""


@dataclass(frozen=True, slots=True)
class DocumentHost:
    """What documents need.

    Attributes:
        ask: sends a request to the client.
        scratch: gives the place of the files; raises `Refusal` where there is none.
        synchronised: gives the text of a file as the client has it, by the file's name; `None` for a file
            that the client does not tell us about.
        save_commits: saving the file sends it.
        poll_seconds: how often a file is looked at, to see whether it was saved or closed.
        show_seconds: how long a client may take to open a file before the message is put all the same.
    """

    ask: Callable[[str, JsonObject], Pending]
    scratch: Callable[[], Scratch]
    synchronised: Callable[[str], str | None]
    save_commits: bool = False
    poll_seconds: float = 1.0
    show_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whoever wants to know how a document fares.

    Attributes:
        settle: gets the answer, once, unless the question is ended before.
        keep_unsent: keeps a text that was begun when the question ended first.
        note_answer: is told of each answer to a message, and after how many seconds it came.
        cannot_open: is called when the client turns out to open no documents at all.
        conversation: where a text belongs that was not sent; `None` if it is not to be kept.
    """

    settle: Callable[[Result], None]
    keep_unsent: Callable[[str], Awaitable[None]]
    note_answer: Callable[[JsonValue, float], None]
    cannot_open: Callable[[], None]
    conversation: ConversationId | None = None


@dataclass(frozen=True, slots=True)
class _Pressed:
    button: str


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A message ended without a button: dismissed, with an answer that makes no sense, or refused."""

    message: Pending
    how: Literal["dismissed", "unknown"] | ClientAnswerError


_News: TypeAlias = _Pressed | _Unanswered | Literal["saved", "closed", "current again"]


class TextDocument:
    """One question in a document of its own. Use `run`; the rest tells it what happens meanwhile."""

    def __init__(self, decision: Decision, host: DocumentHost, watcher: Watcher) -> None:
        self._decision = decision
        self._host = host
        self._watcher = watcher
        self._file = TextFile(decision, host.scratch, host.synchronised, watcher.conversation)
        self._news: asyncio.Queue[_News] = asyncio.Queue()
        self._tasks: TaskGroup | None = None
        self._message: Pending | None = None
        self._unknown_answers = 0
        self._is_current = True
        self._is_ended = False
        self._has_unsent = True

    def end(self, *, is_answered: bool) -> None:
        """The question is closed: take everything off the screen. Unless answered, the text is kept."""
        if not self._is_ended:
            self._is_ended = True
            self._has_unsent = not is_answered
        self._withdraw_message()
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    def step_back(self) -> None:
        """Another question comes first: put no message until this one is current again; an old one counts."""
        self._is_current = False

    def step_forward(self) -> None:
        """The question is current again."""
        self._is_current = True
        self._news.put_nowait("current again")

    async def run(self) -> None:
        """Ask until there is an answer, or until the question is ended."""
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                if not self._is_ended:
                    result = await self._ask(tasks)
                    self._is_ended = True
                    self._has_unsent = isinstance(result, AskFailed | ClientAnswerError)
                    self._watcher.settle(result)
                tasks.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(CLOSING_TIME, shield=True):
                await self._clean_up()

    async def _ask(self, tasks: TaskGroup) -> Result:
        try:
            await self._file.write()
        except (OSError, Refusal) as problem:
            _log.warning("no file for a text could be made: %s", problem)
            return AskFailed(self._decision.id, f"no file for the text could be made: {problem}")
        if not await self._show():
            return AskFailed(self._decision.id, "the client did not open a document for the text")
        tasks.start_soon(self._watch)
        self._put(self._invitation())
        while True:
            result = await self._react(await self._news.get())
            if result is not None:
                return result

    async def _react(self, news: _News) -> Result | None:
        match news:
            case _Pressed("send"):
                return await self._commit()
            case _Pressed("discard"):
                return Dismissed(self._decision.id)
            case _Pressed("reopen") | "current again":
                await self._reopen()
            case _Pressed():
                self._withdraw_message()
            case _Unanswered(message, how):
                return self._end_of_message(message, how)
            case "saved" if self._host.save_commits:
                return await self._commit()
            case "saved" if self._message is None:
                self._put(self._invitation())
            case "closed":
                self._put(f"{self._file.name} was closed and is not sent yet.", can_reopen=True)
            case "saved":
                pass  # the message is on the screen
        return None

    def _end_of_message(
        self, message: Pending, how: Literal["dismissed", "unknown"] | ClientAnswerError
    ) -> Result | None:
        """Only the newest message counts here; those before it were taken back."""
        if message is not self._message:
            return None
        if isinstance(how, ClientAnswerError):
            return how
        self._unknown_answers += how == "unknown"
        if how == "dismissed" or self._unknown_answers > 1:
            return Dismissed(self._decision.id)
        self._put(self._invitation())
        return None

    async def _commit(self) -> Answered | None:
        """Take the text, or say what is wrong with it."""
        try:
            return Answered(self._decision.id, text=await self._file.read())
        except FileNotFoundError:
            self._put(f"{self._file.name} is gone. Reopen it, or discard the text.", can_reopen=True)
        except OSError as problem:
            self._put(f"{self._file.name} could not be read: {problem}")
        except UnusableText as problem:
            self._put(f"{self._file.name} was not sent: {problem}")
        return None

    # The message.

    def _invitation(self) -> str:
        question = one_line(self._decision.message, _QUOTED)
        lead = f"{question} Write" if question.endswith(("?", ".", "!")) else f"{question}: write"
        return f"{lead} in {self._file.name} and save it, then press Send."

    def _put(self, message: str, *, can_reopen: bool = False) -> None:
        """Put a message in place of an older one, whose buttons still count where it stays on the screen."""
        self._withdraw_message()
        if not self._is_current:
            return
        choices = (_REOPEN if can_reopen else _EDIT, _SEND, _DISCARD)
        (request,) = message_requests(Decision(self._decision.id, "pick", message, choices))
        self._message = self._host.ask("window/showMessageRequest", request.params())
        assert self._tasks is not None, "messages are put while the document runs"
        self._tasks.start_soon(self._wait_for, request, self._message)

    async def _wait_for(self, request: MessageRequest, message: Pending) -> None:
        asked_at = time.monotonic()
        try:
            result = await message
            given = request.read(result)
        except ClientAnswerError as refusal:
            self._news.put_nowait(_Unanswered(message, refusal))
        except UnknownAnswer as problem:
            _log.warning("an answer of the client was not understood: %s", problem)
            self._news.put_nowait(_Unanswered(message, "unknown"))
        else:
            button = given.choice if isinstance(given, Answered) else None
            if button is not None or message is self._message:  # what was taken back may end by itself
                self._watcher.note_answer(result, time.monotonic() - asked_at)
            self._news.put_nowait(_Unanswered(message, "dismissed") if button is None else _Pressed(button))

    def _withdraw_message(self) -> None:
        if self._message is not None:
            self._message.withdraw()
        self._message = None

    # The document.

    async def _show(self) -> bool:
        """Open the document. A client that takes its time to say so may have opened it all the same."""
        pending = self._host.ask("window/showDocument", {"uri": self._file.uri, "takeFocus": True})
        with anyio.move_on_after(self._host.show_seconds):
            try:
                result = await pending
            except ClientAnswerError as refusal:
                _log.warning("the client did not open %s: %s", self._file.name, refusal.message)
                if refusal.code == METHOD_NOT_FOUND:
                    self._watcher.cannot_open()
                return False
            return isinstance(result, Mapping) and result.get("success") is True
        return True

    async def _reopen(self) -> None:
        """Open the document again; a file that was deleted comes back with what it had."""
        try:
            if not await self._file.is_there():
                await self._file.write()
        except OSError as error:
            self._put(f"{self._file.name} could not be written: {error}", can_reopen=True)
            return
        if await self._show():
            self._put(self._invitation())
        else:
            self._put(f"The editor did not open {self._file.name}.", can_reopen=True)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(self._host.poll_seconds)
            try:
                change = await self._file.change()
            except OSError as problem:
                _log.warning("%s is no longer watched: %s", self._file.name, problem)
                return
            if change is not None:
                self._news.put_nowait(change)

    async def _clean_up(self) -> None:
        self._withdraw_message()
        try:
            if self._has_unsent and self._decision.kind == "text":
                text = await self._file.read_unsent()
                if text is not None:
                    await self._watcher.keep_unsent(text)
        except (OSError, Refusal, UnusableText) as problem:
            _log.warning("what was written in %s could not be kept: %s", self._file.name, problem)
        try:
            await self._file.remove()
        except (OSError, Refusal) as problem:
            _log.warning("%s could not be removed: %s", self._file.name, problem)
