"""JSON in and out of frames.

The quick library reads and writes well-formed data only. Editors and models are not always so kind: half of
a surrogate pair, a number beyond 64 bits, a very deep tree. Then the slower way is taken, which repairs what
can be repaired, because losing a message is worse than a replacement character in it.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NoReturn, cast

import orjson

from jp_lsp.conversation.json_value import JsonValue


def decode_json(body: bytes) -> JsonValue:
    """Read one JSON text. Objects become plain dictionaries, whatever their keys are called.

    Raises:
        ValueError: the bytes are not UTF-8 or not JSON, or nest too deeply. Never quotes the text.
    """
    try:
        return cast(JsonValue, orjson.loads(body))
    except ValueError as refusal:
        reason = str(refusal)
    try:
        return _well_formed(json.loads(body.decode("utf-8"), parse_constant=_refuse_constant))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError(reason) from None


def encode_json(value: object, default: Callable[[object], object]) -> bytes:
    """Write one JSON text, compact and in UTF-8.

    Args:
        value: plain data, or what `default` knows to make plain.
        default: turns an object of another kind into a plainer one, or raises `TypeError`.

    Raises:
        TypeError: something in it has no JSON form.
        ValueError: it nests too deeply.
    """
    try:
        return orjson.dumps(value, default=default)
    except TypeError:
        pass  # the slower way either writes it or says what is wrong with it
    try:
        plain = _to_plain(value, default)
        return json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _well_formed(value: object) -> JsonValue:
    match value:
        case str():
            return _without_lone_surrogates(value)
        case dict():
            members = cast("dict[str, object]", value)
            return {_without_lone_surrogates(key): _well_formed(member) for key, member in members.items()}
        case list():
            return [_well_formed(item) for item in cast("list[object]", value)]
        case _:
            return cast(JsonValue, value)


def _without_lone_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _to_plain(value: object, default: Callable[[object], object]) -> JsonValue:
    match value:
        case Enum():
            return _to_plain(value.value, default)
        case str():
            return _without_lone_surrogates(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            members = cast("Mapping[object, object]", value)
            return {
                _without_lone_surrogates(str(key)): _to_plain(member, default)
                for key, member in members.items()
            }
        case list() | tuple():
            return [_to_plain(item, default) for item in cast("Sequence[object]", value)]
        case _:
            return _to_plain(default(value), default)
