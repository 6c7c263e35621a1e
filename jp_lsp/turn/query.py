"""What a client asked for, before anything was looked up (query pipeline 1.10)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from jp_lsp.conversation.ids import ConversationId
from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.tools.switches import ToolSwitch

ConversationSelector: TypeAlias = ConversationId | Literal["new", "last"] | None
"""A conversation, a new one, the one activated last, or whichever the client and its settings mean."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Ask in a copy of `source`, with its last `keep_turns` turns; all of them when `None`."""

    source: ConversationId | Literal["last"]
    keep_turns: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    Attributes:
        text: What to ask, with all of its pieces; blank when the editor is to ask for it.
        conversation: Where to ask.
        fork: The conversation to copy first.
        replay: The turn, counted from 1, that is taken back and asked again.
        resume: Go on with the conversation's unfinished turn.
        overrides: `--cfg` expressions, in order.
        attachments: URIs, in order.
        tool_switches: Tools to switch on or off, in order.
        tool_choice: What the first response may do with tools; `None` leaves it to the settings.
        schema: The JSON schema of a structured answer.
        is_template: Whether the text is filled in with the values of the settings.
        title: The conversation's title; an empty one asks for none to be made, `None` says nothing.
        compacts: Make the conversation shorter for models first, by the rules of the settings.
        persist: Whether anything is stored.
        interactive: Whether the user may be asked.
        explain: Prepare only, and report.
        expires_after: The seconds after which the conversation may be removed.
        queue: Wait for a query that runs in the same conversation.
        quote: What goes behind the text that the user writes.
        document: The absolute path of the file that it is written in; `None` if it is in none.
    """

    text: str = ""
    conversation: ConversationSelector = None
    fork: Fork | None = None
    replay: int | None = None
    resume: bool = False
    overrides: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    tool_switches: tuple[ToolSwitch, ...] = ()
    tool_choice: ToolChoice | None = None
    schema: JsonObject | None = None
    is_template: bool = False
    title: str | None = None
    compacts: bool = False
    persist: bool = True
    interactive: bool = True
    explain: bool = False
    expires_after: float | None = None
    queue: bool = False
    quote: str = ""
    document: str | None = None

    @property
    def needs_text(self) -> bool:
        """Whether there is nothing to do as long as the user has not written what to ask."""
        is_complete = self.resume or self.explain or self.replay is not None
        return not is_complete and not self.text.strip()

    @property
    def is_stored(self) -> bool:
        """Whether the conversation is claimed and written; else the query works on a copy that is thrown away."""
        return self.persist and not self.explain
