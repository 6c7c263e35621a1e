"""Models as the JSON that editors are promised; see `to_wire` for the rules."""

from typing import assert_never

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.driver.model_catalogue import ModelListing
from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    Leveled,
    ModelDetails,
    ModelId,
    ReasoningSupport,
    Unsupported,
)
from jp_lsp.render.text import clean_line
from jp_lsp.server import to_wire


def model_listing(listing: ModelListing) -> JsonObject:
    """Give the result of `jp/model/list`."""
    return {
        "models": [_model(model, listing) for model in listing.models],
        "aliases": [
            {"name": clean_line(name), "model": _id(model)} for name, model in sorted(listing.aliases.items())
        ],
        **_present(effective=None if listing.effective is None else _id(listing.effective)),
        "notices": [to_wire.notice(notice) for notice in listing.notices],
    }


def _model(model: ModelDetails, listing: ModelListing) -> JsonObject:
    cutoff, display_name = model.knowledge_cutoff, model.display_name
    aliases = sorted(name for name, meant in listing.aliases.items() if meant == model.id)
    return {
        "id": _id(model.id),
        "vendor": clean_line(model.id.provider),
        "name": clean_line(model.id.name),
        **_present(
            displayName=None if display_name is None else clean_line(display_name),
            contextWindow=model.context_window,
            maxOutputTokens=model.max_output_tokens,
            reasoning=None if model.reasoning is None else _reasoning(model.reasoning),
            structuredOutput=model.structured_output,
            knowledgeCutoff=None if cutoff is None else cutoff.isoformat(),
            deprecated=model.deprecated,
        ),
        "aliases": [clean_line(name) for name in aliases],
        "effective": model.id == listing.effective,
    }


def _reasoning(support: ReasoningSupport) -> str:
    match support:
        case Unsupported():
            return "none"
        case Budgetted():
            return "budget"
        case Leveled():
            return "levels"
        case Adaptive():
            return "adaptive"
        case _:
            assert_never(support)


def _id(model: ModelId) -> str:
    return clean_line(str(model))


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: field for name, field in fields.items() if field is not None}
