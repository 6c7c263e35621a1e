"""JSON whose shape is nobody's business but its reader's: tool options, template values (1.9 D).

Objects are merged deeply and everything else replaces. An array may say otherwise by an annotation,
`{value = [...], strategy = "append"}`; whoever reads the value in the end never sees one.
"""

from collections.abc import Mapping
from typing import cast

from jp_lsp.config.kind import has_only
from jp_lsp.conversation.json_value import JsonValue

_ARRAY_STRATEGIES = ("append", "prepend", "replace")


def merge_json(lower: JsonValue, higher: JsonValue) -> JsonValue:
    """Merge free JSON: objects deeply, arrays by their annotation, anything else replaces (1.9 D)."""
    below = _annotated(lower)[0] if is_annotated(lower) else lower
    if is_annotated(higher):
        items, strategy = _annotated(higher)
        if not isinstance(below, list) or strategy == "replace":
            return items
        return [*below, *items] if strategy == "append" else [*items, *below]
    if isinstance(below, Mapping) and isinstance(higher, Mapping):
        merged = dict(below)
        for name, member in higher.items():
            merged[name] = merge_json(merged[name], member) if name in merged else member
        return merged
    return higher


def plain_json(value: JsonValue) -> JsonValue:
    """Take all annotations of arrays away, at any depth (trap 13)."""
    if is_annotated(value):
        value = _annotated(value)[0]
    if isinstance(value, Mapping):
        return {name: plain_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain_json(item) for item in value]
    return value


def is_annotated(value: JsonValue) -> bool:
    """Tell whether a value is an array that says how to merge."""
    return (
        isinstance(value, Mapping)
        and has_only(value, "value", "strategy")
        and isinstance(value["value"], list)
        and value["strategy"] in _ARRAY_STRATEGIES
    )


def _annotated(value: JsonValue) -> tuple[list[JsonValue], str]:
    annotation = cast("Mapping[str, JsonValue]", value)
    return cast("list[JsonValue]", annotation["value"]), cast("str", annotation["strategy"])
