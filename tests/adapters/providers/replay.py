"""Plays recorded vendor exchanges through the pure half of an adapter.

The README of the recordings says how they are meant; this module is that page as code. A recording is found
by its path, so new vendors join by adding a line to `EXCHANGES`.
"""

import base64
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from jp_lsp.conversation.thread import (
    Attachment,
    BinaryAttachment,
    TextAttachment,
    Thread,
    ThreadEvent,
)
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
from jp_lsp.providers.anthropic.adapter import ERRORS as ANTHROPIC_ERRORS
from jp_lsp.providers.anthropic.encode import encode as encode_anthropic
from jp_lsp.providers.anthropic.exchange import MessagesExchange
from jp_lsp.providers.chat import cerebras, compatible, deepseek, llamacpp, lmstudio, openrouter, xai
from jp_lsp.providers.chat.dialect import Dialect
from jp_lsp.providers.chat.encode import encode as encode_chat
from jp_lsp.providers.chat.exchanges import make_exchange
from jp_lsp.providers.exchange import Exchange
from jp_lsp.providers.google.encode import encode as encode_google
from jp_lsp.providers.google.exchange import GenerateExchange
from jp_lsp.providers.http import RefusedResponse, is_stream
from jp_lsp.providers.ollama.encode import encode as encode_ollama
from jp_lsp.providers.ollama.exchange import ChatExchange as OllamaExchange
from jp_lsp.providers.openai.encode import encode as encode_openai
from jp_lsp.providers.openai.errors import ERRORS as OPENAI_ERRORS
from jp_lsp.providers.openai.exchange import ResponsesExchange
from jp_lsp.tools.definition import NamedTool, Parameter, ToolChoice, ToolDefinition
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    OtherReason,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)

Json = dict[str, Any]
Cut = Callable[[bytes], Iterator[bytes]]

NOW = 1_800_000_000.0
CREATED_AT = Timestamp.parse("2020-01-01T00:00:00Z")


# What an adapter's pure half looks like, by vendor


def _chat(dialect: Dialect) -> Callable[[CycleRequest], Exchange]:
    def make(request: CycleRequest) -> Exchange:
        structured = request.thread.schema is not None
        return make_exchange(encode_chat(request, dialect), dialect, structured=structured, now=lambda: NOW)

    return make


