"""The heading that a request begins with becomes the title (query pipeline 7.1)."""

import pytest

from jp_lsp.render.heading import READ_SIZE, leading_heading, plain_text
from tests.support.work import count_calls


@pytest.mark.requirement("R242")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Plan", "Plan"),
        ("#\tPlan", "Plan"),
        ("### Plan of *all* things ##\n\nGo on.", "Plan of all things"),
        ("\n\n   ## Later\r\ntext", "Later"),
        ("# C#", "C#"),
        ("# Closed #", "Closed"),
        ("# \n\ntext", None),
        ("#", None),
        ("# #", None),
        ("#hashtag", None),
        ("####### seven", None),
        ("    # code", None),
        ("Plan\n====", "Plan"),
        ("Plan\nof two lines\n---\nmore", "Plan of two lines"),
        ("Plan\n\n===", None),
        ("Plan\n    ===\ntext", None),
        ("- item\n---", None),
        ("> quote\n---", None),
        ("```\n# code\n```", None),
        ("text\n# Not first", None),
        ("text\n```\n---", None),
        ("---\ntags: [a]\n---\n# Plan", "Plan"),
        ("---\ntags: [a]\n...\n\nPlan\n-\n", "Plan"),
        ('+++\ntitle = "x"\n+++\n# Plan', "Plan"),
        ("---\nnever closed\n# Plan", None),
        ("---\n---\n", None),
        ("", None),
        ("   \n\t\n", None),
        ("please do it", None),
    ],
)
def test_the_leading_heading(text: str, expected: str | None) -> None:
    assert leading_heading(text) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a **b _c_ d** e", "a b c d e"),
        ("***all***", "all"),
        ("~~gone~~ here", "gone here"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("`code *stays*` and `` a`b ``", "code *stays* and a`b"),
        ("a [link](https://x.invalid 'y') and ![image](z) and [ref][1]", "a link and image and ref"),
        ("[**bold** link](x)", "bold link"),
        ("[[1]](x)", "[[1]](x)"),
        ("<https://x.invalid/a> and <me@x.invalid>", "https://x.invalid/a and me@x.invalid"),
        ("an <em>old</em><br/> tag, and 1 < 2", "an old tag, and 1 < 2"),
        (r"\*not\* emphasis, \# no heading", "*not* emphasis, # no heading"),
        ("two  \t blanks", "two blanks"),
        ("\ue0000\ue001 is nothing special", "0 is nothing special"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("**", "**"),
    ],
)
def test_plain_text(source: str, expected: str) -> None:
    assert plain_text(source) == expected


@pytest.mark.parametrize("piece", ["`", "*a", "[", "<a", "_b ", "[a](", "\\"])
def test_a_hostile_heading_costs_no_more_than_a_long_one(piece: str) -> None:
    size = 100_000
    assert count_calls(lambda: leading_heading("# " + piece * size)) < 5_000


def test_a_heading_far_down_is_not_looked_for() -> None:
    assert leading_heading("\n" * READ_SIZE + "# Plan") is None
