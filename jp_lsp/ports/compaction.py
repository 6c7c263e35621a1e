"""What the settings say about compaction: the rules by which a conversation is made shorter for models."""

from dataclasses import dataclass, field

from jp_lsp.conversation.compact import TurnsWanted
from jp_lsp.conversation.directive import OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.ports.provider import ModelId, ModelParameters


@dataclass(frozen=True, slots=True)
class SummaryWish:
    """A summary that a model writes.

    Attributes:
        model: who writes it; `None` for the assistant's model, with its parameters.
        parameters: how a model of its own is asked.
        instructions: what the summary must hold, in place of ours.
        context: what the model is told beside that.
        problem: why the model that is named cannot be used.
    """

    model: ModelId | None = None
    parameters: ModelParameters = field(default=ModelParameters())
    instructions: str | None = None
    context: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionRule:
    """One compaction: of which turns, and what is left out of them, or what takes their place.

    `text` is a summary that somebody wrote, `summary` one that a model is to write.
    """

    turns: TurnsWanted = field(default=TurnsWanted())
    reasoning: StripReasoning | None = None
    tool_calls: StripToolCalls | OmitToolCalls | None = None
    text: str | None = None
    summary: SummaryWish | None = None
