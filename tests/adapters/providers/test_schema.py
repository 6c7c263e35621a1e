"""Tools as JSON schema: plain, strict and loose."""

from typing import Any

import pytest

from jp_lsp.providers.portable import portable
from jp_lsp.providers.schema import (
    loose_schema,
    nullable,
    plain_schema,
    strict_schema,
    strict_transform,
    without_arrays_in_enum,
)
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.schema import parameter_schema
from tests.adapters.providers.server_tools import SERVER_TOOL


def tool(**parameters: Parameter) -> ToolDefinition:
    return ToolDefinition("t", parameters)


WHERE = Parameter(
    "object", properties={"line": Parameter("integer", required=True), "column": Parameter("integer")}
)
F19 = tool(path=Parameter("string", required=True), limit=Parameter("integer"), where=WHERE)


@pytest.mark.requirement("F19")
def test_strict_lets_the_model_leave_out_what_is_optional() -> None:
    assert strict_schema(F19) == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": ["integer", "null"]},
            "where": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"line": {"type": "integer"}, "column": {"type": ["integer", "null"]}},
                        "required": ["line", "column"],
                        "additionalProperties": False,
                    },
                    {"type": "null"},
                ]
            },
        },
        "additionalProperties": False,
        "required": ["path", "limit", "where"],
    }


@pytest.mark.requirement("F19")
def test_strict_lets_null_into_an_optional_enum() -> None:
    schema: Any = strict_schema(tool(mode=Parameter("string", enum=("a", "b"))))
    assert schema["properties"]["mode"] == {"type": ["string", "null"], "enum": ["a", "b", None]}


def test_plain_and_loose_demand_what_is_required() -> None:
    assert plain_schema(F19)["required"] == ["path"]
    assert "additionalProperties" not in plain_schema(F19)
    loose = loose_schema(F19)
    assert loose["required"] == ["path"]
    assert loose["additionalProperties"] is True
    assert loose["properties"] == plain_schema(F19)["properties"]


@pytest.mark.requirement("F23")
def test_parameters_keep_types_items_and_words() -> None:
    parameter = Parameter(
        "array",
        summary="Short.",
        description="Long.",
        default=["a"],
        items=Parameter("object", properties={"x": Parameter(("string", "null"), required=True)}),
    )
    assert parameter_schema(parameter) == {
        "type": "array",
        "description": "Short.",
        "default": ["a"],
        "items": {
            "type": "object",
            "properties": {"x": {"type": ["string", "null"]}},
            "required": ["x"],
        },
    }
    assert list(parameter_schema(parameter)) == ["type", "description", "default", "items"]
    assert parameter_schema(Parameter(None, description="Long.")) == {"description": "Long."}


@pytest.mark.requirement("F23")
def test_a_parameter_without_a_type_passes_through() -> None:
    schema: Any = strict_schema(tool(mode=Parameter(None)))
    assert schema["properties"]["mode"] == {}


def test_arrays_leave_the_enum() -> None:
    both = {"type": ["string", "array"], "enum": ["foo", ["foo", "bar"]], "items": {"type": "string"}}
    assert without_arrays_in_enum(both) == {
        "type": ["string", "array"],
        "enum": ["foo"],
        "items": {"type": "string", "enum": ["foo", "bar"]},
    }
    only = {"type": "array", "enum": [["a", 1], [["b"]]]}
    assert without_arrays_in_enum(only) == {
        "type": "array",
        "items": {"type": ["string", "integer"], "enum": ["a", 1, "b"]},
    }
    untouched = {"type": "string", "enum": ["a", ["b"]]}
    assert without_arrays_in_enum(untouched) == untouched
    nested = {"type": "object", "properties": {"p": only}}
    assert without_arrays_in_enum(nested)["properties"] == {"p": without_arrays_in_enum(only)}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": ["null", "array"]}, {"type": ["null", "array"]}),
        ({"description": "d"}, {"description": "d"}),
        (
            {"$ref": "#/$defs/x", "description": "d"},
            {"description": "d", "anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]},
        ),
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (
            {"type": "array", "items": {}, "description": "d", "title": "t", "default": [], "examples": [1]},
            {
                "description": "d",
                "title": "t",
                "default": [],
                "examples": [1],
                "anyOf": [{"type": "array", "items": {}}, {"type": "null"}],
            },
        ),
    ],
)
def test_nullable(schema: Any, expected: Any) -> None:
    assert nullable(schema) == expected


