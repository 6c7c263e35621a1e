"""From a cycle's request to the JSON body of `streamGenerateContent` (providers 6.3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.google.contents import build_contents
from jp_lsp.providers.google.schema import answer_schema, tool_schema
from jp_lsp.providers.google.thinking import choose_thinking
from jp_lsp.providers.schema import tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.tools.definition import NamedTool, ToolChoice, ToolDefinition

_MOST_STOP_WORDS = 5
"""The API refuses a request with more."""


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body, and sentences about settings that the vendor cannot take."""

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]


def encode(request: CycleRequest) -> EncodedRequest:
    """Write the request. The model is no part of it: it stands in the address."""
    warnings: list[str] = []
    contents = build_contents(request.thread, prefills=request.model.prefill is True)
    body: dict[str, JsonValue] = {"contents": [content.to_json() for content in contents]}
    system = [{"text": part} for part in request.thread.system_parts if part.strip()]
    if (unenforced := needs_words(request)) is not None:
        system.append({"text": schema_in_words(unenforced)})
        warnings.append(warning(request))
    if system:
        body["systemInstruction"] = {"parts": [*system]}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    body["toolConfig"] = {"functionCallingConfig": _calling(request.tool_choice, request.tools)}
    if generation := _generation(request, warnings):
        body["generationConfig"] = generation
    return EncodedRequest(body, tuple(warnings))


def _tool(tool: ToolDefinition) -> JsonValue:
    return {
        "functionDeclarations": [
            {
                "name": tool.name,
                "description": tool_description(tool) or "",
                "parametersJsonSchema": tool_schema(tool),
            }
        ]
    }


def _calling(choice: ToolChoice, tools: Sequence[ToolDefinition]) -> dict[str, JsonValue]:
    # Without tools the mode must say so, or the model calls one that it remembers (trap 55).
    if not tools or choice == "none":
        return {"mode": "NONE"}
    if isinstance(choice, NamedTool):
        return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
    return {"mode": "ANY" if choice == "required" else "VALIDATED"}


def _generation(request: CycleRequest, warnings: list[str]) -> dict[str, JsonValue]:
    parameters = request.parameters
    max_tokens = parameters.max_tokens or request.model.max_output_tokens
    fields: dict[str, JsonValue] = {}
    if max_tokens is not None:
        fields["maxOutputTokens"] = max_tokens
    if parameters.temperature is not None:
        fields["temperature"] = parameters.temperature
    if parameters.top_p is not None:
        fields["topP"] = parameters.top_p
    if parameters.top_k is not None:
        fields["topK"] = parameters.top_k
    if parameters.stop_words:
        fields["stopSequences"] = list(parameters.stop_words[:_MOST_STOP_WORDS])
        if len(parameters.stop_words) > _MOST_STOP_WORDS:
            warnings.append(f"google takes {_MOST_STOP_WORDS} stop words: the others were left out")
    thinking = choose_thinking(request, max_tokens)
    warnings += thinking.warnings
    if thinking.field is not None:
        fields["thinkingConfig"] = thinking.field
    if request.thread.schema is not None and needs_words(request) is None:
        fields["responseMimeType"] = "application/json"
        fields["_responseJsonSchema"] = answer_schema(request.thread.schema)
    return fields
