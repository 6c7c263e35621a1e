import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.alphanumeric import is_alphanumeric
from jp_lsp.conversation.directory_name import belongs_to, directory_name, parse_directory_name
from jp_lsp.conversation.ids import (
    ConversationId,
    base36,
    conversation_id,
    conversation_id_at,
    created_at,
    deciseconds_of,
    parse_conversation_id,
)
from jp_lsp.conversation.timestamp import Timestamp

ID = ConversationId("jp-c17912345678")


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("jp-c17912345678", ID),
        ("jp-c17912345678-ab12c", ID),
        ("jp-c0", "jp-c0"),
        ("jp-c+5", "jp-c5"),
        ("jp-c007", "jp-c7"),
        ("jp-c92233720368", "jp-c92233720368"),
    ],
)
def test_both_forms_are_read(text: str, id: str) -> None:
    assert parse_conversation_id(text) == id


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("17912345678", "must begin with 'jp-'"),
        ("jp", "must begin with 'jp-'"),
        ("jp-", "the letter behind 'jp-' is missing"),
        ("jp-x17912345678", "only 'c' names a conversation, not 'x'"),
        ("jp-c", "the digits are missing"),
        ("jp-c-ab12c", "the digits are missing"),
        ("jp-cfoo", "not a 64-bit number"),
        ("jp-c١٢", "not a 64-bit number"),
        ("jp-c9223372036854775808", "not a 64-bit number"),
        ("jp-c" + "9" * 5000, "not a 64-bit number"),
        ("jp-c1-", "must be of 0-9 and a-z"),
        ("jp-c1-AB", "must be of 0-9 and a-z"),
        ("jp-c92233720369", "is not a time"),
    ],
)
def test_each_mistake_is_told_apart(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_conversation_id(text)


def test_an_id_is_its_time() -> None:
    moment = Timestamp.parse("2026-10-05 21:09:27.8")
    assert conversation_id_at(Timestamp(moment.nanoseconds + 99_999_999)) == ID
    assert created_at(ID) == moment
    assert deciseconds_of(ID) == 17912345678
    with pytest.raises(ValueError, match="-1 is not a time"):
        conversation_id(-1)


@pytest.mark.parametrize(("number", "digits"), [(1791234567890, "qta6q"), (35, "0000z"), (0, "00000")])
def test_base_36(number: int, digits: str) -> None:
    assert base36(number, 5) == digits


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (None, "17912345678"),
        ("", "17912345678"),
        (" \t ", "17912345678"),
        ("---", "17912345678"),
        ("Fix the login bug", "17912345678-fix-the-login-bug"),
        ("  Réécrire l’API (v2)!  ", "17912345678-réécrire-l-api--v2"),
        ("C++ & Rust: who wins??", "17912345678-c-----rust--who-wins"),
        (
            "A very long title that keeps going until it passes the sixty byte limit for sure",
            "17912345678-a-very-long-title-that-keeps-going-until-it-passes-the",
        ),
        ("x" * 65, "17912345678"),
        ("漢" * 23, "17912345678"),
        ("漢" * 20, "17912345678-" + "漢" * 20),
        ("This title has 28 bytes only" + " " * 40, "17912345678-this-title-has-28-bytes"),
        ("é" * 20 + " " + "é" * 20, "17912345678-" + "é" * 20),  # 81 bytes, 41 characters
        ("-leading", "17912345678--leading"),
        ("हिन्दी", "17912345678-हिन-दी"),  # vowel signs are alphabetic, the virama is not
        ("Ⓐ½Ⅻ", "17912345678-ⓐ½ⅻ"),
        ("\x1cx", "17912345678--x"),  # no white space to Unicode, though `str.strip` takes it
        ("\u3000x\x85", "17912345678-x"),
        ("a/b\\c\0..", "17912345678-a-b-c"),
        ("ΟΔΟΣ", "17912345678-οδος"),
    ],
)
@pytest.mark.requirement("C2", "C3", "C23")
def test_the_folder_name_follows_from_id_and_title(title: str | None, name: str) -> None:
    assert directory_name(ID, title) == name
    assert parse_directory_name(name) == ID
    assert belongs_to(name, ID)


@given(st.text())
def test_any_title_makes_a_safe_name_that_leads_back(title: str) -> None:
    name = directory_name(ID, title)
    assert parse_directory_name(name) == ID
    assert not set(name) & set("/\\\0")
    assert len(name.encode()) <= 255


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("17912345678", ID),
        ("17912345678-", ID),
        ("17912345678-anything-at-all", ID),
        ("017912345678-x", None),
        ("+17912345678", None),
        ("notes", None),
        ("17x-foo", None),
        ("-5", None),
        ("", None),
        ("99999999999999999999999-x", None),
    ],
)
@pytest.mark.requirement("C8")
def test_only_names_that_we_would_find_again_are_conversations(name: str, id: ConversationId | None) -> None:
    assert parse_directory_name(name) == id


@pytest.mark.requirement("C5")
def test_a_shorter_number_is_not_a_prefix() -> None:
    assert not belongs_to("17912345678-x", ConversationId("jp-c1791234567"))
    assert not belongs_to("17912345678", ConversationId("jp-c1791234567"))


@pytest.mark.requirement("C4")
def test_alphanumeric_is_unicode_s_property() -> None:
    """The counts are those of Unicode 14: Alphabetic with Nd and No, and what of it is no letter to Python."""
    every = [chr(code) for code in range(0x110000)]
    found = [character for character in every if is_alphanumeric(character)]
    beyond = [character for character in found if not character.isalnum()]
    if unicodedata.unidata_version == "14.0.0":
        assert len(found) == 134_951
    assert len(beyond) == 1_404
    assert {unicodedata.category(character) for character in beyond} == {"Mn", "Mc", "So"}
    assert [character for character in every if character.isalnum() and not is_alphanumeric(character)] == []
