"""From a cycle's request to the JSON body of `POST /api/chat` (providers 6.4)."""

import re
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.forcing import is_forced, nudge
from jp_lsp.providers.ollama.messages import build_messages
from jp_lsp.providers.portable import portable
from jp_lsp.providers.reasoning import is_ignored, resolve, to_level
from jp_lsp.providers.references import without_references
from jp_lsp.providers.schema import plain_schema, tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.providers.untrusted import as_count
from jp_lsp.tools.definition import ToolDefinition

_KEEP_ALIVE = re.compile(r"\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*([smh]?)\s*\Z")
_LEVELED_MODELS = "gpt-oss"
"""The family of models that thinks by level, always; all others take yes or no."""

_LEVELS = {"none": "low", "xlow": "low", "low": "low", "medium": "medium"}


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body, and sentences about settings that the server cannot take."""

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]


def encode(request: CycleRequest) -> EncodedRequest:
    """Write the request."""
    warnings: list[str] = []
    model, parameters, thread = request.model, request.parameters, request.thread
    if is_ignored(model.reasoning, parameters.reasoning):
        warnings.append(f"{model.id} does not reason: the reasoning setting was left out")
    messages, left_out = build_messages(thread, prefills=model.prefill is True)
    if (unenforced := needs_words(request)) is not None:
        messages.insert(len(thread.system_parts), {"role": "system", "content": schema_in_words(unenforced)})
        warnings.append(warning(request))
    if request.tools and is_forced(request.tool_choice):
        # The API cannot force a call; the model can only be told.
        messages.append({"role": "system", "content": nudge(request.tool_choice)})
    body: dict[str, JsonValue] = {
        "model": model.id.name,
        "messages": [*messages],
        "stream": True,
        # Left out, the server would decide, and some models think unless they are told not to (F21).
        "think": _thinking(request),
        "options": _options(request, warnings),
    }
    if request.tools and request.tool_choice != "none":
        body["tools"] = [_tool(tool) for tool in request.tools]
    if thread.schema is not None and unenforced is None:
        body["format"] = thread.schema
    if (keep_alive := _keep_alive(parameters.other.get("keep_alive"), warnings)) is not None:
        body["keep_alive"] = keep_alive
    return EncodedRequest(body, (*warnings, *left_out))


def _thinking(request: CycleRequest) -> JsonValue:
    effort = resolve(request.model.reasoning, request.parameters.reasoning)
    if effort is None:
        return False
    if request.model.id.name.startswith(_LEVELED_MODELS):
        level = to_level(effort, request.parameters.max_tokens or request.model.context_window)
        return "medium" if level in {None, "auto"} else _LEVELS.get(str(level), "high")
    return effort not in {"none", 0}


def _options(request: CycleRequest, warnings: list[str]) -> dict[str, JsonValue]:
    parameters = request.parameters
    fields: dict[str, JsonValue] = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "top_k": parameters.top_k,
        "num_predict": parameters.max_tokens,
        "stop": list(parameters.stop_words) or None,
    }
    if (window := parameters.other.get("context_window")) is not None:
        fields["num_ctx"] = as_count(window) or None
        if fields["num_ctx"] is None:
            warnings.append(f"ollama takes no context_window {window!r}: the setting was left out")
    return {name: value for name, value in fields.items() if value is not None}


def _keep_alive(given: JsonValue, warnings: list[str]) -> str | None:
    """Read how long the model shall stay loaded: a number of minutes, or one with a unit."""
    if given is None:
        return None
    match = _KEEP_ALIVE.match(str(given))
    if match is None:
        warnings.append(f"ollama takes no keep_alive {given!r}: the setting was left out")
        return None
    return f"{match[1]}{match[2] or 'm'}"


def _tool(tool: ToolDefinition) -> JsonValue:
    schema = plain_schema(tool)
    if any(parameter.schema for parameter in tool.parameters.values()):
        schema = portable(without_references(schema))
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool_description(tool) or "",
            "parameters": schema,
        },
    }
