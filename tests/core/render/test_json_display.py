"""JSON for people."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.json_display import compact, pretty, pretty_json_text

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_pretty_text_is_what_json_would_write(value: object) -> None:
    text = pretty(value)  # type: ignore[arg-type]
    assert json.loads(text) == value
    plain = json.dumps(value, indent=2, ensure_ascii=False)
    if not any("\x7f" <= c <= "\x9f" for c in plain):
        assert text == plain


@pytest.mark.requirement("R342")
def test_nothing_that_controls_a_terminal_is_raw() -> None:
    text = compact({"a\x1b": "\x9b31m\x7f\ud83d\r\n", "é": "語"})
    assert text == '{"a\\u001b":"\\u009b31m\\u007f\\ud83d\\r\\n","é":"語"}'
    assert json.loads(text) == {"a\x1b": "\x9b31m\x7f\ud83d\r\n", "é": "語"}


def test_numbers_and_repeated_keys_of_json_text_stay_as_they_are() -> None:
    text = '{"a":1.10,"a":1e400,"b":12345678901234567890.10,"s":"{,}\\"["}'
    assert pretty_json_text(text) == (
        '{\n  "a": 1.10,\n  "a": 1e400,\n  "b": 12345678901234567890.10,\n  "s": "{,}\\"["\n}'
    )


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "x", "[1,]", "1 2"])
def test_other_text_is_no_json(text: str) -> None:
    assert pretty_json_text(text) is None


def test_depth_is_no_trouble() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert compact(deep) == '"(nested too deep to be shown)"'  # type: ignore[arg-type]
    assert pretty_json_text("[" * 100_000 + "]" * 100_000) is None
    assert pretty_json_text("[" * 500 + "]" * 500) is not None


def test_the_work_stops_after_the_lines_that_are_wanted() -> None:
    text = "[" + ",".join(["1"] * 100_000) + "]"
    assert pretty_json_text(text, 3) == "[\n  1,\n  1,\n  1,"
