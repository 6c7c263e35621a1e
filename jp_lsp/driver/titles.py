"""Titles that a model makes, beside the query that wants one (query pipeline 7.1).

The request begins when the turn does, with a copy of the conversation, and nothing waits for it. The title is
stored under the conversation's lock: that of the query that has it open, or one taken for a moment. Whatever
goes wrong, the conversation keeps the title that it has, and the user is told once.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.background import Background
from jp_lsp.driver.beside import beside_when_long
from jp_lsp.driver.collected import CollectError, collect_value
from jp_lsp.driver.hooks import TurnHooks
from jp_lsp.driver.model_details import model_details
from jp_lsp.driver.preparation import Preparation, Surroundings
from jp_lsp.driver.title_request import TitleWanted, read_title, title_thread
from jp_lsp.ports.news import ConversationChange, News
from jp_lsp.ports.provider import CycleRequest, ModelId, ModelParameters, Provider
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.ports.store import ConversationStore, OpenConversation, StoreError
from jp_lsp.turn.outcome import Notice, Outcome

_log = logging.getLogger(__name__)

STORE_DELAYS = (0.0, 0.2, 1.0, 5.0, 30.0)
"""Seconds before each try to store a title; somebody may have the conversation."""

Job = Callable[[OpenConversation], Awaitable[None]]
Use = Callable[[ConversationId, ConversationStore, Job], Awaitable[bool]]
"""Works on an open conversation; false if somebody else has it now. Raises `Refusal` if it is gone."""


@dataclass(frozen=True, slots=True)
class _Order:
    """One title to be made: who is asked about what, and for which conversation.

    `stream` is a copy of the conversation as it was at `asked_at`.
    """

    conversation: ConversationId
    instead_of: str | None
    model: ModelId
    provider: Provider
    parameters: ModelParameters
    guards: StreamGuards
    stream: ConversationStream
    asked_at: Timestamp
    around: Surroundings


class Titles(TurnHooks):
    """Has titles made.

    Args:
        background: where the work is done.
        news: told of new titles, and why there is none.
        use: gives a conversation to work on.
    """

    def __init__(self, background: Background, news: News, use: Use) -> None:
        self._background = background
        self._news = news
        self._use = use
        self._warned_of: set[ModelId] = set()

    def turn_started(self, turn: Preparation, *, is_first: bool) -> None:
        """Begin to make a title if the query wants one and none is under way."""
        conversation, wanted = turn.conversation, turn.title
        if wanted is None or conversation.title != wanted.instead_of:
            return
        name = f"the title of {conversation.id}"
        if name in self._background.names:
            return
        try:
            order = _order(turn, wanted)
        except Refusal as refusal:
            self._warn(conversation.id, wanted.model, refusal.error.message)
            return
        self._background.spawn(
            name, partial(self._make, order), conversation=conversation.id, on_shutdown="finish"
        )

    def turn_finished(self, turn: Preparation, outcome: Outcome) -> None:
        """Give up if the request was taken back that the title would be about."""
        if outcome is not Outcome.ABORTED:
            return
        if not any(event.kind is turn.turn.request for event in turn.turn.stream.events()):
            self._background.cancel(turn.conversation.id)

    def conversation_removed(self, turn: Preparation) -> None:
        """Give up."""
        self._background.cancel(turn.conversation.id)

    async def _make(self, order: _Order) -> None:
        try:
            title = await _ask(order)
        except CollectError as error:
            self._warn(order.conversation, order.model, str(error))
            return
        if title is None:
            self._warn(order.conversation, order.model, "it gave none in the form that was asked for")
            return
        for delay in STORE_DELAYS:
            await order.around.clock.sleep(delay)
            try:
                if await self._use(
                    order.conversation, order.around.store, partial(self._store, order, title)
                ):
                    return
            except Refusal as refusal:  # it was removed or archived meanwhile
                _log.info("the title %r is not needed: %s", title, refusal)
                return
        _log.info("the title %r is dropped: somebody else has %s", title, order.conversation)

    async def _store(self, order: _Order, title: str, conversation: OpenConversation) -> None:
        """Store a title, unless there is one that is not ours to replace."""
        if conversation.title != order.instead_of:
            return
        conversation.suggest_title(title, order.instead_of)
        try:
            await conversation.save()
        except StoreError as error:
            _log.warning("the title %r was not stored: %s", title, error)
        else:
            self._news.conversation_changed(ConversationChange.of(conversation, "updated"))

    def _warn(self, conversation: ConversationId, model: ModelId, reason: str) -> None:
        """Tell the user; of each model once, since every query would meet the same."""
        text = (
            f"{model} made no title for this conversation: {reason.rstrip('.')}. Name another model in "
            "`conversation.title.generate.model`, or set `conversation.title.generate.auto` to false."
        )
        _log.warning("%s: %s", conversation, text)
        if model not in self._warned_of:
            self._warned_of.add(model)
            self._news.notice(Notice("warning", "title", text), conversation)


def _order(turn: Preparation, wanted: TitleWanted) -> _Order:
    """Put together what the request needs, as it is now.

    Raises:
        Refusal: the model cannot be used.
    """
    settings, around = turn.settings, turn.around
    return _Order(
        turn.conversation.id,
        wanted.instead_of,
        wanted.model,
        around.providers.get(wanted.model, settings.providers),
        settings.title.parameters,
        StreamGuards(max_response_bytes=settings.guards.max_response_bytes),
        turn.turn.stream.copy(),
        Timestamp(around.clock.now().nanoseconds),
        around,
    )


async def _ask(order: _Order) -> str | None:
    """Ask the model.

    Raises:
        CollectError: there was no answer.
    """
    details = await model_details(order.provider, order.model)
    thread = await beside_when_long(len(order.stream), lambda: title_thread(order.stream, order.asked_at))
    request = CycleRequest(details, thread, order.parameters)
    answer = await collect_value(
        order.provider,
        request,
        order.guards,
        order.around.clock,
        is_enough=lambda value: read_title(value) is not None,
    )
    return read_title(answer)
