"""Arguments are made to fit their tool, or it is said why they do not."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.arguments import (
    ArgumentProblems,
    PreparedArguments,
    coerce,
    drop_nulls,
    fill_defaults,
    find_problems,
    parse_edited,
    prepare_arguments,
)
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolSource, ToolSpec

LOCAL = LocalSource("rg", Command("rg"))
MCP = McpSource("server", "their_grep")


def tool(
    parameters: Mapping[str, Parameter], source: ToolSource = LOCAL, schema: dict[str, Any] | None = None
) -> ToolSpec:
    return ToolSpec(ToolDefinition("grep", parameters, schema=schema), source)


def prepared(parameters: Mapping[str, Parameter], given: dict[str, Any], source: ToolSource = LOCAL) -> Any:
    """The arguments a tool is run with, or the error."""
    result = prepare_arguments(tool(parameters, source), given)
    return result.error or result.arguments


def exactly(value: JsonValue) -> str:
    """Text that tells `1`, `1.0` and `true` apart."""
    return json.dumps(value, sort_keys=True)


# ----------------------------------------------------------------------------------------------- coerce

COERCED: list[tuple[str | Sequence[str] | None, JsonValue, JsonValue]] = [
    ("integer", "3", 3),
    ("integer", " 3\n", 3),
    ("integer", "-0", 0),
    ("integer", "3.0", 3.0),
    ("integer", "3.5", "3.5"),
    ("integer", "007", "007"),
    ("integer", "true", "true"),
    ("integer", "1e400", "1e400"),
    ("integer", "9" * 5000, "9" * 5000),
    ("integer", "", ""),
    ("integer", "null", "null"),
    ("integer", 3.0, 3.0),
    ("number", "3", 3),
    ("number", "3.5", 3.5),
    ("number", "NaN", "NaN"),
    ("number", "Infinity", "Infinity"),
    ("boolean", "true", True),
    ("boolean", "True", "True"),
    ("boolean", "1", "1"),
    ("boolean", "yes", "yes"),
    ("array", '["a"]', ["a"]),
    ("array", "a,b", "a,b"),
    ("array", '{"a": 1}', '{"a": 1}'),
    ("array", "[" * 100_000, "[" * 100_000),
    ("object", '{"a": 1}', {"a": 1}),
    ("null", "null", None),
    (["integer", "null"], "null", None),
    (["integer", "boolean"], "false", False),
    (["integer", "string"], "3", "3"),
    ("string", "3", "3"),
    ("string", "007", "007"),
    ("string", 3, 3),
    (None, "3", "3"),
    ("date", "3", "3"),
]


@pytest.mark.requirement("F20", "G50")
@pytest.mark.parametrize(("type", "value", "result"), COERCED)
def test_text_is_read_where_text_is_not_wanted(
    type: str | Sequence[str] | None, value: JsonValue, result: JsonValue
) -> None:
    assert exactly(coerce({"x": Parameter(type)}, {"x": value})) == exactly({"x": result})


@pytest.mark.requirement("F20")
def test_text_is_read_within_objects_and_lists() -> None:
    line = Parameter("object", properties={"line": Parameter("integer"), "name": Parameter("string")})
    parameters = {
        "where": line,
        "edits": Parameter("array", items=line),
        "rows": Parameter("array", items=Parameter("array", items=Parameter("integer"))),
    }
    given: dict[str, JsonValue] = {
        "where": '{"line": "3", "name": "007", "other": "1"}',
        "edits": ['{"line": "4"}', {"line": "5"}, "no"],
        "rows": ['["1"]', [2, "3"]],
        "unknown": "1",
    }
    assert coerce(parameters, given) == {
        "where": {"line": 3, "name": "007", "other": "1"},
        "edits": [{"line": 4}, {"line": 5}, "no"],
        "rows": [[1], [2, 3]],
        "unknown": "1",
    }


@pytest.mark.requirement("F20")
@pytest.mark.parametrize("source", [LOCAL, MCP, BuiltinSource("grep")])
def test_the_known_fault(source: ToolSource) -> None:
    parameters = {
        "count": Parameter("integer"),
        "deep": Parameter("boolean"),
        "tags": Parameter("array", items=Parameter("string")),
        "name": Parameter("string"),
    }
    given = {"count": "3", "deep": "true", "tags": '["a"]', "name": "007"}
    expected = {"count": 3, "deep": True, "tags": ["a"], "name": "007"}
    assert exactly(prepared(parameters, given, source)) == exactly(expected)
    assert 'wrong type: ["count: expected integer, not string"]' in prepared(
        parameters, {**given, "count": "3.5"}, source
    )


# ------------------------------------------------------------------------------------------- drop nulls


@pytest.mark.requirement("F19")
@pytest.mark.parametrize("source", [LOCAL, MCP])
def test_null_is_how_strict_mode_leaves_something_out(source: ToolSource) -> None:
    parameters = {
        "path": Parameter("string", required=True),
        "limit": Parameter("integer"),
        "where": Parameter("object", properties={"line": Parameter("integer", required=True)}),
    }
    assert prepared(parameters, {"path": "a", "limit": None, "where": None}, source) == {"path": "a"}


@pytest.mark.requirement("F19")
def test_what_was_left_out_by_null_gets_its_default() -> None:
    assert prepared({"limit": Parameter("integer", default=10)}, {"limit": None}) == {"limit": 10}


@pytest.mark.requirement("F19")
def test_nulls_are_dropped_within_objects_and_lists() -> None:
    point = Parameter(
        "object", properties={"x": Parameter("integer", required=True), "y": Parameter("integer")}
    )
    parameters = {"at": point, "all": Parameter("array", items=point), "ids": Parameter("array", items=point)}
    given: dict[str, JsonValue] = {"at": {"x": None, "y": None}, "all": [{"x": 1, "y": None}], "ids": [None]}
    expected: dict[str, JsonValue] = {"at": {"x": None}, "all": [{"x": 1}], "ids": [None]}
    assert drop_nulls(parameters, given) == expected


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        (Parameter("integer", required=True), "x"),
        (Parameter(["integer", "null"]), "x"),
        (Parameter("null"), "x"),
        (Parameter(None), "x"),
        (Parameter("integer"), "unknown"),
    ],
    ids=["required", "takes null", "only null", "takes anything", "unknown name"],
)
def test_other_nulls_stay(parameter: Parameter, name: str) -> None:
    assert drop_nulls({"x": parameter}, {name: None}) == {name: None}


@pytest.mark.requirement("F19")
def test_a_null_for_something_required_is_an_error() -> None:
    problems = find_problems({"x": Parameter("integer", required=True)}, {"x": None})
    assert problems == ArgumentProblems(unfit=("x: expected integer, not null",))


# ---------------------------------------------------------------------------------------------- defaults


def test_defaults_are_filled_in() -> None:
    point = Parameter("object", properties={"x": Parameter("integer", default=0), "y": Parameter("integer")})
    parameters = {
        "limit": Parameter("integer", required=True, default=10),
        "off": Parameter("boolean", default=False),
        "none": Parameter("integer"),
        "given": Parameter("integer", default=1),
        "null": Parameter("integer", default=1),
        "at": point,
        "absent": point,
        "all": Parameter("array", items=point),
        "odd": Parameter("array", items=point),
    }
    given: dict[str, JsonValue] = {
        "given": 2,
        "null": None,
        "at": {"y": 1},
        "all": [{}, {"x": 5}, 7],
        "odd": "no list",
        "unknown": {},
    }
    assert fill_defaults(parameters, given) == {
        "given": 2,
        "null": None,
        "at": {"y": 1, "x": 0},
        "all": [{"x": 0}, {"x": 5}, 7],
        "odd": "no list",
        "unknown": {},
        "limit": 10,
        "off": False,
    }


@pytest.mark.requirement("G49")
def test_a_required_argument_with_a_default_is_not_missing() -> None:
    """Trap 49; a server of tools knows its own defaults."""
    parameters = {"limit": Parameter("integer", required=True, default=10)}
    assert prepared(parameters, {}) == {"limit": 10}
    assert prepared(parameters, {}, BuiltinSource("grep")) == {"limit": 10}
    assert 'missing: ["limit"]' in prepared(parameters, {}, MCP)


# ---------------------------------------------------------------------------------------------- problems

POINT = Parameter("object", properties={"x": Parameter("integer", required=True), "y": Parameter("integer")})
FREE = Parameter("object")

PROBLEMS: list[tuple[dict[str, Parameter], dict[str, Any], ArgumentProblems | None]] = [
    ({}, {}, None),
    ({"a": Parameter("string", required=True)}, {}, ArgumentProblems(missing=("a",))),
    ({}, {"b": 1, "c": None}, ArgumentProblems(unknown=("b", "c"))),
    (
        {"a": Parameter("string", required=True), "n": Parameter("integer")},
        {"b": 1, "n": "x"},
        ArgumentProblems(("a",), ("b",), ("n: expected integer, not string",)),
    ),
    ({"p": POINT}, {"p": {"y": 1, "z": 2}}, ArgumentProblems(("p.x",), ("p.z",))),
    ({"p": POINT}, {"p": {"x": "1"}}, ArgumentProblems(unfit=("p.x: expected integer, not string",))),
    ({"p": FREE}, {"p": {"anything": [1]}}, None),
    (
        {"l": Parameter("array", items=POINT)},
        {"l": [{"x": 1}, 2, {}]},
        ArgumentProblems(unfit=("l[1]: expected object, not integer",)),
    ),
    ({"l": Parameter("array", items=POINT)}, {"l": [{"x": 1}, {"y": 2}]}, ArgumentProblems(missing=("l[1].x",))),
    (
        {"l": Parameter("array", items=Parameter("array", items=Parameter("string")))},
        {"l": [["a"], ["b", 3]]},
        ArgumentProblems(unfit=("l[1][1]: expected string, not integer",)),
    ),
    # Problems of an inner object wait until the outer one is right.
    ({"p": POINT}, {"p": {}, "z": 1}, ArgumentProblems(unknown=("z",))),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "arguments", "problems"), PROBLEMS)
def test_problems(
    parameters: dict[str, Parameter], arguments: dict[str, Any], problems: ArgumentProblems | None
) -> None:
    assert find_problems(parameters, arguments) == problems


VALUES: dict[str, JsonValue] = {
    "null": None, "boolean": True, "integer": 1, "number": 1.5, "string": "1", "array": [1], "object": {"a": 1},
}  # fmt: skip


@pytest.mark.parametrize("type", VALUES)
@pytest.mark.parametrize("actual", VALUES)
def test_types(type: str, actual: str) -> None:
    fits = type == actual or (type, actual) == ("number", "integer")
    problems = find_problems({"x": Parameter(type, required=True)}, {"x": VALUES[actual]})
    assert problems == (None if fits else ArgumentProblems(unfit=(f"x: expected {type}, not {actual}",)))


def test_one_of_several_types() -> None:
    parameters = {"x": Parameter(["integer", "boolean"], required=True)}
    assert find_problems(parameters, {"x": False}) is None
    assert find_problems(parameters, {"x": "a"}) == ArgumentProblems(
        unfit=("x: expected integer or boolean, not string",)
    )


@pytest.mark.parametrize("type", [None, "date", ["integer", "date"]])
def test_a_type_that_nobody_knows_takes_anything(type: str | list[str] | None) -> None:
    assert find_problems({"x": Parameter(type)}, {"x": "a"}) is None


def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    assert find_problems({"x": Parameter("integer")}, {"x": 2.0}) is None


ENUMS: list[tuple[str | list[str] | None, Sequence[JsonValue], JsonValue, bool]] = [
    ("string", ("a", "b"), "a", True),
    ("string", ("a", "b"), "c", False),
    ("integer", (1, 2), 1.0, True),
    ("integer", (1, 2), 3, False),
    (None, (1, 0), True, False),
    (None, (True,), 1, False),
    (None, ({"a": [1]},), {"a": [1.0]}, True),
    (None, ({"a": [1]},), {"a": [True]}, False),
    ("array", ("a", "b"), ["a", "b", "a"], True),
    ("array", ("a", "b"), ["a", "c"], False),
    ("array", ("a", "b"), [], True),
    ("array", (["a"], ["b"]), ["a"], True),
    ("array", (["a"], ["b"]), ["c"], False),
    (["string", "null"], ("a",), None, True),
    ("string", ("a",), None, True),
]


@pytest.mark.parametrize(("type", "enum", "value", "fits"), ENUMS)
def test_values_that_are_allowed(
    type: str | list[str] | None, enum: Sequence[JsonValue], value: JsonValue, fits: bool
) -> None:
    assert (find_problems({"x": Parameter(type, enum=enum)}, {"x": value}) is None) == fits


@pytest.mark.parametrize(
    ("schema", "given", "complaint"),
    [
        (None, {"a": "1", "b": 2}, None),
        ({"type": "object"}, {"a": "1", "b": 2}, None),
        ({"additionalProperties": True}, {"a": "1", "b": 2}, None),
        ({"additionalProperties": False}, {"a": "1", "b": 2}, 'missing: [], unknown: ["b"]'),
        ({"additionalProperties": False}, {"b": 2}, 'missing: ["a"], unknown: ["b"]'),
        ({"additionalProperties": False}, {"a": "1", "p": {"x": 1, "z": 2}}, None),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, {"a": "1", "xy": 2}, None),
        (
            {"additionalProperties": False},
            {"a": "1", "p": {"x": "z"}},
            '["p.x: expected integer, not string"]',
        ),
    ],
)
def test_a_server_may_take_more_than_it_names(
    schema: dict[str, Any] | None, given: dict[str, JsonValue], complaint: str | None
) -> None:
    parameters = {"a": Parameter("string", required=True), "p": POINT}
    result = prepare_arguments(tool(parameters, MCP, schema), given)
    if complaint is None:
        assert result == PreparedArguments(given)
    else:
        assert complaint in (result.error or "")


# ------------------------------------------------------------------------------------------------- words


@pytest.mark.requirement("G51")
def test_what_the_model_is_told() -> None:
    """Names the tool as its command knows it (config-and-tools 4.5)."""
    parameters = {"path": Parameter("string", required=True)}
    assert prepared(parameters, {"pth": "a", "ü": 1}) == (
        'Invalid arguments: missing: ["path"], unknown: ["pth", "ü"]\n\n'
        'Call `describe_tools(tools: ["rg"])` to see what the tool takes.'
    )


def test_what_the_model_is_told_of_values_that_do_not_fit() -> None:
    parameters = {"mode": Parameter("string", enum=("fast", "slow")), "n": Parameter("integer")}
    assert prepared(parameters, {"mode": "quick", "n": {}}, MCP) == (
        "Invalid arguments: missing: [], unknown: [], wrong type: "
        '["mode: \\"quick\\" is not one of [\\"fast\\", \\"slow\\"]", "n: expected integer, not object"]\n\n'
        'Call `describe_tools(tools: ["grep"])` to see what the tool takes.'
    )


def test_what_the_model_is_told_is_bounded() -> None:
    given = {f"{number:03}" + "x" * 1000: 1 for number in range(500)}
    error = prepared({}, given)
    assert len(error) < 20 * 300
    assert error.endswith(
        ', and 480 more]\n\nCall `describe_tools(tools: ["rg"])` to see what the tool takes.'
    )


@pytest.mark.requirement("R104")
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{"a": [1]}', ({"a": [1]}, None)),
        ("{}", ({}, None)),
        ("[]", ({}, "an object is needed, not an array")),
        ("true", ({}, "an object is needed, not a boolean")),
        ("null", ({}, "an object is needed, not null")),
        (
            '{"a": }',
            ({}, "this is not valid JSON: Expecting value: line 1 column 7 (char 6)"),
        ),
        ('{"a": NaN}', ({}, "this is not valid JSON: NaN is not JSON")),
    ],
)
def test_arguments_that_the_user_wrote(text: str, result: tuple[dict[str, JsonValue], str | None]) -> None:
    assert parse_edited(text) == result


# -------------------------------------------------------------------------------------------- properties

TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", None])
PARAMETERS = st.recursive(
    st.builds(Parameter, TYPES, required=st.booleans(), default=st.none() | st.integers()),
    lambda inner: st.builds(
        Parameter,
        TYPES,
        items=st.none() | inner,
        properties=st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    ),
    max_leaves=5,
)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "1", "[]", "{}"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=6,
)


@given(
    parameters=st.dictionaries(st.sampled_from("abc"), PARAMETERS, max_size=3),
    arguments=st.dictionaries(st.sampled_from("abcd"), ANYTHING, max_size=3),
)
def test_what_was_prepared_once_stays(
    parameters: dict[str, Parameter], arguments: dict[str, JsonValue]
) -> None:
    """Nothing breaks it, nothing is changed in place, and what fits is not changed again."""
    before = exactly(arguments)
    once = prepare_arguments(tool(parameters), arguments)
    assert exactly(arguments) == before
    if once.error is None:
        again = prepare_arguments(tool(parameters), once.arguments)
        assert exactly(again.arguments) == exactly(once.arguments)
