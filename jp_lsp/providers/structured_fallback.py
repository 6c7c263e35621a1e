"""Structured output for models whose vendor cannot enforce a schema (providers 8).

The schema is put into words at the end of the system prompt, and what the model writes is checked like any
other structured answer; a model that gets it wrong is told so by the turn.
"""

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.untrusted import compact_json


def needs_words(request: CycleRequest) -> JsonObject | None:
    """Give the schema if the model is known not to enforce one."""
    return request.thread.schema if request.model.structured_output is False else None


def schema_in_words(schema: JsonObject) -> str:
    """Give the instruction."""
    return (
        "Answer with one JSON value and nothing else: no prose, no Markdown fence."
        f" The value must fit this JSON schema:\n{compact_json(schema)}"
    )


def warning(request: CycleRequest) -> str:
    """Say that nothing but the instruction holds the model to the schema."""
    return f"{request.model.id} cannot enforce a schema: it is only asked to keep to it"
