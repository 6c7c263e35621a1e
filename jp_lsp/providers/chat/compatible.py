"""Any other server that speaks chat completions: vLLM, LocalAI, LiteLLM and the like (providers 6.10).

The dialect asks for as little as possible: tools without strict mode, no fields that only some servers know.
"""

from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleRequest, ModelDetails, ModelId
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields
from jp_lsp.providers.chat.effort_words import COMMON_WORDS
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import read_entries
from jp_lsp.providers.reasoning import EffortValue, to_level
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text

PROVIDER = "compatible"


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Send `reasoning_effort` when the user asked for an effort; otherwise leave it to the server."""
    if effort is None:
        return ReasoningFields({}, is_thinking=False)
    level = to_level(effort, request.parameters.max_tokens or request.model.max_output_tokens) or "medium"
    word = COMMON_WORDS.get(level)
    return ReasoningFields({"reasoning_effort": word} if word else {}, is_thinking=True)


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List the names that the server gives."""
    return await list_ids(http, PROVIDER)


async def list_ids(http: VendorHttp, provider: str) -> Sequence[ModelDetails]:
    """Read the common list; some servers add the size of the context."""
    listed = await http.get("/v1/models")

    def read(entry: JsonObject) -> ModelDetails | None:
        name = as_text(entry.get("id"))
        if not name:
            return None
        context = as_count(entry.get("max_model_len")) or as_count(entry.get("context_length"))
        return ModelDetails(ModelId(provider, name), context_window=context or None)

    return read_entries(as_list(as_object(listed).get("data")), read)


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    scans_tags=True,
    takes_images=True,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter."""
    return ChatProvider(DIALECT, connection.http(PROVIDER))
