"""How a request says how much to think, and which sampling settings that leaves room for (providers 6.2.1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import Budgetted, CycleRequest, EffortLevel, Leveled, ModelDetails, Unsupported
from jp_lsp.providers.openai.models import PERSISTED_REASONING, PRO_MODE, TEMPERATURE_FEATURE
from jp_lsp.providers.reasoning import EffortValue, lowest_level, nearest_level, resolve, to_level

_WORDS: Mapping[EffortLevel, str] = {
    "none": "none",
    "xlow": "minimal",
    "low": "low",
    "medium": "medium",
    "auto": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}

_O_SERIES = re.compile(r"o\d")
_LADDER_OF_O_SERIES = Leveled(can_disable=False, levels=frozenset({"low", "medium", "high"}))
"""The o-series is listed as thinking by budget, but it takes words, and refuses all that came after it."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """`field` is the request's `reasoning`. `is_on`: the model thinks, and what it made of that is kept."""

    field: dict[str, JsonValue] | None
    is_on: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def allows_sampling(self) -> bool:
        """Whether the model is told not to think at all."""
        return self.field is None or self.field["effort"] == "none"


def choose_reasoning(request: CycleRequest) -> Reasoning:
    """Choose from the user's wish and the model's abilities."""
    model = request.model
    effort = resolve(model.reasoning, request.parameters.reasoning)
    if effort is None:
        word = _word_for_off(request)
        return Reasoning(None if word is None else {"effort": word, "summary": "auto"})
    level, warnings = _level(request, effort)
    field: dict[str, JsonValue] = {"effort": _WORDS[level]}
    if not request.parameters.excludes_reasoning:
        field["summary"] = "auto"  # the only form in which thoughts come; what is encrypted comes in any case
    if level == "none":
        return Reasoning(field, warnings=tuple(warnings))
    if request.parameters.other.get("reasoning_mode") == "pro":
        if PRO_MODE in model.features:
            field["mode"] = "pro"
        else:
            warnings.append(f"{model.id} has no pro mode: reasoning_mode was left out")
    if PERSISTED_REASONING in model.features:
        field["context"] = "all_turns"
    return Reasoning(field, is_on=True, warnings=tuple(warnings))


def _level(request: CycleRequest, effort: EffortValue) -> tuple[EffortLevel, list[str]]:
    maximum = request.parameters.max_tokens or request.model.max_output_tokens
    level = to_level(effort, maximum) or "medium"
    if level == "auto":
        level = "medium"
    possible = _possible_level(request.model, level)
    if possible == level:
        return level, []
    return possible, [f"{request.model.id} has no effort {level!r}: {possible!r} is used"]


def _possible_level(model: ModelDetails, level: EffortLevel) -> EffortLevel:
    """Give the effort itself, or the nearest one that the model takes: it refuses any other."""
    if (ladder := _ladder(model)) is not None:
        return nearest_level(ladder, level)
    return "xhigh" if level == "max" else level


def _ladder(model: ModelDetails) -> Leveled | None:
    """Give the words that the model takes, as far as they are known."""
    if isinstance(model.reasoning, Budgetted) and _O_SERIES.match(model.id.name):
        return _LADDER_OF_O_SERIES
    return model.reasoning if isinstance(model.reasoning, Leveled) else None


def _word_for_off(request: CycleRequest) -> str | None:
    """Give the least thinking there is; a model that is told nothing would think as much as it likes."""
    if (ladder := _ladder(request.model)) is not None:
        level = lowest_level(ladder)
        return None if level is None else _WORDS[level]
    match request.model.reasoning:
        case None:
            return "none" if request.parameters.reasoning == "off" else None
        case Unsupported():
            return None
        case Budgetted():
            return "minimal"
        case _:
            return "low"


def sampling_fields(request: CycleRequest, reasoning: Reasoning) -> tuple[dict[str, JsonValue], list[str]]:
    """Give the sampling settings that this model takes now, and a sentence for each that it does not."""
    parameters, model = request.parameters, request.model
    is_free = reasoning.allows_sampling or not (
        model.reasoning is None or TEMPERATURE_FEATURE in model.features
    )
    fields: dict[str, JsonValue] = {}
    warnings: list[str] = []
    for setting, value in {"temperature": parameters.temperature, "top_p": parameters.top_p}.items():
        if value is not None and is_free:
            fields[setting] = value
        elif value is not None:
            warnings.append(f"{model.id} takes no {setting} while it thinks: the setting was left out")
    if parameters.top_k is not None:
        warnings.append("openai takes no top_k: the setting was left out")
    if parameters.stop_words:
        warnings.append("openai takes no stop words: the setting was left out")
    if parameters.max_tokens is not None:
        fields["max_output_tokens"] = parameters.max_tokens
    return fields, warnings
