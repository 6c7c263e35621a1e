"""Wire types for making what models are shown of a conversation shorter."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jp_lsp.protocol.base import Array, ProgressToken, WireModel
from jp_lsp.protocol.conversation import ConversationId
from jp_lsp.protocol.upkeep import CompactionRange, ConversationParams


class SummaryByModel(WireModel):
    """How a model is to sum turns up; what is left out is the settings' to say."""

    model: str | None = None
    """Which model, as `provider/name` or an alias."""
    instructions: str | None = None
    """What the summary must hold, in place of the usual instructions."""
    context: str | None = None
    """What the model is told beside them, such as what the conversation goes on with."""


class ConversationCompactParams(ConversationParams):
    """Which turns models are shown in a shorter form from now on, and how; what was said is not changed.

    Without `summary`, `summarize`, `reasoning` and `toolCalls` the rules of the settings say how
    (`conversation.compaction.rules`), and which turns where no restriction is given here.

    Turns are counted from 1, or from the end if negative; every restriction counts.
    """

    from_turn: int | str | None = None
    """A turn, or a time such as `2h 30m`: the turns that began within it. `last` is what `sinceLast` is."""
    to_turn: int | str | None = None
    """A turn, or a time such as `2h 30m`: no turn that began within it."""
    since_last: bool = False
    """Begin behind the last turn that a compaction covers."""
    keep_first: Annotated[int, Field(ge=0)] | str | None = None
    """Leave so many turns at the beginning, or those of a time such as `2h 30m` from the beginning on."""
    keep_last: Annotated[int, Field(ge=0)] | str | None = None
    """Leave so many turns at the end, or those that began within a time such as `2h 30m`."""
    summary: str | None = None
    """A text that takes the place of the turns, and of every summary that they touch."""
    summarize: SummaryByModel | None = None
    """Have a model write that text. One that is no shorter than what it would replace is refused."""
    reasoning: bool = False
    """Leave reasoning out."""
    tool_calls: Literal["strip", "strip_requests", "strip_responses", "omit"] | None = None
    """Leave out what tools were given and said, one of both, or the calls as a whole."""
    reset: Literal["all"] | Annotated[int, Field(ge=1)] | None = None
    """Remove all compactions instead, or the one with this number in `compactions`, counted from 1."""
    dry_run: bool = False
    """Only say what would be; no model is asked."""
    work_done_token: ProgressToken | None = None

    @model_validator(mode="after")
    def _make_sense(self) -> Self:
        if self.summary is not None and self.summarize is not None:
            raise ValueError("give either `summary` or `summarize`")
        return self


class ConversationCompactResult(WireModel):
    """The compactions of the conversation, in the order in which they were made."""

    conversation: ConversationId
    compactions: Array[CompactionRange]
    added: Array[CompactionRange]
    """The new ones; none when no turns were left to compact."""
