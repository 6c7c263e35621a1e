"""Requests as the recordings of vendors write them, and as our own values.

The README of the recordings says how they are meant; this module is that page as code.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    EventKind,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.thread import Attachment, BinaryAttachment, TextAttachment, Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import (
    Adaptive,
    Budgetted,
    CachePolicy,
    CycleRequest,
    Effort,
    Leveled,
    ModelDetails,
    ModelId,
    ModelParameters,
    ReasoningSupport,
    ReasoningWish,
    Unsupported,
)
from jp_lsp.tools.definition import NamedTool, Parameter, ToolChoice, ToolDefinition
from tests.adapters.providers.replay import Json
from tests.support.shared import shared_files

CREATED_AT = Timestamp.parse("2020-01-01T00:00:00Z")


def load(path: Path) -> Json:
    """Read a recording."""
    with path.open(encoding="utf-8") as file:
        return json.load(file)


def recorded_steps(providers: Iterable[str], is_wanted: Callable[[Json, Json], bool]) -> list[Any]:
    """Parameters `path, number` for the steps that are wanted, of a recording and a step, of all recordings."""
    return [
        pytest.param(path, number, id=f"{recording['provider']}/{recording['case']}[{number}]")
        for provider in providers
        for path in shared_files(f"recordings/{provider}/**/*.json")
        for recording in [load(path)]
        for number, step in enumerate(recording["steps"])
        if is_wanted(recording, step)
    ]


def conversation_of(recording: Json, step: Json) -> list[Json]:
    """Give the entries that the step sends."""
    if step["kind"] == "encode_request":
        return compacted(step["conversation"], step["compactions"])
    entries = recording.get("conversation") or recording["expected_conversation"]
    return entries[: step["history_length"]]


def request_of(recording: Json, step: Json) -> CycleRequest:
    """Build the cycle's request from a step's input and history."""
    given = step["input"]
    model = _model(given["model"])
    events = [
        ThreadEvent(ConversationEvent(CREATED_AT, kind, entry.get("metadata") or {}), recording["provider"])
        for entry in conversation_of(recording, step)
        if (kind := _kind(entry)) is not None
    ]
    system = given.get("system_prompt")
    return CycleRequest(
        model=model,
        thread=Thread(
            system_parts=[system] if system else [],
            attachments=[_attachment(item) for item in given["attachments"]],
            events=[event for event in events if not isinstance(event.event.kind, TurnStart)],
            schema=_active_schema(events),
            created_at=CREATED_AT,
        ),
        parameters=ModelParameters(
            reasoning=_wish(given["reasoning"]),
            other=given["other"],
            cache=CachePolicy(0 if given["cache"] == "off" else 300),
        ),
        tools=[_tool(tool) for tool in given["tools"]],
        tool_choice=_choice(given["tool_choice"]),
    )


def compacted(entries: Sequence[Json], compactions: Sequence[Json]) -> list[Json]:
    """Apply compactions as the recordings mean them; the product's own projection has its own tests."""
    turns: list[list[Json]] = []
    for entry in entries:
        if entry["type"] == "turn_start":
            turns.append([])
        turns[-1].append(entry)
    for compaction in compactions:
        affected = range(compaction["from_turn"], compaction["to_turn"] + 1)
        if "summary" in compaction:
            for i in affected:
                turns[i] = []
            turns[affected[0]] = [
                {"type": "chat_request", "content": "[Summary of previous conversation]"},
                {"type": "chat_response", "kind": "message", "message": compaction["summary"]},
            ]
            continue
        for i in affected:
            turns[i] = [
                kept for entry in turns[i] if (kept := _compacted_entry(entry, compaction)) is not None
            ]
    return [entry for turn in turns for entry in turn]


def _compacted_entry(entry: Json, compaction: Json) -> Json | None:
    if compaction.get("reasoning") == "strip" and entry.get("kind") == "reasoning":
        return None
    calls = compaction.get("tool_calls")
    if calls == "omit" and entry["type"].startswith("tool_call"):
        return None
    if isinstance(calls, dict) and calls["strip"]["request"] and entry["type"] == "tool_call_request":
        return {**entry, "arguments": {}}
    return entry


