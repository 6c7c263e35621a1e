"""Durations as configuration files write them: `3ms`, `1h 30m`, and the two older forms (1.8).

The normal form is text in the largest units that give whole numbers.
"""

import re
from collections.abc import Mapping

from jp_lsp.config.kind import Leaf, Misfit, has_only
from jp_lsp.config.value import Value
from jp_lsp.conversation.json_value import JsonValue

_NANOSECONDS: Mapping[str, int] = {
    "w": 604_800_000_000_000,
    "d": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_SPELLINGS: Mapping[str, str] = {
    "week": "w",
    "weeks": "w",
    "day": "d",
    "days": "d",
    "hour": "h",
    "hours": "h",
    "hr": "h",
    "min": "m",
    "mins": "m",
    "minute": "m",
    "minutes": "m",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millis": "ms",
    "usec": "us",
    "µs": "us",
    "μs": "us",
    "nsec": "ns",
    "nanos": "ns",
}
_WRITTEN = ("d", "h", "m", "s", "ms", "us", "ns")
_PART = re.compile(r"\s*(\d{1,18})\s*([a-zµμ]+)")
_MAXIMUM = 2**63
_EXPECTED = "a duration such as `3ms` or `1h 30m`"


def parse(text: str) -> int | None:
    """Give nanoseconds, or `None` for what is not a duration."""
    position, total = 0, 0
    stripped = text.strip()
    while match := _PART.match(stripped, position):
        unit = _SPELLINGS.get(match[2], match[2])
        if unit not in _NANOSECONDS:
            return None
        total += int(match[1]) * _NANOSECONDS[unit]
        position = match.end()
    return total if position and position == len(stripped) and total < _MAXIMUM else None


def to_text(nanoseconds: int) -> str:
    """Write a duration; zero is `0s`."""
    parts: list[str] = []
    for unit in _WRITTEN:
        count, nanoseconds = divmod(nanoseconds, _NANOSECONDS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


def seconds(text: str) -> float:
    """Give the seconds of a duration in normal form."""
    return (parse(text) or 0) / _NANOSECONDS["s"]


def normal(text: str) -> str | None:
    """Bring a duration into normal form; `None` for what is not one."""
    nanoseconds = parse(text)
    return None if nanoseconds is None else to_text(nanoseconds)


def duration(bare_unit: str = "ms") -> Leaf:
    """Make a leaf for a duration; a bare number, as old files hold it, counts `bare_unit`."""

    def read(raw: JsonValue) -> Value:
        if isinstance(raw, str) and raw.isascii() and raw.isdecimal() and len(raw) < 19:
            raw = int(raw)
        match raw:
            case str() if (text := normal(raw)) is not None:
                return text
            case bool():
                raise Misfit(_EXPECTED, raw)
            case int() if 0 <= raw * _NANOSECONDS[bare_unit] < _MAXIMUM:
                return to_text(raw * _NANOSECONDS[bare_unit])
            case Mapping() if has_only(raw, "secs", "nanos"):
                return to_text(_whole(raw["secs"]) * _NANOSECONDS["s"] + _whole(raw["nanos"]))
            case _:
                raise Misfit(_EXPECTED, raw)

    return Leaf(_EXPECTED, read, read)


def _whole(raw: JsonValue) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw < 2**33:
        raise Misfit(_EXPECTED, raw)
    return raw
