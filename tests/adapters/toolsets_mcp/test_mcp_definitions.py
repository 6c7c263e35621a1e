"""What the model is told of a server's tool, with and without changes of the user's."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.toolsets.mcp.definitions import define_tool, split_text

F23 = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
        "mode": {"description": "How."},
        "when": {"type": "string", "format": "date-time", "examples": ["2030-01-01T00:00:00Z"]},
    },
    "required": ["tags"],
    "$defs": {"Tag": {"type": "string", "enum": ["a", "b"]}},
}


def define(schema: Mapping[str, Any], changes: Mapping[str, Parameter] | None = None) -> ToolDefinition:
    return define_tool(ToolDefinition("key", changes or {}), None, schema)


def one(node: Any, changes: Parameter | None = None, root: Mapping[str, Any] | None = None) -> Parameter:
    """Merge a single parameter."""
    schema = {"properties": {"p": node}, **(root or {})}
    return define(schema, {} if changes is None else {"p": changes}).parameters["p"]


# ------------------------------------------------------------------------------------------ unchanged


@pytest.mark.requirement("F23", "R273")
def test_the_servers_schema_goes_through_to_the_letter() -> None:
    tool = define(F23)
    assert {name: parameter.schema for name, parameter in tool.parameters.items()} == F23["properties"]
    assert [parameter.required for parameter in tool.parameters.values()] == [True, False, False]
    assert tool.schema == F23
    assert tool.name == "key"


@pytest.mark.requirement("F23")
def test_what_is_understood_of_a_schema_serves_to_read_arguments() -> None:
    tool = define(F23)
    assert tool.parameters["tags"].type == "array"
    items = tool.parameters["tags"].items
    assert items is not None
    assert (items.type, list(items.enum)) == ("string", ["a", "b"])
    assert tool.parameters["mode"].type is None
    assert tool.parameters["when"].type == "string"


UNDERSTOOD: dict[str, tuple[Any, Any]] = {
    "a type": ({"type": "integer"}, "integer"),
    "several types": ({"type": ["integer", "null"]}, ("integer", "null")),
    "alternatives": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ("string", "null")),
    "exclusive alternatives": ({"oneOf": [{"type": "string"}, {"type": "number"}]}, ("string", "number")),
    "alternatives by reference": ({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}, ("integer", "null")),
    "an alternative that takes anything": ({"anyOf": [{"type": "string"}, {}]}, None),
    "a reference": ({"$ref": "#/$defs/n"}, "integer"),
    "a chain of references": ({"$ref": "#/$defs/m"}, "integer"),
    "a circle of references": ({"$ref": "#/$defs/circle"}, None),
    "nothing": ({}, None),
    "true": (True, None),
    "nonsense": ({"type": 5}, None),
}
DEFINITIONS = {
    "n": {"type": "integer"},
    "m": {"$ref": "#/$defs/n"},
    "circle": {"$ref": "#/$defs/circle"},
}


@pytest.mark.requirement("F23")
@pytest.mark.parametrize(("node", "type_"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_types_are_found_where_they_are(node: Any, type_: Any) -> None:
    assert one(node, root={"$defs": DEFINITIONS}).type == type_


def test_nested_properties_are_kept_and_understood() -> None:
    node = {
        "type": "object",
        "properties": {
            "line": {"type": "integer"},
            "marks": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
        },
        "required": ["line"],
    }
    parameter = one(node)
    assert parameter.schema == node
    assert parameter.properties["line"] == Parameter("integer", required=True)
    marks = parameter.properties["marks"]
    assert marks.items is not None
    assert marks.items.properties["x"].type == "number"


def test_a_recursive_schema_ends() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}
    parameter = one({"$ref": "#/$defs/tree"}, root={"$defs": {"tree": tree}})
    assert parameter.type == "object"
    assert parameter.schema == {"$ref": "#/$defs/tree"}
    assert parameter.properties["left"].properties["left"].type == "object"


def test_parts_and_alternatives_of_the_whole_count() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/base"}],
        "oneOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}},
        ],
        "$defs": {"base": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    }
    tool = define(schema)
    assert {name: parameter.required for name, parameter in tool.parameters.items()} == {
        "id": True,
        "a": False,
        "b": False,
    }


# ------------------------------------------------------------------------------------------ mended


LEADS_NOWHERE = ["#/$defs/none", "https://example.com/schema", "#/properties/q/x/y", "other.json#/a"]


@pytest.mark.requirement("F23")
@pytest.mark.parametrize("reference", LEADS_NOWHERE)
def test_a_reference_that_leads_nowhere_is_left_out(reference: str) -> None:
    assert one({"$ref": reference, "description": "d"}).schema == {"description": "d"}


@pytest.mark.requirement("F23")
def test_a_reference_within_the_properties_is_replaced_by_what_it_means() -> None:
    # As a widespread generator writes what occurs twice.
    first = {"type": "object", "properties": {"x": {"type": "integer"}}}
    schema = {
        "properties": {
            "first": first,
            "second": {"$ref": "#/properties/first"},
            "third": {"type": "array", "items": {"$ref": "#/properties/first/properties/x"}},
        }
    }
    parameters = define(schema).parameters
    assert parameters["second"].schema == first
    assert parameters["third"].schema == {"type": "array", "items": {"type": "integer"}}


def test_a_reference_to_the_whole_is_followed_once() -> None:
    parameter = one({"type": "array", "items": {"$ref": "#"}}, root={"type": "object"})
    assert parameter.schema == {
        "type": "array",
        "items": {"type": "object", "properties": {"p": {"type": "array", "items": {}}}},
    }


def test_what_is_replaced_is_bounded() -> None:
    doubling = {
        f"p{level}": {
            "properties": {side: {"$ref": f"#/properties/p{level + 1}"} for side in ("left", "right")}
        }
        for level in range(40)
    }
    assert len(str(define({"properties": doubling}).schema)) < 10_000_000


def test_what_is_nested_beyond_sense_is_cut() -> None:
    node: Any = {"type": "string"}
    for _ in range(3000):
        node = {"items": node}
    assert one(node).schema is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "anyOf", "allOf", "required", "enum", "$defs", "a"]
            ),
            children | st.sampled_from(["object", "string", "#", "#/$defs/a", "#/properties/a"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.requirement("F23")
@given(properties=st.dictionaries(st.text(max_size=3), JSON, max_size=3), more=JSON)
def test_whatever_a_server_says_gives_a_definition(properties: Any, more: Any) -> None:
    schema = {**more, "properties": properties} if isinstance(more, dict) else {"properties": properties}
    tool = define(schema)
    assert tool.schema is not None
    assert set(properties) <= set(tool.parameters)


# ------------------------------------------------------------------------------------------ changed

SERVER = {
    "type": "string",
    "description": "The server's words.",
    "enum": ["a", "b", "c"],
    "default": "a",
    "pattern": "^.$",
}

CHANGES: dict[str, tuple[Parameter, dict[str, Any]]] = {
    "enum": (Parameter(None, enum=("a", "b")), {**SERVER, "enum": ["a", "b"]}),
    "default": (Parameter(None, default="b"), {**SERVER, "default": "b"}),
    "the same type": (Parameter("string"), SERVER),
    "description": (Parameter(None, description="Mine."), {**SERVER, "description": "Mine."}),
    "description with the server's": (
        Parameter(None, description="{{description}} Mine."),
        {**SERVER, "description": "The server's words. Mine."},
    ),
    "another type": (Parameter("integer"), {"description": "The server's words.", "type": "integer"}),
    "several types": (
        Parameter(("integer", "null"), default=1),
        {"description": "The server's words.", "type": ["integer", "null"], "default": 1},
    ),
    "items": (
        Parameter("array", items=Parameter("string")),
        {"description": "The server's words.", "type": "array", "items": {"type": "string"}},
    ),
    "summary only": (Parameter(None, summary="Short."), SERVER),
}


@pytest.mark.requirement("R273", "G29")
@pytest.mark.parametrize(("changes", "told"), CHANGES.values(), ids=CHANGES)
def test_a_change_replaces_its_member_and_no_other(changes: Parameter, told: dict[str, Any]) -> None:
    """Trap 29: what the user left out stays the server's, the type above all."""
    assert one(SERVER, changes).schema == told


