"""How long a vendor asks us to wait, from its headers or its words."""

import pytest

from jp_lsp.providers.wait_hints import parse_duration, wait_from_headers, wait_from_text

NOW = 1_800_000_000.0


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "0", "retry-after": "9"}, 9),
        ({"retry-after": "12"}, 12),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "1000000000"}, 1e9),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30),
        ({"retry-after": "Fri, 15 Jan 2027 07:59:00 GMT"}, None),
        ({"retry-after": "Fri, 99 Jan 2027 07:59:00 GMT"}, None),
        ({"ratelimit": '"default";r=0;t=30'}, 30),
        ({"ratelimit": "limit=10, remaining=0, t=7"}, 7),
        ({"ratelimit": "burst=30"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-tokens": "200ms"}, 1),
        ({"x-ratelimit-reset-requests-minute": "20.5", "x-ratelimit-reset-requests-day": "4000"}, 20.5),
        ({"x-ratelimit-reset": str(int(NOW) + 40)}, 40),
        ({"x-ratelimit-reset": str((int(NOW) + 40) * 1000)}, 40),
        ({"x-ratelimit-reset": str(int(NOW) - 40)}, None),
    ],
)
def test_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_from_headers(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360),
        ("1h30m", 5400),
        ("200ms", 1),
        ("0.5s", 1),
        ("1s200ms", 1),
        ("7.66s", 7.66),
        ("12", 12),
        ("0s", None),
        ("", None),
        ("6 minutes", None),
        ("ms", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    ("message", "body", "seconds"),
    [
        ("Please retry after 5 seconds", "", 5),
        ("Rate limited. Wait 20.", "", 20),
        ("Please try again in 1.2s.", "", 2),
        ("Please try again in 1m2s, or upgrade", "", 62),
        ("Try again in 20 minutes", "", 1200),
        ("try again in 350ms", "", 1),
        ("retry-after: 7", "", 7),
        ("Retry-After:7", "", 7),
        ("try again in 0s", "", None),
        ("try again later", "", None),
        ("I waited 5 days", "", None),
        ("", '{"details":[{"retryDelay": "13.5s"}]}', 13.5),
        ("try again in 3s", '{"retryDelay":"9s"}', 9),
        ("wait " + "9" * 2000, "", None),
    ],
)
def test_texts(message: str, body: str, seconds: float | None) -> None:
    assert wait_from_text(message, body) == seconds


def test_hostile_texts_cost_no_time() -> None:
    # Nested repetition over digits would take longer than the universe here.
    assert wait_from_text("wait " + "1" * 1900 + "x") is None
    assert wait_from_text("wait " + "1 " * 900 + "x") is not None
