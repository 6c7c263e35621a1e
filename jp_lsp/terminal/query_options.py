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
        attachments: what to show the model: paths, URLs, ids of conversations.
        tools: tools to switch on or off, in their order; no name means all that need not be named.
        schema: the JSON text of the schema that the answer must fit, if it is to be a value.
        is_template: the question is filled in with values of the settings.
        persist: keep the query and its answer.
        is_explained: say what would be sent, and send nothing.
        is_json: print chunks instead of text.
        shows_reasoning: whether reasoning is shown; when not said, it is shown on a terminal.
        is_verbose: show the server's log.
        may_ask: ask on the terminal if there is one.
    """

    text: str | None = None
    conversation: str | None = None
    config: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    tools: tuple[tuple[bool, str | None], ...] = ()
    schema: str | None = None
    is_template: bool = False
    persist: bool = True
    is_explained: bool = False
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
        if self.attachments:
            params["attachments"] = list(self.attachments)
        if self.tools:
            params["tools"] = [_switch(is_on, name) for is_on, name in self.tools]
        if self.schema is not None:
            params["schema"] = self.schema
        if self.is_template:
            params["template"] = True
        if not self.persist:
            params["persist"] = False
        if self.is_explained:
            params["explain"] = True
        return params

    def thoughts(self, *, is_terminal: bool) -> Thoughts:
        """Say where reasoning goes."""
        if self.shows_reasoning is False or (self.shows_reasoning is None and not is_terminal):
            return "hidden"
        return "in_place" if is_terminal else "aside"


def _switch(is_on: bool, name: str | None) -> JsonObject:
    return {"enable": is_on} if name is None else {"enable": is_on, "name": name}
