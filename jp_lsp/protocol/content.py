"""Wire types for what is done to the content of conversations: exporting, editing, compacting, restoring them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.conversation import ConversationId, ConversationSummary, TurnRange
from jp_lsp.protocol.upkeep import CompactionRange, ConversationParams


class ConversationExportParams(ConversationParams):
    """Which conversation, or which turns of it, to write down as one text; it may be archived."""

    format: Literal["markdown", "json"] = "markdown"
    """`json` has all events with nothing encoded, `markdown` what a person is shown."""
    turns: TurnRange | None = None
    """All turns when left out."""


class ConversationExportResult(WireModel):
    """The text, and a name for a file of it."""

    text: str
    name: str
    turns: int


class ConversationEditParams(ConversationParams):
    """What to change: either `text` or `remove`."""

    turn: Annotated[int, Field(ge=1)]
    """Counted from 1."""
    text: str | None = None
    """What the user should have said in it; the answer stays as it is."""
    remove: bool = False
    """Remove the turn. Compactions that reach to it, or behind it, go too."""

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        if (self.text is not None) == self.remove:
            raise ValueError("give either `text` or `remove`")
        return self


class ConversationEditResult(ConversationSummary):
    """The conversation as it is now."""

    copy_uri: str | None = None
    """The folder with a copy of the conversation as it was; absent when nothing had to be changed."""


class ConversationCompactParams(ConversationParams):
    """Which turns models are shown in a shorter form from now on, and how; what was said is not changed.

    Turns are counted from 1, or from the end if negative; every restriction counts.
    """

    from_turn: int | None = None
    to_turn: int | None = None
    since_last: bool = False
    """Begin behind the last turn that a compaction covers."""
    keep_first: Annotated[int, Field(ge=0)] = 0
    keep_last: Annotated[int, Field(ge=0)] = 0
    summary: str | None = None
    """A text that takes the place of the turns, and of every summary that they touch."""
    reasoning: bool = False
    """Leave reasoning out."""
    tool_calls: Literal["strip", "strip_requests", "strip_responses", "omit"] | None = None
    """Leave out what tools were given and said, one of both, or the calls as a whole."""
    reset: Literal["all"] | Annotated[int, Field(ge=1)] | None = None
    """Remove all compactions instead, or the one with this number in `compactions`, counted from 1."""
    dry_run: bool = False
    """Only say what would be."""


class ConversationCompactResult(WireModel):
    """The compactions of the conversation, in the order in which they were made."""

    conversation: ConversationId
    compactions: Array[CompactionRange]
    added: CompactionRange | None = None
    """The new one; absent when no turns were left to compact."""


class ConversationTrashParams(WireModel):
    """Nothing."""


class TrashedConversation(WireModel):
    """A removed conversation."""

    conversation: str
    title: str | None = None
    removed_at: str
    folders: Array[str]
    """The URIs of its folders in the trash."""


class ConversationTrashResult(WireModel):
    """What `jp/conversation/restore` can take back, the latest first."""

    conversations: Array[TrashedConversation]


class ConversationRestoreParams(ConversationParams):
    """Which conversation to take back from the trash."""


class ConversationRestoreResult(ConversationSummary):
    """The conversation as it is now."""
