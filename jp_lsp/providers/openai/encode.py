"""From a cycle's request to the JSON body of `POST /v1/responses` (providers 6.2.1)."""

from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CycleRequest
from jp_lsp.providers.forcing import is_forced
from jp_lsp.providers.openai.items import BuiltInput, build_input
from jp_lsp.providers.openai.models import EXPLICIT_CACHING
from jp_lsp.providers.openai.reasoning import choose_reasoning, sampling_fields
from jp_lsp.providers.portable import portable
from jp_lsp.providers.reasoning import is_ignored
from jp_lsp.providers.schema import strict_schema, strict_transform, tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.tools.definition import NamedTool, ToolDefinition

_VERBOSITIES = ("low", "medium", "high")
_EXPLICIT: JsonObject = {"mode": "explicit"}


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body and what the exchange must know about it.

    `reasons`: thoughts are wanted. `streams` is false for a model whose answer comes whole.
    """

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]
    reasons: bool
    streams: bool


def encode(request: CycleRequest) -> EncodedRequest:
    """Write the request."""
    model, parameters = request.model, request.parameters
    warnings: list[str] = []
    if is_ignored(model.reasoning, parameters.reasoning):
        warnings.append(f"{model.id} does not reason: the reasoning setting was left out")
    unenforced = needs_words(request)
    if unenforced is not None:
        warnings.append(warning(request))
    built = build_input(
        request.thread, instructions=[] if unenforced is None else [schema_in_words(unenforced)]
    )
    reasoning = choose_reasoning(request)
    sampling, dropped = sampling_fields(request, reasoning)
    warnings += (*reasoning.warnings, *dropped, *built.left_out)
    body: dict[str, JsonValue] = {
        "model": model.id.name,
        "input": [*built.items],
        "store": False,
        "stream": model.streams,
        "truncation": "auto",
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": _tool_choice(request),
        **sampling,
        **_cache_fields(request, built),
    }
    if reasoning.field is not None:
        body["reasoning"] = reasoning.field
    if reasoning.is_on:
        body["include"] = ["reasoning.encrypted_content"]
    if text := _text(request, warnings, is_enforced=unenforced is None):
        body["text"] = text
    return EncodedRequest(body, tuple(warnings), reasons=reasoning.is_on, streams=model.streams)


def _tool(tool: ToolDefinition) -> JsonObject:
    described: JsonObject = {"description": text} if (text := tool_description(tool)) else {}
    return {
        "type": "function",
        "name": tool.name,
        **described,
        "strict": True,
        "parameters": strict_schema(tool),
    }


def _tool_choice(request: CycleRequest) -> JsonValue:
    choice = request.tool_choice
    if is_forced(choice) and not request.tools:
        return "auto"  # the API refuses a demand that nothing can meet
    return {"type": "function", "name": choice.name} if isinstance(choice, NamedTool) else choice


def _text(request: CycleRequest, warnings: list[str], *, is_enforced: bool) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {}
    schema = request.thread.schema
    if schema is not None and is_enforced:
        fields["format"] = {
            "type": "json_schema",
            "name": "structured_output",
            "description": "Structured output",
            "strict": True,
            "schema": strict_transform(portable(schema)),
        }
    verbosity = request.parameters.other.get("verbosity")
    if verbosity in _VERBOSITIES:
        fields["verbosity"] = verbosity
    elif verbosity is not None:
        warnings.append(f"openai knows no verbosity {verbosity!r}: it is one of {', '.join(_VERBOSITIES)}")
    return fields


def _cache_fields(request: CycleRequest, built: BuiltInput) -> dict[str, JsonValue]:
    """Mark what stays the same, and name the cache; the vendor keeps it as long as it likes."""
    is_explicit = EXPLICIT_CACHING in request.model.features
    if not request.parameters.cache.seconds:
        return {"prompt_cache_options": _EXPLICIT} if is_explicit else {}
    if is_explicit:
        for items in (built.system, built.attachments):
            if items:
                items[-1]["prompt_cache_breakpoint"] = _EXPLICIT
    microseconds = request.thread.created_at.nanoseconds // 1_000
    return {"prompt_cache_key": f"jp:conversation:{microseconds}"}
