"""Who sums up what the model thinks: `style.reasoning.summary_model` (query pipeline 5.6)."""

from dataclasses import replace

from jp_lsp.config import options
from jp_lsp.config.value import ABSENT, Partial, Path, entries_of, value_at
from jp_lsp.ports.provider import CachePolicy, ModelId
from jp_lsp.ports.settings import ReasoningSummarySettings

_MODEL: Path = ("style", "reasoning", "summary_model")
SUMMARY_MODEL: Path = (*_MODEL, "id")


def names_summary_model(tree: Partial) -> bool:
    """Tell whether a model is named for it."""
    return value_at(tree, SUMMARY_MODEL) is not ABSENT


def reasoning_summary(tree: Partial, main: ModelId, own: ModelId | None) -> ReasoningSummarySettings | None:
    """Build the settings; `None` where reasoning is shown in another way, or not at all.

    Args:
        tree: the complete configuration.
        main: the assistant's model, which does it without thinking where no other one is named.
        own: the model that is named for it, if one is.
    """
    assistants = options.main_parameters(tree)
    if value_at(tree, ("style", "reasoning", "display")) != "summary" or assistants.excludes_reasoning:
        return None
    if own is None:
        parameters = replace(assistants, reasoning="off")
    else:
        parameters = options.parameters(entries_of(value_at(tree, _MODEL)), {})
    # The request comes once, so nothing of it is worth keeping at the vendor.
    return ReasoningSummarySettings(own or main, replace(parameters, cache=CachePolicy(0)))
