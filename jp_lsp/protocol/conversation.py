"""Wire types about conversations: listing them, reading one again, and hearing of changes."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, ProgressToken, WireModel
from jp_lsp.protocol.notice import Notice

_CONVERSATION_ID = re.compile(r"jp-c[0-9]{1,19}(-[0-9a-z]+)?")


def _is_id(text: str) -> str:
    if _CONVERSATION_ID.fullmatch(text) is None:
        raise PydanticCustomError("conversation", "a conversation id such as 'jp-c17912345678'")
    return text


def _is_selector(text: str) -> str:
    if text not in {"new", "last"} and _CONVERSATION_ID.fullmatch(text) is None:
        raise PydanticCustomError(
            "conversation", "a conversation id such as 'jp-c17912345678', 'new' or 'last'"
        )
    return text


ConversationId = TypeAliasType("ConversationId", Annotated[str, AfterValidator(_is_id)])
"""`jp-c` and the time at which the conversation was made, in tenths of a second: `jp-c17912345678`."""

ConversationSelector = TypeAliasType("ConversationSelector", Annotated[str, AfterValidator(_is_selector)])
"""A conversation id, `new`, or `last` for the one that was active most recently."""

ReasoningDisplay = TypeAliasType(
    "ReasoningDisplay", Literal["hidden", "full", "truncate", "progress", "static", "timer", "summary"]
)
"""How much of a model's reasoning is shown."""


class ConversationListParams(WireModel):
    """Which conversations to list; what is left out does not matter."""

    limit: Annotated[int, Field(ge=1)] | None = None
    """At most so many, the most recently activated ones."""
    archived: bool = False
    """List the archived ones instead."""
    pinned: bool | None = None
    local: bool | None = None
    title: str | None = None
    """A part of the title, in any case."""
    labels: Array[str] = ()
    """Labels that all must be there, as `key`, or as `key=value` where the value matters too."""


class Label(WireModel):
    """A label of a conversation; a bare one has an empty value."""

    key: str
    value: str = ""


class ConversationSummary(WireModel):
    """A conversation as lists show it, known without reading it."""

    conversation: str
    title: str | None = None
    created_at: str
    """RFC 3339, UTC, as all times here."""
    last_activated_at: str
    """When it was made, where that is all that is known."""
    pinned_at: str | None = None
    """Present while it is pinned."""
    archived_at: str | None = None
    expires_at: str | None = None
    """From when on it may be removed."""
    labels: Array[Label] = ()
    archived: bool = False
    local: bool = False
    """Whether it is in the user's own folder alone, so that the workspace does not have it."""
    active: bool = False
    """Whether it is the one that this client used last, where a query goes that names none."""
    busy: bool = False
    """Whether a query runs in it, or another program holds it."""
    problem: str | None = None
    """Why its metadata cannot be read; title, pin and the like are unknown then."""


class ConversationListResult(WireModel):
    """The conversations of the workspace, most recently activated first, or most recently archived."""

    conversations: Array[ConversationSummary]


class TurnRange(WireModel):
    """Some turns: either from one number to another, or the last few. Turns are counted from 1."""

    from_turn: Annotated[int, Field(ge=1)] | None = None
    """The first one to show; the first of the conversation when left out."""
    to_turn: Annotated[int, Field(ge=1)] | None = None
    """The last one to show; the last of the conversation when left out."""
    last: Annotated[int, Field(ge=1)] | None = None
    """Only so many turns, up to the end of the conversation."""

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        if self.last is not None and (self.from_turn is not None or self.to_turn is not None):
            raise ValueError("`turns` takes either `last`, or `fromTurn` and `toTurn`")
        if self.from_turn is not None and self.to_turn is not None and self.from_turn > self.to_turn:
            raise ValueError(
                f"`turns` must not end before it begins (`fromTurn` {self.from_turn}, `toTurn` {self.to_turn})"
            )
        return self


class RenderOverlay(WireModel):
    """Display settings that go on top of those of each turn."""

    reasoning: ReasoningDisplay | None = None
    show_tool_calls: bool | None = None


class RenderParams(WireModel):
    """Which part of a conversation to show again, and how."""

    conversation: ConversationId
    turns: TurnRange | None = None
    """All turns when left out."""
    config: Literal["per_turn", "fixed"] = "per_turn"
    """`per_turn` shows each turn with the settings that it was made with, `fixed` all with today's."""
    overlay: RenderOverlay | None = None
    compacted: bool = False
    """Show what compactions leave for models; a summary of turns 2 to 5 is shown for each of them."""
    user_only: bool = False
    """Show only what the user said."""
    joined: bool = False
    """Join adjacent chunks of the same kind, so that a search finds a word that was stored in two pieces."""
    work_done_token: ProgressToken | None = None
    partial_result_token: ProgressToken | None = None
    """The chunks arrive as `$/progress` on this token."""


class RenderResult(WireModel):
    """What was shown."""

    turns: int
    """How many turns were shown."""
    seq: int
    """The number of the last chunk; 0 when there was none."""
    md: str | None = None
    """The transcript as one Markdown text, when neither a token nor `jp/chunk` carried the chunks."""
    notices: Array[Notice] = ()


class ConversationChangedNotification(WireModel):
    """A conversation is another one than before; whoever shows it, or a list of them, may want to look again."""

    conversation: str
    change: Literal["created", "updated", "removed", "archived", "unarchived"]
    """`updated` is anything else, such as another title, a pin, or more of it."""
    title: str | None = None
    last_activated_at: str | None = None
    """RFC 3339, UTC."""
