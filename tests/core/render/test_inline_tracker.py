"""Where a paragraph may be cut: never inside of anything that belongs together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.render.inline import InlineTracker

# `|` marks how far a paragraph may be shown when the text up to its end has arrived.
CASES = [
    "plain text|",
    "|`",
    "|`a",
    "a |`b",
    "`a`b|",
    "a |``b`c",
    "a ``b`c`` |`",
    "a ``b`c``d|",
    "a |*b",
    "a *b* c|",
    "a * b|",
    "2 * 3 * 4|",
    "a |**b* c",
    "a **b** c|",
    "a |***b** c",
    "a ***b** c* d|",
    "a |*b **c** d",
    "a |*b**c",
    "a *b**c* d|",
    "a *b _c* d|",
    "a_b_c|",
    "a |_b",
    "a |_b_c",
    "a _b_ c|",
    "a ~~b~~ c|",
    "a |~~b~ c",
    "x^2^ y|",
    "a |[b",
    "a |[b]",
    "a [b] c|",
    "a |[b](c",
    "a [b](c) d|",
    "a |[b](c(d)",
    "a [b](c(d)) e|",
    'a |[b](c "d)',
    'a [b](c "d)") e|',
    "a [b](<c)d> 'e') f|",
    "a [b](c\\)d) e|",
    "a |[b][c",
    "a [b][c] d|",
    "a |![b](c",
    "a ![b](c) d|",
    "a [![b](c)](d) e|",
    "a |[![b](c)](d",
    "a [b [c](d) e](f|",
    "a [^1] b|",
    "a! b|",
    "a |!",
    "a |<b",
    "a <b> c|",
    'a |<b c="d>',
    'a <b c="d>"> e|',
    "a </b> c|",
    "a < b|",
    "a <3 b|",
    "a |<!-- b > c --",
    "a <!-- b > c --> d|",
    "a <!--> d|",
    "a |<!",
    "a |<![CDATA[ > ]",
    "a <![CDATA[ > ]]> b|",
    "a <!DOCTYPE x> b|",
    "a |<? b >",
    "a <? b ?> c|",
    "a <http://x.y/z_w*> b|",
    "a <x@y.z> b|",
    "a <http://x.y/'z'> b|",
    "a <b don't c|",
    "a <b <c> d|",
    "a \\*b|",
    "a |\\",
    "a \\`b|",
    "a\\b|",
    "*a [b](c) d* e|",
    # Here it cannot know, and gives up until the paragraph ends.
    "a |<b `c> d` e",
    "a |[b](c *d) e* f",
    "a |*b [c* d] e* f",
    "a |[b *c] d* e",
    "a |[b [c] d](e_f_g) h",
    "a |" + "*b " * 65 + "c* " * 65 + "d",
    "a |" + "[b " * 65 + "c] " * 65 + "d",
    "a |[b](" + "c" * 5000 + ") d",
    'a |<b c="' + "d" * 5000 + '"> e',
]


@pytest.mark.requirement("R86")
@pytest.mark.parametrize("case", CASES)
def test_safe(case: str) -> None:
    before, _, behind = case.partition("|")
    tracker = InlineTracker()
    for character in before + behind:
        tracker.feed(character)
    assert tracker.safe == len(before)


_TEXTS = st.text(st.sampled_from("ab `*_~^[]()<>!\\/\"'=-?\n"), max_size=60)


@pytest.mark.requirement("R86", "R87")
@given(_TEXTS)
def test_it_does_not_matter_how_text_is_cut_and_it_never_takes_back(text: str) -> None:
    whole, single = InlineTracker(), InlineTracker()
    whole.feed(text)
    safe = 0
    for position, character in enumerate(text, 1):
        single.feed(character)
        assert safe <= single.safe <= position
        safe = single.safe
    assert whole.safe == single.safe
    assert whole.open_run == single.open_run


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("a", 0),
        ("a `b\n", 1),
        ("a ``b`c\n", 2),
        ("a `b`\n", 0),
        ("a `b`", 0),
        ("a ``", 2),
        ("a `b``", 1),
        ("```py\n", 3),
    ],
)
def test_the_code_span_that_is_open(text: str, size: int) -> None:
    tracker = InlineTracker()
    tracker.feed(text)
    assert tracker.open_run == size
