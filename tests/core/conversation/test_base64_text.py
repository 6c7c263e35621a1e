import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.base64_text import decode, decode_values, encode, encode_values
from jp_lsp.conversation.json_value import JsonValue


@pytest.mark.parametrize(
    ("stored", "meaning"),
    [
        ("c3JjL21haW4ucnM=", "src/main.rs"),
        ("", ""),
        ("file", "~)^"),
        ("FAIL", "\x14\x02\x0b"),
        ("test", "test"),  # canonical, but no UTF-8
        ("abcd", "abcd"),
        ("true", "true"),
        ("1234", "1234"),
        ("plain text", "plain text"),
        ("c3Jj\n", "c3Jj\n"),  # something behind it
        ("c3JjLw", "c3JjLw"),  # padding missing
        ("YWI_", "YWI_"),  # URL-safe alphabet
        ("YWJ=", "YWJ="),  # trailing bits that are not zero
        ("é===", "é==="),
    ],
)
@pytest.mark.requirement("C24", "C25", "C26")
def test_only_canonical_base64_of_utf8_is_decoded(stored: str, meaning: str) -> None:
    assert decode(stored) == meaning


@given(st.text())
def test_what_is_written_is_read(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.text(alphabet=st.characters()))
def test_anything_can_be_encoded(text: str) -> None:
    encode(text)


def test_a_lone_surrogate_is_replaced() -> None:
    assert decode(encode("a\ud800")) == "a\ufffd"


@pytest.mark.requirement("C27")
def test_values_at_any_depth_and_never_keys() -> None:
    value: JsonValue = {"c3Jj": ["c3Jj", {"n": 1, "b": True, "z": None, "s": "c3Jj"}]}
    assert decode_values(value) == {"c3Jj": ["src", {"n": 1, "b": True, "z": None, "s": "src"}]}
    assert encode_values(decode_values(value)) == value
