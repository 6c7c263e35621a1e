"""DeepSeek (providers 6.8)."""

from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleRequest, EffortLevel, Leveled, ModelDetails, ModelId
from jp_lsp.providers.chat.adapter import ChatProvider
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import LIST_LIFETIME, read_entries
from jp_lsp.providers.reasoning import EffortValue, to_level
from jp_lsp.providers.untrusted import as_list, as_object, as_text

PROVIDER = "deepseek"

_WORDS: Mapping[EffortLevel, str] = {
    "xlow": "low",
    "low": "low",
    "medium": "high",
    "high": "high",
    "xhigh": "high",
    "max": "max",
}
_LADDER = Leveled(can_disable=True, levels=frozenset({"low", "high", "max"}))
_LIMITS: Mapping[str, tuple[int, int]] = {
    "deepseek-flash": (1_048_576, 393_216),
    "deepseek-v4-flash": (1_048_576, 393_216),
    "deepseek-v4-pro": (1_048_576, 393_216),
}
"""Tokens of a conversation and of an answer; the vendor lists names only."""


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Switch thinking, which is on unless the request says otherwise."""
    if effort is None and request.parameters.reasoning != "off":
        return ReasoningFields({}, is_thinking=True)
    if effort is None or effort in ("none", 0):
        return ReasoningFields({"thinking": {"type": "disabled"}}, is_thinking=False)
    fields: JsonObject = {"thinking": {"type": "enabled"}}
    maximum = request.parameters.max_tokens or request.model.max_output_tokens
    word = _WORDS.get(to_level(effort, maximum) or "auto")
    return ReasoningFields({**fields, "reasoning_effort": word} if word else fields, is_thinking=True)


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List the names, with what the table knows of them."""
    listed = await http.get("/models")
    return read_entries(as_list(as_object(listed).get("data")), _read)


def _read(entry: JsonObject) -> ModelDetails | None:
    name = as_text(entry.get("id"))
    if not name:
        return None
    context, output = _LIMITS.get(name, (None, None))
    return ModelDetails(
        ModelId(PROVIDER, name),
        context_window=context,
        max_output_tokens=output,
        reasoning=_LADDER if name in _LIMITS else None,
        structured_output=False,
    )


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER, billing_url="https://platform.deepseek.com/top_up"),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    chat_path="/chat/completions",
    # A turn with tool calls is refused without its thoughts, also one that another vendor's model made.
    keeps_reasoning_slot=True,
    enforces_schemas=False,
    json_mode=True,
    samples_while_thinking=False,
    asks_for_usage=True,
    list_lifetime=LIST_LIFETIME,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter."""
    return ChatProvider(DIALECT, connection.http(PROVIDER))
