"""How conversations get their titles: `conversation.title`, as the driver needs it (query pipeline 7.1)."""

from dataclasses import replace

from jp_lsp.config import options
from jp_lsp.config.value import ABSENT, Partial, Path, entries_of, value_at
from jp_lsp.ports.provider import CachePolicy, Effort, ModelId, ModelParameters
from jp_lsp.ports.settings import TitleSettings

_MODEL: Path = ("conversation", "title", "generate", "model")
TITLE_MODEL: Path = (*_MODEL, "id")

_EMBEDDED_PROVIDER = "local"


def title_settings(tree: Partial, main: ModelId, own: ModelId | None) -> TitleSettings:
    """Build them.

    The embedded model makes titles only when it is named for that: it does one thing at a time on the user's
    own processor, so a title nobody asked for would hold up the answer, and be a poor one.

    Args:
        tree: the complete configuration.
        main: the assistant's model.
        own: the model that is named for titles, if one is.
    """
    is_wanted = options.flag(tree, "conversation", "title", "generate", "auto")
    if own is None and main.provider == _EMBEDDED_PROVIDER:
        is_wanted = False
    return TitleSettings(
        from_heading=options.flag(tree, "conversation", "title", "from_heading"),
        model=(own or main) if is_wanted else None,
        parameters=_parameters(tree, has_own_model=own is not None),
    )


def names_title_model(tree: Partial) -> bool:
    """Tell whether a model is named for titles."""
    return value_at(tree, TITLE_MODEL) is not ABSENT


def _parameters(tree: Partial, *, has_own_model: bool) -> ModelParameters:
    """Give the model's parameters, with little reasoning, and nothing kept of a request that comes once."""
    if has_own_model:
        parameters = options.parameters(entries_of(value_at(tree, _MODEL)), {})
        reasoning = parameters.reasoning
    else:
        parameters = options.main_parameters(tree)
        reasoning = None  # how much the assistant thinks is no measure for a title
    return replace(parameters, reasoning=reasoning or Effort("low", exclude=True), cache=CachePolicy(0))
