import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_text import DEEPEST, from_text, from_untrusted_text, replace_surrogates, to_text
from jp_lsp.conversation.json_value import JsonValue

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(VALUES)
@pytest.mark.requirement("R45")
def test_text_is_what_the_real_files_hold(value: JsonValue) -> None:
    assert to_text(value) == json.dumps(value, indent=2, ensure_ascii=False)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_survive(number: float) -> None:
    text = to_text(number)
    assert json.loads(text) == number
    assert "+" not in text
    assert "e-0" not in text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (-1.25e300, "-1.25e300"),
        (1e-4, "0.0001"),
        (1e-5, "0.00001"),
        (-1.5e-5, "-0.000015"),
        (1e-6, "1e-6"),
        (5e-324, "5e-324"),
    ],
)
@pytest.mark.requirement("C17")
def test_extreme_floats_have_the_form_of_the_other_writers(number: float, text: str) -> None:
    assert to_text(number) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        to_text({"deep": [number]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\ud800", '"\ufffd"'),
        ("a\udc00b", '"a\ufffdb"'),
        ("\ud83d\ude00", '"\U0001f600"'),
        ({"\ud800": "x"}, '{\n  "\ufffd": "x"\n}'),
    ],
)
@pytest.mark.requirement("C18")
def test_lone_surrogates_are_replaced(value: JsonValue, text: str) -> None:
    assert to_text(value) == text


def test_text_without_surrogates_is_given_back_as_it_is() -> None:
    text = "naïve \U0001f600"
    assert replace_surrogates(text) is text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("1e999", "out of range"),
        ("\ufeff{}", "byte order mark"),
        ("{} x", "Extra data"),
        ('"\n"', "control character"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_only_strict_json_is_read(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        from_text(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1e999", "out of range"),
        ("{", "Expecting"),
        ("[" * 115 + "]" * 115, "deep"),
        ('{"a":' * 115 + "1" + "}" * 115, "deep"),
    ],
)
def test_what_a_model_wrote_must_fit_into_a_file(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        from_untrusted_text(text)


@pytest.mark.parametrize("text", ['"x"', "1.5", "null", '{"a": [{"b": "c"}]}', "[" * 100 + "]" * 100])
def test_what_fits_is_read(text: str) -> None:
    assert to_text(from_untrusted_text(text)) == json.dumps(json.loads(text), indent=2)


def test_a_file_is_never_deeper_than_others_can_read() -> None:
    value: JsonValue = []
    for _ in range(DEEPEST + 1):
        value = [value]
    with pytest.raises(ValueError, match="nested too deep"):
        to_text(value)
    assert isinstance(value, list)
    to_text(value[0])


def test_a_value_nested_too_deep_is_refused() -> None:
    value: JsonValue = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deep"):
        to_text(value)
