"""Wire types for asking a turn of a conversation again."""

from typing import Annotated

from pydantic import Field

from jp_lsp.protocol.base import Array, ProgressToken
from jp_lsp.protocol.turn import QueryResult
from jp_lsp.protocol.upkeep import ConversationParams


class ConversationReplayParams(ConversationParams):
    """Which turn to ask again: `jp/query` with `replay`, for a conversation that is at hand.

    The turn and those behind it go once the new one is stored; an abort brings them back.
    """

    turn: Annotated[int, Field(ge=1)] | None = None
    """Counted from 1; the last one with a request when left out."""
    text: str | None = None
    """What to ask in place of what was asked."""
    config: Array[str] = ()
    """Settings for it, as in `jp/query`."""
    work_done_token: ProgressToken | None = None
    """The phase of the turn arrives as `$/progress` on this token; it can be cancelled."""
    partial_result_token: ProgressToken | None = None
    """The chunks arrive as `$/progress` on this token, which also names the turn."""


class ConversationReplayResult(QueryResult):
    """How the new turn ended."""
