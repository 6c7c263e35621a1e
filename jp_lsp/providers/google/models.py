"""What Google's models can do: the vendor's list, and a table of what the list lacks (providers 6.3.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import (
    Budgetted,
    EffortLevel,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.providers.google.contents import PROVIDER
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import read_entries
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text

_MOST_PAGES = 50
_PAGE_SIZE = "1000"
_LARGEST_BUDGET = 24_576
_CUTOFF = date(2025, 1, 1)


@dataclass(frozen=True, slots=True)
class _Known:
    reasoning: ReasoningSupport
    deprecated: bool = False


def _always(*levels: EffortLevel) -> Leveled:
    return Leveled(can_disable=False, levels=frozenset(levels))


_SMALL_BUDGET = Budgetted(can_disable=True, min_tokens=512, max_tokens=_LARGEST_BUDGET)
_TABLE: Mapping[str, _Known] = {
    "gemini-flash-latest": _Known(_always("xlow", "low", "medium", "high")),
    "gemini-pro-latest": _Known(_always("low", "medium", "high")),
    "gemini-flash-lite-latest": _Known(_SMALL_BUDGET, deprecated=True),
    "gemini-3.1-pro-preview": _Known(_always("low", "medium", "high")),
    "gemini-3.1-pro-preview-customtools": _Known(_always("low", "medium", "high")),
    "gemini-3-pro-preview": _Known(_always("low", "high"), deprecated=True),
    "gemini-3-flash-preview": _Known(_always("xlow", "low", "medium", "high")),
    "gemini-2.5-flash": _Known(Budgetted(True, 0, _LARGEST_BUDGET), deprecated=True),
    "gemini-2.5-flash-lite": _Known(_SMALL_BUDGET, deprecated=True),
    "gemini-2.5-pro": _Known(_SMALL_BUDGET, deprecated=True),
}
"""New models keep appearing: what is not here stays unknown, and everything works without it."""


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List all pages."""
    found: list[ModelDetails] = []
    query = {"pageSize": _PAGE_SIZE}
    for _ in range(_MOST_PAGES):
        page = as_object(await http.get("/models", query))
        found += read_entries(as_list(page.get("models")), read_model)
        token = as_text(page.get("nextPageToken"))
        if not token or token == query.get("pageToken"):
            break
        query = {"pageSize": _PAGE_SIZE, "pageToken": token}
    return found


def read_model(entry: JsonObject) -> ModelDetails | None:
    """Read an entry of the list; `None` for one without a name."""
    name = as_text(entry.get("name")).removeprefix("models/")
    if not name:
        return None
    known = _TABLE.get(name)
    reasoning: ReasoningSupport | None = known.reasoning if known else None
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=as_text(entry.get("displayName")) or None,
        context_window=as_count(entry.get("inputTokenLimit")) or None,
        max_output_tokens=as_count(entry.get("outputTokenLimit")) or None,
        reasoning=reasoning if entry.get("thinking") is True else Unsupported(),
        knowledge_cutoff=_CUTOFF if known else None,
        deprecated=known.deprecated if known else None,
    )
