"""What OpenAI's models can do: the vendor lists names only, so all of it is a table (providers 6.2.3).

New models keep appearing: what is not here stays unknown, and everything works without it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import (
    STREAMING_UNSUPPORTED,
    Budgetted,
    EffortLevel,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import read_entries
from jp_lsp.providers.openai.errors import PROVIDER
from jp_lsp.providers.untrusted import as_list, as_object, as_text

TEMPERATURE_FEATURE = "temp_requires_no_reasoning"
PRO_MODE = "reasoning_pro_mode"
PERSISTED_REASONING = "persisted_reasoning"
EXPLICIT_CACHING = "explicit_prompt_caching"

_DATE_SUFFIX = re.compile(r"-\d{4}-\d{2}-\d{2}\Z")
_FIRST_GPT_4O = "gpt-4o-2024-05-13"
"""A dated name that is no other name of the undated model: it had smaller limits."""

_NO_THINKING = Unsupported()
_BUDGETTED = Budgetted(can_disable=True, min_tokens=0)
_SAMPLES_WITHOUT_THINKING = frozenset({TEMPERATURE_FEATURE})
_NEWEST_FEATURES = frozenset({TEMPERATURE_FEATURE, PRO_MODE, PERSISTED_REASONING, EXPLICIT_CACHING})
_WHOLE_ONLY = frozenset({TEMPERATURE_FEATURE, STREAMING_UNSUPPORTED})


def _levels(*levels: EffortLevel, can_disable: bool = False) -> Leveled:
    return Leveled(can_disable, frozenset(levels))


_MINIMAL_TO_HIGH = _levels("xlow", "low", "medium", "high")
_TO_HIGH = _levels("low", "medium", "high", can_disable=True)
_TO_XHIGH = _levels("low", "medium", "high", "xhigh", can_disable=True)
_ALWAYS_TO_XHIGH = _levels("low", "medium", "high", "xhigh")
_TO_MAX = _levels("low", "medium", "high", "xhigh", "max", can_disable=True)
_PRO = _levels("medium", "high", "xhigh")


@dataclass(frozen=True, slots=True)
class _Limits:
    """Tokens of a whole conversation, and of one answer."""

    context: int
    output: int


_MILLION = _Limits(1_050_000, 128_000)
_LARGE = _Limits(400_000, 128_000)
_CHAT = _Limits(128_000, 16_384)
_GPT_4_1 = _Limits(1_047_576, 32_768)
_O_SERIES = _Limits(200_000, 100_000)


@dataclass(frozen=True, slots=True)
class _Known:
    display_name: str
    limits: _Limits
    reasoning: ReasoningSupport
    knowledge_cutoff: date
    features: frozenset[str] = _SAMPLES_WITHOUT_THINKING
    deprecated: bool = False


_FEBRUARY_2026, _DECEMBER_2025, _AUGUST_2025 = date(2026, 2, 16), date(2025, 12, 1), date(2025, 8, 31)
_SEPTEMBER_2024, _JUNE_2024, _MAY_2024 = date(2024, 9, 30), date(2024, 6, 1), date(2024, 5, 31)
_OCTOBER_2023 = date(2023, 10, 1)


def _o(name: str, cutoff: date) -> _Known:
    return _Known(name, _O_SERIES, _BUDGETTED, cutoff, frozenset(), deprecated=True)


def _old(
    name: str,
    reasoning: ReasoningSupport,
    cutoff: date,
    limits: _Limits = _LARGE,
    features: frozenset[str] = _SAMPLES_WITHOUT_THINKING,
) -> _Known:
    return _Known(name, limits, reasoning, cutoff, features, deprecated=True)


_TABLE: Mapping[str, _Known] = {
    "gpt-5.6": _Known("GPT-5.6", _MILLION, _TO_MAX, _FEBRUARY_2026, _NEWEST_FEATURES),
    "gpt-5.6-sol": _Known("GPT-5.6 Sol", _MILLION, _TO_MAX, _FEBRUARY_2026, _NEWEST_FEATURES),
    "gpt-5.6-terra": _Known("GPT-5.6 Terra", _MILLION, _TO_MAX, _FEBRUARY_2026, _NEWEST_FEATURES),
    "gpt-5.6-luna": _Known("GPT-5.6 Luna", _MILLION, _TO_MAX, _FEBRUARY_2026, _NEWEST_FEATURES),
    "gpt-5.5": _Known("GPT-5.5", _MILLION, _TO_XHIGH, _DECEMBER_2025),
    "gpt-5.5-pro": _Known("GPT-5.5 pro", _MILLION, _PRO, _DECEMBER_2025, _WHOLE_ONLY),
    "gpt-5.4": _Known("GPT-5.4", _MILLION, _TO_XHIGH, _AUGUST_2025),
    "gpt-5.4-pro": _Known("GPT-5.4 pro", _MILLION, _PRO, _AUGUST_2025),
    "gpt-5.4-mini": _Known("GPT-5.4 mini", _LARGE, _TO_XHIGH, _AUGUST_2025),
    "gpt-5.4-nano": _Known("GPT-5.4 nano", _LARGE, _TO_XHIGH, _AUGUST_2025),
    "gpt-5.3-codex": _Known("GPT-5.3 Codex", _LARGE, _ALWAYS_TO_XHIGH, _AUGUST_2025),
    "gpt-5.3-chat-latest": _old("GPT-5.3 Chat", _ALWAYS_TO_XHIGH, _AUGUST_2025, _CHAT),
    "gpt-5.2": _Known("GPT-5.2", _LARGE, _TO_XHIGH, _AUGUST_2025),
    "gpt-5.2-pro": _Known("GPT-5.2 pro", _LARGE, _PRO, _AUGUST_2025),
    "gpt-5.2-codex": _old("GPT-5.2 Codex", _ALWAYS_TO_XHIGH, _AUGUST_2025),
    "gpt-5.2-chat-latest": _old("GPT-5.2 Chat", _TO_XHIGH, _AUGUST_2025, _CHAT),
    "gpt-5.1": _Known("GPT-5.1", _LARGE, _TO_HIGH, _SEPTEMBER_2024),
    "gpt-5.1-chat-latest": _old("GPT-5.1 Chat", _TO_HIGH, _SEPTEMBER_2024, _CHAT),
    "gpt-5.1-codex": _old("GPT-5.1 Codex", _BUDGETTED, _SEPTEMBER_2024),
    "gpt-5.1-codex-max": _old("GPT-5.1-Codex-Max", _BUDGETTED, _SEPTEMBER_2024),
    "gpt-5.1-codex-mini": _old("GPT-5.1 Codex mini", _BUDGETTED, _SEPTEMBER_2024),
    "gpt-5": _old("GPT-5", _MINIMAL_TO_HIGH, _SEPTEMBER_2024),
    "gpt-5-pro": _old("GPT-5 pro", _levels("high"), _SEPTEMBER_2024),
    "gpt-5-codex": _old("GPT-5-Codex", _BUDGETTED, _SEPTEMBER_2024),
    "gpt-5-chat-latest": _old("GPT-5 Chat", _MINIMAL_TO_HIGH, _SEPTEMBER_2024, _CHAT),
    "gpt-5-mini": _old("GPT-5 mini", _BUDGETTED, _MAY_2024),
    "gpt-5-nano": _old("GPT-5 nano", _BUDGETTED, _MAY_2024, features=frozenset()),
    "gpt-4.1": _Known("GPT-4.1", _GPT_4_1, _NO_THINKING, _JUNE_2024, frozenset()),
    "gpt-4.1-mini": _Known("GPT-4.1 mini", _GPT_4_1, _NO_THINKING, _JUNE_2024, frozenset()),
    "gpt-4.1-nano": _old("GPT-4.1 nano", _NO_THINKING, _JUNE_2024, _GPT_4_1, frozenset()),
    "gpt-4o": _old("GPT-4o", _NO_THINKING, _OCTOBER_2023, _CHAT, frozenset()),
    "gpt-4o-mini": _Known("GPT-4o mini", _CHAT, _NO_THINKING, _OCTOBER_2023, frozenset()),
    "o1": _o("o1", _OCTOBER_2023),
    "o1-pro": _o("o1-pro", _OCTOBER_2023),
    "o3": _o("o3", _JUNE_2024),
    "o3-deep-research": _o("o3-deep-research", _JUNE_2024),
    "o3-mini": _o("o3-mini", _OCTOBER_2023),
    "o3-pro": _o("o3-pro", _JUNE_2024),
    "o4-mini": _o("o4-mini", _JUNE_2024),
    "o4-mini-deep-research": _o("o4-mini-deep-research", _JUNE_2024),
}


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List what the key may use, with what the table knows of each."""
    listed = await http.get("/v1/models")
    return read_entries(as_list(as_object(listed).get("data")), _read)


def _read(entry: JsonObject) -> ModelDetails | None:
    name = as_text(entry.get("id"))
    return describe(name) if name else None


def describe(name: str) -> ModelDetails:
    """Tell what is known of a model; a dated name shares the entry of its undated one."""
    model = ModelId(PROVIDER, name)
    known = None if name == _FIRST_GPT_4O else _TABLE.get(_DATE_SUFFIX.sub("", name))
    if known is None:
        return ModelDetails(model)
    return ModelDetails(
        model,
        display_name=known.display_name,
        context_window=known.limits.context,
        max_output_tokens=known.limits.output,
        reasoning=known.reasoning,
        knowledge_cutoff=known.knowledge_cutoff,
        deprecated=known.deprecated,
        features=known.features,
    )
