"""How much a Gemini model shall think, as its API wants to be told (providers 6.3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import Budgetted, CycleRequest, EffortLevel, Leveled, ReasoningSupport, Unsupported
from jp_lsp.providers.reasoning import EffortValue, is_ignored, lowest_level, resolve, to_level, to_tokens

_DEFAULT_MAX_TOKENS = 32_000
"""What a budget is a part of when the output limit of the model is not known."""

_WORDS: Mapping[EffortLevel, str] = {
    "none": "MINIMAL",
    "xlow": "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "HIGH",
    "max": "HIGH",
}
_LADDER: tuple[EffortLevel, ...] = ("xlow", "low", "medium", "high")
_RUNGS: Mapping[EffortLevel, EffortLevel] = {"none": "xlow", "xhigh": "high", "max": "high"}
"""Which rung stands for an effort that has none of its own here."""


@dataclass(frozen=True, slots=True)
class ThinkingChoice:
    """The field, which may be absent, and sentences about wishes that could not be met."""

    field: dict[str, JsonValue] | None
    warnings: tuple[str, ...] = ()


def choose_thinking(request: CycleRequest, max_tokens: int | None) -> ThinkingChoice:
    """Decide on `thinkingConfig`; `max_tokens` is the output limit of the request, if there is one."""
    support, wish = request.model.reasoning, request.parameters.reasoning
    if is_ignored(support, wish):
        sentence = f"{request.model.id} does not reason: the reasoning setting was left out"
        return ThinkingChoice(None, (sentence,))
    effort = resolve(support, wish)
    if effort is None:
        return ThinkingChoice(_off(support, is_wished=wish is not None))
    match support:
        case Budgetted():
            budget = _budget(effort, max_tokens, support)
            # Without a budget there are no thoughts, and the API refuses to include them.
            field = _on(request, {"thinkingBudget": budget}) if budget else _off(support, is_wished=True)
            return ThinkingChoice(field)
        case Leveled():
            return _leveled(request, effort, max_tokens, support)
        case _:
            word = _WORDS.get(to_level(effort, max_tokens) or "auto")
            return ThinkingChoice(_on(request, {"thinkingLevel": word} if word else {}))


def _off(support: ReasoningSupport | None, *, is_wished: bool) -> dict[str, JsonValue] | None:
    """Say that the model shall not think, as far as it can do without."""
    match support:
        case Budgetted():
            return {"includeThoughts": False, "thinkingBudget": support.min_tokens}
        case Leveled() if not support.can_disable:
            return {"includeThoughts": False, "thinkingLevel": _WORDS[lowest_level(support) or "high"]}
        case None if not is_wished:
            return None
        case Unsupported():
            return None
        case _:
            return {"includeThoughts": False, "thinkingBudget": 0}


def _on(request: CycleRequest, fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"includeThoughts": not request.parameters.excludes_reasoning, **fields}


def _budget(effort: EffortValue, max_tokens: int | None, support: Budgetted) -> int:
    wanted = max(to_tokens(effort, max_tokens or _DEFAULT_MAX_TOKENS), support.min_tokens)
    return wanted if support.max_tokens is None else min(wanted, support.max_tokens)


def _leveled(
    request: CycleRequest, effort: EffortValue, max_tokens: int | None, support: Leveled
) -> ThinkingChoice:
    level = to_level(effort, max_tokens)
    if level is None or level == "auto":
        return ThinkingChoice(_on(request, {}))
    wanted = _RUNGS.get(level, level)
    higher: list[EffortLevel] = [rung for rung in _LADDER[_LADDER.index(wanted) :] if rung in support.levels]
    rung: EffortLevel = higher[0] if higher else "high"
    sentence = f"{request.model.id} cannot think with effort {level!r}: it is asked for effort {rung!r}"
    return ThinkingChoice(
        _on(request, {"thinkingLevel": _WORDS[rung]}), () if rung == wanted else (sentence,)
    )
