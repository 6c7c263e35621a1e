"""Wire types for what is done to the content of conversations: exporting, editing, restoring them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.conversation import ConversationSummary, TurnRange
from jp_lsp.protocol.upkeep import ConversationParams


class ConversationExportParams(ConversationParams):
    """Which conversation, or which turns of it, to write down as one text; it may be archived."""

    format: Literal["markdown", "json"] = "markdown"
    """`json` has all events with nothing encoded, `markdown` what a person is shown."""
    turns: TurnRange | None = None
    """All turns when left out."""
    compacted: bool = False
    """Write down what compactions leave for models; turns keep their numbers."""


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
