"""One open question to the user, however often and through whatever transport it is shown."""

from dataclasses import dataclass
from typing import Literal, NewType

from jp_lsp.conversation.ids import CallId

DecisionId = NewType("DecisionId", str)

DecisionKind = Literal["menu", "approval", "pick", "text", "secret", "edit"]


Composing = Literal["inline", "editor", "editor_only"]
"""Where a text is best written: in a line, in a document if there can be one, or nowhere else."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A button: `id` is what the answer says, `title` what a person reads (unique within a decision)."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to ask. Menus and replies come before other decisions in the queue of a client.

    `value` pre-fills a text, `language` names the syntax of an edited one, `composing` says where a text that
    has neither is written.
    """

    id: DecisionId
    kind: DecisionKind
    message: str
    choices: tuple[Choice, ...] = ()
    detail: str | None = None
    value: str | None = None
    language: str | None = None
    call_id: CallId | None = None
    composing: Composing = "inline"

    @property
    def is_urgent(self) -> bool:
        """Whether it goes before the decisions that wait already."""
        return self.kind == "menu" or (self.kind == "text" and self.call_id is None)
