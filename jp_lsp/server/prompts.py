"""PromptBroker: the one visible question of a client, and those that wait behind it.

How a question goes out is decided by `PromptWays`: as `jp/prompt` where the client knows its kind, else as
`window/showMessageRequest`, which every client knows, or as a document where a text is wanted. Whoever
answers first counts: the prompt, an older notification that is still on the screen, or `jp/answer`. What
comes after that is ignored (query pipeline 3.9, 4.5 to 4.7).
"""

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Literal, assert_never

import anyio

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.frontend import TextPlace
from jp_lsp.protocol.prompt import AnswerParams
from jp_lsp.server import from_wire, to_wire
from jp_lsp.server.message_request import MessageRequest, OtherLevel, UnknownAnswer, message_requests
from jp_lsp.server.prompt_ways import PromptWays, Way
from jp_lsp.server.text_documents import CLOSING_TIME, DocumentHost, Pending, Result, TextDocument, Watcher
from jp_lsp.server.wire_error import METHOD_NOT_FOUND, ClientAnswerError
from jp_lsp.tools.decision import Decision, DecisionId
from jp_lsp.turn.inputs import Answered, AskFailed, Dismissed

_log = logging.getLogger(__name__)

Answer = Answered | Dismissed | AskFailed
Closing = Literal["answered", "superseded", "withdrawn"]

ANSWER_PATIENCE = 0.25
"""Seconds to wait for what a client has of a text when its question was withdrawn; most have nothing to say."""