def test_properties_replace_the_servers() -> None:
    node = {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "required": ["a"],
        "additionalProperties": False,
    }
    rest = {"type": "object", "properties": {"c": {"type": "string"}}, "additionalProperties": False}
    needed = Parameter(None, properties={"c": Parameter("string", required=True)})
    assert one(node, needed).schema == {**rest, "required": ["c"]}
    assert one(node, Parameter(None, properties={"c": Parameter("string")})).schema == rest


def test_a_parameter_can_be_demanded_but_not_excused() -> None:
    schema = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["a"]}
    changes = {"a": Parameter(None), "b": Parameter(None, required=True)}
    tool = define(schema, changes)
    assert [parameter.required for parameter in tool.parameters.values()] == [True, True, False]
    assert tool.schema is not None
    assert tool.schema["required"] == ["a", "b"]


@pytest.mark.requirement("R273")
def test_what_the_user_narrowed_is_what_arguments_are_checked_against() -> None:
    tool = define({"properties": {"p": SERVER}}, {"p": Parameter(None, enum=("a",))})
    assert tool.schema == {
        "type": "object",
        "properties": {"p": {**SERVER, "enum": ["a"]}},
        "required": [],
    }


def test_a_change_of_what_the_server_does_not_have_is_ignored() -> None:
    assert list(define(F23, {"other": Parameter("string")}).parameters) == ["tags", "mode", "when"]


