"""Cerebras (providers 6.6)."""

import logging
from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import (
    CycleRequest,
    EffortLevel,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields, Setting, without
from jp_lsp.providers.chat.response_schema import closed_schema
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import ConnectionBrokenError, ResponseRefusedError, VendorHttp
from jp_lsp.providers.model_list import LIST_LIFETIME, read_entries
from jp_lsp.providers.reasoning import EffortValue, lowest_level
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member

_log = logging.getLogger(__name__)

PROVIDER = "cerebras"

_WORDS: Mapping[EffortLevel, str] = {
    "none": "low",
    "xlow": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
_SETTINGS: tuple[Setting, ...] = ("temperature", "top_p", "stop")
_LADDERS: Mapping[str, Leveled] = {
    "gpt-oss-120b": Leveled(can_disable=False, levels=frozenset({"low", "medium", "high"})),
    # This one can be told not to think, and nothing else.
    "zai-glm-4.7": Leveled(can_disable=True, levels=frozenset()),
}
"""Which efforts a model takes; the catalogue says only whether it reasons."""


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Have thoughts come apart from the answer, and send the effort in the three words that are known."""
    support = request.model.reasoning
    if isinstance(support, Unsupported):
        return ReasoningFields({}, is_thinking=False)
    fields: dict[str, str] = {"reasoning_format": "parsed"}
    if word := _word(request, support, effort):
        fields["reasoning_effort"] = word
    return ReasoningFields({**fields}, is_thinking=effort is not None)


def _word(request: CycleRequest, support: ReasoningSupport | None, effort: EffortValue | None) -> str | None:
    if effort is None:
        is_off = request.parameters.reasoning == "off" and support is None
        return "none" if is_off or lowest_level(support) == "none" else None
    if isinstance(support, Leveled) and not support.levels:
        return None
    return "medium" if isinstance(effort, int) else _WORDS.get(effort)


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List what the key may use; what each can do stands in a public catalogue, which may be missing."""
    listed = await http.get("/v1/models")
    catalogue = await _catalogue(http)

    def read(entry: JsonObject) -> ModelDetails | None:
        name = as_text(entry.get("id"))
        return _describe(name, catalogue.get(name, {})) if name else None

    return read_entries(as_list(as_object(listed).get("data")), read)


async def _catalogue(http: VendorHttp) -> Mapping[str, JsonObject]:
    try:
        public = await http.get("/public/v1/models")
    except (ResponseRefusedError, ConnectionBrokenError) as error:
        _log.debug("Cerebras has no public catalogue for us: %s", error)
        return {}
    entries = (as_object(value) for value in as_list(as_object(public).get("data")))
    return {as_text(entry.get("id")): entry for entry in entries}


def _describe(name: str, entry: JsonObject) -> ModelDetails:
    structured, deprecated = member(entry, "capabilities", "structured_outputs"), entry.get("deprecated")
    settings = as_object(entry.get("supported_parameters"))
    refused: list[Setting] = [setting for setting in _SETTINGS if settings.get(setting) is False]
    is_without_reasoning = member(entry, "capabilities", "reasoning") is False
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=as_text(entry.get("name")) or None,
        context_window=as_count(member(entry, "limits", "max_context_length")) or None,
        max_output_tokens=as_count(member(entry, "limits", "max_completion_tokens")) or None,
        reasoning=Unsupported() if is_without_reasoning else _LADDERS.get(name),
        deprecated=deprecated if isinstance(deprecated, bool) else None,
        structured_output=structured if isinstance(structured, bool) else None,
        features=frozenset(without(setting) for setting in refused),
    )


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER, billing_url="https://cloud.cerebras.ai/platform"),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    reasoning_member="reasoning",
    reuses_indices=True,
    max_tokens_member="max_completion_tokens",
    response_schema=closed_schema,
    list_lifetime=LIST_LIFETIME,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter."""
    return ChatProvider(DIALECT, connection.http(PROVIDER))
