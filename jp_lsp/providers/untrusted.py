"""Reading JSON that somebody else wrote, without trusting its shape.

Vendors, gateways and broken servers send whatever they like. These functions answer "what is there" with a
harmless empty value instead of an exception, so that decoders stay free of type tests.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from jp_lsp.conversation.json_value import JsonObject, JsonValue

_EMPTY_OBJECT: JsonObject = {}
_EMPTY_LIST: Sequence[JsonValue] = ()
_MOST_LEVELS = 100


def parse_json(text: str | bytes) -> JsonValue:
    """Read a JSON text.

    The fast parser refuses a few things that vendors do send: half a surrogate pair (the other half is in
    the next delta) and numbers beyond a float. Those texts are read again by the lenient one.

    Raises:
        ValueError: this is not JSON, or it is nested too deeply to read.
    """
    try:
        return cast(JsonValue, orjson.loads(text))
    except orjson.JSONDecodeError:
        pass
    try:
        return cast(JsonValue, json.loads(text))
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def encode_json(value: JsonValue) -> bytes:
    """Write compact UTF-8 JSON, whatever the value holds.

    Half a surrogate pair, which UTF-8 cannot hold, becomes a question mark. What is nested more deeply than
    anybody reads is replaced: one such value in a conversation must not make every later request fail.
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, or deep nesting
        pass
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        text = json.dumps(_without_depths(value, _MOST_LEVELS), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def encode_body(body: JsonObject) -> bytes:
    """Write a request as `encode_json` would, item by item of its lists.

    One call of the encoder lets no other thread run until it is done, and a long conversation takes it long.
    """
    members = (encode_json(name) + b":" + _encode_items(value) for name, value in body.items())
    return b"{" + b",".join(members) + b"}"


def _encode_items(value: JsonValue) -> bytes:
    if not isinstance(value, list):
        return encode_json(value)
    return b"[" + b",".join(encode_json(item) for item in value) + b"]"


def _without_depths(value: JsonValue, levels: int) -> JsonValue:
    if levels == 0 and isinstance(value, dict | list):
        return "(nested too deeply)"
    if isinstance(value, dict):
        return {name: _without_depths(item, levels - 1) for name, item in as_object(value).items()}
    return [_without_depths(item, levels - 1) for item in value] if isinstance(value, list) else value


def compact_json(value: JsonValue) -> str:
    """Write compact JSON as text."""
    return encode_json(value).decode("utf-8")


def as_object(value: JsonValue) -> JsonObject:
    """Give the object, or an empty one."""
    return cast(JsonObject, value) if isinstance(value, dict) else _EMPTY_OBJECT


def as_list(value: JsonValue) -> Sequence[JsonValue]:
    """Give the list, or an empty one."""
    return cast(Sequence[JsonValue], value) if isinstance(value, list) else _EMPTY_LIST


def as_text(value: JsonValue) -> str:
    """Give the string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: JsonValue) -> int | None:
    """Give a whole number that is not negative, or nothing; vendors write some counts as 12.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
        return None
    return int(value) if value >= 0 else None


def member(value: JsonValue, *path: str) -> JsonValue:
    """Walk down nested objects; nothing where the path ends early."""
    for name in path:
        value = as_object(value).get(name)
    return value


def pick(source: Mapping[str, JsonValue], names: Sequence[str]) -> dict[str, JsonValue]:
    """Copy the members that exist, in the order of the names."""
    return {name: source[name] for name in names if name in source}
