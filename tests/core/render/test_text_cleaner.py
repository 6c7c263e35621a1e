"""Escape sequences, control characters and line ends, in pieces of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.text import TextCleaner, clean, clean_line, has_bidi_override

CASES = [
    ("plain", "a\tb\nc", "a\tb\nc"),
    ("colour", "\x1b[31mred\x1b[0m", "red"),
    ("cursor", "a\x1b[2J\x1b[1;1Hb", "ab"),
    ("private parameters", "\x1b[?25l!", "!"),
    ("intermediate bytes", "\x1b[1 q!", "!"),
    ("title by BEL", "\x1b]0;owned\x07text", "text"),
    ("link by ST", "\x1b]8;;http://x\x1b\\name\x1b]8;;\x1b\\", "name"),
    ("device control string", "\x1bP1$r0m\x1b\\x", "x"),
    ("application command", "\x1b_Gq=1\x1b\\x", "x"),
    ("charset", "\x1b(Bx", "x"),
    ("two characters", "\x1b7\x1b8\x1bcx", "x"),
    ("8-bit sequence", "\x9b31mred", "red"),
    ("8-bit string", "\x9d0;t\x9cx", "x"),
    ("C1", "a\x85b\x84c", "abc"),
    ("C0 and DEL", "a\x00\x07\x08\x0b\x0c\x7fb", "ab"),
    ("unfinished sequence", "a\x1b[31", "a"),
    ("sequence broken by a line end", "a\x1b[31\nb", "a\nb"),
    ("string without an end costs its line only", "\x1b]0;lost\nkept", "\nkept"),
    ("string broken by another sequence", "\x1b]0;lost\x1b[31mkept", "kept"),
    ("escape before text", "\x1bé", "é"),
    ("line ends", "a\r\nb\rc\n\rd\r", "a\nb\nc\n\nd\n"),
    ("return before a sequence", "a\r\x1b[K\nb", "a\nb"),
    ("emoji in halves", "\ud83d\ude00", "😀"),
    ("half an emoji", "a\ud83d", "a\ufffd"),
    ("half an emoji before text", "\ud83da\ude00", "\ufffda\ufffd"),
]


@pytest.mark.requirement("R342")
@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.requirement("R342")
@pytest.mark.parametrize("text", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_every_cut_gives_the_same(text: str) -> None:
    for mode in ("strip", "keep_sgr"):
        whole = clean(text, mode)
        for cut in range(len(text) + 1):
            cleaner = TextCleaner(mode)
            assert cleaner.feed(text[:cut]) + cleaner.feed(text[cut:]) + cleaner.finish() == whole
        cleaner = TextCleaner(mode)
        assert "".join(map(cleaner.feed, text)) + cleaner.finish() == whole


noisy = st.text(
    st.one_of(st.sampled_from("\x1b\x1b\x1b[]()\\;:m0123P_\x07\r\n\x9b\x9c\x9d\x00\t "), st.characters()),
    max_size=40,
)


@pytest.mark.requirement("R342")
@given(st.lists(noisy, max_size=6))
def test_no_control_sequence_comes_through_however_it_is_cut(parts: list[str]) -> None:
    cleaner = TextCleaner()
    shown = "".join(map(cleaner.feed, parts)) + cleaner.finish()
    assert shown == clean("".join(parts))
    assert not any(c < " " and c not in "\t\n" for c in shown)
    assert not any("\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in shown)
    shown.encode()


def test_colours_are_kept_for_who_can_show_them() -> None:
    text = "\x1b[1;38:5:3mx\x1b[0m\x1b[2K\x1b[?1m\x1b]0;t\x07\x1b[mz"
    assert clean(text, "keep_sgr") == "\x1b[1;38:5:3mx\x1b[0m\x1b[mz"


def test_a_colour_sequence_without_end_takes_no_memory() -> None:
    cleaner = TextCleaner("keep_sgr")
    assert cleaner.feed("\x1b[" + "1;" * 100_000) == ""
    assert len(cleaner._parameters) < 100
    assert cleaner.feed("mx") == "x"


def test_direction_overrides_are_kept_and_noted() -> None:
    for text, is_override in (("a\u200fb", False), ("x\u202ey", True), ("\u2066", True), ("plain", False)):
        assert clean(text) == text
        assert has_bidi_override(text) is is_override
    assert not has_bidi_override("שלום")


def test_a_cleaner_starts_anew_after_finish() -> None:
    cleaner = TextCleaner()
    assert cleaner.feed("a\x1b]0;t") + cleaner.finish() + cleaner.feed("b\r") + cleaner.finish() == "ab\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("fs_read", "fs_read"), (" a\n b\x1b[31m\t c ", "a b c"), ("\x1b]0;evil\x07name", "name"), ("\n\n", "")],
)
def test_names_stand_on_one_line(text: str, expected: str) -> None:
    assert clean_line(text) == expected
