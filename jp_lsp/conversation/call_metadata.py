"""What is noted at a stored call and at its response, so that it can be shown again as it was (query pipeline 3.2, 3.3, 5.8).

The call itself keeps the arguments as the model wrote them.
"""

from jp_lsp.conversation.event import ConversationEvent

DECISION = "decision"
"""How it was decided whether the tool runs: `run` and `skip` are the user's words."""

TOOL_SOURCE = "tool_source"
"""Where the tool comes from, `mcp` or `builtin`, unless it is a local command."""

TOOL_SERVER = "tool_server"
"""The MCP server of the tool."""

RESULT_DECISION = "result_decision"
"""How it was decided what the model gets of the result; noted at the response."""

PREPARED_ARGUMENTS = "prepared_arguments"
"""What the tool's declared types and defaults made of the arguments, where that is something else."""

EDITED_ARGUMENTS = "edited_arguments"
"""What the user made of the arguments."""

EDITED_BEHIND = "edited_behind"
"""How many results of the same response had been shown when what the user made of the arguments was."""

RENDERED_ARGUMENTS = "rendered_arguments"
"""What a formatter command wrote of the arguments, in base64."""

RENDERED_EDITED_ARGUMENTS = "rendered_edited_arguments"
"""What a formatter command wrote of the edited arguments, in base64."""


def was_approved(call: ConversationEvent) -> bool:
    """Tell whether a call that has no response was let run; then it may have had effects before it was cut off."""
    return call.metadata.get(DECISION) in {"run", "policy", "remembered"}


def shown_decision(decision: object, result_decision: object) -> str | None:
    """Say how it came to a result, as it is shown with it; that the user let the tool run goes without saying."""
    shown = decision if result_decision is None else result_decision
    return shown if isinstance(shown, str) and shown != "run" else None
