"""JSON text exactly as conversation files hold it (conversation format 1.8).

Two spaces of indent, raw non-ASCII characters, insertion order of keys. `json.dumps` would do but for
three things: it writes extreme floats in another form than the files' other readers do, it lets NaN
through, and it lets lone surrogates through, which no file can hold.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, cast

from jp_lsp.conversation.json_value import JsonValue

DEEPEST = 120
"""Levels of arrays and objects that a file may have; other readers of the files stop at 127."""

_ROOM_FOR_ENTRY = 10
"""Levels that an entry may need around a value of somebody else."""

_INDENT = "  "
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB]", re.ASCII)


def to_text(value: JsonValue, level: int = 0) -> str:
    """Write `value` as text whose first line starts at once and whose other lines are at `level`.

    Raises:
        ValueError: the value holds NaN or an infinity, or is nested too deep.
    """
    return _to_text(value, "\n" + _INDENT * level)


def _to_text(value: JsonValue, newline: str) -> str:
    if len(newline) > len(_INDENT) * DEEPEST + 1:
        raise ValueError("the value is nested too deep to be written as JSON")
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(replace_surrogates(value), ensure_ascii=False)
        case int():
            return int.__repr__(value)
        case float():
            return _float_text(value)
        case Mapping():
            if not value:
                return "{}"
            inner = newline + _INDENT
            members = [f"{_to_text(key, inner)}: {_to_text(member, inner)}" for key, member in value.items()]
            return "{" + inner + ("," + inner).join(members) + newline + "}"
        case _:
            if not value:
                return "[]"
            inner = newline + _INDENT
            return "[" + inner + ("," + inner).join(_to_text(item, inner) for item in value) + newline + "]"


def _float_text(value: float) -> str:
    """Write the shortest digits that read back as `value`, plain from 1e-5 up to below 1e16."""
    if not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be written as JSON")
    mantissa, _, exponent = float.__repr__(value).partition("e")
    if not exponent:
        return mantissa
    if int(exponent) == -5:
        sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{mantissa}e{int(exponent)}"


def replace_surrogates(text: str) -> str:
    """Join surrogates that form a pair and replace lone ones by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def without_surrogates(value: JsonValue) -> JsonValue:
    """Give a value without lone surrogates at any depth, such as a file can hold it.

    Raises:
        ValueError: the value cannot be written as JSON at all.
    """
    return from_text(to_text(value))


def has_surrogates(text: str, value: JsonValue) -> bool:
    """Tell whether `value`, which was read from `text`, has a string with a lone surrogate, at any depth."""
    if _SURROGATE_ESCAPE.search(text) is None:  # hardly any text has an escape that might be one
        return False
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
"""Reads what a strict JSON parser reads: no NaN, no number that overflows."""


def from_untrusted_text(text: str) -> JsonValue:
    """Read one JSON value that a model or a peer wrote, such that it can be stored in a conversation.

    Raises:
        ValueError: it is not JSON, or is nested too deep for the files.
    """
    value = from_text(text)
    level = [value]
    for _ in range(DEEPEST - _ROOM_FOR_ENTRY):
        level = [inner for outer in level for inner in _members(outer)]
        if not level:
            return value
    raise ValueError("the JSON is nested too deep")


def _members(value: JsonValue) -> Iterable[JsonValue]:
    match value:
        case str():
            return ()
        case Mapping():
            return value.values()
        case Sequence():
            return value
        case _:
            return ()


def from_text(text: str) -> JsonValue:
    """Read one JSON value.

    Raises:
        ValueError: it is not JSON, starts with a byte order mark, has text behind the value, or is
            nested too deep.
    """
    if text.startswith("\ufeff"):
        raise ValueError("the file starts with a byte order mark")
    try:
        return cast(JsonValue, DECODER.decode(text))
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
