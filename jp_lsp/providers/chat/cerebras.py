"""Cerebras (providers 6.6)."""

from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import (
    CycleRequest,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields, Setting, without
from jp_lsp.providers.chat.effort_words import COMMON_WORDS
from jp_lsp.providers.chat.response_schema import closed_schema
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import LIST_LIFETIME, ask_page_beside, read_entries
from jp_lsp.providers.reasoning import EffortValue, lowest_level
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member

PROVIDER = "cerebras"

_SETTINGS: tuple[Setting, ...] = ("temperature", "top_p", "stop")
_LADDERS: Mapping[str, Leveled | None] = {
    "gpt-oss-120b": Leveled(can_disable=False, levels=frozenset({"low", "medium", "high"})),
    # This one can be told not to think, and nothing else.
    "zai-glm-4.7": Leveled(can_disable=True, levels=frozenset()),
    "gemma-4-31b": None,
}
"""Which efforts a model takes; the catalogue says only whether it reasons."""
_CONTEXT_WINDOW, _MAX_OUTPUT = 131_072, 40_960
"""Tokens of the models above, where there is no catalogue to tell them."""


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
        return "none" if effort in ("none", 0) else None
    return "medium" if isinstance(effort, int) else COMMON_WORDS.get(effort)


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List what the key may use; what each can do stands in a public catalogue, which may be missing."""
    listed = await http.get("/v1/models")
    catalogue = await _catalogue(http)

    def read(entry: JsonObject) -> ModelDetails | None:
        name = as_text(entry.get("id"))
        return _describe(name, catalogue.get(name, {})) if name else None

    return read_entries(as_list(as_object(listed).get("data")), read)


async def _catalogue(http: VendorHttp) -> Mapping[str, JsonObject]:
    public = await ask_page_beside(http, "/public/v1/models")
    entries = (as_object(value) for value in as_list(as_object(public).get("data")))
    return {as_text(entry.get("id")): entry for entry in entries}


def _describe(name: str, entry: JsonObject) -> ModelDetails:
    structured, deprecated = member(entry, "capabilities", "structured_outputs"), entry.get("deprecated")
    settings = as_object(entry.get("supported_parameters"))
    refused: list[Setting] = [setting for setting in _SETTINGS if settings.get(setting) is False]
    context, output = (_CONTEXT_WINDOW, _MAX_OUTPUT) if name in _LADDERS else (None, None)
    is_without_reasoning = member(entry, "capabilities", "reasoning") is False
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=as_text(entry.get("name")) or None,
        context_window=as_count(member(entry, "limits", "max_context_length")) or context,
        max_output_tokens=as_count(member(entry, "limits", "max_completion_tokens")) or output,
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
