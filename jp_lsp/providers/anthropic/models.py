"""What Anthropic's models can do: the vendor's list, and a table of what the list lacks (providers 6.1.8)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from urllib.parse import quote

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import Adaptive, Budgetted, ModelDetails, ModelId, ReasoningSupport, Unsupported
from jp_lsp.providers.anthropic.messages import PROVIDER
from jp_lsp.providers.anthropic.thinking import INTERLEAVED_FEATURE
from jp_lsp.providers.http import ResponseRefusedError, VendorHttp
from jp_lsp.providers.model_list import read_entries
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member

_SMALLEST_BUDGET = 1024
_MOST_PAGES = 50
_DATE_SUFFIX = re.compile(r"-\d{8}\Z")


@dataclass(frozen=True, slots=True)
class _Known:
    knowledge_cutoff: date
    prefill: bool = False
    deprecated: bool = False
    always_thinks: bool = False


_TABLE: Mapping[str, _Known] = {
    "claude-fable-5": _Known(date(2026, 1, 1), always_thinks=True),
    "claude-opus-5": _Known(date(2026, 5, 1)),
    "claude-sonnet-5": _Known(date(2026, 1, 1)),
    "claude-opus-4-8": _Known(date(2026, 1, 1)),
    "claude-opus-4-7": _Known(date(2026, 1, 1)),
    "claude-sonnet-4-6": _Known(date(2025, 8, 1)),
    "claude-opus-4-6": _Known(date(2025, 8, 1)),
    "claude-opus-4-5": _Known(date(2025, 8, 1), prefill=True),
    "claude-haiku-4-5": _Known(date(2025, 7, 1), prefill=True),
    "claude-sonnet-4-5": _Known(date(2025, 7, 1), prefill=True),
    "claude-opus-4-1": _Known(date(2025, 3, 1), prefill=True, deprecated=True),
}
"""New models keep appearing: what is not here stays unknown, and everything works without it."""


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List all pages."""
    found: list[ModelDetails] = []
    query: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        page = as_object(await http.get("/v1/models", query))
        found += read_entries(as_list(page.get("data")), read_model)
        last = as_text(page.get("last_id"))
        if page.get("has_more") is not True or not last or query.get("after_id") == last:
            break
        query = {"after_id": last}
    return found


async def get_model(http: VendorHttp, name: str) -> ModelDetails:
    """Ask for one model; where the vendor's list has it not, what is known of its name remains.

    That is an answer as well: a stand-in for the vendor may serve models without describing them, and asking
    again before every request would not change it.
    """
    try:
        answer = await http.get(f"/v1/models/{quote(name, safe='')}")
    except ResponseRefusedError as error:
        if error.response.status != HTTPStatus.NOT_FOUND:
            raise
        answer = {"id": name}
    return read_model(as_object(answer)) or ModelDetails(ModelId(PROVIDER, name))


def read_model(entry: JsonObject) -> ModelDetails | None:
    """Read an entry of the list; `None` for one without an id."""
    name = as_text(entry.get("id"))
    if not name:
        return None
    known = _TABLE.get(_DATE_SUFFIX.sub("", name))
    capabilities = as_object(entry.get("capabilities"))
    reasoning = _reasoning(capabilities, can_disable=not (known and known.always_thinks))
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=as_text(entry.get("display_name")) or None,
        context_window=as_count(entry.get("max_input_tokens")) or None,
        max_output_tokens=as_count(entry.get("max_tokens")) or None,
        reasoning=reasoning,
        knowledge_cutoff=known.knowledge_cutoff if known else None,
        deprecated=known.deprecated if known else None,
        structured_output=_is_supported(capabilities, "structured_outputs"),
        prefill=known.prefill if known else None,
        features=_features(capabilities, reasoning),
    )


def _is_supported(capabilities: JsonObject, *path: str) -> bool | None:
    value: JsonValue = member(capabilities, *path, "supported")
    return value if isinstance(value, bool) else None


def _reasoning(capabilities: JsonObject, *, can_disable: bool) -> ReasoningSupport | None:
    if _is_supported(capabilities, "thinking") is False:
        return Unsupported()
    if _is_supported(capabilities, "thinking", "types", "adaptive"):
        return Adaptive(
            can_disable,
            xhigh=bool(_is_supported(capabilities, "effort", "xhigh")),
            max=bool(_is_supported(capabilities, "effort", "max")),
        )
    if _is_supported(capabilities, "thinking", "types", "enabled"):
        return Budgetted(can_disable, _SMALLEST_BUDGET)
    return None


def _features(capabilities: JsonObject, reasoning: ReasoningSupport | None) -> frozenset[str]:
    features = {
        INTERLEAVED_FEATURE: _is_supported(capabilities, "thinking"),
        "context-editing": _is_supported(capabilities, "context_management"),
        "adaptive-thinking": isinstance(reasoning, Adaptive),
    }
    return frozenset(name for name, is_there in features.items() if is_there)
