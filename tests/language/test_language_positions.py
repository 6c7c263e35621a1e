"""Offsets and positions, in each of the units that clients count in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.language.positions import Encoding, Lines, Position

TEXT = "a\r\nbä𝄞c\n\rend"
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


@pytest.mark.parametrize(
    ("encoding", "character"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)], ids=ENCODINGS
)
def test_a_character_beyond_the_basic_plane(encoding: Encoding, character: int) -> None:
    lines = Lines(TEXT, encoding)
    offset = TEXT.index("c")
    assert lines.position(offset) == Position(1, character)
    assert lines.offset(1, character) == offset


@pytest.mark.parametrize(
    ("line", "character", "at"),
    [
        (0, 99, "\r\n"),
        (1, 3, "𝄞"),  # in the middle of a surrogate pair
        (3, 1, "nd"),
        (99, 0, ""),
        (2, 5, "\rend"),
    ],
)
def test_a_place_that_does_not_exist_is_the_nearest(line: int, character: int, at: str) -> None:
    offset = Lines(TEXT, "utf-16").offset(line, character)
    assert TEXT[offset:].startswith(at)
    assert at or offset == len(TEXT)


@given(st.text(alphabet="ab\r\näß𝄞\u2028\ud800"), st.sampled_from(ENCODINGS))
def test_positions_lead_back(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        if text[max(offset - 1, 0) : offset + 1] == "\r\n":
            continue  # no client can name the place within a line end
        position = lines.position(offset)
        assert lines.offset(position.line, position.character) == offset
