"""Where things stand in a JSON or JSON5 text, whole or broken; `|` is the cursor."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.config.parse import parse
from jp_lsp.config.value import Path
from jp_lsp.language.document import MAX_SIZE, KeyPlace
from jp_lsp.language.json_document import read_json, read_json5
from tests.language.broken_texts import check_everything
from tests.language.documents import at_cursor

SNIPPETS = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"assistant"',
    "name",
    ": {",
    '"x"',
    "'",
    '"',
    "\\",
    "// |\n",
    "/*",
    "*/",
    "/",
    "+.5",
    "0x1F",
    "Infinity",
    "null",
    "\n",
    "𝄞ä",
    "extends: ['a', { path: 'b' }]",
)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, {"c": null}], "d": true}',
        "// c\n{a: 'x', b: +.5, c: 0x1F, /* } */ d: \"q\\n\", }",
        '{"a": {}, "b": [], "c": "a\\u00e4"}',
        "{'a\\'b': 1, \"c'd\": 2, $e_1: -3}",
        '\ufeff{\r\n"a": 1\r\n}',
        "{a: 'two\\\nlines'}",
        "{a: 1.5e3, b: [,] }".replace("[,]", "[1,]"),
    ],
)
def test_a_valid_text_has_the_values_of_the_parser(text: str) -> None:
    assert read_json5(text).values() == parse(text.encode(), "json5")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": , "b": 2', {"b": 2}),
        ('{"a": [1, 2\n "b": {"c": 1}}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": "open\n "b": 1}', {"b": 1}),
        ('{"a" "b": 1}', {"b": 1}),
        ('{"a": {"b": tr\n}, "c": true}', {"a": {}, "c": True}),
        ('{{"x": 1}, "b": 2}', {"b": 2}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ("[1]", {}),
        ("", {}),
    ],
)
def test_a_broken_piece_costs_little(text: str, values: Any) -> None:
    assert read_json(text).values() == values


@pytest.mark.parametrize(
    ("marked", "keys", "values"),
    [
        ("|{}", [], []),
        ("{|}", [()], []),
        ('{"a": {|', [("a",)], []),
        ('{"a": {\n  "b": 1,\n  |\n}}', [("a",)], []),
        ('{"na|"}', [()], []),
        ("{na|: 1}", [()], []),
        ('{"a": |}', [], [("a",)]),
        ('{"a": "x|"}', [], [("a",)]),
        ('{"a": ["x", |]}', [], [("a", 1)]),
        ('{"a": [{|}]}', [("a", 0)], []),
        ("{ // |\n}", [], []),
        ("{ /* | */ }", [], []),
        ('{"a": "// |"}', [], [("a",)]),
        ("{}|", [], []),
    ],
)
def test_what_a_cursor_means(marked: str, keys: list[Path], values: list[Path]) -> None:
    document, offset = at_cursor(marked, ".json5")
    places = document.places_at(offset)
    assert [place.table for place in places if isinstance(place, KeyPlace)] == keys
    assert [place.path for place in places if not isinstance(place, KeyPlace)] == values


def test_too_long_a_text_has_no_places() -> None:
    assert read_json('{"a": 1}' + " " * MAX_SIZE).entries == ()


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5), _VALUES, max_size=4),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_any_valid_text_has_the_values_of_the_parser(
    tree: dict[str, Any], indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=is_ascii)
    assert read_json(text).values() == tree


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=5), max_size=12).map("".join), st.booleans())
def test_no_text_is_too_broken(text: str, is_json5: bool) -> None:
    check_everything(read_json5(text) if is_json5 else read_json(text))


@pytest.mark.parametrize("text", ['{"a":' * 10_000, '{"a":' + "[" * 50_000, "[" * 50_000])
def test_no_text_is_too_deep(text: str) -> None:
    document = read_json(text)
    assert len(list(document.walk())) < 100
    document.places_at(len(text))
