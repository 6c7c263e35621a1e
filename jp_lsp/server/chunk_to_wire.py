"""Chunks as the JSON that editors are promised (query pipeline 5.1).

They come by the thousand while a model answers, so each becomes a plain dictionary at once, without a model
in between. The tests hold every dictionary against its model in `jp_lsp.protocol.chunk`.

A value that is not there is left out. A chunk that clears its slot has only the slot.
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.render import chunk as render
from jp_lsp.server.message_request import harmless_first, unique_titles
from jp_lsp.tools.decision import Decision

CHUNK_VERSION = 1
"""The `v` of every chunk, as in `jp_lsp.protocol.chunk`."""

WireChunk: TypeAlias = dict[str, JsonValue]

_LEVELS = frozenset({"info", "warning", "error"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where chunks come from: the token of the query, its conversation once that is known, the cycle."""

    turn: int | str
    conversation: str | None
    cycle: int


def chunk_to_wire(chunk: render.Chunk, seq: int, origin: Origin) -> WireChunk:
    """Give the value of a `$/progress`, or the params of `jp/chunk`; `seq` counts from 1 within the query."""
    wire: WireChunk = {"v": CHUNK_VERSION, "seq": seq, "turn": origin.turn}
    if origin.conversation is not None:
        wire["conversation"] = origin.conversation
    wire["cycle"] = origin.cycle
    wire["type"] = chunk.type
    wire["class"] = chunk.chunk_class
    match chunk:  # the frequent ones first
        case render.Text():
            wire["md"] = chunk.md
            wire["region"] = chunk.region
            wire["block"] = chunk.block
            wire["part"] = chunk.part
            wire["indent"] = chunk.indent
        case render.Code():
            wire["md"] = chunk.md
            wire["region"] = chunk.region
            wire["part"] = chunk.part
            _add(wire, "language", chunk.language)
            wire["indent"] = chunk.indent
        case render.Structured():
            wire["md"] = chunk.md
            wire["part"] = chunk.part
        case render.Role() | render.ToolCall() | render.ToolResult() | render.DurableNotice():
            _add_durable(wire, chunk)
        case (
            render.Notice()
            | render.Status()
            | render.ReasoningIndicator()
            | render.ToolPreparing()
            | render.ToolProgress()
            | render.Retry()
            | render.Preview()
        ):
            wire["slot"] = chunk.slot
            if chunk.is_clear:
                wire["clear"] = True
            else:
                _add_ephemeral(wire, chunk)
        case (
            render.TurnBegin()
            | render.Retract()
            | render.PromptOpen()
            | render.PromptClosed()
            | render.TurnEnd()
        ):
            _add_control(wire, chunk)
        case _:
            assert_never(chunk)
    return wire


def prompt_open(decision: Decision) -> render.PromptOpen:
    """Give the chunk that tells of a question, with the titles that its buttons have in every transport."""
    choices = unique_titles(harmless_first(decision))
    actions = tuple(render.PromptAction(choice.id, choice.title) for choice in choices)
    return render.PromptOpen(decision.id, decision.kind, decision.call_id, actions)


def _add_durable(
    wire: WireChunk, chunk: render.Role | render.ToolCall | render.ToolResult | render.DurableNotice
) -> None:
    wire["md"] = chunk.md
    match chunk:
        case render.Role():
            wire["role"] = chunk.role
            wire["label"] = chunk.label
            _add(wire, "model", chunk.model)
            _add(wire, "detail", chunk.detail)
        case render.ToolCall():
            wire["callId"] = chunk.call_id
            wire["name"] = chunk.name
            wire["source"] = chunk.source
            _add(wire, "server", chunk.server)
            wire["arguments"] = chunk.arguments
            if chunk.is_edited:
                wire["edited"] = True
            _add(wire, "region", chunk.region)
        case render.ToolResult():
            wire["callId"] = chunk.call_id
            wire["name"] = chunk.name
            wire["ok"] = chunk.is_ok
            _add(wire, "decision", chunk.decision)
            wire["truncated"] = chunk.is_truncated
            wire["lines"] = chunk.line_count
            wire["bytes"] = chunk.size
            _add(wire, "uri", chunk.uri)
            _add(wire, "region", chunk.region)
        case render.DurableNotice():
            _add_notice(wire, chunk)
        case _:
            assert_never(chunk)


def _add_ephemeral(wire: WireChunk, chunk: render.Ephemeral) -> None:
    match chunk:
        case render.Status():
            wire["phase"] = chunk.phase
            wire["detail"] = chunk.detail
            wire["elapsedMs"] = chunk.elapsed_ms
        case render.ReasoningIndicator():
            wire["mode"] = chunk.mode
            wire["ticks"] = chunk.ticks
            wire["elapsedMs"] = chunk.elapsed_ms
        case render.ToolPreparing():
            wire["name"] = chunk.name
            wire["elapsedMs"] = chunk.elapsed_ms
        case render.ToolProgress():
            wire["name"] = chunk.name
            wire["elapsedMs"] = chunk.elapsed_ms
            _add(wire, "message", chunk.message)
            _add(wire, "percentage", chunk.percentage)
        case render.Retry():
            wire["attempt"] = chunk.attempt
            wire["max"] = chunk.max_attempts
            wire["cause"] = chunk.cause
            wire["delayMs"] = chunk.delay_ms
        case render.Preview():
            wire["md"] = chunk.md
        case render.Notice():
            _add_notice(wire, chunk)
            _add(wire, "regionIndex", chunk.region_index)
        case _:
            assert_never(chunk)


def _add_control(wire: WireChunk, chunk: render.Control) -> None:
    match chunk:
        case render.TurnBegin():
            wire["turnIndex"] = chunk.index
            _add(wire, "replyTo", chunk.reply_to)
            _add(wire, "reasoningBackground", chunk.reasoning_background)
        case render.Retract():
            wire["fromSeq"] = chunk.from_seq
            wire["reason"] = chunk.reason
        case render.PromptOpen():
            wire["decisionId"] = chunk.decision_id
            wire["promptKind"] = chunk.prompt_kind
            _add(wire, "callId", chunk.call_id)
            wire["actions"] = [{"id": action.id, "title": action.title} for action in chunk.actions]
        case render.PromptClosed():
            wire["decisionId"] = chunk.decision_id
            wire["how"] = chunk.how
        case render.TurnEnd():
            wire["outcome"] = chunk.outcome
            wire["persisted"] = chunk.is_persisted
            if (usage := chunk.usage) is not None:
                tokens: WireChunk = {}
                _add(tokens, "inputTokens", usage.input_tokens)
                _add(tokens, "outputTokens", usage.output_tokens)
                _add(tokens, "cachedTokens", usage.cached_tokens)
                _add(tokens, "reasoningTokens", usage.reasoning_tokens)
                wire["usage"] = tokens
        case _:
            assert_never(chunk)


def _add_notice(wire: WireChunk, chunk: render.DurableNotice | render.Notice) -> None:
    wire["level"] = chunk.level if chunk.level in _LEVELS else "info"
    wire["code"] = chunk.code
    wire["text"] = chunk.text


def _add(wire: WireChunk, name: str, value: JsonValue) -> None:
    if value is not None:
        wire[name] = value
