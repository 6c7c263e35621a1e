"""What the user decided about tools for a conversation, as JSON for `remembered.json` (query pipeline 3.5)."""

from collections.abc import Mapping
from typing import cast

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.memory import MemoryLayer, Permission

_VERSION = 1


def from_remembered(stored: JsonObject) -> MemoryLayer:
    """Read it; what is not understood is left out, so that it is asked again."""
    layer = MemoryLayer()
    for tool, permission in _members(stored.get("permissions")).items():
        if permission in {"run", "skip"}:
            layer.permissions[tool] = cast("Permission", permission)
    for tool, answers in _members(stored.get("answers")).items():
        for question, answer in _members(answers).items():
            layer.answers[tool, question] = answer
    return layer


def to_remembered(layer: MemoryLayer) -> JsonObject:
    """Write it."""
    answers: dict[str, dict[str, JsonValue]] = {}
    for (tool, question), answer in layer.answers.items():
        answers.setdefault(tool, {})[question] = answer
    return {"version": _VERSION, "permissions": dict(layer.permissions), "answers": answers}


def _members(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
