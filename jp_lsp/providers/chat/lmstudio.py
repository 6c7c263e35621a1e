"""LM Studio (providers 6.10)."""

from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import ModelDetails, ModelId
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.compatible import list_ids, reasoning_fields
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import ask_page_beside, read_entries
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text

PROVIDER = "lmstudio"
_KINDS = frozenset({"llm", "vlm", ""})
"""Embedding models are listed too, but nobody can talk to them."""


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List the models: LM Studio's own page knows their contexts, the common one only their names."""
    detailed = await ask_page_beside(http, "/api/v0/models")
    if detailed is None:
        return await list_ids(http, PROVIDER)
    return read_entries(as_list(as_object(detailed).get("data")), _read)


def _read(entry: JsonObject) -> ModelDetails | None:
    name = as_text(entry.get("id"))
    if not name or as_text(entry.get("type")) not in _KINDS:
        return None
    return ModelDetails(
        ModelId(PROVIDER, name),
        # What is loaded is the limit that counts, if the model is loaded at all.
        context_window=as_count(entry.get("loaded_context_length"))
        or as_count(entry.get("max_context_length"))
        or None,
    )


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    scans_tags=True,
    takes_images=True,
    takes_top_k=True,
    asks_for_usage=True,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter."""
    return ChatProvider(DIALECT, connection.http(PROVIDER))
