"""Wire types about questions to the user: asking one, and answering it.

A question is one decision with an id, whichever way it is shown: as `jp/prompt`, as
`window/showMessageRequest`, or as a document. It can be answered by the reply to that request or by
`jp/answer`; the first answer wins.
"""

from typing import Literal

from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, WireModel

PromptKind = TypeAliasType("PromptKind", Literal["menu", "approval", "pick", "text", "secret", "edit"])
"""What to show.

`menu` is an interrupt menu, `approval` asks about a tool call, `pick` is any other choice: all three are
buttons. `text` is a line of text, `secret` one that must not be seen or kept, `edit` a document.
"""


class PromptAction(WireModel):
    """A button. Titles are unique within a prompt; the harmless button stands first."""

    id: str
    title: str


class PromptParams(WireModel):
    """A question to put to the user."""

    decision_id: str
    kind: PromptKind
    message: str
    """One line of plain text."""
    detail: str | None = None
    """More plain text, possibly many lines, to show below the message."""
    value: str | None = None
    """The text to start with, for `text` and `edit`."""
    language: str | None = None
    """The LSP language id of an edited text."""
    placeholder: str | None = None
    actions: Array[PromptAction] = ()
    call_id: str | None = None
    """The tool call that the question is about, so that it can be shown beside it."""


class PromptResult(WireModel):
    """The answer: a button, a text, or both. A dismissed prompt is answered with `null` instead.

    A prompt for a `text` that is cancelled may be answered with what was written so far: it becomes a draft.
    """

    action: str | None = None
    """The id of the chosen button."""
    text: str | None = None


class AnswerParams(WireModel):
    """An answer that the client gives without having been asked by a request."""

    decision_id: str
    action: str | None = None
    """The id of the chosen button."""
    text: str | None = None
    """With neither button nor text the question counts as dismissed."""
