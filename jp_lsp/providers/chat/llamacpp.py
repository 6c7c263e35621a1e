"""llama.cpp's own server (providers 6.5)."""

from collections.abc import Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleRequest, ModelDetails, ModelId
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import ask_page_beside, read_entries
from jp_lsp.providers.reasoning import EffortValue
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member

PROVIDER = "llamacpp"


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Switch thinking through the model's template, and have the server parse it out when it is on."""
    del request
    is_thinking = effort is not None and effort != "none" and effort != 0
    return ReasoningFields(
        {
            "reasoning_format": "deepseek" if is_thinking else "none",
            "chat_template_kwargs": {"enable_thinking": is_thinking},
        },
        is_thinking,
    )


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List what the server has; the size of the context that it really runs with is on another page."""
    listed = await http.get("/v1/models")
    properties = await ask_page_beside(http, "/props")
    running_context = as_count(member(properties, "default_generation_settings", "n_ctx")) or None

    def read(entry: JsonObject) -> ModelDetails | None:
        name = as_text(entry.get("id")).rpartition("/")[2]
        if not name:
            return None
        trained_context = as_count(member(entry, "meta", "n_ctx_train"))
        return ModelDetails(ModelId(PROVIDER, name), context_window=running_context or trained_context)

    return read_entries(as_list(as_object(listed).get("data")), read)


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    scans_tags=True,
    strict_tools=True,
    named_choice="required",
    takes_images=True,
    takes_top_k=True,
    prefills=True,
)


def make_provider(connection: Connection, called: str = PROVIDER) -> ChatProvider:
    """Build the adapter, whose requests are `called` so where they are written down."""
    return ChatProvider(DIALECT, connection.http(called))
