"""The points of a query at which others learn of it (query pipeline 7.5).

They come after the save of that point, so what they tell of is on disk, and nobody can veto it. Queries that
are not to be stored have none.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Literal

from jp_lsp.driver.preparation import Preparation
from jp_lsp.ports.news import ConversationChange, News
from jp_lsp.turn.outcome import Outcome

_log = logging.getLogger(__name__)


class TurnHooks:
    """Learns of queries; what is not overridden does nothing. `turn` is what preparation found."""

    def turn_started(self, turn: Preparation, *, is_first: bool) -> None:
        """A turn has begun: the first of its query, or one that a reply opened."""

    def cycle_committed(self, turn: Preparation) -> None:
        """A response is complete, with the results of its tools, and the turn goes on."""

    def turn_finished(self, turn: Preparation, outcome: Outcome) -> None:
        """The query is over, and its conversation is still there."""

    def conversation_removed(self, turn: Preparation) -> None:
        """The query was taken back, and with it the conversation that was made for it."""


class HookList(TurnHooks):
    """Passes everything on; what goes wrong in one hook is logged and concerns nobody else."""

    def __init__(self, hooks: Sequence[TurnHooks]) -> None:
        self._hooks = hooks

    def turn_started(self, turn: Preparation, *, is_first: bool) -> None:
        """Pass it on."""
        self._call(lambda hook: hook.turn_started(turn, is_first=is_first))

    def cycle_committed(self, turn: Preparation) -> None:
        """Pass it on."""
        self._call(lambda hook: hook.cycle_committed(turn))

    def turn_finished(self, turn: Preparation, outcome: Outcome) -> None:
        """Pass it on."""
        self._call(lambda hook: hook.turn_finished(turn, outcome))

    def conversation_removed(self, turn: Preparation) -> None:
        """Pass it on."""
        self._call(lambda hook: hook.conversation_removed(turn))

    def _call(self, call: Callable[[TurnHooks], None]) -> None:
        for hook in self._hooks:
            try:
                call(hook)
            except Exception:
                _log.exception("the hook %s broke", type(hook).__name__)


class Announcer(TurnHooks):
    """Tells the client of each conversation that a query changes."""

    def __init__(self, news: News) -> None:
        self._news = news

    def turn_started(self, turn: Preparation, *, is_first: bool) -> None:
        """Tell of a new conversation, or of one that is in use again."""
        self._tell(turn, "created" if turn.turn.is_new and is_first else "updated")

    def cycle_committed(self, turn: Preparation) -> None:
        """Tell that there is more of it."""
        self._tell(turn, "updated")

    def turn_finished(self, turn: Preparation, outcome: Outcome) -> None:
        """Tell that it is as it will stay."""
        self._tell(turn, "updated")

    def conversation_removed(self, turn: Preparation) -> None:
        """Tell that it is gone."""
        self._news.conversation_changed(ConversationChange(turn.conversation.id, "removed"))

    def _tell(self, turn: Preparation, change: Literal["created", "updated"]) -> None:
        self._news.conversation_changed(ConversationChange.of(turn.conversation, change))
