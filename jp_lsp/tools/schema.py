"""Parameters as JSON schema (config-and-tools 4.2, providers 1.8)."""

from collections.abc import Mapping

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.definition import Parameter


def parameter_schema(parameter: Parameter) -> dict[str, JsonValue]:
    """Describe one parameter: as its MCP server did, else with its members in a fixed order."""
    if parameter.schema is not None:
        return dict(parameter.schema)
    schema: dict[str, JsonValue] = {}
    if parameter.type is not None:
        schema["type"] = parameter.type if isinstance(parameter.type, str) else list(parameter.type)
    if description := parameter.summary or parameter.description:
        schema["description"] = description
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    if parameter.items is not None:
        schema["items"] = parameter_schema(parameter.items)
    if parameter.properties:
        schema["properties"] = {name: parameter_schema(child) for name, child in parameter.properties.items()}
        if required := required_names(parameter.properties):
            schema["required"] = required
    return schema


def required_names(parameters: Mapping[str, Parameter]) -> list[str]:
    """List the parameters that a model must give."""
    return [name for name, parameter in parameters.items() if parameter.required]
