"""Repairs: fences that hold fences, fences that began in the middle of a line, code spans over paragraphs."""

import pytest

from jp_lsp.render.region import BlockRegion, settle

CASES = [
    ("a fence is at least five long", "```py\nx\n```", "`````py\nx\n`````"),
    ("a longer one stays", "``````\nx\n``````", "``````\nx\n``````"),
    ("tildes stay tildes", "~~~\nx\n~~~", "~~~~~\nx\n~~~~~"),
    ("a fence in a fence", "```md\n```sh\nls\n```\n```\nend", "`````md\n```sh\nls\n```\n`````\n\nend"),
    ("a missing end", "```\nx", "`````\nx\n`````"),
    ("a missing end of a comment", "<!-- x", "<!-- x\n-->"),
    ("a missing end of a script", "<SCRIPT>\nx\n\ny", "<SCRIPT>\nx\n\ny\n</SCRIPT>"),
    (
        "a fence that began in the middle of a line",
        "So: ```py\nx = 1\n```\nThen *this*.\n\n- a\n- b\n\n## End",
        "So: ```py\nx = 1\n\n\\`\\`\\`\n\nThen *this*.\n\n- a\n- b\n\n## End",
    ),
    (
        "and its end is swallowed",
        "So: ```py\nx\n```\nA.\n\n```sh\nls\n```\n\nB.\n\n```\n\nC.",
        "So: ```py\nx\n\n\\`\\`\\`\n\nA.\n\n`````sh\nls\n`````\n\nB.\n\nC.",
    ),
    (
        "also with paragraphs between",
        "So: ```py\n\nx = 1\n\n```\nend",
        "So: ```py\n\nx = 1\n\n\\`\\`\\`\n\nend",
    ),
    (
        "a fence with a language is none",
        "Use ```py.\n\n```py\nx\n```\nend",
        "Use ```py.\n\n`````py\nx\n`````\n\nend",
    ),
    (
        "nor is a later one",
        "Use ```py.\n\n```py\nx\n```\n\n```\ny\n```",
        "Use ```py.\n\n`````py\nx\n`````\n\n`````\ny\n`````",
    ),
    (
        "lists on both sides of its end are two",
        "So: ```py\n```\n- a\n```\n- b",
        "So: ```py\n\n\\`\\`\\`\n\n- a\n\n- b",
    ),
    (
        "a pair in one line is none",
        "Use ```x``` so.\n\n```\nx\n```\nend",
        "Use ```x``` so.\n\n`````\nx\n`````\n\nend",
    ),
    (
        "three backticks in a code span are none",
        "Use `` ``` ``.\n\n```\nx\n```",
        "Use `` ``` ``.\n\n`````\nx\n`````",
    ),
    ("a code span over two paragraphs", "see `a b\n\nc d` e", "see `a b\n\nc d` e"),
    ("closed in the first word", "see `a b\n\nc` d", "see `a b\n\nc\\` d"),
    ("closed alone", "see `a b\n\n` d", "see `a b\n\n\\` d"),
    ("of two backticks", "see ``a b\n\nc`` d", "see ``a b\n\nc\\`\\` d"),
    ("of another size", "see `a b\n\nc`` d", "see `a b\n\nc`` d"),
    ("too far away", "see `a b\n\n" + "c" * 64 + "` d", "see `a b\n\n" + "c" * 64 + "` d"),
    ("near enough", "see `a b\n\n" + "c" * 63 + "` d", "see `a b\n\n" + "c" * 63 + "\\` d"),
    ("a span of its own", "see `a b\n\n`c d` e", "see `a b\n\n`c d` e"),
    ("not in a quotation", "see `a b\n\n>c` d", "see `a b\n\n>c` d"),
    ("not in the block after the next", "see `a b\n\n# h\n\nc` d", "see `a b\n\n# h\n\nc` d"),
]


@pytest.mark.requirement("F25")
@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_repaired(text: str, expected: str) -> None:
    assert settle(text) == expected
    region = BlockRegion()
    pieces = [piece for character in text for piece in region.write(character)] + region.finish()
    assert "".join((piece.separator or "") + piece.body for piece in pieces) == expected


def test_an_orphan_is_found_in_a_paragraph_that_streams() -> None:
    prose = " and so on" * 20
    text = f"see `a{prose}\n\nc` d{prose} `x`{prose}\n"
    assert settle(text) == f"see `a{prose}\n\nc\\` d{prose} `x`{prose}"
    region = BlockRegion()
    pieces = [piece for character in text for piece in region.write(character)] + region.finish()
    assert "".join((piece.separator or "") + piece.body for piece in pieces) == settle(text)