def _kind(entry: Json) -> EventKind | None:
    match entry["type"], entry.get("kind"):
        case "turn_start", _:
            return TurnStart()
        case "chat_request", _:
            return ChatRequest(entry["content"], entry.get("schema"))
        case "chat_response", "message":
            return MessageResponse(entry["message"])
        case "chat_response", "reasoning":
            return ReasoningResponse(entry["reasoning"])
        case "chat_response", "structured":
            return StructuredResponse(entry["data"])
        case "tool_call_request", _:
            return ToolCallRequest(CallId(entry["id"]), entry["name"], entry["arguments"])
        case "tool_call_response", _:
            return ToolCallResponse(CallId(entry["id"]), entry["content"], entry["is_error"])
        case "config_delta", _:
            return None
        case _:
            raise AssertionError(f"unknown entry {entry}")


def _active_schema(events: Iterable[ThreadEvent]) -> Any:
    """The schema of the first request of the last turn."""
    first: ChatRequest | None = None
    for event in events:
        match event.event.kind:
            case TurnStart():
                first = None
            case ChatRequest() as request if first is None:
                first = request
            case _:
                pass
    return first.schema if first else None


def _model(given: Json) -> ModelDetails:
    provider, _, name = given["id"].partition("/")
    return ModelDetails(
        ModelId(provider, name),
        context_window=given.get("context_window"),
        max_output_tokens=given.get("max_output_tokens"),
        reasoning=reasoning_of(given.get("reasoning")),
        structured_output=given.get("structured_output"),
        prefill=given.get("prefill"),
        features=frozenset(given["features"]),
    )


def reasoning_of(given: Json | None) -> ReasoningSupport | None:
    """Read what a model can do."""
    if given is None:
        return None
    if not given["supported"]:
        return Unsupported()
    match given["mode"]:
        case "budgetted":
            return Budgetted(given["can_disable"], given["min_tokens"], given["max_tokens"])
        case "adaptive":
            return Adaptive(given["can_disable"], "xhigh" in given["levels"], "max" in given["levels"])
        case "leveled":
            return Leveled(given["can_disable"], frozenset(given["levels"]))
        case mode:
            raise AssertionError(f"unknown mode {mode}")


def _wish(given: Any) -> ReasoningWish:
    return Effort(given["effort"], given["exclude"]) if isinstance(given, dict) else given


def _attachment(given: Json) -> Attachment:
    if given["kind"] == "binary":
        data = base64.b64decode(given["data_base64"])
        return BinaryAttachment(given["source"], data, given["media_type"], given.get("description"))
    return TextAttachment(given["source"], given["text"], given.get("description"))


def _choice(given: Any) -> ToolChoice:
    return NamedTool(given["function"]) if isinstance(given, dict) else given


def _tool(given: Json) -> ToolDefinition:
    parameters = {name: _parameter(parameter) for name, parameter in given["parameters"].items()}
    return ToolDefinition(given["name"], parameters, description=given["description"])


def _parameter(given: Json) -> Parameter:
    return Parameter(
        type=given["type"],
        required=given["required"],
        default=given.get("default"),
        enum=given.get("enum") or (),
        items=_parameter(given["items"]) if given.get("items") else None,
        properties={name: _parameter(child) for name, child in (given.get("properties") or {}).items()},
    )


# What is compared of the bodies that are sent


def corrected(body: Json, given: Json) -> Json:
    """Give a recorded body with its tools in the vendor's own form.

    The recorded client of one vendor wrote `Function` for the type, and the properties without the object
    around them; the README names this as an oddity of the recordings.
    """
    tools = body.get("tools") or []
    if not any(tool.get("type") == "Function" for tool in tools):
        return body
    required = {
        tool["name"]: [name for name, parameter in tool["parameters"].items() if parameter["required"]]
        for tool in given["tools"]
    }
    return {**body, "tools": [_corrected_tool(tool["function"], required) for tool in tools]}


def _corrected_tool(function: Json, required: Mapping[str, Sequence[str]]) -> Json:
    schema = {"type": "object", "properties": function["parameters"], "required": required[function["name"]]}
    return {"type": "function", "function": {**function, "parameters": schema}}


def comparable(body: Any) -> Any:
    """Drop what the comparison of bodies ignores: nulls and empty lists."""
    if isinstance(body, dict):
        return {name: comparable(value) for name, value in body.items() if value is not None and value != []}
    if isinstance(body, list):
        return [comparable(item) for item in body]
    return body
