"""Where tools come from: local commands, built-ins, MCP servers."""
