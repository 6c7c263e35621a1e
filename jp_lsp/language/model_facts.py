"""What is known of a model, for whoever chooses one: what its vendor says of it, and nothing that it does not say."""

from collections.abc import Iterator

from jp_lsp.ports.provider import ModelDetails, ReasoningSupport, Unsupported


def model_summary(model: ModelDetails) -> str:
    """Say on one line what a list of models shows; empty where nothing is known."""
    window = "" if model.context_window is None else f"{model.context_window:,} tokens"
    return ", ".join(part for part in (model.display_name, window) if part)


def model_facts(model: ModelDetails) -> Iterator[str]:
    """Give the items of a list in Markdown; none where nothing is known."""
    if model.display_name:
        yield f"- {model.display_name}"
    if model.context_window is not None:
        yield f"- reads {model.context_window:,} tokens"
    if model.max_output_tokens is not None:
        yield f"- writes {model.max_output_tokens:,} tokens at most"
    if model.reasoning is not None:
        yield f"- {_reasoning(model.reasoning)}"
    if not model.answers_in_text:
        yield "- gives no text"
    elif model.structured_output is not None:
        manner = (
            "is held to a schema by its vendor"
            if model.structured_output
            else "is only asked to keep to a schema"
        )
        yield f"- {manner}"
    if model.knowledge_cutoff is not None:
        yield f"- knows the world until {model.knowledge_cutoff.isoformat()}"
    if model.deprecated:
        yield "- its vendor is going to switch it off"


def _reasoning(support: ReasoningSupport) -> str:
    if isinstance(support, Unsupported):
        return "does not reason"
    return "reasons if asked to" if support.can_disable else "always reasons"
