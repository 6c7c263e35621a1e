"""OpenRouter: the models of all vendors behind one address (providers 6.7)."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

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
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields
from jp_lsp.providers.chat.openrouter_messages import RETURNS_REASONING, write_messages
from jp_lsp.providers.chat.reasoning_details import read_details
from jp_lsp.providers.connection import Connection
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.http import VendorHttp
from jp_lsp.providers.model_list import LIST_LIFETIME, read_entries
from jp_lsp.providers.reasoning import EffortValue, to_level
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member

PROVIDER = "openrouter"

_NAME = re.compile(r"[A-Za-z0-9_.:/~-]+\Z")
_WORDS: Mapping[EffortLevel, str] = {
    "none": "minimal",
    "xlow": "minimal",
    "low": "low",
    "medium": "medium",
    "auto": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "xhigh",
}
_LEVELS: Mapping[str, EffortLevel] = {
    "minimal": "xlow",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}
_REASONING_PARAMETERS = ("reasoning", "reasoning_effort")


def reasoning_fields(request: CycleRequest, effort: EffortValue | None) -> ReasoningFields:
    """Say how much to think, and for "not at all" the least there is: some models refuse to be switched off."""
    if effort is None:
        return ReasoningFields({"reasoning": {"exclude": True, "effort": "minimal"}}, is_thinking=False)
    maximum = request.parameters.max_tokens or request.model.max_output_tokens
    word = _WORDS[to_level(effort, maximum) or "auto"]
    # Thoughts that shall go back to the model must come first.
    is_returned = request.parameters.other.get(RETURNS_REASONING) is True
    excludes = request.parameters.excludes_reasoning and not is_returned
    return ReasoningFields({"reasoning": {"exclude": excludes, "effort": word}}, is_thinking=True)


async def list_models(http: VendorHttp) -> Sequence[ModelDetails]:
    """List the models that answer in text, each once."""
    listed = await http.get("/api/v1/models")
    models = read_entries(as_list(as_object(listed).get("data")), _read)
    return list({model.id: model for model in reversed(models)}.values())


def _read(entry: JsonObject) -> ModelDetails | None:
    name = as_text(entry.get("id"))
    if not _NAME.match(name):
        return None
    provider = as_object(entry.get("top_provider"))
    parameters = as_list(entry.get("supported_parameters"))
    return ModelDetails(
        ModelId(PROVIDER, name),
        display_name=as_text(entry.get("name")) or None,
        context_window=as_count(provider.get("context_length"))
        or as_count(entry.get("context_length"))
        or None,
        max_output_tokens=as_count(provider.get("max_completion_tokens")) or None,
        reasoning=_reasoning(entry),
        knowledge_cutoff=_date(as_text(entry.get("knowledge_cutoff"))),
        structured_output="structured_outputs" in parameters if parameters else None,
        answers_in_text=_answers_in_text(entry),
    )


def _reasoning(entry: JsonObject) -> ReasoningSupport | None:
    if "reasoning" not in entry or entry["reasoning"] is None:
        parameters = as_list(entry.get("supported_parameters"))
        is_known = bool(parameters) and not any(name in parameters for name in _REASONING_PARAMETERS)
        return Unsupported() if is_known else None
    efforts = as_list(member(entry, "reasoning", "supported_efforts"))
    levels: set[EffortLevel] = {_LEVELS[word] for value in efforts if (word := as_text(value)) in _LEVELS}
    is_mandatory = member(entry, "reasoning", "mandatory") is True
    return Leveled(not is_mandatory, frozenset(levels)) if levels else None


def _answers_in_text(entry: JsonObject) -> bool:
    modalities = as_list(member(entry, "architecture", "output_modalities"))
    return not modalities or "text" in modalities


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


DIALECT = Dialect(
    provider=PROVIDER,
    errors=VendorErrors(PROVIDER, billing_url="https://openrouter.ai/settings/credits"),
    list_models=list_models,
    reasoning_fields=reasoning_fields,
    chat_path="/api/v1/chat/completions",
    write_messages=write_messages,
    writes_blocks=True,
    reasoning_member=None,
    flushes_late=True,
    read_details=read_details,
    strict_tools=True,
    describes_all=False,
    takes_images=True,
    asks_while_thinking=True,
    takes_top_k=True,
    # Which vendors may answer, and in what order: https://openrouter.ai/docs, provider routing.
    passes_on=("provider", "models", "transforms", "plugins"),
    list_lifetime=LIST_LIFETIME,
)


def make_provider(connection: Connection) -> ChatProvider:
    """Build the adapter; the vendor shows in its lists which program asks."""
    headers = {"x-title": _header_text(connection.settings.app_name)}
    if connection.settings.app_referrer:
        headers["http-referer"] = _header_text(connection.settings.app_referrer)
    return ChatProvider(DIALECT, connection.http(PROVIDER, headers=headers))


def _header_text(text: str) -> str:
    """Give what of a text a header can carry; names have other letters, too."""
    return "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text)
