"""Results are cut to a size that a model can be given, and say so."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.tools.limits import BATCH_BUDGET, limit_batch, limit_text, note_omitted

NOTE = re.compile(r"\n\[cut here: (\d+) more bytes were left out\]\Z")


def size(text: str) -> int:
    return len(text.encode())


def split(text: str) -> tuple[str, int]:
    """The head and how much is said to be missing."""
    note = NOTE.search(text)
    return (text[: note.start()], int(note[1])) if note else (text, 0)


@pytest.mark.requirement("T05", "R119")
def test_a_long_text_keeps_its_head() -> None:
    text = limit_text("0123456789" * 20, 100)
    assert text == f"{'0123456789' * 5}012345678\n[cut here: 141 more bytes were left out]"
    assert size(text) == 100


@pytest.mark.parametrize("text", ["", "short", "ä" * 50, "x" * 100])
def test_what_fits_is_not_touched(text: str) -> None:
    assert limit_text(text, 100) == text


def test_a_character_is_not_cut_in_half() -> None:
    for threshold in range(60, 70):
        head, omitted = split(limit_text("😀" * 100, threshold))
        assert set(head) == {"😀"}
        assert size(head) + omitted == 400


def test_cutting_twice_adds_up() -> None:
    text = limit_text(limit_text("x" * 1_000_000, 5000), 300)
    head, omitted = split(text)
    assert len(head) + omitted == 1_000_000


def test_what_was_lost_before_counts() -> None:
    text = limit_text(note_omitted("x" * 5000, 499_995_000), 300)
    head, omitted = split(text)
    assert len(head) + omitted == 500_000_000
    assert note_omitted("whole", 0) == "whole"


def test_the_note_says_where_more_is() -> None:
    text = limit_text("x" * 1000, 100, "/results/grün.txt")
    assert text.endswith("\n[cut here: 973 more bytes were left out; more is in /results/grün.txt]")
    assert size(text) == 99
    again = limit_text(text, 90)
    assert again.endswith("\n[cut here: 983 more bytes were left out; more is in /results/grün.txt]")
    assert size(again) == 89


def test_below_the_size_of_the_note_it_stands_alone() -> None:
    assert limit_text("x" * 100, 5) == "\n[cut here: 100 more bytes were left out]"


def test_half_characters_break_nothing() -> None:
    assert limit_text("\ud800" * 200, 100).startswith("?")


@given(text=st.text(max_size=300), threshold=st.integers(50, 400))
def test_the_limit_holds(text: str, threshold: int) -> None:
    limited = limit_text(text, threshold)
    head, omitted = split(limited)
    assert size(limited) <= threshold
    assert text.startswith(head)
    if limited != text:
        assert size(head) + omitted == size(text)


# ------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize(
    ("sizes", "budget", "expected"),
    [
        ([], 100, []),
        ([100, 200], 300, [100, 200]),
        ([100, 1000], 300, [100, 200]),
        ([1000, 100, 1000], 700, [300, 100, 300]),
        ([1000, 1000, 1000], 600, [200, 200, 200]),
        ([150, 160, 170], 450, [150, 150, 150]),
        ([100, 250, 900, 800], 1000, [100, 250, 325, 325]),
    ],
)
def test_the_largest_of_a_batch_are_cut_first(sizes: list[int], budget: int, expected: list[int]) -> None:
    texts = [chr(97 + index) * one for index, one in enumerate(sizes)]
    limited = limit_batch(texts, budget)
    # The note's number has a digit less in some, so a byte may be free.
    assert all(limit - 1 <= size(text) <= limit for text, limit in zip(limited, expected, strict=True))
    assert [text[0] for text in limited] == [text[0] for text in texts]


def test_a_batch_has_two_mebibytes() -> None:
    limited = limit_batch(["x" * 1_500_000, "y" * 1_500_000, "z"])
    assert BATCH_BUDGET - 4 <= sum(size(text) for text in limited) <= BATCH_BUDGET
    assert limited[2] == "z"


@given(texts=st.lists(st.text(max_size=200), max_size=6), budget=st.integers(400, 1200))
def test_a_batch_fits(texts: list[str], budget: int) -> None:
    limited = limit_batch(texts, budget)
    assert sum(map(size, limited)) <= budget
    assert len(limited) == len(texts)
    cut = [size(new) for old, new in zip(texts, limited, strict=True) if old != new]
    assert all(
        size(new) <= min(cut) + 3 for old, new in zip(texts, limited, strict=True) if old == new and cut
    )
