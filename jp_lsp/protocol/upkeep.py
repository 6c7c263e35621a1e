"""Wire types for what is done to whole conversations: making, naming, marking, moving, removing them."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.conversation import ConversationId, ConversationSummary

_LABEL_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*", re.ASCII)


def _is_label_key(text: str) -> str:
    if _LABEL_KEY.fullmatch(text) is None:
        raise PydanticCustomError(
            "label", "a label such as 'area': a letter, then letters, digits, '-' and '_'"
        )
    return text


LabelKey = TypeAliasType("LabelKey", Annotated[str, AfterValidator(_is_label_key)])
"""The name of a label: a letter, then letters, digits, `-` and `_`."""


class NewLabel(WireModel):
    """A label to add; a bare one has an empty value."""

    key: LabelKey
    value: str = ""


class ConversationParams(WireModel):
    """Which conversation is meant."""

    conversation: ConversationId


class ConversationShowParams(ConversationParams):
    """Which conversation to describe; it may be archived."""


class CompactionRange(WireModel):
    """Turns that models are shown in a shorter form, counted from 1."""

    from_turn: int
    to_turn: int
    summarized: bool
    """Whether a summary takes their place; else only reasoning or tool calls are left out."""


class ConversationShowResult(ConversationSummary):
    """All that is known of a conversation; what had to be read of it is absent where it cannot be read."""

    turns: int | None = None
    events: int | None = None
    """Messages, tool calls and the like; changes of settings are not counted."""
    last_event_at: str | None = None
    model: str | None = None
    """Which model a query would ask now."""
    attachments: Array[str] = ()
    """What its queries show the model beside the conversation."""
    compactions: Array[CompactionRange] = ()
    unfinished: bool = False
    """Whether its last turn was cut off and could be resumed."""
    draft: str | None = None
    """A text that the user wrote in it and did not send."""
    folder: str | None = None
    """The URI of the folder with its files, the workspace's if that has one."""
    unreadable: str | None = None
    """Why what is in it cannot be read."""


class ConversationNewParams(WireModel):
    """What the new conversation begins with; queries that name none go to it."""

    title: str | None = None
    """An empty one asks for no title to be made."""
    config: Array[str] = ()
    """`--cfg` expressions, in order: assignments, or names of configuration files (`jp/config/list`)."""
    labels: Array[NewLabel] = ()
    expires: str | None = None
    """May be removed after this time, such as `2h 30m`."""
    local: bool | None = None
    """Keep it in the user's own folder alone; the settings decide when it is left out."""


class ConversationNewResult(ConversationSummary):
    """The new conversation."""


class ConversationUseParams(ConversationParams):
    """Where queries go that name no conversation."""


class ConversationUseResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationForkParams(WireModel):
    """What is copied into a new conversation; the source may be archived or busy, and is not changed."""

    conversation: ConversationId | Literal["last"]
    first_turns: Annotated[int, Field(ge=0)] | None = None
    """Keep so many of the first turns; all are kept when neither number is given."""
    last_turns: Annotated[int, Field(ge=0)] | None = None
    """Keep so many of the last turns; with 0, and none of the first, the copy has the settings only."""
    since: str | None = None
    """Keep what was said from this time on, in RFC 3339, or within a time such as `2h 30m`."""
    until: str | None = None
    """Keep what was said before this time; turns are counted in what is kept."""
    title: str | None = None
    """The source's title when left out."""
    labels: Array[NewLabel] = ()
    """Added to those of the source."""
    compact: bool = False
    """Make the copy shorter for models, by the rules of its settings (`conversation.compaction.rules`)."""
    use: bool = False
    """Let queries that name no conversation go to the copy."""


class ConversationForkResult(ConversationSummary):
    """The copy."""


class ConversationTitleParams(ConversationParams):
    """The new title."""

    title: str | None = None
    """None when left out, and then one may be made; an empty title says that none is to be made."""


class ConversationTitleResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationLabelsParams(ConversationParams):
    """Which labels to take away, and then which to add; with neither nothing changes."""

    add: Array[NewLabel] = ()
    """A value takes the place of the one before, unless the conversation keeps several for each label."""
    remove: Array[str] = ()
    """Keys."""
    clear: bool = False
    """Take all away."""


class ConversationLabelsResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationPinParams(ConversationParams):
    """Whether it is to be pinned."""

    pinned: bool | None = None
    """Whichever it is not, when left out."""


class ConversationPinResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationExpiryParams(ConversationParams):
    """How long to keep it."""

    expires: str | None = None
    """May be removed after this time from now, such as `2h 30m`; never, when left out."""


class ConversationExpiryResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationArchiveParams(ConversationParams):
    """Which conversation to take out of the lists."""


class ConversationArchiveResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationUnarchiveParams(ConversationParams):
    """Which conversation to put back into the lists."""


class ConversationUnarchiveResult(ConversationSummary):
    """The conversation as it is now."""


class ConversationRemoveParams(ConversationParams):
    """Which conversation to remove."""


class ConversationRemoveResult(WireModel):
    """Where it is now: it was moved, not deleted."""

    conversation: str
    trash: Array[str]
    """The URIs of its folders in the trash; moved back to `conversations`, it is there again."""


class ConversationMoveParams(ConversationParams):
    """Where to keep it."""

    local: bool
    """In the user's own folder alone; else the workspace has a copy, too."""


class ConversationMoveResult(ConversationSummary):
    """The conversation as it is now."""
