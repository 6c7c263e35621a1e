"""xAI (providers 6.9)."""

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
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields, without
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import ConnectionBrokenError, ResponseRefusedError, VendorHttp
from jp_lsp.providers.model_list import LIST_LIFETIME, read_entries
from jp_lsp.providers.reasoning import EffortValue, lowest_level, nearest_level, to_level
from jp_lsp.providers.untrusted import as_list, as_object, as_text

_log = logging.getLogger(__name__)

PROVIDER = "xai"


def _levels(*levels: EffortLevel, can_disable: bool = False) -> Leveled:
    return Leveled(can_disable, frozenset(levels))


_ALWAYS = _levels()
"""Thinks before every answer and cannot be told how much."""
_NEVER = Unsupported()

_TABLE: Mapping[str, tuple[int, ReasoningSupport]] = {
    "grok-4.5": (500_000, _levels("low", "medium", "high")),
    "grok-4.3": (1_000_000, _levels("low", "medium", "high", can_disable=True)),
    "grok-4-1-fast-reasoning": (2_000_000, _ALWAYS),
    "grok-4-1-fast-non-reasoning": (2_000_000, _NEVER),
    "grok-4-fast-reasoning": (2_000_000, _ALWAYS),
    "grok-4-fast-non-reasoning": (2_000_000, _NEVER),
    "grok-4": (256_000, _ALWAYS),
    "grok-4-0709": (256_000, _ALWAYS),
    "grok-4-latest": (256_000, _ALWAYS),
    "grok-code-fast-1": (256_000, _ALWAYS),
    "grok-3": (131_072, _NEVER),
    "grok-3-mini": (131_072, _levels("low", "high")),
}
"""Tokens of a conversation, and what is known of thinking; the vendor lists neither."""


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Send an effort to the models that are known to take it; all others refuse the member."""
    support = request.model.reasoning
    if not isinstance(support, Leveled) or not support.levels:
        return ReasoningFields({}, is_thinking=not isinstance(support, Unsupported), takes_effort=False)
    if effort is None:
        level = lowest_level(support)
    else:
        maximum = request.parameters.max_tokens or request.model.max_output_tokens
        wanted = to_level(effort, maximum) or "auto"
        level = None if wanted == "auto" else nearest_level(support, wanted)
    return ReasoningFields({"reasoning_effort": level} if level else {}, is_thinking=level != "none")


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List the models that answer in text; a stand-in for the vendor may have the common list only."""
    try:
        listed = as_object(await http.get("/v1/language-models")).get("models")
    except (ResponseRefusedError, ConnectionBrokenError) as error:
        _log.debug("xAI has no list of language models for us: %s", error)
        listed = as_object(await http.get("/v1/models")).get("data")
    return read_entries(as_list(listed), _read)


def _read(entry: JsonObject) -> ModelDetails | None:
    name = as_text(entry.get("id"))
    if not name:
        return None
    context, reasoning = _TABLE.get(name, (None, None))
    return ModelDetails(
        ModelId(PROVIDER, name),
        context_window=context,
        reasoning=reasoning,
        # Models that reason refuse stop words.
        features=frozenset({without("stop")} if isinstance(reasoning, Leveled) else ()),
    )


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER, billing_url="https://console.x.ai"),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    takes_images=True,
    asks_for_usage=True,
    list_lifetime=LIST_LIFETIME,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter."""
    return ChatProvider(DIALECT, connection.http(PROVIDER))
