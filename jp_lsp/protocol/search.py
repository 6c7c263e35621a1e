"""Wire types for searching what was said in conversations."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, ProgressToken, WireModel
from jp_lsp.protocol.conversation import ConversationId

SearchScope = TypeAliasType(
    "SearchScope",
    Literal["title", "user", "assistant", "reasoning", "structured", "tool_call", "tool_result", "inquiry"],
)
"""Where something was found; `tool_call` is a tool's name and arguments, `inquiry` a question and its answer."""

MOST_HITS = 10_000


class ConversationSearchParams(WireModel):
    """What to look for, and where; by default in all that was said in conversations that are not archived."""

    pattern: str
    regex: bool = False
    """It is a regular expression, as Python has them; `^` and `$` are the ends of a line."""
    case_sensitive: bool | None = None
    """When left out, case matters if the pattern has a capital letter."""
    scopes: Array[SearchScope] = ()
    """All when left out."""
    conversations: Array[ConversationId] = ()
    """Only these."""
    labels: Array[str] = ()
    """Only conversations with all these labels, as `key` or `key=value`."""
    archived: bool = False
    """Look at the archived ones instead."""
    limit: Annotated[int, Field(ge=1, le=MOST_HITS)] = 500
    """Stop after so many hits."""
    partial_result_token: ProgressToken | None = None
    """Hits arrive as `$/progress` on this token as they are found, and the result has none."""


class SearchHit(WireModel):
    """A part of a conversation with a match; the first one is shown, and where it was found."""

    conversation: str
    title: str | None = None
    scope: SearchScope
    turn: int | None = None
    """Counted from 1, for `jp/conversation/render`; absent for a title."""
    event: int | None = None
    """The position of the entry in the conversation's stream, from 0; absent for a title."""
    before: str
    """What stands before the match in its line, cut."""
    match: str
    after: str
    count: int
    """How many matches there are in this scope of the event."""


class SearchHits(WireModel):
    """The value of a `$/progress` of a search."""

    hits: Array[SearchHit]


class UnreadableConversation(WireModel):
    """A conversation that could not be searched to its end."""

    conversation: str
    problem: str


class ConversationSearchResult(WireModel):
    """What was found, the conversations that were used last first, and in each what was said first."""

    hits: Array[SearchHit] = ()
    found: int
    """How many hits there are, also those that came on the token."""
    searched: int
    """How many conversations were looked at."""
    more: bool = False
    """Whether the search stopped because of `limit`."""
    unreadable: Array[UnreadableConversation] = ()
