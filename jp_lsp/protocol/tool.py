"""Wire types about tools: which call, from where, and how far it is."""

from typing import Literal

from typing_extensions import TypeAliasType

from jp_lsp.protocol.base import WireModel

ToolSource = TypeAliasType("ToolSource", Literal["local", "mcp", "builtin"])
"""Where a tool comes from: a configured command, an MCP server, or this program."""

CallState = TypeAliasType(
    "CallState",
    Literal[
        "receiving",
        "pending",
        "awaiting_run_mode",
        "running",
        "awaiting_tool_input",
        "awaiting_inquiry",
        "awaiting_result_mode",
        "completed",
        "cancelled",
    ],
)
"""How far a call is; the `awaiting_` states wait for an answer, `awaiting_inquiry` for a model's."""


class Call(WireModel):
    """A tool call as a list of turns shows it."""

    call_id: str
    name: str
    state: CallState


class ToolSwitch(WireModel):
    """Switches one tool on or off; without a name, all tools that need not be named for it."""

    enable: bool
    name: str | None = None


class NamedTool(WireModel):
    """The wish that the model calls one certain tool."""

    name: str
