"""From a cycle's request to the JSON body of a chat completion (providers 6.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.messages import build_messages
from jp_lsp.providers.reasoning import is_ignored, resolve
from jp_lsp.providers.schema import loose_schema, strict_schema, tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.tools.definition import NamedTool, ToolDefinition


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body, and sentences about settings that the vendor cannot take."""

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]


def encode(request: CycleRequest, dialect: Dialect) -> EncodedRequest:
    """Write the request as this dialect wants it."""
    parameters = request.parameters
    warnings: list[str] = []
    effort = resolve(request.model.reasoning, parameters.reasoning)
    if is_ignored(request.model.reasoning, parameters.reasoning):
        warnings.append(f"{request.model.id} does not reason: the reasoning setting was left out")
    reasoning = dialect.reasoning_fields(request, effort)
    prefills = dialect.prefills if request.model.prefill is None else request.model.prefill
    messages, left_out = build_messages(
        request.thread, dialect, prefills=prefills and not reasoning.is_thinking
    )
    if (unenforced := needs_words(request)) is not None:
        messages.insert(
            len(request.thread.system_parts), {"role": "system", "content": schema_in_words(unenforced)}
        )
        warnings.append(warning(request))
    body: dict[str, JsonValue] = {
        "model": request.model.id.name,
        "messages": messages,
        "stream": True,
        **reasoning.fields,
    }
    if dialect.asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    _add_sampling(body, request, dialect, warnings)
    _add_tools(body, request, dialect)
    if (schema := request.thread.schema) is not None and unenforced is None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "structured_output", "schema": schema, "strict": True},
        }
    return EncodedRequest(body, (*warnings, *left_out))


def _add_sampling(
    body: dict[str, JsonValue], request: CycleRequest, dialect: Dialect, warnings: list[str]
) -> None:
    parameters = request.parameters
    if parameters.max_tokens is not None:
        body[dialect.max_tokens_member] = parameters.max_tokens
    if parameters.temperature is not None:
        body["temperature"] = parameters.temperature
    if parameters.top_p is not None:
        body["top_p"] = parameters.top_p
    if parameters.top_k is not None:
        if dialect.takes_top_k:
            body["top_k"] = parameters.top_k
        else:
            warnings.append(f"{dialect.provider} takes no top_k: the setting was left out")
    if parameters.stop_words:
        if dialect.takes_stop:
            body["stop"] = list(parameters.stop_words)
        else:
            warnings.append(f"{dialect.provider} takes no stop words: the setting was left out")


def _add_tools(body: dict[str, JsonValue], request: CycleRequest, dialect: Dialect) -> None:
    if not request.tools:
        return
    choice = request.tool_choice
    offered: Sequence[ToolDefinition] = request.tools
    if not isinstance(choice, NamedTool):
        body["tool_choice"] = choice
    elif dialect.named_choice == "object":
        body["tool_choice"] = {"type": "function", "function": {"name": choice.name}}
    else:
        # The server cannot be told which tool, only that there must be one: so it is offered no other.
        body["tool_choice"] = "required"
        offered = [tool for tool in request.tools if tool.name == choice.name] or offered
    body["tools"] = [_tool(tool, dialect) for tool in offered]


def _tool(tool: ToolDefinition, dialect: Dialect) -> dict[str, JsonValue]:
    function: dict[str, JsonValue] = {
        "name": tool.name,
        "description": tool_description(tool) or "",
        "parameters": strict_schema(tool) if dialect.strict_tools else loose_schema(tool),
    }
    if dialect.strict_tools:
        function["strict"] = True
    return {"type": "function", "function": function}
