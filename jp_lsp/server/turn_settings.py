"""With which settings each turn of a stored conversation is shown (query pipeline 5.9).

A conversation keeps how its settings changed, so each turn can be shown as it was when it was made. That is
decided per turn, and only for the turns that are shown.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.ports.refusal import Refusal
from jp_lsp.ports.settings import QuerySettings
from jp_lsp.turn.outcome import Notice

Moment: TypeAlias = Literal["per_turn", "fixed"]


class TurnSettings:
    """The settings of the turns of one conversation. `notices` say what could not be found out.

    Args:
        stream: the conversation; it must not change meanwhile.
        today: what the conversation would be continued with.
        resolve: gives the settings that a conversation would be continued with.
        moment: whether each turn gets its own, or all get today's.
    """

    def __init__(
        self,
        stream: ConversationStream,
        today: QuerySettings,
        resolve: Callable[[ConversationStream], QuerySettings],
        moment: Moment,
    ) -> None:
        self.notices: list[Notice] = []
        self._stream = stream
        self._today = today
        self._resolve = resolve
        self._changes = [] if moment == "fixed" else [at for at, _ in stream.config_deltas()]
        self._known: dict[int, QuerySettings] = {}

    def at(self, position: int, number: int) -> QuerySettings:
        """Give the settings of turn `number`, whose first event stands at `position` among the entries."""
        earlier = sum(change < position for change in self._changes)
        if earlier == len(self._changes):
            return self._today
        if earlier not in self._known:
            self._known[earlier] = self._settings_before(position, number)
        return self._known[earlier]

    def _settings_before(self, position: int, number: int) -> QuerySettings:
        until_then = self._stream.copy()
        until_then.truncate(position)
        try:
            return self._resolve(until_then)
        except Refusal as refusal:
            text = f"Turn {number} is shown with today's settings, because its own cannot be used: {refusal.error.message}"
            self.notices.append(Notice("warning", "settings", text))
            return self._today
