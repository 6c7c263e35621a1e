"""From the bytes of a Responses stream to our events (providers 6.2.2).

The index of an event is the vendor's `output_index`. A server that numbers nothing (llama.cpp) names an item in
every event, so there the items are counted. Thoughts that were not asked for are left out.
"""

import logging
from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.failure import VendorErrors
from jp_lsp.providers.openai.errors import classify_event
from jp_lsp.providers.openai.items import ENCRYPTED_KEY, ITEM_ID_KEY, PHASE_KEY
from jp_lsp.providers.openai.whole import events_of
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.providers.untrusted import as_count, as_object, as_text, member, parse_json
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
    MaxTokens,
    OtherReason,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)

_log = logging.getLogger(__name__)

_MOST_ITEMS = 10_000
"""Items that one response may have; what is kept for each, here and behind us, must have a limit."""

_LENGTH_REASONS = frozenset({"max_output_tokens", "max_tokens"})
_ITEM_TYPES = frozenset({"message", "reasoning", "function_call"})


class ResponsesDecoder(ResponseDecoder):
    """Takes one response.

    Args:
        errors: how the vendor says what went wrong.
        structured: the text is a value.
        reasons: thoughts are wanted.
    """

    def __init__(self, errors: VendorErrors, *, structured: bool = False, reasons: bool = True) -> None:
        super().__init__(errors)
        self._text_kind: Literal["message", "structured"] = "structured" if structured else "message"
        self._reasons = reasons
        self._counted: dict[str, int] = {}
        self._with_arguments: set[int] = set()

    def take_whole(self, response: JsonObject) -> list[StreamEvent]:
        """Take an answer that came in one piece, as the events that a stream would have had."""
        events: list[StreamEvent] = []
        for payload in events_of(response):
            if not self.is_finished:
                self._on_event(payload, events)
        return events

    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        try:
            payload = as_object(parse_json(data))
        except ValueError:
            if data.strip() != "[DONE]":  # stand-ins for the vendor send it, the vendor does not
                events += self._fail("the stream holds an event that is not JSON")
            return
        if name == "error" and not as_text(payload.get("type")).startswith("response."):
            events += self.broken(classify_event(payload))
        else:
            self._on_event(payload, events)

    def _on_event(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        # The name of the SSE event repeats the type; where they differ, the JSON is right.
        match kind := as_text(payload.get("type")):
            case "response.output_text.delta" | "response.refusal.delta":
                self._on_text(payload, self._text_kind, events)
            case "response.function_call_arguments.delta":
                self._on_arguments(payload, events)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._on_text(payload, "reasoning", events)
            case "response.reasoning_summary_part.added":
                if as_count(payload.get("summary_index")):
                    self._on_text({**payload, "delta": "\n\n"}, "reasoning", events)
            case "response.output_item.added":
                self._on_item(payload, events)
            case "response.output_item.done":
                self._on_item_done(payload, events)
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                self._on_end(kind.removeprefix("response."), as_object(payload.get("response")), events)
            case "error":
                events += self.broken(classify_event(payload))
            case "" if payload.get("error"):
                events += self.broken(classify_event(payload))
            case _:
                _log.debug("%s sent an event that we do not need: %r", self._errors.provider, kind[:100])

    def _on_text(
        self,
        payload: JsonObject,
        kind: Literal["message", "structured", "reasoning"],
        events: list[StreamEvent],
    ) -> None:
        index = self._index(payload)
        if index is not None and (kind != "reasoning" or self._reasons):
            events.append(TextPart(index, kind, as_text(payload.get("delta"))))

    def _on_arguments(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        if (index := self._index(payload)) is None:
            return
        text = as_text(payload.get("delta"))
        if text:
            self._with_arguments.add(index)
        events.append(ToolCallArguments(index, text))

    def _on_item(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        item = as_object(payload.get("item"))
        kind = as_text(item.get("type"))
        if kind not in _ITEM_TYPES or (index := self._index(payload)) is None:
            return
        if kind == "message":
            # Even without any text, so that its end has something to complete (trap 41).
            events.append(TextPart(index, self._text_kind, ""))
        elif kind == "function_call":
            call_id, name = as_text(item.get("call_id")), as_text(item.get("name"))
            events.append(ToolCallStart(index, call_id, name))
        elif self._reasons:
            events.append(TextPart(index, "reasoning", ""))

    def _on_item_done(self, payload: JsonObject, events: list[StreamEvent]) -> None:
        item = as_object(payload.get("item"))
        kind = as_text(item.get("type"))
        if kind not in _ITEM_TYPES or (index := self._index(payload)) is None:
            return
        metadata: dict[str, JsonValue] = {}
        if kind == "function_call":
            arguments = as_text(item.get("arguments"))
            if arguments and index not in self._with_arguments:
                # Some stand-ins for the vendor give the arguments only here.
                events.append(ToolCallArguments(index, arguments))
        elif item_id := as_text(item.get("id")):
            metadata[ITEM_ID_KEY] = item_id
        if kind == "message" and (phase := as_text(item.get("phase"))):
            metadata[PHASE_KEY] = phase
        if kind == "reasoning":
            if not self._reasons:
                return
            metadata[ENCRYPTED_KEY] = as_text(item.get("encrypted_content")) or None
        events.append(Flush(index, metadata))

    def _index(self, payload: JsonObject) -> int | None:
        """Give the index of an item; nothing where it cannot be told."""
        if (number := payload.get("output_index")) is not None:
            index = as_count(number)
            return index if index is not None and index < _MOST_ITEMS else None
        name = as_text(payload.get("item_id")) or as_text(member(payload, "item", "id"))
        if name not in self._counted and len(self._counted) >= _MOST_ITEMS:
            return None
        return self._counted.setdefault(name, len(self._counted))

    def _on_end(self, word: str, response: JsonObject, events: list[StreamEvent]) -> None:
        self._note_usage(as_object(response.get("usage")))
        status = as_text(response.get("status")) or word
        if status == "failed":
            error = response.get("error")
            events += self.broken(classify_event(error)) if error else self._fail("the response failed")
            return
        self.is_finished = True
        events.append(Finished(_reason(status, as_text(member(response, "incomplete_details", "reason")))))

    def _fail(self, message: str) -> list[StreamEvent]:
        return self.broken(StreamFailure(FailureKind.TRANSIENT, message, provider=self._errors.provider))

    def _note_usage(self, usage: JsonObject) -> None:
        if usage:
            self.usage = Usage(
                input_tokens=as_count(usage.get("input_tokens")),
                output_tokens=as_count(usage.get("output_tokens")),
                cached_tokens=as_count(member(usage, "input_tokens_details", "cached_tokens")),
                reasoning_tokens=as_count(member(usage, "output_tokens_details", "reasoning_tokens")),
            )


def _reason(status: str, detail: str) -> FinishReason:
    if status == "completed":
        return Completed()
    if status == "incomplete":
        return MaxTokens() if detail in _LENGTH_REASONS else OtherReason(detail or status)
    return OtherReason(status)
