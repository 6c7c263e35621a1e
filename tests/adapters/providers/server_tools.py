"""A tool that an MCP server describes with much of what a JSON schema can say."""

from jp_lsp.tools.definition import ToolDefinition
from jp_lsp.toolsets.mcp.definitions import define_tool

SERVER_TOOL = define_tool(
    ToolDefinition("t", {}),
    None,
    {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "uniqueItems": True},
            "mode": {"description": "How."},
            "when": {"type": "string", "format": "date-time", "examples": ["2030-01-01T00:00:00Z"]},
            "tree": {"$ref": "#/$defs/Tree"},
            "size": {"oneOf": [{"type": "integer", "x-unit": "px"}, {"type": "string", "minLength": 1}]},
        },
        "required": ["tags", "mode"],
        "$defs": {
            "Tag": {"type": "string", "maxLength": 9},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
        },
    },
)
