"""Reading fields out of parsed JSON, with errors that name the field."""

from collections.abc import Mapping
from typing import cast

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp


class ShapeError(ValueError):
    """A value is not what the format says; the message names the field and what was expected."""


_MISSING = object()


def required(raw: JsonObject, name: str) -> JsonValue:
    """Give a field that must be there, null included."""
    value = raw.get(name, cast(JsonValue, _MISSING))
    if value is _MISSING:
        raise ShapeError(f"{name!r} is missing")
    return value


def text(raw: JsonObject, name: str) -> str:
    """Give a required string."""
    value = required(raw, name)
    if not isinstance(value, str):
        raise ShapeError(f"{name!r} must be a string, not {name_of(value)}")
    return value


def optional_text(raw: JsonObject, name: str) -> str | None:
    """Give a string that may be missing or null."""
    return None if raw.get(name) is None else text(raw, name)


def boolean(raw: JsonObject, name: str) -> bool:
    """Give a required boolean."""
    value = required(raw, name)
    if not isinstance(value, bool):
        raise ShapeError(f"{name!r} must be true or false, not {name_of(value)}")
    return value


def index(raw: JsonObject, name: str) -> int:
    """Give a required integer that is not negative."""
    value = required(raw, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ShapeError(f"{name!r} must be an integer from 0 on, not {name_of(value)}")
    return value


def timestamp(raw: JsonObject) -> Timestamp:
    """Give the required time of an entry."""
    value = text(raw, "timestamp")
    try:
        return Timestamp.parse(value)
    except (ValueError, OverflowError) as error:
        raise ShapeError(f"'timestamp': {error}") from error


def mapping(raw: JsonObject, name: str) -> JsonObject:
    """Give a required object."""
    value = required(raw, name)
    if not isinstance(value, Mapping):
        raise ShapeError(f"{name!r} must be an object, not {name_of(value)}")
    return value


def items(raw: JsonObject, name: str) -> list[JsonObject]:
    """Give a required array of objects."""
    value = required(raw, name)
    if not isinstance(value, list):
        raise ShapeError(f"{name!r} must be an array, not {name_of(value)}")
    found: list[JsonObject] = []
    for item in value:
        if not isinstance(item, Mapping):
            raise ShapeError(f"{name!r} must hold objects, not {name_of(item)}")
        found.append(item)
    return found


def name_of(value: JsonValue) -> str:
    """Name the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case _:
            return "an array"
