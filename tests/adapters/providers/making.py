"""Short ways to write requests and streams for the tests of providers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    EventKind,
    MessageResponse,
    ReasoningResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.thread import Attachment, Thread, ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.ports.provider import CycleRequest, ModelDetails, ModelId, ModelParameters
from jp_lsp.tools.definition import Parameter, ToolChoice, ToolDefinition
from jp_lsp.turn.stream_event import Usage

AT = Timestamp(0)


def model(text: str = "anthropic/claude-haiku-4-5", **details: Any) -> ModelDetails:
    """A model by its id."""
    provider, _, name = text.partition("/")
    return ModelDetails(ModelId(provider, name), **details)


def event(kind: EventKind, *, provider: str | None = "anthropic", **metadata: Any) -> ThreadEvent:
    """An event that a provider sees."""
    return ThreadEvent(ConversationEvent(AT, kind, metadata), provider)


def user(text: str) -> ThreadEvent:
    """The user speaks."""
    return event(ChatRequest(text))


def says(text: str) -> ThreadEvent:
    """The assistant speaks."""
    return event(MessageResponse(text))


def thinks(text: str, *, provider: str | None = "anthropic", **metadata: Any) -> ThreadEvent:
    """The assistant thinks."""
    return event(ReasoningResponse(text), provider=provider, **metadata)


def calls(call_id: str, name: str = "tool", **arguments: Any) -> ThreadEvent:
    """The assistant calls a tool."""
    return event(ToolCallRequest(CallId(call_id), name, arguments))


def returns(call_id: str, content: str = "done", *, is_error: bool = False) -> ThreadEvent:
    """A tool answers."""
    return event(ToolCallResponse(CallId(call_id), content, is_error))


def request(
    *events: ThreadEvent,
    of: ModelDetails | None = None,
    system: Sequence[str] = (),
    attachments: Sequence[Attachment] = (),
    schema: Mapping[str, Any] | None = None,
    tools: Sequence[ToolDefinition] = (),
    choice: ToolChoice = "auto",
    **parameters: Any,
) -> CycleRequest:
    """A cycle's request."""
    return CycleRequest(
        of or model(max_output_tokens=8000),
        Thread(system, attachments, events or (user("Hello"),), schema, AT),
        ModelParameters(**parameters),
        tools,
        choice,
    )


def tool(name: str = "run", **parameters: Parameter) -> ToolDefinition:
    """A tool with the given parameters."""
    return ToolDefinition(name, parameters, summary=f"Runs {name}.")


def sse(*payloads: Any) -> bytes:
    """A body of unnamed events; text stands for itself."""
    return "".join(f"data: {p if isinstance(p, str) else json.dumps(p)}\n\n" for p in payloads).encode()


DONE = "[DONE]"


def delta(finish: Any = None, **members: Any) -> Mapping[str, Any]:
    """A chunk of a chat completion."""
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish}]}


def call_delta(
    index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None
) -> Mapping[str, Any]:
    """A chunk with a piece of one tool call."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return delta(tool_calls=[{k: v for k, v in entry.items() if v is not None}])


def block_start(index: int, **block: Any) -> Mapping[str, Any]:
    """Anthropic: a block begins."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, kind: str, **members: Any) -> Mapping[str, Any]:
    """Anthropic: a block goes on."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def block_stop(index: int) -> Mapping[str, Any]:
    """Anthropic: a block ends."""
    return {"type": "content_block_stop", "index": index}


def text_block(index: int, *texts: str) -> list[Mapping[str, Any]]:
    """Anthropic: a whole text block."""
    pieces = [block_delta(index, "text_delta", text=text) for text in texts]
    return [block_start(index, type="text", text=""), *pieces, block_stop(index)]


def stop(reason: str | None = "end_turn", **usage: int) -> list[Mapping[str, Any]]:
    """Anthropic: the message ends."""
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


class Observer:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.arrivals = 0
        self.usages: list[Usage] = []

    def bytes_received(self) -> None:
        self.arrivals += 1

    def usage_reported(self, usage: Usage) -> None:
        self.usages.append(usage)


def short_name(value: object) -> str:
    """Name a case; the sets in a model's details have no order that two test processes agree on."""
    return str(value.id if isinstance(value, ModelDetails) else value)
