"""How long a vendor asks us to wait: from headers first, else from the words of its message (providers 3.3).

Every function gives seconds, or `None` for "it did not say". Times in the past, zeros, negative and infinite
values count as not said. Nothing is capped here: the retry policy does that.
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+\Z")
_RATELIMIT_T = re.compile(r"(?:^|[;,\s])t=(\d+(?:\.\d+)?)")
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
# Digits are possessive: a number is taken whole, so hostile text cannot make the search backtrack.
_IN_WORDS = re.compile(
    r"(?:try again in|retry[ -]after|wait)(?: for| about)?(?::\s*|\s+)"
    r"((?:\d++(?:\.\d++)?+\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)?(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_WORD_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_MILLISECOND_TIMESTAMPS = 1e12
"""A reset time above this is in milliseconds: as seconds it would lie 30,000 years ahead."""


def wait_from_headers(headers: Mapping[str, str], now: float) -> float | None:
    """Read the hint of the headers, whose names are in lower case; `now` is in Unix seconds."""
    for read in _HEADER_READERS:
        seconds = read(headers, now)
        if seconds is not None and math.isfinite(seconds) and seconds > 0:
            return seconds
    return None


def wait_from_text(message: str, body: str = "") -> float | None:
    """Read the hint of an error message, in whole seconds rounded up, or of a `retryDelay` in the body."""
    if match := _RETRY_DELAY.search(body):
        return float(match[1]) or None
    if match := _IN_WORDS.search(message):
        seconds = sum(
            float(number)
            * _UNIT_SECONDS["ms" if unit.lower().startswith(("ms", "mil")) else unit[:1].lower() or "s"]
            for number, unit in _WORD_PART.findall(match[1])
        )
        return float(math.ceil(seconds)) or None if math.isfinite(seconds) else None
    return None


def parse_duration(text: str) -> float | None:
    """Read `6m0s`, `1h30m`, `200ms` or plain seconds.

    Less than a second is a second; milliseconds beside whole seconds do not count.
    """
    text = text.strip()
    if (plain := _number(text)) is not None:
        return plain
    if not _DURATION.match(text):
        return None
    parts = _DURATION_PART.findall(text)
    seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts if unit != "ms")
    has_any = seconds > 0 or any(float(number) > 0 for number, _ in parts)
    return max(seconds, 1.0) if has_any else None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _retry_after_ms(headers: Mapping[str, str], now: float) -> float | None:
    del now
    milliseconds = _number(headers.get("retry-after-ms"))
    return None if milliseconds is None else milliseconds / 1000


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    text = headers.get("retry-after")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):
        return None


def _ratelimit(headers: Mapping[str, str], now: float) -> float | None:
    del now
    match = _RATELIMIT_T.search(headers.get("ratelimit", ""))
    return float(match[1]) if match else None


def _reset_durations(headers: Mapping[str, str], now: float) -> float | None:
    del now
    names = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens")
    found = [seconds for name in names if (seconds := parse_duration(headers.get(name, ""))) is not None]
    return max(found, default=None)


def _minute_resets(headers: Mapping[str, str], now: float) -> float | None:
    """Cerebras: plain seconds for a minute and a day window; the day window says nothing about the next try."""
    del now
    names = ("x-ratelimit-reset-requests-minute", "x-ratelimit-reset-tokens-minute")
    found = [seconds for name in names if (seconds := _number(headers.get(name))) is not None]
    return max(found, default=None)


def _reset_time(headers: Mapping[str, str], now: float) -> float | None:
    moment = _number(headers.get("x-ratelimit-reset"))
    if moment is None:
        return None
    return (moment / 1000 if moment > _MILLISECOND_TIMESTAMPS else moment) - now


_HEADER_READERS: tuple[Callable[[Mapping[str, str], float], float | None], ...] = (
    _retry_after_ms,
    _retry_after,
    _ratelimit,
    _reset_durations,
    _minute_resets,
    _reset_time,
)
