"""A tool as the model is told of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: a node of JSON schema (config-and-tools 4.2).

    `schema` is set where an MCP server wrote the schema: this is what the model is told, to the letter, and
    the other members are what of it we understand (5.4).
    """

    type: str | Sequence[str] | None
    required: bool = False
    default: JsonValue = None
    summary: str | None = None
    description: str | None = None
    examples: str | None = None
    enum: Sequence[JsonValue] = ()
    items: "Parameter | None" = None
    properties: "Mapping[str, Parameter]" = field(default_factory=lambda: {})
    schema: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a provider needs to offer a tool; parameters keep their configured order.

    `examples`, and `description` beside a `summary`, are told on demand only (`describe_tools`).
    `schema` is set for a tool of an MCP server: the schema of all arguments with the user's changes, which
    calls are checked against. Its `$defs` and `definitions` are where the parameters' schemas refer to.
    """

    name: str
    parameters: Mapping[str, Parameter]
    summary: str | None = None
    description: str | None = None
    schema: JsonObject | None = None
    examples: str | None = None


@dataclass(frozen=True, slots=True)
class NamedTool:
    """The choice of one certain tool."""

    name: str


ToolChoice = Literal["auto", "none", "required"] | NamedTool
