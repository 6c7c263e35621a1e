"""Whether the answer of a structured turn fits its schema, and what a model is told that does not keep to it.

The schema that counts is the one that was asked for, whatever a vendor's adapter made of it (query pipeline
7.2, providers 8).
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    StructuredResponse,
)
from jp_lsp.conversation.json_text import from_untrusted_text
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp

MAX_CORRECTIONS = 2
"""How often a turn asks again for a value that does not fit."""

_CHECKS = "jp_lsp.tools.json_schema"
_NEVER_TEXT = ("properties", "required", "items")
"""What only the schema of an object or an array has, even if it names no type."""


class _ChecksModule(Protocol):
    """`tools.json_schema`, which takes long to load and which most turns do not need."""

    def find_schema_problem(self, schema: JsonObject) -> str | None: ...

    def find_problems(self, schema: JsonObject, value: JsonValue, whole: str) -> list[str]: ...


def find_schema_problem(schema: JsonObject) -> str | None:
    """Say why something is no JSON schema; `None` when it is one. The first time takes a moment."""
    return _checks().find_schema_problem(schema)


def find_misfits(schema: JsonObject, value: JsonValue) -> tuple[str, ...]:
    """Say what keeps a value from fitting, five sentences at most; a text where none is wanted was no JSON."""
    if isinstance(value, str) and not _takes_text(schema):
        return (_why_text(value),)
    return tuple(_checks().find_problems(schema, value, "the value"))


def correction(value: JsonValue, misfits: Sequence[str], at: Timestamp) -> tuple[ConversationEvent, ...]:
    """Give what the next request adds to the conversation: the answer that was taken back, and what is wrong."""
    answer = MessageResponse(value) if isinstance(value, str) else StructuredResponse(value)
    listed = "".join(f"\n- {misfit}" for misfit in misfits)
    complaint = (
        f"That does not fit the JSON schema of the answer:{listed}\n"
        "Answer again, with the whole JSON value and nothing else."
    )
    return ConversationEvent(at, answer), ConversationEvent(at, ChatRequest(complaint))


def _checks() -> _ChecksModule:
    return cast("_ChecksModule", import_module(_CHECKS))


def _takes_text(schema: JsonObject) -> bool:
    declared = schema.get("type")
    if declared is None:
        return not any(keyword in schema for keyword in _NEVER_TEXT)
    return declared == "string" or (isinstance(declared, Sequence) and "string" in declared)


def _why_text(text: str) -> str:
    try:
        from_untrusted_text(text)
    except ValueError as error:
        return f"the answer is not valid JSON: {error}"
    return "the value: is a text with JSON in it, not that JSON itself"
