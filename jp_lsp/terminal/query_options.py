"""What the command line of `jp-lsp query` says. It imports next to nothing: every command reads its arguments."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue

Thoughts = Literal["in_place", "aside", "hidden"]
"""Where reasoning goes: between the answers, to standard error, or nowhere."""


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """What the command line says.

    Attributes:
        text: the question; more may come through standard input.
        conversation: an id, `new`, `last`, or nothing for what the settings say.
        config: expressions that change settings for this query, in their order.
        persist: keep the query and its answer.
        is_json: print chunks instead of text.
        shows_reasoning: whether reasoning is shown; when not said, it is shown on a terminal.
        is_verbose: show the server's log.
        may_ask: ask on the terminal if there is one.
    """

    text: str | None = None
    conversation: str | None = None
    config: tuple[str, ...] = ()
    persist: bool = True
    is_json: bool = False
    shows_reasoning: bool | None = None
    is_verbose: bool = False
    may_ask: bool = True

    def params(self, text: str) -> JsonObject:
        """Give the params of `jp/query`."""
        params: dict[str, JsonValue] = {"text": text} if text else {}
        if self.conversation is not None:
            params["conversation"] = self.conversation
        if self.config:
            params["config"] = list(self.config)
        if not self.persist:
            params["persist"] = False
        return params

    def thoughts(self, *, is_terminal: bool) -> Thoughts:
        """Say where reasoning goes."""
        if self.shows_reasoning is False or (self.shows_reasoning is None and not is_terminal):
            return "hidden"
        return "in_place" if is_terminal else "aside"