TOO_FAST = 0.05
"""Seconds within which no person answers; a client that answers null this fast twice shows nothing."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whoever asks a question.

    Attributes:
        answer: gets the answer, once.
        on_shown: is called when the question comes to the screen, perhaps again.
        on_closed: is called for each question that was shown.
        keep_unsent: keeps a text that the user had begun when the question ended first.
        conversation: where such a text belongs; `None` if it is not to be kept.
    """

    answer: Callable[[Answer], None]
    on_shown: Callable[[Decision], None]
    on_closed: Callable[[DecisionId, Closing], None]
    keep_unsent: Callable[[str], Awaitable[None]]
    conversation: ConversationId | None = None


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is being written; `patience` is how many seconds it may take to come when its question ends."""

    patience: float
    is_gone: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class _Open:
    """A decision that nobody has answered yet."""

    decision: Decision
    asker: Asker
    was_shown: bool = False
    unknown_answers: int = 0
    request: Pending | None = None
    document: TextDocument | None = None
    is_answered: bool = False


class PromptBroker:
    """Shows the decisions of all queries of one client, one at a time.

    Args:
        ask: sends a request to the client; awaiting it gives the answer or raises `ClientAnswerError`.
        spawn: runs a wait for an answer.
        ways: what the client can show.
        documents: what documents need, where a text is asked for with one.
        menu_seconds: how long a menu waits before it counts as dismissed; 0 is for ever.
    """

    def __init__(
        self,
        ask: Callable[[str, JsonObject], Pending],
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        ways: PromptWays,
        documents: DocumentHost,
        menu_seconds: float = 0,
    ) -> None:
        self.can_prompt = True
        self._ask = ask
        self._spawn = spawn
        self._ways = ways
        self._documents = documents
        self._menu_seconds = menu_seconds
        self._open: dict[DecisionId, _Open] = {}
        self._waiting: deque[DecisionId] = deque()
        self._visible: DecisionId | None = None
        self._settling: Decision | None = None
        self._texts: dict[DecisionId, _Text] = {}
        self._fast_nulls = 0

    @property
    def open_decisions(self) -> tuple[Decision, ...]:
        """Everything that waits for an answer, in the order of the questions."""
        return tuple(entry.decision for entry in self._open.values())

    @property
    def text_place(self) -> TextPlace | None:
        """Where the user can write a text."""
        return self._ways.text_place if self.can_prompt else None

    def ask(self, decision: Decision, asker: Asker) -> None:
        """Queue a question. What the client cannot give is not offered."""
        entry = self._open[decision.id] = _Open(self._ways.offered(decision), asker)
        if decision.kind == "menu" and self._menu_seconds:
            self._spawn(lambda: self._expire(entry))
        if decision.is_urgent:
            self._waiting.appendleft(decision.id)
            self._supersede_visible(decision.id)
        elif self._follows(decision):
            self._waiting.appendleft(decision.id)
        else:
            self._waiting.append(decision.id)
        self._show_next()

    def withdraw(self, decision: DecisionId, how: Closing) -> None:
        """Close a question; what the client still says about it is ignored."""
        entry = self._open.pop(decision, None)
        if entry is None:
            return
        entry.is_answered = how == "answered"
        if decision in self._waiting:
            self._waiting.remove(decision)
        if self._visible == decision:
            self._visible = None
        if entry.request is not None:
            entry.request.withdraw()
        if entry.document is not None:
            entry.document.end(is_answered=entry.is_answered)
        if entry.was_shown:
            entry.asker.on_closed(decision, how)
        self._show_next()

    async def wait_until_gone(self, decisions: Collection[DecisionId]) -> None:
        """Wait until closed questions have given what was begun to be written for them, if anything."""
        for text in [text for decision, text in self._texts.items() if decision in decisions]:
            with anyio.move_on_after(text.patience):
                await text.is_gone.wait()

    def answer(self, params: AnswerParams) -> None:
        """Take a `jp/answer`; one for a closed question, or with an unknown action, changes nothing."""
        entry = self._open.get(DecisionId(params.decision_id))
        if entry is None:
            _log.debug("an answer came for %s, which is closed", params.decision_id)
            return
        try:
            given = from_wire.answer(entry.decision, params)
        except UnknownAnswer as problem:
            _log.warning("jp/answer was not understood: %s", problem)
            return
        self._settle(entry, given)

    def _follows(self, decision: Decision) -> bool:
        """Tell whether it asks on about the call that is being answered for: that comes at once (trap 96)."""
        settling = self._settling
        return settling is not None and decision.call_id is not None and decision.call_id == settling.call_id

    def _supersede_visible(self, newcomer: DecisionId) -> None:
        """Put the visible question back behind an urgent one; it stays open (4.6)."""
        if self._visible is None:
            return
        entry = self._open[self._visible]
        self._waiting.remove(newcomer)
        self._waiting.appendleft(self._visible)
        self._waiting.appendleft(newcomer)
        self._visible = None
        if entry.document is not None:
            entry.document.step_back()
        entry.asker.on_closed(entry.decision.id, "superseded")
        entry.was_shown = False

    def _show_next(self) -> None:
        if self._visible is not None or self._settling is not None or not self._waiting:
            return
        entry = self._open[self._waiting.popleft()]
        self._visible = entry.decision.id
        entry.was_shown = True
        entry.asker.on_shown(entry.decision)
        self._put(entry, self._ways.way_of(entry.decision))

    def _put(self, entry: _Open, way: Way) -> None:
        decision = entry.decision
        match way:
            case "prompt":
                params = to_wire.prompt(self._ways.as_prompt(decision), self._ways.kinds)
                assert params is not None, "the client shows this kind"
                self._spawn(lambda: self._written(entry, ANSWER_PATIENCE, self._put_as_prompt(entry, params)))
            case "message":
                levels = message_requests(decision, self._ways.max_actions)
                self._spawn(lambda: self._put_as_message(entry, levels))
            case "document" if entry.document is not None:
                entry.document.step_forward()
            case "document":
                entry.document = document = self._document(entry)
                self._spawn(
                    lambda: self._written(entry, CLOSING_TIME, self._put_as_document(entry, document))
                )
            case "client":
                pass  # the chunk has told it; it comes with `jp/answer`
            case "none":
                self._settle(entry, AskFailed(decision.id, "this client has no way to ask for it"))
            case _:
                assert_never(way)

    async def _written(self, entry: _Open, patience: float, asking: Awaitable[None]) -> None:
        """Note that a text is being written as long as somebody is asked for it."""
        if entry.decision.kind != "text":
            await asking
            return
        text = self._texts[entry.decision.id] = _Text(patience)
        try:
            await asking
        finally:
            text.is_gone.set()
            if self._texts.get(entry.decision.id) is text:
                del self._texts[entry.decision.id]

    async def _put_as_prompt(self, entry: _Open, params: JsonObject) -> None:
        while self._is_open(entry):
            try:
                entry.request = self._ask("jp/prompt", params)
                given = from_wire.prompt_answer(entry.decision, await entry.request)
                await self._keep_late(entry, given)
                self._settle(entry, given)
            except ClientAnswerError as refusal:
                self._failed(entry, refusal)
            except UnknownAnswer as problem:
                self._not_understood(entry, problem)

    async def _put_as_message(self, entry: _Open, levels: tuple[MessageRequest, ...]) -> None:
        level = levels[0]
        while self._is_open(entry):
            asked_at = time.monotonic()
            try:
                entry.request = self._ask("window/showMessageRequest", level.params())
                result = await entry.request
                given = level.read(result)
            except ClientAnswerError as refusal:
                self._failed(entry, refusal)
            except UnknownAnswer as problem:
                self._not_understood(entry, problem)
            else:
                if isinstance(given, OtherLevel):
                    level = levels[given.level]
                    continue
                self._note_speed(result, time.monotonic() - asked_at)
                self._settle(entry, given)

    def _document(self, entry: _Open) -> TextDocument:
        watcher = Watcher(
            lambda result: self._end_document(entry, result),
            entry.asker.keep_unsent,
            self._note_speed,
            self._give_up_documents,
            entry.asker.conversation,
        )
        return TextDocument(entry.decision, self._documents, watcher)

    async def _put_as_document(self, entry: _Open, document: TextDocument) -> None:
        try:
            await document.run()
        except Exception:
            _log.exception("asking for a text broke")
            self._settle(entry, AskFailed(entry.decision.id, "asking for a text broke; the log says why"))

    def _end_document(self, entry: _Open, result: Result) -> None:
        if isinstance(result, ClientAnswerError):
            self._failed(entry, result)
        else:
            self._settle(entry, result)

    def _give_up_documents(self) -> None:
        self._ways = self._ways.without_documents()

    async def _keep_late(self, entry: _Open, given: Answer) -> None:
        """A text that comes when its question has ended is not lost, unless another answer was given."""
        is_late = not self._is_open(entry) and not entry.is_answered
        if is_late and entry.decision.kind == "text" and isinstance(given, Answered) and given.text:
            await entry.asker.keep_unsent(given.text)

    async def _expire(self, entry: _Open) -> None:
        """A menu that nobody looked at in time was dismissed (4.5)."""
        await anyio.sleep(self._menu_seconds)
        self._settle(entry, Dismissed(entry.decision.id))

    def _is_open(self, entry: _Open) -> bool:
        return self._open.get(entry.decision.id) is entry

    def _settle(self, entry: _Open, given: Answer) -> None:
        """Give an answer on, once. The next question is shown when it is known whether one follows from it."""
        if not self._is_open(entry):
            return
        self._settling = entry.decision
        try:
            entry.asker.answer(given)
            self.withdraw(entry.decision.id, "answered")
        finally:
            self._settling = None
        self._show_next()

    def _failed(self, entry: _Open, refusal: ClientAnswerError) -> None:
        if refusal.code == METHOD_NOT_FOUND:
            _log.warning("the client cannot show questions: %s", refusal.message)
            self.can_prompt = False
        self._settle(entry, AskFailed(entry.decision.id, refusal.message))

    def _not_understood(self, entry: _Open, problem: UnknownAnswer) -> None:
        """Ask once more; after that it counts as dismissed."""
        _log.warning("an answer of the client was not understood: %s", problem)
        entry.unknown_answers += 1
        if entry.unknown_answers > 1:
            self._settle(entry, Dismissed(entry.decision.id))

    def _note_speed(self, result: JsonValue, seconds: float) -> None:
        """Notice a client that answers null to everything without showing it (trap 46)."""
        self._fast_nulls = self._fast_nulls + 1 if result is None and seconds < TOO_FAST else 0
        if self._fast_nulls >= 2:
            _log.warning("the client answers questions with null at once; it is not asked again")
            self.can_prompt = False
