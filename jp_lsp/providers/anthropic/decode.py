"""From the bytes of one Messages stream to our events (providers 6.1.6). An index is the wire's own."""

import logging
from typing import Literal

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.anthropic.messages import REDACTED_KEY, SIGNATURE_KEY
from jp_lsp.providers.failure import VendorErrors, classify_in_band
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.providers.untrusted import as_count, as_object, as_text, parse_json
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
    KeepAlive,
    MaxTokens,
    OtherReason,
    Refused,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)

_log = logging.getLogger(__name__)

_COMPLETE_WORDS = frozenset({"end_turn", "stop_sequence", "tool_use"})
_LARGEST_INDEX = 4095
"""Real blocks are counted from zero; a larger index is nonsense, and what we keep for each must have a limit."""


class MessagesDecoder(ResponseDecoder):
    """Takes one response."""

    def __init__(self, errors: VendorErrors, *, structured: bool = False) -> None:
        super().__init__(errors)
        self._structured = structured
        self._text_kind: Literal["message", "structured"] = "structured" if structured else "message"
        # Blocks of kinds that we do not know, such as the vendor's own tools; all of theirs is passed over.
        self._strange_blocks: set[int] = set()

    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        try:
            payload = as_object(parse_json(data))
        except ValueError:
            message = "the stream holds an event that is not JSON"
            events += self.broken(
                StreamFailure(FailureKind.TRANSIENT, message, provider=self._errors.provider)
            )
            return
        # The name of the SSE event repeats the type; where they differ, the JSON is right.
        match as_text(payload.get("type")):
            case "content_block_delta":
                self._on_delta(payload, events)
            case "content_block_start":
                self._on_block(payload, events)
            case "content_block_stop":
                # Also for a block that was passed over: it completes nothing.
                if (index := _index(payload)) is not None:
                    events.append(Flush(index))
            case "ping":
                events.append(KeepAlive())
            case "message_start":
                self._note_usage(as_object(as_object(payload.get("message")).get("usage")))
            case "message_delta":
                self._note_usage(as_object(payload.get("usage")))
                self._on_stop_reason(as_object(payload.get("delta")), events)
            case "message_stop":
                self.is_finished = True
                events.append(Finished(self._finish or Completed()))
            case kind if _is_error(name, kind, payload):
                events += self.broken(classify_in_band(payload, vendor=self._errors))
            case kind:
                _log.debug("anthropic sent an event that we do not know: %r", kind[:100])

    def _on_block(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        if (index := _index(payload)) is None:
            return
        self._strange_blocks.discard(index)
        block = as_object(payload.get("content_block"))
        match as_text(block.get("type")):
            case "text":
                if (text := as_text(block.get("text"))) or self._structured:
                    events.append(TextPart(index, self._text_kind, text))
            case "thinking":
                signature = as_text(block.get("signature"))
                metadata = {SIGNATURE_KEY: signature} if signature else NO_METADATA
                events.append(TextPart(index, "reasoning", as_text(block.get("thinking")), metadata))
            case "redacted_thinking":
                metadata = {REDACTED_KEY: as_text(block.get("data"))}
                events.append(TextPart(index, "reasoning", "", metadata))
            case "tool_use":
                events.append(ToolCallStart(index, as_text(block.get("id")), as_text(block.get("name"))))
            case kind:
                self._strange_blocks.add(index)
                _log.debug("anthropic sent a block that we do not know: %r", kind[:100])

    def _on_delta(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        index = _index(payload)
        if index is None or index in self._strange_blocks:
            return
        delta = as_object(payload.get("delta"))
        match as_text(delta.get("type")):
            case "text_delta":
                events.append(TextPart(index, self._text_kind, as_text(delta.get("text"))))
            case "thinking_delta":
                events.append(TextPart(index, "reasoning", as_text(delta.get("thinking"))))
            case "signature_delta":
                metadata = {SIGNATURE_KEY: as_text(delta.get("signature"))}
                events.append(TextPart(index, "reasoning", "", metadata))
            case "input_json_delta":
                events.append(ToolCallArguments(index, as_text(delta.get("partial_json"))))
            case kind:
                _log.debug("anthropic sent a delta that we do not know: %r", kind[:100])

    def _on_stop_reason(self, delta: JsonObject, events: list[StreamEvent]) -> None:
        word: JsonValue = delta.get("stop_reason")
        text = as_text(word)
        if text == "max_tokens":
            self._stop(MaxTokens(), events)
        elif text == "refusal":
            details = as_object(delta.get("stop_details"))
            category, explanation = as_text(details.get("category")), as_text(details.get("explanation"))
            self._stop(Refused(category or None, explanation or None), events)
        elif text in _COMPLETE_WORDS:
            self._finish = Completed()
        elif word:
            self._finish = OtherReason(word)

    def _stop(self, reason: FinishReason, events: list[StreamEvent]) -> None:
        """End here: nothing that still comes matters."""
        self.is_finished = True
        events.append(Finished(reason))

    def _note_usage(self, usage: JsonObject) -> None:
        """Keep the numbers; later ones are totals and replace earlier ones."""
        if not usage:
            return
        known = self.usage or Usage()
        parts = [
            as_count(usage.get(name))
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        cached, output = parts[1], as_count(usage.get("output_tokens"))
        self.usage = Usage(
            input_tokens=known.input_tokens if parts[0] is None else sum(part or 0 for part in parts),
            output_tokens=known.output_tokens if output is None else output,
            cached_tokens=known.cached_tokens if cached is None else cached,
        )


def _index(payload: JsonObject) -> int | None:
    """Give the index of a block; nothing for one that makes no sense."""
    index = as_count(payload.get("index"))
    return index if index is not None and index <= _LARGEST_INDEX else None


def _is_error(name: str, kind: str, payload: JsonObject) -> bool:
    """Whether an event is an error: in the vendor's wrapping, in a gateway's, or as the bare object."""
    return "error" in {name, kind} or kind.endswith("_error") or (not kind and "error" in payload)