@pytest.mark.requirement("F19")
def test_the_strict_transform_goes_everywhere() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "object", "properties": {"x": {"type": "string", "default": None}}}]},
            "b": {"type": "array", "items": {"type": "object", "properties": {}}},
        },
        "required": ["a", "b"],
        "$defs": {"d": {"type": "object", "properties": {"y": {"type": "integer"}}}},
    }
    closed: dict[str, Any] = {"additionalProperties": False}
    assert strict_transform(schema) == {
        "type": "object",
        "properties": {
            "a": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"x": {"type": ["string", "null"]}},
                        "required": ["x"],
                        **closed,
                    }
                ]
            },
            "b": {"type": "array", "items": {"type": "object", "properties": {}, "required": [], **closed}},
        },
        "required": ["a", "b"],
        "$defs": {
            "d": {
                "type": "object",
                "properties": {"y": {"type": ["integer", "null"]}},
                "required": ["y"],
                **closed,
            }
        },
        **closed,
    }


def test_all_of_is_flattened_and_the_node_wins() -> None:
    schema = {
        "title": "mine",
        "allOf": [
            {"title": "theirs", "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ],
    }
    assert strict_transform(schema) == {
        "title": "mine",
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }


def test_references_with_siblings_are_replaced() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/t", "description": "mine"}, "b": {"$ref": "#/$defs/t"}},
        "required": ["a", "b"],
        "$defs": {"t": {"type": "string", "description": "theirs"}},
    }
    properties: Any = strict_transform(schema)["properties"]
    assert properties["a"] == {"type": "string", "description": "mine"}
    assert properties["b"] == {"$ref": "#/$defs/t"}


def test_references_that_lead_nowhere_stay() -> None:
    for reference in ("#/$defs/none", "https://example.com/x", "#/$defs/t/type/x"):
        node = {"$ref": reference, "description": "d"}
        assert strict_transform({**node, "$defs": {"t": {"type": "string"}}})["$ref"] == reference


def test_references_to_oneself_end() -> None:
    schema = {
        "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n", "description": "d"}}}},
        "properties": {"first": {"$ref": "#/$defs/n", "title": "t"}},
        "required": ["first"],
    }
    first: Any = strict_transform(schema)["properties"]
    end = {"description": "d", "anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}
    assert first["first"]["properties"]["next"] == end


def test_nothing_that_is_given_is_changed() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "array", "enum": [["x"]]}}}
    before = repr(schema)
    strict_transform(schema)
    without_arrays_in_enum(schema)
    nullable(schema)
    assert repr(schema) == before


@pytest.mark.requirement("F23")
def test_a_servers_tool_reaches_a_plain_vendor_to_the_letter() -> None:
    assert SERVER_TOOL.schema is not None
    assert plain_schema(SERVER_TOOL) == SERVER_TOOL.schema


@pytest.mark.requirement("F23")
def test_a_servers_tool_reaches_a_strict_vendor_with_types_items_and_hints() -> None:
    schema = strict_schema(SERVER_TOOL)
    assert schema["properties"] == {
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "description": "{uniqueItems: true}"},
        "mode": {"description": "How."},
        "when": {
            "type": ["string", "null"],
            "format": "date-time",
            "description": '{examples: ["2030-01-01T00:00:00Z"]}',
        },
        "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        "size": {
            "anyOf": [
                {"type": "integer"},
                {"type": "string", "description": "{minLength: 1}"},
                {"type": "null"},
            ]
        },
    }
    assert schema["required"] == ["tags", "mode", "when", "tree", "size"]
    assert schema["$defs"] == {
        "Tag": {"type": "string", "description": "{maxLength: 9}"},
        "Tree": {
            "type": "object",
            "properties": {"left": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}},
            "required": ["left"],
            "additionalProperties": False,
        },
    }


@pytest.mark.requirement("F23")
def test_a_servers_tool_reaches_a_loose_vendor_with_its_definitions() -> None:
    schema: Any = loose_schema(SERVER_TOOL)
    assert schema["required"] == ["tags", "mode"]
    assert schema["$defs"]["Tag"] == {"type": "string", "description": "{maxLength: 9}"}
    assert schema["properties"]["mode"] == {"description": "How."}


def test_hints_stand_behind_the_description_and_are_bounded() -> None:
    described = portable({"description": "d", "not": {"const": 1}, "$comment": "c", "examples": ["x" * 5000]})
    assert list(described) == ["description"]
    text = described["description"]
    assert isinstance(text, str)
    assert text.startswith('d\n\n{not: {"const":1}, examples: ["xxx')
    assert len(text) < 1100
