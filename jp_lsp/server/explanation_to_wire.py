"""What a query would send, as JSON (query pipeline 7.3)."""

import json

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.thread import Attachment, BinaryAttachment
from jp_lsp.render.text import clean, clean_line
from jp_lsp.tools.definition import NamedTool, ToolDefinition
from jp_lsp.tools.schema import parameter_schema, required_names
from jp_lsp.tools.spec import BuiltinSource, LocalSource, McpSource, ToolSpec
from jp_lsp.turn.explanation import Explanation, ValueOrigin

SCHEMA_VERSION = 1


def explanation_to_wire(explanation: Explanation) -> JsonObject:
    """Give the `explanation` of a result."""
    prompt = explanation.system_prompt
    return {
        "schemaVersion": SCHEMA_VERSION,
        **_present(systemPrompt=None if prompt is None else clean(prompt)),
        "sections": [_section(section) for section in explanation.sections],
        "tools": [_tool(spec) for spec in explanation.tools],
        "droppedTools": [
            {"name": clean_line(name), "reason": clean(reason)}
            for name, reason in explanation.dropped_tools.items()
        ],
        "attachments": [_attachment(item) for item in explanation.attachments],
        "request": _request(explanation),
        "origins": [_origin(origin) for origin in explanation.origins],
        "effects": [clean(effect) for effect in explanation.effects],
    }


def _section(section: Section) -> JsonObject:
    return {"content": clean(section.content), **_present(tag=section.tag, title=section.title)}


def _tool(spec: ToolSpec) -> JsonObject:
    definition = spec.definition
    description = definition.summary or definition.description
    return {
        "name": clean_line(spec.name),
        **_source(spec),
        **_present(description=None if description is None else clean(description)),
        "parameters": _parameters(definition),
    }


def _source(spec: ToolSpec) -> JsonObject:
    match spec.source:
        case LocalSource():
            return {"source": "local"}
        case McpSource(server):
            return {"source": "mcp", "server": server}
        case BuiltinSource():
            return {"source": "builtin"}


def _parameters(definition: ToolDefinition) -> JsonObject:
    if definition.schema is not None:
        return definition.schema
    properties = {name: parameter_schema(each) for name, each in definition.parameters.items()}
    return {"type": "object", "properties": properties, "required": required_names(definition.parameters)}


def _attachment(item: Attachment) -> JsonObject:
    title = None if item.description is None else clean_line(item.description)
    media_type = item.media_type if isinstance(item, BinaryAttachment) else None
    data = item.data if isinstance(item, BinaryAttachment) else item.text.encode("utf-8", "replace")
    return {
        "source": clean_line(item.source),
        **_present(title=title, mediaType=media_type),
        "size": len(data),
    }


def _request(explanation: Explanation) -> JsonObject:
    request, choice = explanation.request, explanation.tool_choice
    return {
        "model": clean_line(explanation.model),
        "text": request.content,
        **_present(jsonSchema=None if request.schema is None else json.dumps(request.schema)),
        "toolChoice": {"name": choice.name} if isinstance(choice, NamedTool) else choice,
        "earlierEvents": explanation.event_count,
    }


def _origin(origin: ValueOrigin) -> JsonObject:
    return {
        "key": clean_line(origin.key),
        **_present(value=origin.value),
        "places": [
            {"layer": place.layer, "name": clean_line(place.name), **_present(line=place.line)}
            for place in origin.places
        ],
    }


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: field for name, field in fields.items() if field is not None}
