"""Where things stand in a YAML text, whole or broken; `|` is the cursor."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.config import yaml_core
from jp_lsp.config.value import Path
from jp_lsp.language.document import MAX_SIZE, KeyPlace
from jp_lsp.language.yaml_document import read_yaml
from tests.language.broken_texts import check_everything
from tests.language.documents import at_cursor

SNIPPETS = (
    "assistant:\n",
    "  name: x\n",
    "  model: {id: ",
    "}\n",
    "extends:\n",
    "- a\n",
    "  - ",
    "- - b: c\n",
    "[a, ",
    "]\n",
    "'",
    '"',
    "|\n",
    ">-\n",
    "# |\n",
    "---\n",
    "? ",
    ": ",
    "&a ",
    "*a",
    "!!str ",
    "<<: *a\n",
    "\t",
    "\r\n",
    "\n",
    "𝄞ä",
    "    ",
)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb:\n  c: 'x' # comment\n",
        "a:\n- 1\n- [2, 3]\n- {x: 1, y: q}\nb: true\n",
        "a: |\n  no: header\n  x\nb: 2\n",
        "a: >-\n  x\n\n  y\n\nb:\n  - c: 1\n    d: 2\n  - e: 3\n",
        "'quoted key': 0.5\n\"o\\nk\": null\n",
        'a: "x\n  y"\nb: [1,\n  2,\n]\n',
        "a: x # c\nb: x#y\nu: http://a.b/c\n",
        "---\na: &x\n  b: 1\nc: !!str 3\n",
        "a: plain\n  more words\nb: 1\n",
        "a:\n  -\n    b: 1\n  - - 1\n    - 2\n",
        "a: {c: [d], e: 'f,g', h: {}}\n",
        "a: yes\nb: on\nc: ~\nd: .5\ne: 0x1F\nf: 1979-05-27\n",
        "\ufeffa: 1\r\nb:\r\n  c: 2\r\n",
        "a: [x\n  y z, {b: 0\n    0}]\nc: 1\n",
        "? a\n: b: x\n",
        "? a\n:\n  b: x\nc:\n  d: b\n",
        'a:\n  ? b\n  : x\n  ? "c\\n"\n  : |\n    hi\nd: {}\n',
        "? a\n:\n- x\n- y\nb: 1\n",
        "? a\n# comment\n: b\n? |\n  two\n  lines\n: - c\n  - d\n",
        "x:\n- ? a\n  : b\n  c: d\n- e\n",
        "a:\n  b: |2\n      two\n    zero\n  c: x\n",
        "a:\n  - |2\n      two\n    zero\n  - - >-1\n     x\n     y\n",
        "a: |2\n    deep\n  b: no key\nc: 1\n",
        "a:\n  b: |1+\n   # no comment\n\n   x\n\n  c: !!str |2\n      y\n",
        "a:\n  ? b\n  : |1\n     x\n",
    ],
)
def test_a_valid_text_has_the_values_of_the_library(text: str) -> None:
    assert read_yaml(text).values() == yaml_core.load(text.removeprefix("\ufeff"))


def test_what_an_alias_brings_stands_elsewhere() -> None:
    text = "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n"
    assert read_yaml(text).values() == {"a": {"b": 1}, "d": {"e": 2}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a:\nb: 2\n", {"b": 2}),
        ("a: [1,\nb: 2\n", {"a": [1], "b": 2}),
        ("a: {x: 1\nb: 2\n", {"a": {"x": 1}, "b": 2}),
        ('a: "open\nb: 2\n', {"b": 2}),
        ("a: 1\n   c: 3\nb: 2\n", {"a": {"c": 3}, "b": 2}),
        ("t:\n  half\n  a: 1\nb: 2\n", {"t": {"a": 1}, "b": 2}),
        ("t:\n    a: 1\n  c: 3\nb: 2\n", {"t": {"a": 1}, "b": 2}),
        (": : :\n???\nb: 2\n", {"b": 2}),
        ("a: x: y\nb: 2\n", {"a": "x: y", "b": 2}),
        ("a: 1\na: 2\n", {"a": 1}),
        ("a: {x: y\n  z: 1}\nb: 2\n", {"a": {"x": "y", "z": 1}, "b": 2}),
        ("? half\nb: 2\n", {"b": 2}),
        ("?\n: x\n? [c]\n: d\nb: 2\n", {"": "x", "[c]": "d", "b": 2}),
    ],
)
def test_a_broken_line_costs_no_more_than_its_block(text: str, values: Any) -> None:
    assert read_yaml(text).values() == values


@pytest.mark.parametrize(
    ("marked", "keys", "values"),
    [
        ("|", [()], []),
        ("a:\n  |", [("a",)], [("a",)]),
        ("a:\n  b: 1\n  |", [("a",)], []),
        ("a:\n  b: 1\n|", [()], []),
        ("a:\n  b: 1\n\n  |\nc: 1\n", [("a",)], []),
        ("a:\n  b:\n    c: 1\n  |", [("a",)], []),
        ("a: x\n  |", [], []),
        ("a: |", [], [("a",)]),
        ("a: x|", [], [("a",)]),
        ("a:\n  wo|rd", [("a",)], [("a",)]),
        ("a:\n- |", [("a", 0)], [("a", 0)]),
        ("a:\n  - x\n  - wo|rd", [("a", 1)], [("a", 1)]),
        ("a:\n  - b: 1\n    |", [("a", 0)], []),
        ("a:\n  - b: 1\n  |", [], []),  # nothing can stand there but another item
        ("a: [x, |]", [], [("a", 1)]),
        ("a: {x: 1, |}", [("a",)], []),
        ("# |", [], []),
        ("a: 1 # |", [], []),
        ("a: |\n  text", [], [("a",)]),
        ("? |", [()], []),
        ("a:\n  ? |\nb: 1\n", [("a",)], []),
        ("? wo|rd\n: x\n", [()], []),
        ("a:\n  ? b\n  : |\n", [], [("a", "b")]),
        ("a:\n  ? b|\n", [("a",)], []),
    ],
)
def test_what_a_cursor_may_mean(marked: str, keys: list[Path], values: list[Path]) -> None:
    document, offset = at_cursor(marked, ".yaml")
    places = document.places_at(offset)
    assert [place.table for place in places if isinstance(place, KeyPlace)] == keys
    assert [place.path for place in places if not isinstance(place, KeyPlace)] == values


def test_too_long_a_text_has_no_places() -> None:
    assert read_yaml("a: 1\n" + "#" * MAX_SIZE).entries == ()


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(max_size=8)
    | st.sampled_from(
        ["# x", "a: b", "- x", "true", "0x1f", "'", "𝄞 ä", "x" * 90, "a\nb\n", "  lead", "a b " * 30]
    )
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab -:#'\"𝄞", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from("abcd"), _TREES, min_size=1, max_size=3),
    st.sampled_from([{}, {"default_flow_style": True}, {"indent": 4, "width": 30}, {"default_style": '"'}]),
)
def test_any_text_of_the_library_has_its_values(tree: dict[str, Any], style: dict[str, Any]) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True, **style)
    if "? " not in text:  # keys of their own lines are not looked into
        assert read_yaml(text).values() == yaml_core.load(text)


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=5), max_size=12).map("".join))
def test_no_text_is_too_broken(text: str) -> None:
    check_everything(read_yaml(text))


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 20_000,
        "- " * 20_000,
        "{a: " * 10_000,
        "\n".join(" " * depth + "k:" for depth in range(900)),
    ],
    ids=["lists", "items", "tables", "blocks"],
)
def test_no_text_is_too_deep(text: str) -> None:
    document = read_yaml(text)
    assert len(list(document.walk())) < 100
    document.places_at(len(text))
