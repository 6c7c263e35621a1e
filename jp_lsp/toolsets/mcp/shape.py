"""Looking into JSON that a server wrote: what is not of the expected shape counts as not there."""

from collections.abc import Mapping, Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue


def as_object(value: JsonValue) -> JsonObject:
    """Give the object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: JsonValue) -> Sequence[JsonValue]:
    """Give the list, or an empty one."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def as_text(value: JsonValue) -> str:
    """Give the string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_names(value: JsonValue) -> list[str]:
    """Give the strings of a list."""
    return [name for name in as_list(value) if isinstance(name, str)]
