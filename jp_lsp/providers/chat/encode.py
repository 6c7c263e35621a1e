"""From a cycle's request to the JSON body of a chat completion (providers 6.5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.ports.provider import CycleRequest, Effort
from jp_lsp.providers.chat.dialect import Dialect, ReasoningFields, Setting, without
from jp_lsp.providers.chat.messages import Message, build_messages, text_block
from jp_lsp.providers.forcing import is_forced, nudge
from jp_lsp.providers.reasoning import always_reasons, is_ignored, resolve
from jp_lsp.providers.schema import loose_schema, strict_schema, tool_description
from jp_lsp.providers.structured_fallback import needs_words, schema_in_words, warning
from jp_lsp.providers.untrusted import pick
from jp_lsp.tools.definition import NamedTool, ToolChoice, ToolDefinition


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """A body, and sentences about settings that the vendor cannot take.

    `owed` is a demand for a tool that could only be put into words; `can_disable`: it can be made in earnest by
    a request without thinking.
    """

    body: dict[str, JsonValue]
    warnings: tuple[str, ...]
    owed: ToolChoice | None = None
    can_disable: bool = True


def encode(request: CycleRequest, dialect: Dialect) -> EncodedRequest:
    """Write the request as this dialect wants it."""
    parameters = request.parameters
    warnings: list[str] = []
    effort = resolve(request.model.reasoning, parameters.reasoning)
    if is_ignored(request.model.reasoning, parameters.reasoning):
        warnings.append(f"{request.model.id} does not reason: the reasoning setting was left out")
    reasoning = dialect.reasoning_fields(request, effort)
    if isinstance(parameters.reasoning, Effort) and effort is not None and not reasoning.takes_effort:
        warnings.append(
            f"{request.model.id} is not known to take an effort: the reasoning setting was left out"
        )
    prefills = dialect.prefills if request.model.prefill is None else request.model.prefill
    may_prefill = prefills and not reasoning.is_thinking
    if dialect.write_messages is None:
        written = build_messages(request.thread, dialect, prefills=may_prefill)
    else:
        written = dialect.write_messages(request, may_prefill)
    messages = written.messages
    # A vendor that cannot hold any model to a schema holds none to it, whatever is known of the model.
    unenforced = needs_words(request) if dialect.enforces_schemas else request.thread.schema
    if unenforced is not None:
        standing = messages[: len(request.thread.system_parts)]
        behind = sum(message["role"] == "system" for message in standing)
        messages.insert(behind, _instruction(schema_in_words(unenforced), dialect))
        warnings.append(warning(request))
    can_disable = not always_reasons(request.model.reasoning)
    can_only_ask = _can_only_ask(request, dialect, reasoning, can_disable=can_disable)
    owed = request.tool_choice if can_only_ask else None
    if owed is not None:
        messages.insert(0, _instruction(nudge(owed), dialect))
    body: dict[str, JsonValue] = {
        "model": request.model.id.name,
        "messages": [*messages],
        "stream": True,
        **pick(parameters.other, dialect.passes_on),
        **reasoning.fields,
    }
    if dialect.asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    _add_sampling(body, request, dialect, warnings, is_thinking=reasoning.is_thinking)
    _add_tools(body, request, dialect, "auto" if owed else request.tool_choice)
    _add_format(body, request.thread.schema, dialect, is_enforced=unenforced is None)
    return EncodedRequest(body, (*warnings, *written.left_out), owed, can_disable)


def _instruction(text: str, dialect: Dialect) -> Message:
    return {"role": "system", "content": [text_block(text)] if dialect.writes_blocks else text}


def _can_only_ask(
    request: CycleRequest, dialect: Dialect, reasoning: ReasoningFields, *, can_disable: bool
) -> bool:
    """Whether a tool is demanded that the vendor cannot force now."""
    is_demanded = bool(request.tools) and is_forced(request.tool_choice)
    return is_demanded and dialect.asks_while_thinking and (reasoning.is_thinking or not can_disable)


def _add_format(
    body: dict[str, JsonValue], schema: JsonObject | None, dialect: Dialect, *, is_enforced: bool
) -> None:
    if schema is None:
        return
    if is_enforced:
        written = schema if dialect.response_schema is None else dialect.response_schema(schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "structured_output", "schema": written, "strict": True},
        }
    elif dialect.json_mode:
        body["response_format"] = {"type": "json_object"}


def _add_sampling(
    body: dict[str, JsonValue],
    request: CycleRequest,
    dialect: Dialect,
    warnings: list[str],
    *,
    is_thinking: bool,
) -> None:
    parameters = request.parameters
    if parameters.max_tokens is not None:
        body[dialect.max_tokens_member] = parameters.max_tokens
    stop: JsonValue = list(parameters.stop_words) or None
    wanted: dict[Setting, JsonValue] = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "top_k": parameters.top_k,
        "stop": stop,
    }
    for setting, value in wanted.items():
        if value is None:
            continue
        named = "stop words" if setting == "stop" else setting
        if setting == "top_k" and not dialect.takes_top_k:
            warnings.append(f"{dialect.provider} takes no {named}: the setting was left out")
        elif without(setting) in request.model.features:
            warnings.append(f"{request.model.id} takes no {named}: the setting was left out")
        elif is_thinking and not dialect.samples_while_thinking and setting != "stop":
            warnings.append(f"{request.model.id} takes no {named} while it thinks: the setting was left out")
        else:
            body[setting] = value


def _add_tools(
    body: dict[str, JsonValue], request: CycleRequest, dialect: Dialect, choice: ToolChoice
) -> None:
    if not request.tools:
        return
    offered: Sequence[ToolDefinition] = request.tools
    if not isinstance(choice, NamedTool) or dialect.named_choice == "object":
        body["tool_choice"] = choice_field(choice)
    else:
        # The server cannot be told which tool, only that there must be one: so it is offered no other.
        body["tool_choice"] = "required"
        offered = [tool for tool in request.tools if tool.name == choice.name] or offered
    body["tools"] = [_tool(tool, dialect) for tool in offered]


def choice_field(choice: ToolChoice) -> JsonValue:
    """Write a tool choice."""
    if isinstance(choice, NamedTool):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def _tool(tool: ToolDefinition, dialect: Dialect) -> dict[str, JsonValue]:
    description = tool_description(tool) or ""
    function: dict[str, JsonValue] = {"name": tool.name}
    if description or dialect.describes_all:
        function["description"] = description
    function["parameters"] = strict_schema(tool) if dialect.strict_tools else loose_schema(tool)
    if dialect.strict_tools:
        function["strict"] = True
    return {"type": "function", "function": function}
