"""Texts that answer a tool call which did not run (query pipeline 3.13)."""

from jp_lsp.conversation.event import ConversationEvent, ToolCallRequest, ToolCallResponse
from jp_lsp.conversation.timestamp import Timestamp


def unavailable(call: ToolCallRequest) -> ToolCallResponse:
    """Answer a call to a tool that is not offered."""
    text = f'Tool "{call.name}" is not enabled in this conversation; do not call it again until it is listed.'
    return ToolCallResponse(call.id, text, is_error=True)


def bad_arguments(call: ToolCallRequest, problem: str) -> ToolCallResponse:
    """Answer a call whose arguments could not be read."""
    text = f"Arguments were not a JSON object ({problem}); the tool did not run."
    return ToolCallResponse(call.id, text, is_error=True)


def not_run(call: ToolCallRequest) -> ToolCallResponse:
    """Answer a call that the end of the turn overtook."""
    return ToolCallResponse(call.id, "The turn ended before this tool ran.", is_error=True)


def response_without_running(event: ConversationEvent, at: Timestamp) -> ConversationEvent:
    """Answer a stored call that no tool will run, with the error that helps the model."""
    assert isinstance(event.kind, ToolCallRequest)
    problem = event.metadata.get("arguments_error")
    response = bad_arguments(event.kind, problem) if isinstance(problem, str) else unavailable(event.kind)
    return ConversationEvent(at, response)
