"""Arguments against the schema of a server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.tools.json_schema import MAX_PROBLEMS
from jp_lsp.toolsets.mcp.validation import find_problems

NESTED = {
    "properties": {"list": {"type": "array", "items": {"properties": {"x": {"type": "integer"}}}}},
    "additionalProperties": False,
}

CASES: dict[str, tuple[Any, Any, list[str]]] = {
    "fits": ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": ""}, []),
    "missing": ({"required": ["a"]}, {}, ["arguments: 'a' is a required property"]),
    "nested": (NESTED, {"list": [{}, {"x": "1"}]}, ["list[1].x: '1' is not of type 'integer'"]),
    "unknown": (
        NESTED,
        {"b": 1},
        ["arguments: Additional properties are not allowed ('b' was unexpected)"],
    ),
    "reference": (
        {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"minimum": 3}}},
        {"a": 2},
        ["a: 2 is less than the minimum of 3"],
    ),
    "older dialect": (
        {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"exclusiveMinimum": 3}}},
        {"a": 3},
        ["a: 3 is less than or equal to the minimum of 3"],
    ),
    "a pattern of JavaScript": (
        {"properties": {"a": {"pattern": r"^\p{L}(?<x>y)$", "maxLength": 1}}},
        {"a": "12"},
        ["a: '12' is too long"],
    ),
    "a pattern that Python could read": ({"properties": {"a": {"pattern": "^b$"}}}, {"a": "1"}, []),
    "an unknown format": ({"properties": {"a": {"format": "whatever"}}}, {"a": "1"}, []),
}


@pytest.mark.requirement("R273")
@pytest.mark.parametrize(("schema", "arguments", "problems"), CASES.values(), ids=CASES)
def test_problems_say_where_and_what(schema: Any, arguments: Any, problems: list[str]) -> None:
    assert find_problems(schema, arguments) == problems


def test_a_few_problems_are_enough_and_short() -> None:
    schema: Any = {"properties": {name: {"type": "integer"} for name in "abcdefgh"}}
    problems = find_problems(schema, dict.fromkeys("abcdefgh", "x" * 10_000))
    assert len(problems) == MAX_PROBLEMS
    assert all(len(problem) <= 300 for problem in problems)


CANNOT_BE_HANDLED: dict[str, Any] = {
    "no schema": {"type": 5, "required": ["a"]},
    "an unknown type": {"type": "text", "required": ["a"]},
    "a reference into nothing": {"$ref": "#/$defs/x"},
    "a reference into the network": {"$ref": "https://example.com/schema"},
    "a circle": {"$ref": "#"},
    "a pattern that Python cannot read": {"patternProperties": {r"\p{L}": {}}},
}


@pytest.mark.parametrize("schema", CANNOT_BE_HANDLED.values(), ids=CANNOT_BE_HANDLED)
def test_a_schema_that_cannot_be_handled_checks_nothing(schema: Any) -> None:
    assert find_problems(schema, {"b": 1}) == []


@given(
    schema=st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "items", "$ref", "anyOf", "required", "enum", "if"]),
                inner | st.sampled_from(["object", "#", "integer"]),
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
def test_no_schema_breaks_anything(schema: Any) -> None:
    assert isinstance(find_problems({"properties": {"a": schema}}, {"a": {"b": [1]}}), list)
