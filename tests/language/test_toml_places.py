"""Where things stand in a TOML text, whole or broken."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.language.document import MAX_SIZE
from jp_lsp.language.toml_document import read_toml
from tests.language.broken_texts import check_everything

SNIPPETS = (
    "[assistant]\n",
    "[[assistant.instructions]]\n",
    "[conversation.tools.x]\n",
    "[",
    "[[a.",
    "model.id = ",
    'title = "',
    '"x"\n',
    "items = [\n",
    '"a", "b"',
    "]\n",
    "id = { provider = ",
    "}\n",
    '"""',
    "'''",
    "# |\n",
    "a.b.",
    "=",
    "\n",
    "𝄞ä",
    "\r\n",
    "1979-05-27 07:32:00\n",
    "extends = ['a', { path = 'b' }]\n",
)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\nb.c = 'x' # comment\n",
        "[t]\na = [1, [2, 3], {x = 1, y.z = 'q'}]\n[t.u]\nv = true\n",
        "[[list]]\na = 1\n[[list]]\nb = 2\n[list.in]\nc = 3\n",
        'text = """\n[no.header]\nx = 1\n"""\nafter = 2\n',
        "many = [\n  # comment\n  'a',\n  'b', # more\n]\nend = '''x'''\n",
        "'quoted key'.\"other\\nkey\" = 0.5\n",
        'escape = "a\\tb"\n',
        "empty = {}\nnone = []\n",
    ],
)
def test_a_valid_text_has_the_values_of_the_parser(text: str) -> None:
    assert read_toml(text).values() == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a = \nb = 2\n", {"b": 2}),
        ("a = [1,\n[t]\nb = 2\n", {"a": [1], "t": {"b": 2}}),
        ("a = {x = 1\nb = 2\n", {"a": {"x": 1}, "b": 2}),
        ('a = "open\nb = 2\n', {"b": 2}),
        ('a = """open\nb = 2\n', {"b": 2}),
        ("a = 1\na = 2\n", {"a": 1}),
        ("= 3\n???\nb = 2\n", {"b": 2}),
        ("[t\nb = 2\n", {"t": {"b": 2}}),
        ("a.b = 1\na.b.c = 2\n", {"a": {"b": 1}}),
    ],
)
def test_a_broken_line_costs_no_more_than_itself(text: str, values: Any) -> None:
    assert read_toml(text).values() == values


def test_too_long_a_text_has_no_places() -> None:
    assert read_toml("a = 1\n" + "#" * MAX_SIZE).entries == ()


_VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case dict():
            return "{" + ", ".join(f"{toml(name)} = {toml(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case _:
            return str(value)


@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=4))
def test_any_valid_text_has_the_values_of_the_parser(tree: dict[str, Any]) -> None:
    text = "".join(f"{toml(name)} = {toml(value)}\n" for name, value in tree.items())
    assert read_toml(text).values() == tree


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=5), max_size=12).map("".join))
def test_no_text_is_too_broken(text: str) -> None:
    check_everything(read_toml(text))
