"""Times as conversation files hold them (chapter 3.1 of the format, traps 11 to 14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.timestamp import Timestamp
from tests.support.streams import lines, message, stored_entries, stream_of, user


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-10-05 21:09:27", "2026-10-05 21:09:27.0"),
        ("2026-10-05 21:09:27.0", "2026-10-05 21:09:27.0"),
        ("2026-10-05 21:09:27.250000000", "2026-10-05 21:09:27.25"),
        ("2026-10-05 21:09:27.123456789", "2026-10-05 21:09:27.123456789"),
        ("2026-10-05T21:09:27Z", "2026-10-05 21:09:27.0"),
        ("2026-10-05T23:09:27.5+02:00", "2026-10-05 21:09:27.5"),
        ("1969-12-31 23:59:59.5", "1969-12-31 23:59:59.5"),
        ("0999-01-01 00:00:00.0", "0999-01-01 00:00:00.0"),
        ("2026-10-05t21:09:27.5z", "2026-10-05 21:09:27.5"),
        ("2026-10-05 21:09:27Z", "2026-10-05 21:09:27.0"),
        ("2026-10-05 23:09:27.5+02:00", "2026-10-05 21:09:27.5"),
        ("2026-10-05T21:09:27.1234567899Z", "2026-10-05 21:09:27.123456789"),
        ("2016-12-31T23:59:60Z", "2017-01-01 00:00:00.0"),
    ],
)
@pytest.mark.requirement("C11", "C12", "C13")
def test_both_forms_are_read_and_one_is_written(text: str, written: str) -> None:
    assert str(Timestamp.parse(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-10-05T21:09:27",
        "2026-13-05 21:09:27.0",
        "2026-10-05 21:09:27.",
        "yesterday",
        "2026-10-05 21:09:27.1234567899",
        "2026-10-05T21:09:27+0200",
        "2026-10-05T21:09:27+24:00",
        "2026-10-05T21:09:61Z",
        "9999-12-31T23:59:59-01:00",
        "\u0662026-10-05 21:09:27.0",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a timestamp|month|second|out of range"):
        Timestamp.parse(text)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (500_000_000, "1970-01-01T00:00:00.500Z"),
        (1_000, "1970-01-01T00:00:00.000001Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
    ],
)
def test_rfc_3339_has_three_six_or_nine_digits(nanoseconds: int, text: str) -> None:
    assert Timestamp(nanoseconds).rfc3339() == text
    assert Timestamp.parse(text) == Timestamp(nanoseconds)


@given(st.integers(0, 4_000_000_000 * 1_000_000_000))
@pytest.mark.requirement("C11")
def test_no_nanosecond_is_lost(nanoseconds: int) -> None:
    assert Timestamp.parse(str(Timestamp(nanoseconds))) == Timestamp(nanoseconds)


@pytest.mark.requirement("C14")
def test_nothing_is_ever_sorted_by_time() -> None:
    entries = [user("b", 9), message("a", 5), user("c", 7)]
    stream = stream_of(*entries)
    assert lines(stream.events()) == ["user: b", "message: a", "user: c"]
    assert stored_entries(stream) == entries
