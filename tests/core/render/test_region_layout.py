"""How blocks stand in the transcript (query pipeline 5.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.region import BlockRegion, CodePiece, RawRegion, TextPiece, settle
from tests.support.markdown import documents, pieces

LAYOUT = [
    ("one empty line between blocks", "# a\nb\n\n\n\n---\nc", "# a\n\nb\n\n---\n\nc"),
    ("a close list", "- a\n- b\n  - c\n  - d\n- e", "- a\n- b\n  - c\n  - d\n- e"),
    ("a wide list", "- a\n\n- b\n\n\n- c", "- a\n\n- b\n\n- c"),
    ("close again", "- a\n\n- b\n- c", "- a\n\n- b\n- c"),
    ("two lists", "- a\n* b", "- a\n\n* b"),
    ("code in a list", "- a\n  ```\n  b\n\n   c\n  ```\n- d", "- a\n  `````\n  b\n\n   c\n  `````\n- d"),
    ("a paragraph in an item", "- a\n\n  b\n- c\n\nd", "- a\n\n  b\n- c\n\nd"),
    ("code behind a list", "- a\n\n```\nb\n```", "- a\n\n`````\nb\n`````"),
    ("blank lines of code stay", "```\n\na\n\n\nb\n\n```", "`````\n\na\n\n\nb\n\n`````"),
    ("spaces at the end stay", "a  \nb  ", "a  \nb  "),
    ("no white space", " \n\n\t\n", ""),
    ("numbers of their own", "1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
]


@pytest.mark.requirement("R83", "R91")
@pytest.mark.parametrize(
    ("text", "expected"), [case[1:] for case in LAYOUT], ids=[case[0] for case in LAYOUT]
)
def test_layout(text: str, expected: str) -> None:
    assert settle(text) == expected


@given(documents)
def test_a_region_begins_and_ends_with_what_is_visible(text: str) -> None:
    shown = settle(text)
    assert not shown.startswith("\n")
    assert not shown.endswith("\n")


@pytest.mark.requirement("R90", "R91", "R267")
def test_pieces_tell_what_they_are() -> None:
    region = BlockRegion()
    prose = "word " * 30
    text = (
        f"# h\n{prose}\n\n- a\n  ```py\n  x\n  ```\n| t |\n|---|\n\n<div>\n\n    code\n\n***\n> q\n\n[a]: b\n"
    )
    found = region.write(text) + region.finish()
    assert [
        (piece.block, piece.part) if isinstance(piece, TextPiece) else ("code", piece.part) for piece in found
    ] == [
        ("heading", "whole"),
        ("paragraph", "whole"),
        ("list_item", "whole"),
        ("code", "open"),
        ("code", "line"),
        ("code", "close"),
        ("table", "whole"),
        ("html", "whole"),
        ("code_indented", "whole"),
        ("rule", "whole"),
        ("other", "whole"),
        ("other", "whole"),
    ]
    code = [piece for piece in found if isinstance(piece, CodePiece)]
    assert {(piece.language, piece.indent) for piece in code} == {("py", 2)}
    assert [piece.separator for piece in found].count(None) == 1


@pytest.mark.requirement("R86", "R91")
def test_slices_say_which_part_of_a_paragraph_they_are() -> None:
    region = BlockRegion()
    parts = ["w" * 128, " x", " y\n", "z\n", "\n"]
    found = [piece for part in parts for piece in region.write(part)] + region.finish()
    assert [(piece.part, piece.separator, piece.body) for piece in found] == [
        ("first", None, "w" * 128),
        ("more", "", " x"),
        ("more", "", " y"),
        ("more", "\n", "z"),
        ("last", "", ""),
    ]


def raw(parts: list[str]) -> str:
    region = RawRegion()
    found = [piece for part in parts for piece in region.write(part)] + region.finish()
    return "".join((piece.separator or "") + piece.body for piece in found)


RAW = [
    (["\n", " \n  a", " b\n", "\n", "\nc\n\n"], "  a b\n\n\nc"),
    (["```py\n", "x"], "```py\nx\n```"),
    (["- a\n  ```\n  x\n"], "- a\n  ```\n  x\n  ```"),
    (["```\nx\n``", "`"], "```\nx\n```"),
    (["<!-- x"], "<!-- x\n-->"),
    (["1. a\n1. b\n"], "1. a\n1. b"),
    ([" ", "\n"], ""),
]


@pytest.mark.requirement("R89", "F25")
@pytest.mark.parametrize(("parts", "expected"), RAW)
def test_raw_text_is_passed_on_as_it_is(parts: list[str], expected: str) -> None:
    assert raw(parts) == expected


@given(pieces(st.text(st.sampled_from("ab \n`-"), max_size=40)))
def test_raw_text_does_not_depend_on_the_cut(parts: list[str]) -> None:
    assert raw(parts) == raw(["".join(parts)])


@given(pieces(documents))
def test_raw_text_differs_from_blocks_only_by_space_and_repairs(parts: list[str]) -> None:
    def essence(text: str) -> str:
        return "".join(c for c in text if c not in " \t\n`~\\0123456789")

    assert essence(raw(parts)) == essence(settle("".join(parts)))
