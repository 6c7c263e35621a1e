"""From a cycle's request to the JSON body of `POST /v1/messages` (providers 6.1.1 to 6.1.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.anthropic.caching import mark_for_cache
from jp_lsp.providers.anthropic.messages import Block, build_messages
from jp_lsp.providers.anthropic.structured import transform
from jp_lsp.providers.anthropic.thinking import INTERLEAVED_BETA, choose_thinking, sampling_fields
from jp_lsp.providers.forcing import is_forced, nudge
from jp_lsp.providers.reasoning import is_ignored, known_to_disable
from jp_lsp.providers.schema import plain_schema, tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.providers.untrusted import as_object
from jp_lsp.tools.definition import NamedTool, ToolChoice, ToolDefinition

CONTEXT_EDITING_BETA = "context-editing-2025-06-27"
STRUCTURED_BETA = "structured-outputs-2025-10-27"

_DEFAULT_MAX_TOKENS = 2048
_CLEAR_TOOL_USES: JsonObject = {"edits": [{"type": "clear_tool_uses_20250919"}]}


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body and what the exchange must know about it.

    `owed` is a tool choice that could not be forced, only asked for. `can_disable`: the model can answer
    without thinking. `may_chain`: the length of the answer is not the user's wish, so it may be continued.
    """

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]
    owed: ToolChoice | None
    can_disable: bool
    may_chain: bool


def encode(request: CycleRequest, beta_headers: Sequence[str] = ()) -> EncodedRequest:
    """Write the request."""
    model, parameters = request.model, request.parameters
    warnings: list[str] = []
    if is_ignored(model.reasoning, parameters.reasoning):
        warnings.append(f"{model.id} does not reason: the reasoning setting was left out")
    max_tokens = parameters.max_tokens or model.max_output_tokens
    if max_tokens is None:
        max_tokens = _DEFAULT_MAX_TOKENS
        warnings.append(f"the output limit of {model.id} is not known: {max_tokens} tokens are used")

    built = build_messages(request.thread, prefills=model.prefill is True)
    thinking = choose_thinking(
        request,
        max_tokens=max_tokens,
        is_interleaved=INTERLEAVED_BETA in beta_headers,
        is_allowed=not built.is_prefilled,
    )
    sampling, dropped = sampling_fields(request, thinking)
    warnings += (*thinking.warnings, *dropped, *built.left_out)

    body: dict[str, JsonValue] = {
        "model": model.id.name,
        "messages": [message.to_json() for message in built.messages],
        "max_tokens": max_tokens,
        "stream": True,
        **sampling,
    }
    stop_words = [word for word in parameters.stop_words if word.strip()]
    if stop_words:
        body["stop_sequences"] = [*stop_words]
    if len(stop_words) < len(parameters.stop_words):
        warnings.append("anthropic takes no stop words of blanks only: they were left out")
    if thinking.field is not None:
        body["thinking"] = thinking.field
    if output_config := _output_config(request, thinking.effort):
        body["output_config"] = output_config
    if CONTEXT_EDITING_BETA in beta_headers:
        body["context_management"] = as_object(parameters.other.get("context_management")) or _CLEAR_TOOL_USES
    if needs_words(request) is not None:
        warnings.append(warning(request))

    choice = _simplified(request.tool_choice, request.tools)
    owed = choice if request.tools and is_forced(choice) and thinking.forbids_forcing else None
    tools = _tools(request, beta_headers)
    if tools:
        body["tools"] = tools
        body["tool_choice"] = tool_choice_field("auto" if owed else choice)
    standing, passing = _system(request, owed)
    if standing or passing:
        body["system"] = [*standing, *passing]
    mark_for_cache(
        body,
        parameters.cache,
        documents=built.documents,
        system=standing,
        tools=tools,
        marked=built.marked,
    )
    return EncodedRequest(
        body,
        tuple(warnings),
        owed=owed,
        can_disable=known_to_disable(model.reasoning),
        may_chain=parameters.max_tokens is None and request.thread.schema is None,
    )


def _system(request: CycleRequest, owed: ToolChoice | None) -> tuple[list[Block], list[Block]]:
    """Give the system blocks that stand, and those that come and go with single queries."""
    standing = [_text(part) for part in request.thread.system_parts if part.strip()]
    passing: list[Block] = []
    if (unenforced := needs_words(request)) is not None:
        passing.append(_text(schema_in_words(unenforced)))
    if owed is not None:
        passing.append(_text(nudge(owed)))
    return standing, passing


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _tools(request: CycleRequest, beta_headers: Sequence[str]) -> list[Block]:
    is_strict = request.model.structured_output is True and STRUCTURED_BETA in beta_headers
    return [_tool(tool, is_strict=is_strict) for tool in request.tools]


def tool_choice_field(choice: ToolChoice) -> dict[str, JsonValue]:
    """Write a tool choice."""
    if choice == "none":
        return {"type": "none"}
    parallel: dict[str, JsonValue] = {"disable_parallel_tool_use": False}
    if isinstance(choice, NamedTool):
        return {"type": "tool", "name": choice.name, **parallel}
    return {"type": "any" if choice == "required" else "auto", **parallel}


def _simplified(choice: ToolChoice, tools: Sequence[ToolDefinition]) -> ToolChoice:
    # With a single tool, naming it makes the vendor's models answer oddly; "any" comes to the same.
    return "required" if isinstance(choice, NamedTool) and len(tools) == 1 else choice


def _output_config(request: CycleRequest, effort: str | None) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {}
    if request.thread.schema is not None and needs_words(request) is None:
        config["format"] = {"type": "json_schema", "schema": transform(request.thread.schema)}
    if effort is not None:
        config["effort"] = effort
    return config


def _tool(tool: ToolDefinition, *, is_strict: bool) -> Block:
    schema = plain_schema(tool)
    if not schema["required"]:
        del schema["required"]
    block: Block = {"type": "custom", "name": tool.name}
    if description := tool_description(tool):
        block["description"] = description
    block["input_schema"] = transform(schema) if is_strict else schema
    if is_strict:
        block["strict"] = True
    return block
