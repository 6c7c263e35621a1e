"""Leaves: text, numbers, words, durations and colours, each with the spellings it accepts.

Every function here makes a `Leaf`. Text from an assignment is parsed by the leaf; JSON from an assignment
follows the conversion table of config-and-tools 1.6.
"""

import math
import re
from collections.abc import Callable, Mapping

from jp_lsp.config.kind import Leaf, Misfit, one_of
from jp_lsp.config.value import Value
from jp_lsp.conversation.json_value import JsonValue

U32_MAX = 2**32 - 1

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,20}\Z", re.ASCII)
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}\Z", re.ASCII)


def text(expected: str = "text", check: Callable[[str], bool] | None = None) -> Leaf:
    """Make a leaf for text, which may be empty unless `check` says no."""

    def read(raw: JsonValue) -> Value:
        if not isinstance(raw, str) or (check is not None and not check(raw)):
            raise Misfit(expected, raw)
        return raw

    return Leaf(expected, read, read)


def boolean() -> Leaf:
    """Make a leaf for true or false; as text exactly so."""

    def read(raw: JsonValue) -> Value:
        if not isinstance(raw, bool):
            raise Misfit("true or false", raw)
        return raw

    def from_text(raw: str) -> Value:
        if raw not in {"true", "false"}:
            raise Misfit("`true` or `false`", raw)
        return raw == "true"

    return Leaf("true or false", read, from_text, words=("true", "false"))


def whole(maximum: int = U32_MAX, *, minimum: int = 0) -> Leaf:
    """Make a leaf for a whole number; one out of range is an error, never cut (trap 41)."""
    expected = f"a whole number from {minimum} to {maximum}"

    def read(raw: JsonValue) -> Value:
        if isinstance(raw, bool) or not isinstance(raw, int) or not minimum <= raw <= maximum:
            raise Misfit(expected, raw)
        return raw

    def from_text(raw: str) -> Value:
        if _WHOLE.match(raw) is None:
            raise Misfit(expected, raw)
        return read(int(raw))

    return Leaf(expected, read, from_text)


def real() -> Leaf:
    """Make a leaf for a finite number; the JSON of an assignment must have a fraction (1.6)."""

    def read(raw: JsonValue) -> Value:
        if isinstance(raw, bool) or not isinstance(raw, (int, float)):
            raise Misfit("a number", raw)
        try:
            number = float(raw)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise Misfit("a finite number", raw)
        return number

    def from_text(raw: str) -> Value:
        if _DECIMAL.match(raw) is None:
            raise Misfit("a number", raw)
        return read(float(raw))

    def from_json(raw: JsonValue) -> Value:
        if isinstance(raw, str):
            return from_text(raw)
        if not isinstance(raw, float):
            raise Misfit("a number with a fraction, such as 1.0, or text", raw)
        return read(raw)

    return Leaf("a number", read, from_text, from_json)


def choice(*words: str, also: Mapping[str | bool, str] | None = None) -> Leaf:
    """Make a leaf for a word of a fixed set; `also` maps further spellings to the normal word."""
    others = also or {}
    expected = one_of(words)

    def read(raw: JsonValue) -> Value:
        if isinstance(raw, str) and raw in words:
            return raw
        # `True == 1`, so numbers must not reach the mapping.
        if isinstance(raw, (str, bool)) and raw in others:
            return others[raw]
        raise Misfit(expected, raw)

    def from_text(raw: str) -> Value:
        if raw in {"true", "false"} and raw not in words and (raw == "true") in others:
            return others[raw == "true"]
        return read(raw)

    return Leaf(expected, read, from_text, words=words)


def color() -> Leaf:
    """Make a leaf for a colour: a number of the terminal's palette or `#RRGGBB`."""
    expected = "a colour from 0 to 255 or `#RRGGBB`"

    def read(raw: JsonValue) -> Value:
        if isinstance(raw, str) and _COLOR.match(raw):
            return raw
        if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= 255:
            return raw
        raise Misfit(expected, raw)

    def from_text(raw: str) -> Value:
        return read(int(raw) if _WHOLE.match(raw) else raw)

    return Leaf(expected, read, from_text)