# ------------------------------------------------------------------------------------------ texts


SPLITS = {
    "nothing": (None, (None, None)),
    "blank": (" \n ", (None, None)),
    "one sentence": ("Reads a file.", ("Reads a file.", None)),
    "two sentences": ("Reads a file. Slowly.", ("Reads a file.", "Slowly.")),
    "end of line": ("Reads a file.\nslowly.", ("Reads a file.", "slowly.")),
    "a small letter goes on": ("Reads e.g. a file. Slowly.", ("Reads e.g. a file.", "Slowly.")),
    "other capitals": ("Liest. Ärgerlich.", ("Liest.", "Ärgerlich.")),
    "no full stop": ("Reads a file\nand more\n", ("Reads a file", "and more")),
    "one line": ("reads a file", ("reads a file", None)),
    "a point within": ("Version 1.5 of it", ("Version 1.5 of it", None)),
}


@pytest.mark.parametrize(("text", "parts"), SPLITS.values(), ids=SPLITS)
def test_the_servers_text_is_split(text: str | None, parts: Any) -> None:
    assert split_text(text) == parts


TEXTS: dict[str, tuple[dict[str, Any], tuple[str | None, str | None]]] = {
    "the server's": ({}, ("First.", "Second.")),
    "a summary": ({"summary": "S"}, ("S", None)),
    "a description": ({"description": "D"}, (None, "D")),
    "both": ({"summary": "S", "description": "D"}, ("S", "D")),
    "filled in": ({"description": "{{description}} Extra."}, (None, "First. Second. Extra.")),
    "filled in summary": ({"summary": "> {{description}}"}, ("> First. Second.", None)),
}


@pytest.mark.parametrize(("texts", "expected"), TEXTS.values(), ids=TEXTS)
@pytest.mark.requirement("G30")
def test_the_users_text_goes_before_the_servers(
    texts: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    """Trap 30: `{{description}}` is never sent as it stands."""
    tool = define_tool(ToolDefinition("key", {}, **texts), "First. Second.", F23)
    assert (tool.summary, tool.description) == expected


def test_the_text_of_a_parameter_is_split_for_reading_and_told_whole() -> None:
    node = {"type": "string", "description": "Short. And long."}
    parameter = one(node)
    assert (parameter.summary, parameter.description, parameter.schema) == ("Short.", "And long.", node)
    changed = one(node, Parameter(None, summary="My own", examples="e"))
    assert (changed.summary, changed.description) == ("My own", "Short. And long.")
    assert changed.examples == "e"
    assert changed.schema == node
