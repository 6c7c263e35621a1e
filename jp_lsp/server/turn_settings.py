"""With which settings each turn of a stored conversation is shown (query pipeline 5.9).

A conversation keeps how its settings changed, so each turn can be shown as it was when it was made. That is
decided per turn, and only for the turns that are shown. Settings that cannot be used are no reason to show nothing:
an old conversation may name a model that nobody knows any more.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal, TypeAlias

from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.render.options import Look
from jp_lsp.turn.outcome import Notice

Moment: TypeAlias = Literal["per_turn", "fixed"]


class TurnSettings:
    """The settings of the turns of one conversation. `notices` say which of them cannot be used.

    Args:
        stream: the conversation; it must not change meanwhile.
        look_after: tells how it is shown after so many of its changes of settings.
        moment: whether each turn gets its own, or all get today's.
    """

    def __init__(self, stream: ConversationStream, look_after: Callable[[int], Look], moment: Moment) -> None:
        self.notices: list[Notice] = []
        self._look_after = look_after
        self._changes = [at for at, _ in stream.config_deltas()]
        self._moment = moment
        self._known: dict[int, Look] = {}

    def at(self, position: int, number: int) -> Look:
        """Give the settings of turn `number`, whose first event stands at `position` among the entries."""
        changes = self._changes
        count = len(changes) if self._moment == "fixed" else bisect_left(changes, position)
        if count not in self._known:
            self._known[count] = look = self._look_after(count)
            self._tell(look.problem, number)
        return self._known[count]

    def _tell(self, problem: str | None, number: int) -> None:
        """Say once what is wrong, for the first turn that it concerns."""
        if problem is not None and not any(problem in notice.text for notice in self.notices):
            text = f"Turn {number} is shown without settings of its own that cannot be used: {problem}"
            self.notices.append(Notice("warning", "settings", text))
