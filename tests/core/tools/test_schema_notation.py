"""The short way to write a schema: what each form means, and what is said about a wrong one (config-and-tools 7.6)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.tools.schema_notation import SchemaTextError, read_schema_text
from jp_lsp.turn.answer_schema import find_schema_problem

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer"}


@pytest.mark.parametrize(
    ("text", "properties", "required"),
    [
        ("title", {"title": STRING}, ["title"]),
        ("  title ,\n\n", {"title": STRING}, ["title"]),
        ("a, b\nc,\n d", {"a": STRING, "b": STRING, "c": STRING, "d": STRING}, ["a", "b", "c", "d"]),
        ("a\r\n?b\r\n", {"a": STRING, "b": STRING}, ["a"]),
        ("? a int, ?b", {"a": INTEGER, "b": STRING}, None),
        ('"first name" int', {"first name": INTEGER}, ["first name"]),
        ('"\\u00e4\\""', {'ä"': STRING}, ['ä"']),
        ("größe-1 int", {"größe-1": INTEGER}, ["größe-1"]),
        ("a str\nb string", {"a": STRING, "b": STRING}, ["a", "b"]),
        ("a int, b integer", {"a": INTEGER, "b": INTEGER}, ["a", "b"]),
        ("a float, b number", {"a": {"type": "number"}, "b": {"type": "number"}}, ["a", "b"]),
        ("a bool, b boolean", {"a": {"type": "boolean"}, "b": {"type": "boolean"}}, ["a", "b"]),
        ("a any", {"a": {}}, ["a"]),
        ("a []", {"a": {"type": "array"}}, ["a"]),
        ("a [ int ]", {"a": {"type": "array", "items": INTEGER}}, ["a"]),
        ("a [[\nint]]", {"a": {"type": "array", "items": {"type": "array", "items": INTEGER}}}, ["a"]),
        ('a ["x"|"y"]', {"a": {"type": "array", "items": {"enum": ["x", "y"]}}}, ["a"]),
        ("a { b, ?c int }", {"a": {"type": "object", "properties": {"b": STRING, "c": INTEGER},
                                   "required": ["b"]}}, ["a"]),
        ("a {\n b: one\n c int: two\n}", {"a": {"type": "object",
            "properties": {"b": {**STRING, "description": "one"}, "c": {**INTEGER, "description": "two"}},
            "required": ["b", "c"]}}, ["a"]),
        ("a {?b}", {"a": {"type": "object", "properties": {"b": STRING}}}, ["a"]),
        ("a {b: c}: d", {"a": {"type": "object", "properties": {"b": {**STRING, "description": "c"}},
                               "required": ["b"], "description": "d"}}, ["a"]),
        ('a "x"', {"a": {"const": "x"}}, ["a"]),
        ("a null", {"a": {"const": None}}, ["a"]),
        ('a "s" | "m"|1|-2.5|1e3|true|false|null',
         {"a": {"enum": ["s", "m", 1, -2.5, 1000.0, True, False, None]}}, ["a"]),
        ("a int|null", {"a": {"anyOf": [INTEGER, {"const": None}]}}, ["a"]),
        ("a str |\n [int]", {"a": {"anyOf": [STRING, {"type": "array", "items": INTEGER}]}}, ["a"]),
        ("a: how many, b", {"a": {**STRING, "description": "how many"}, "b": STRING}, ["a", "b"]),
        ("a int: 5 | 6 {x} [y]", {"a": {**INTEGER, "description": "5 | 6 {x} [y]"}}, ["a"]),
        ("a int:", {"a": INTEGER}, ["a"]),
        ('a: "one, two", b', {"a": {**STRING, "description": "one, two"}, "b": STRING}, ["a", "b"]),
        ("a: one \\\n  two\nb", {"a": {**STRING, "description": "one two"}, "b": STRING}, ["a", "b"]),
        ("a \\\n int", {"a": INTEGER}, ["a"]),
        ("a: <<END\n  one,\n    two\n  END\nb", {"a": {**STRING, "description": "one,\n  two"}, "b": STRING},
         ["a", "b"]),
        ("a: << b", {"a": {**STRING, "description": "<< b"}}, ["a"]),
        ('title, ?tags [str], size "s"|"m"|"l": shirt size',
         {"title": STRING, "tags": {"type": "array", "items": STRING},
          "size": {"enum": ["s", "m", "l"], "description": "shirt size"}}, ["title", "size"]),
    ],
)  # fmt: skip
def test_fields_become_a_schema(text: str, properties: JsonObject, required: list[JsonValue] | None) -> None:
    schema = read_schema_text(text)
    expected: JsonObject = {"type": "object", "properties": properties}
    assert schema == (expected if required is None else {**expected, "required": required})
    assert find_schema_problem(schema) is None


def test_what_begins_with_a_brace_is_json_schema() -> None:
    assert read_schema_text(' {"type": "array"}') == {"type": "array"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: the schema is empty; name at least one field"),
        (" \n ", "line 2, column 2: the schema is empty; name at least one field"),
        ("a\nb text", "line 2, column 3: 'text' is no type; types are str, int, float, bool, any, [T], "
                      "{ fields } or a literal"),
        ("a str int", "line 1, column 7: expected a comma or a new line behind the field, found 'i'"),
        ('a: "b" c', "line 1, column 8: expected a comma or a new line behind the field, found 'c'"),
        ("a,,b", "line 1, column 3: expected the name of a field, found ','; put other names in double quotes"),
        ("[a]", "line 1, column 1: expected the name of a field, found '['; put other names in double quotes"),
        ("a, a int", "line 1, column 4: the field 'a' is there twice"),
        ("a {}", "line 1, column 3: an object needs at least one field"),
        ("a { b", "line 1, column 3: this brace is never closed"),
        ("a [", "line 1, column 3: this bracket is never closed"),
        ("a\nb [int", "line 2, column 3: this bracket is never closed"),
        ("a [int, str]", "line 1, column 7: expected `]`, found ','"),
        ("a [int", "line 1, column 3: this bracket is never closed"),
        ('a "b', "line 1, column 3: this text in double quotes never ends"),
        ('a "\\q"', "line 1, column 3: this text holds a backslash that JSON does not know; write two for one"),
        ("a: <<END\ntext", "line 1, column 4: this text never ends; put END on a line of its own behind it"),
        ("a int|", "line 1, column 7: expected a type, found the end; types are str, int, float, bool, any, "
                   "[T], { fields } or a literal"),
        ("a 1.2.3", "line 1, column 3: expected a type, found '1'; types are str, int, float, bool, any, [T], "
                    "{ fields } or a literal"),
        ("a " + "[" * 65, "line 1, column 67: types stand in one another more than 64 deep"),
        ("{", "line 1, column 2: this is no JSON: Expecting property name enclosed in double quotes"),
        ('{"minimum": NaN}', "this is no JSON: NaN is not JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(SchemaTextError) as problem:
        read_schema_text(text)
    assert str(problem.value) == message


PIECES = st.sampled_from(
    ["a", "b", "int", "str", "?", ",", "\n", ":", "|", "[", "]", "{", "}", '"', '"x"', "1", "null", "\\\n", "<<E\n", "E", " "]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_any_text_is_a_valid_schema_or_refused_with_a_reason(text: str) -> None:
    try:
        schema = read_schema_text(text)
    except SchemaTextError:
        return
    json.dumps(schema)
    assert text.lstrip().startswith("{") or find_schema_problem(schema) is None


def test_a_text_that_nests_without_end_is_refused() -> None:
    for text in ('{"a":' * 100_000, "a " + "[" * 100_000, "a {a " * 50_000):
        with pytest.raises(SchemaTextError):
            read_schema_text(text)
