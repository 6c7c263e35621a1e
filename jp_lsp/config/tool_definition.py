"""Definitions of tools: what a model is told of them, read from their entries (config-and-tools 4.2)."""

from collections.abc import Iterator, Mapping
from typing import cast

from jp_lsp.config.value import ABSENT, MaybeValue, MergedList, Partial, Path, Value, entries_of
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.definition import Parameter, ToolDefinition


def tool_definition(name: str, tool: Partial, fallback: ToolDefinition | None = None) -> ToolDefinition:
    """Read a definition; what the entry leaves out is that of `fallback`.

    For a tool of an MCP server it holds only what the user changes of the server's own (5.4).
    """
    parameters = read_parameters(tool.get("parameters", ABSENT))
    summary, description = _text(tool, "summary"), _text(tool, "description")
    examples = _text(tool, "examples")
    if fallback is not None:
        parameters = parameters or fallback.parameters
        examples = examples or fallback.examples
        if summary is None and description is None:
            summary, description = fallback.summary, fallback.description
    return ToolDefinition(name, parameters, summary, description, examples=examples)


def read_parameters(value: MaybeValue) -> Mapping[str, Parameter]:
    """Read parameters, in their order."""
    return {name: _parameter(entries_of(node)) for name, node in entries_of(value).items()}


def _parameter(node: Partial) -> Parameter:
    items = node.get("items", ABSENT)
    enum = node.get("enum", ABSENT)
    declared = node.get("type")
    return Parameter(
        type=declared if isinstance(declared, str) else _types(declared),
        required=node.get("required") is True,
        default=cast("JsonValue", node.get("default")),
        summary=_text(node, "summary"),
        description=_text(node, "description"),
        examples=_text(node, "examples"),
        enum=cast("tuple[JsonValue, ...]", enum.items) if isinstance(enum, MergedList) else (),
        items=None if items is ABSENT else _parameter(entries_of(items)),
        properties=read_parameters(node.get("properties", ABSENT)),
    )


def stray_items(parameters: Mapping[str, Parameter], path: Path = ()) -> Iterator[Path]:
    """Give the way to each parameter that describes items although it is not declared as a list."""
    for name, parameter in parameters.items():
        here = (*path, name)
        if parameter.items is not None:
            if parameter.type is not None and parameter.type != "array":
                yield here
            yield from stray_items({"items": parameter.items}, here)
        yield from stray_items(parameter.properties, (*here, "properties"))


def _types(declared: Value) -> tuple[str, ...] | None:
    return cast("tuple[str, ...]", tuple(declared)) if isinstance(declared, (list, tuple)) else None


def _text(table: Partial, name: str) -> str | None:
    value = table.get(name)
    return value if isinstance(value, str) and value else None
