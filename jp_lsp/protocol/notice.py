"""Sentences to the user beside the transcript."""

from typing import Literal

from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import ProgressToken, WireModel

NoticeLevel = TypeAliasType("NoticeLevel", Literal["info", "warning", "error"])
"""How much a notice matters."""


class Notice(WireModel):
    """A sentence to the user. `code` is stable, `text` is for people and may change."""

    level: NoticeLevel
    code: str
    text: str


class NoticeNotification(WireModel):
    """A notice from work that runs beside the turns, or about the server itself."""

    level: NoticeLevel
    code: str
    text: str
    conversation: str | None = None
    """The conversation that it is about."""
    turn: ProgressToken | None = None
    """The token of the query that it is about."""
