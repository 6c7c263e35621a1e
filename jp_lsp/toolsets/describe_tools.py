"""The documentation of tools that is told on demand (config-and-tools 4.10).

A model is sent one line about each tool and parameter. What the user wrote beyond that is asked for here.
"""

from collections.abc import Iterator, Mapping, Sequence

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.definition import Parameter, ToolDefinition
from jp_lsp.tools.outcome import Failed, Succeeded

_BETWEEN = "\n---\n\n"


def describe_tools(wanted: JsonValue, tools: Mapping[str, ToolDefinition]) -> Succeeded | Failed:
    """Write the documentation of some tools.

    Args:
        wanted: the argument `tools` of the call, names in a list.
        tools: the tools of the turn, by name; no others are known.
    """
    if not isinstance(wanted, Sequence) or isinstance(wanted, str):
        return Failed("Missing or invalid `tools` parameter.")
    if not wanted:
        return Failed("The `tools` array must not be empty.")
    names = list(dict.fromkeys(name if isinstance(name, str) else str(name) for name in wanted))
    parts: list[str] = []
    without: list[str] = []
    for name in names:
        text = _document(tools[name]) if name in tools else None
        if text is None:
            without.append(name)
        else:
            parts.append(text)
    if without:
        parts.append(f"No additional documentation available for: {', '.join(without)}\n")
    return Succeeded(_BETWEEN.join(parts))


def _document(tool: ToolDefinition) -> str | None:
    """Write about one tool; `None` if the model was told everything already."""
    details = tool.description if tool.summary else None
    parameters = list(_parameters(tool.parameters))
    if not details and not tool.examples and not parameters:
        return None
    blocks = [f"## {tool.name}", *_texts(tool.summary, tool.description)]
    if tool.examples:
        blocks += ["### Examples", tool.examples.strip()]
    if parameters:
        blocks += ["### Parameters", *parameters]
    return "\n\n".join(blocks) + "\n"


def _parameters(parameters: Mapping[str, Parameter], prefix: str = "") -> Iterator[str]:
    """Write about parameters of which there is more to say, with the fields of objects and of list items."""
    for name, parameter in parameters.items():
        path = f"{prefix}{name}"
        if parameter.description or parameter.examples:
            texts = _texts(parameter.summary, parameter.description, parameter.examples)
            yield "\n\n".join([f"#### `{path}`", *texts])
        yield from _parameters(parameter.properties, f"{path}.")
        if parameter.items is not None:
            yield from _parameters(parameter.items.properties, f"{path}[].")


def _texts(*texts: str | None) -> list[str]:
    return [text.strip() for text in texts if text and text.strip()]
