"""How a request says how much to think, and which sampling settings that leaves room for (providers 6.1.3)."""

import re
from dataclasses import dataclass, replace

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import Adaptive, Budgetted, CycleRequest, EffortLevel, Leveled
from jp_lsp.providers.reasoning import EffortValue, known_to_disable, resolve, to_level, to_tokens

INTERLEAVED_BETA = "interleaved-thinking-2025-05-14"
INTERLEAVED_FEATURE = "interleaved-thinking"
DISABLED: JsonObject = {"type": "disabled"}

_SMALLEST_BUDGET = 1024
_GENERATION = re.compile(r"claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?")
_FIRST_WITHOUT_SAMPLING = (4, 7)
_FIRST_WITH_ONE_OF_TWO = (4, 0)


@dataclass(frozen=True, slots=True)
class Thinking:
    """`field` is the request's `thinking`, `effort` the word for `output_config`.

    `is_on`: the model was told to think. `forbids_forcing`: it may think, so it refuses a forced tool.
    """

    field: JsonObject | None
    effort: str | None = None
    is_on: bool = False
    forbids_forcing: bool = False
    warnings: tuple[str, ...] = ()


def choose_thinking(
    request: CycleRequest, *, max_tokens: int, is_interleaved: bool, is_allowed: bool
) -> Thinking:
    """Choose from the user's wish and the model's abilities.

    `is_interleaved`: the vendor was told that thinking may go on between tool calls. `is_allowed` is false
    for a request that writes on from an assistant message, which the API refuses to combine with thinking.
    """
    support = request.model.reasoning
    effort = resolve(support, request.parameters.reasoning) if is_allowed else None
    if effort is None:
        return _off(request, is_allowed=is_allowed)
    if isinstance(support, Budgetted):
        chosen = _budgetted(request, support, effort, max_tokens=max_tokens, is_interleaved=is_interleaved)
        return chosen or replace(
            _off(request, is_allowed=False),
            warnings=(f"{max_tokens} output tokens leave no room for thinking: it is switched off",),
        )
    match support:
        case Adaptive(xhigh=xhigh, max=maximum):
            pass
        case Leveled(levels=levels):
            xhigh, maximum = "xhigh" in levels, "max" in levels
        case _:  # unknown: an effort that the model does not have fails visibly
            xhigh = maximum = True
    level = to_level(effort, max_tokens) or "auto"
    word = _effort_word(level, xhigh=xhigh, maximum=maximum)
    is_lowered = level in {"max", "xhigh"} and word != level
    return Thinking(
        {"type": "adaptive", "display": _display(request)},
        word,
        is_on=True,
        forbids_forcing=True,
        warnings=(f"{request.model.id} has no effort {level!r}: {word!r} is used",) if is_lowered else (),
    )


def _off(request: CycleRequest, *, is_allowed: bool) -> Thinking:
    support, wish = request.model.reasoning, request.parameters.reasoning
    can_disable = known_to_disable(support)
    if support is None:
        says_so = wish == "off" or not is_allowed
    else:
        says_so = can_disable and isinstance(support, Adaptive | Budgetted | Leveled)
    return Thinking(DISABLED if says_so else None, forbids_forcing=not can_disable)


def _budgetted(
    request: CycleRequest, support: Budgetted, effort: EffortValue, *, max_tokens: int, is_interleaved: bool
) -> Thinking | None:
    budget = max(to_tokens(effort, max_tokens), support.min_tokens)
    if is_interleaved and INTERLEAVED_FEATURE in request.model.features:
        # The budget then counts over all tool calls of a turn and may be larger than one answer.
        ceiling = request.model.context_window
    else:
        ceiling = min(support.max_tokens or max_tokens, max_tokens - 1)
        if ceiling < max(_SMALLEST_BUDGET, support.min_tokens):
            return None
    if ceiling is not None:
        budget = min(budget, ceiling)
    field: JsonObject = {"type": "enabled", "budget_tokens": budget, "display": _display(request)}
    return Thinking(field, is_on=True, forbids_forcing=True)


def _display(request: CycleRequest) -> str:
    """Say which text thinking comes with; without a word newer models send none. The signature comes in any case."""
    return "omitted" if request.parameters.excludes_reasoning else "summarized"


def _effort_word(level: EffortLevel, *, xhigh: bool, maximum: bool) -> str | None:
    match level:
        case "auto":
            return None
        case "none" | "xlow":
            return "low"
        case "max" if maximum:
            return "max"
        case "max" | "xhigh":
            return "xhigh" if xhigh else "high"
        case _:
            return level


def sampling_fields(request: CycleRequest, thinking: Thinking) -> tuple[dict[str, JsonValue], list[str]]:
    """Give the sampling settings that this model takes now, and a sentence for each that it does not."""
    parameters = request.parameters
    name = str(request.model.id)
    fields: dict[str, JsonValue] = {}
    warnings: list[str] = []
    wanted = {"temperature": parameters.temperature, "top_p": parameters.top_p, "top_k": parameters.top_k}
    for setting, value in wanted.items():
        if value is None:
            continue
        if generation_of(request.model.id.name) >= _FIRST_WITHOUT_SAMPLING:
            warnings.append(f"{name} takes no {setting}: the setting was left out")
        elif thinking.is_on and not _is_allowed_while_thinking(setting, value):
            warnings.append(f"{name} takes no {setting} {value:g} while it thinks: the setting was left out")
        else:
            fields[setting] = value
    if {"temperature", "top_p"} <= fields.keys() and generation_of(
        request.model.id.name
    ) >= _FIRST_WITH_ONE_OF_TWO:
        del fields["top_p"]
        warnings.append(f"{name} takes either temperature or top_p: top_p was left out")
    return fields, warnings


def _is_allowed_while_thinking(setting: str, value: float) -> bool:
    return (setting == "temperature" and value == 1) or (setting == "top_p" and value >= 0.95)


def generation_of(name: str) -> tuple[int, int]:
    """Read the generation from a model's name: `claude-opus-4-7` is (4, 7); older patterns are (0, 0)."""
    match = _GENERATION.match(name)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)
