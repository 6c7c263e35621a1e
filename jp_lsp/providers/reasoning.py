"""How much a model shall think: from the user's wish and the model's abilities (providers 1.6).

Vendors take a number of tokens, a word, or only on and off. These functions translate between them; what a
vendor's request looks like is the business of its encoder.
"""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    Effort,
    EffortLevel,
    Leveled,
    ReasoningSupport,
    ReasoningWish,
    Unsupported,
)

EffortValue: TypeAlias = EffortLevel | int

_PERCENT: Mapping[EffortLevel, int] = {
    "none": 0,
    "xlow": 10,
    "low": 20,
    "medium": 50,
    "auto": 50,
    "high": 80,
    "xhigh": 90,
    "max": 100,
}
_DEFAULT_LEVELS: tuple[EffortLevel, ...] = ("medium", "high", "xhigh", "low", "max")
_ASCENDING_LEVELS: tuple[EffortLevel, ...] = ("xlow", "low", "medium", "high", "xhigh", "max")


def resolve(support: ReasoningSupport | None, wish: ReasoningWish) -> EffortValue | None:
    """Give the effort to ask for, or nothing when the model shall not (or cannot) be asked to think.

    `None` for `support` is a model of which we know nothing: it thinks only when the user says so.
    """
    if wish == "off" or isinstance(support, Unsupported):
        return None
    if isinstance(wish, Effort):
        return wish.effort
    match support:
        case None:
            return "auto" if wish == "auto" else None
        case Budgetted():
            return "medium"
        case Leveled(levels=levels):
            supported: list[EffortLevel] = [level for level in _DEFAULT_LEVELS if level in levels]
            return supported[0] if supported else "xlow"
        case Adaptive():
            return "high"
        case _:
            assert_never(support)


def is_ignored(support: ReasoningSupport | None, wish: ReasoningWish) -> bool:
    """Whether the user asked for thinking that the model is known not to have: worth a warning."""
    return isinstance(support, Unsupported) and isinstance(wish, Effort)


def to_tokens(effort: EffortValue, maximum: int) -> int:
    """Give a budget in tokens, of `maximum` output tokens."""
    return effort if isinstance(effort, int) else maximum * _PERCENT[effort] // 100


def to_level(effort: EffortValue, maximum: int | None) -> EffortLevel | None:
    """Give the word for an effort; nothing for a count of tokens when `maximum` is unknown."""
    if not isinstance(effort, int):
        return effort
    if not maximum:
        return None
    for level in ("xhigh", "high", "medium", "low"):
        if effort * 100 > maximum * _PERCENT[level]:
            return _next_higher(level)
    return "low"


def _next_higher(level: EffortLevel) -> EffortLevel:
    return _ASCENDING_LEVELS[_ASCENDING_LEVELS.index(level) + 1]


def lowest_level(support: ReasoningSupport | None) -> EffortLevel | None:
    """Give the least that a leveled model can be told to think; nothing for other models."""
    if not isinstance(support, Leveled):
        return None
    if support.can_disable:
        return "none"
    return next((level for level in _ASCENDING_LEVELS if level in support.levels), None)


def nearest_level(support: Leveled, level: EffortLevel) -> EffortLevel:
    """Give the level itself if the model has it, else the next lower one, else the lowest that it has."""
    if level == "none" and support.can_disable:
        return level
    order = _ASCENDING_LEVELS
    possible: list[EffortLevel] = [known for known in order if known in support.levels]
    wanted = order.index(level) if level in order else -1
    lower: list[EffortLevel] = [known for known in possible if order.index(known) <= wanted]
    return lower[-1] if lower else possible[0] if possible else level


def always_reasons(support: ReasoningSupport | None) -> bool:
    """Whether the model certainly thinks before every answer."""
    return support is not None and not known_to_disable(support)


def known_to_disable(support: ReasoningSupport | None) -> bool:
    """Whether the model certainly can answer without thinking."""
    match support:
        case None:
            return False
        case Unsupported():
            return True
        case _:
            return support.can_disable