def _anthropic(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return MessagesExchange(
        encode_anthropic(request), ANTHROPIC_ERRORS, structured=structured, chains=True, now=lambda: NOW
    )


def _openai(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return ResponsesExchange(encode_openai(request), OPENAI_ERRORS, structured=structured, now=lambda: NOW)


def _google(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return GenerateExchange(encode_google(request).body, structured=structured, now=lambda: NOW)


def _ollama(request: CycleRequest) -> Exchange:
    structured = request.thread.schema is not None
    return OllamaExchange(encode_ollama(request).body, structured=structured, now=lambda: NOW)


EXCHANGES: Mapping[str, Callable[[CycleRequest], Exchange]] = {
    "anthropic": _anthropic,
    "cerebras": _chat(cerebras.DIALECT),
    "compatible": _chat(compatible.DIALECT),
    "deepseek": _chat(deepseek.DIALECT),
    "google": _google,
    "llamacpp": _chat(llamacpp.DIALECT),
    "lmstudio": _chat(lmstudio.DIALECT),
    "ollama": _ollama,
    "openai": _openai,
    "openrouter": _chat(openrouter.DIALECT),
    "xai": _chat(xai.DIALECT),
}


# Playing


@dataclass(slots=True)
class Played:
    """What went out and what came back."""

    bodies: list[Json] = field(default_factory=list[Json])
    events: list[StreamEvent] = field(default_factory=list[StreamEvent])


def play(exchange: Exchange, answers: Sequence[Json], cut: Cut, *, crlf: bool = False) -> Played:
    """Answer the n-th request with the n-th recorded response, its body cut into pieces."""
    played = Played()
    remaining = iter(answers)
    while (body := exchange.next_request()) is not None:
        played.bodies.append(json.loads(json.dumps(body)))
        response = next(remaining)
        data = response["body"].encode()
        if crlf and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")
        headers = {name.lower(): value for name, value in response["headers"].items()}
        if not is_stream(response["status"], headers.get("content-type", "")):
            played.events += exchange.refused(RefusedResponse(response["status"], headers, data))
            continue
        for piece in cut(data):
            played.events += exchange.feed(piece)
            if not exchange.wants_more:
                break
        else:
            is_clean = response.get("end", "close") == "close"
            played.events += exchange.end() if is_clean else exchange.broken(BROKEN)
    return played


BROKEN = StreamFailure(FailureKind.TRANSIENT, "connection reset")


def whole(data: bytes) -> Iterator[bytes]:
    """All at once."""
    yield data


def each_byte(data: bytes) -> Iterator[bytes]:
    """One byte at a time."""
    for i in range(len(data)):
        yield data[i : i + 1]


def at_random(seed: int) -> Cut:
    """Pieces of random sizes, small ones often."""

    def cut(data: bytes) -> Iterator[bytes]:
        source = random.Random(seed)
        position = 0
        while position < len(data):
            size = source.choice((1, 2, 3, 7, 40, 300, 5000))
            yield data[position : position + size]
            position += size

    return cut


def in_two(position: int) -> Cut:
    """Two pieces."""

    def cut(data: bytes) -> Iterator[bytes]:
        yield data[:position]
        yield data[position:]

    return cut


# From recorded JSON to our values


def load(path: Path) -> Json:
    """Read a recording."""
    with path.open(encoding="utf-8") as file:
        return json.load(file)


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


# From our events to recorded JSON


def to_json(event: StreamEvent) -> Json:
    """Write an event as the recordings do."""
    match event:
        case TextPart(index, kind, text, metadata):
            return _with_metadata({"type": "part", "index": index, "kind": kind, "text": text}, metadata)
        case ToolCallStart(index, call_id, name, metadata):
            start = {"type": "part", "index": index, "kind": "tool_call", "stage": "start"}
            return _with_metadata({**start, "id": call_id, "name": name}, metadata)
        case ToolCallArguments(index, text):
            return {"type": "part", "index": index, "kind": "tool_call", "stage": "arguments", "text": text}
        case Flush(index, metadata):
            return _with_metadata({"type": "flush", "index": index}, metadata)
        case KeepAlive():
            return {"type": "keep_alive"}
        case Patch(patches):
            return {"type": "patch", "patches": [_patch(patch) for patch in patches]}
        case Finished(reason):
            return {"type": "finished", **_reason(reason)}
        case StreamFailure():
            return {
                "type": "error",
                "kind": str(event.kind),
                "retryable": event.is_retryable,
                "retry_after": event.retry_after,
            }


def _patch(patch: MetadataPatch) -> Json:
    return {
        "match": {"metadata": patch.key, "equals": patch.value},
        "action": {"remove_metadata": patch.key},
    }


def _reason(reason: object) -> Json:
    match reason:
        case Completed():
            return {"reason": "completed"}
        case MaxTokens():
            return {"reason": "max_tokens"}
        case RetryRequested():
            return {"reason": "retry"}
        case Refused(category, explanation):
            return {"reason": "refused", "category": category, "explanation": explanation}
        case OtherReason(value):
            return {"reason": "other", "value": value}
        case _:
            raise AssertionError(f"unknown reason {reason}")


def _with_metadata(event: Json, metadata: Mapping[str, Any]) -> Json:
    return {**event, "metadata": dict(metadata)} if metadata else event


def built(events: Iterable[StreamEvent]) -> list[Json]:
    """Feed events to the event builder and give what it stores, and the end, as the recordings write it."""
    builder = EventBuilder()
    result: list[Json] = []
    for event in events:
        stored: list[ConversationEvent] = []
        match event:
            case TextPart() | ToolCallStart() | ToolCallArguments():
                builder.accept(event)
            case Flush(index, metadata):
                stored = builder.flush(index, metadata, CREATED_AT)
            case Finished(reason):
                if isinstance(reason, Refused):
                    builder.clear()
                stored = builder.finish(CREATED_AT)
            case _:
                pass
        result += [_entry(item) for item in stored]
        if isinstance(event, Finished):
            result.append(to_json(event))
    return result


def _entry(event: ConversationEvent) -> Json:
    match event.kind:
        case MessageResponse(text):
            entry = {"type": "chat_response", "kind": "message", "message": text}
        case ReasoningResponse(text):
            entry = {"type": "chat_response", "kind": "reasoning", "reasoning": text}
        case StructuredResponse(data):
            entry = {"type": "chat_response", "kind": "structured", "data": data}
        case ToolCallRequest(call_id, name, arguments):
            entry = {"type": "tool_call_request", "id": call_id, "name": name, "arguments": arguments}
        case kind:
            raise AssertionError(f"a provider cannot say {kind}")
    return _with_metadata(entry, event.metadata)


def joined(events: Iterable[Json]) -> list[Json]:
    """Join consecutive parts of one index and kind, where their split points are free."""
    result: list[Json] = []
    for event in events:
        previous = result[-1] if result else {}
        is_same = all(previous.get(key) == event.get(key) for key in ("type", "index", "kind", "stage"))
        if is_same and event["type"] == "part" and event.get("stage") != "start":
            result[-1] = {**previous, "text": previous["text"] + event["text"]}
        else:
            result.append(event)
    return result


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
