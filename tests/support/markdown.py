"""Random markdown for properties: the pieces that decide what a line is, put together at random."""

from itertools import pairwise

from hypothesis import strategies as st

_WORDS = (
    "plain",
    "word",
    "**bold**",
    "*em",
    "em*",
    "__x__",
    "_y",
    "~~gone~~",
    "x^2^",
    "`code`",
    "``a`b``",
    "`open",
    "[link](http://a.b/c_d)",
    "[ref][id]",
    "![img](x.png 'title')",
    "[half",
    "](x)",
    "<b>",
    '<a href="x>y">',
    "</b>",
    "<!--",
    "-->",
    "<http://a.b>",
    "a < b",
    "\\*",
    "\\",
    "é",
    "語",
    "😀",
    "```",
    "~~~",
    "`" * 5,
    "|",
    "2^10",
)
_STARTS = (
    "",
    "",
    "",
    "# ",
    "## ",
    "#",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "1. ",
    "9. ",
    "10. ",
    "3) ",
    "> ",
    "| ",
    "```",
    "```py",
    "```sh title",
    "````",
    "~~~",
    "~~~~md",
    "---",
    "***",
    "===",
    "- ```py",
    "[id]: http://x.y",
    "<div>",
    "<pre>",
    "</pre>",
    "<!-- c",
    "c -->",
    "<x-y>",
    "-",
    "=",
)
_INDENTS = ("", "", "", " ", "  ", "  ", "   ", "    ", "      ", "\t", " \t")

words = st.lists(st.sampled_from(_WORDS), max_size=6).map(" ".join)
lines = st.one_of(
    st.sampled_from(("", "", "   ")),
    st.tuples(st.sampled_from(_INDENTS), st.sampled_from(_STARTS), words).map("".join),
    st.integers(20, 60).map(lambda count: "some longer prose " * count),
)
documents = st.tuples(st.lists(lines, max_size=14).map("\n".join), st.sampled_from(("", "\n", "\n\n"))).map(
    "".join
)


@st.composite
def pieces(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> list[str]:
    """Draw a text cut into pieces at random places; together they are the text."""
    text = draw(texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    borders = [0, *cuts, len(text)]
    return [text[start:end] for start, end in pairwise(borders)]
