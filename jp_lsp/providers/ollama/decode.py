"""From the lines of one Ollama stream to our events (providers 6.4).

Thinking is index 0, the answer 1, calls come whole and count from 2. What begins anew behind something later
gets the next free index, so that the order is kept.
"""

from typing import Literal

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.failure import VendorErrors, classify_in_band
from jp_lsp.providers.ndjson import NdjsonDecoder
from jp_lsp.providers.ollama.messages import PROVIDER
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, compact_json, parse_json
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

ERRORS = VendorErrors(PROVIDER)

_CONTENT_INDEX = 1
_NO_ANSWER_WORDS = frozenset({"load", "unload"})
"""The server says so when it was only asked to load a model, or to let one go."""


class ChatDecoder(ResponseDecoder):
    """Takes one response."""

    def __init__(self, *, structured: bool) -> None:
        super().__init__(ERRORS, NdjsonDecoder())
        self._content_kind: Literal["message", "structured"] = "structured" if structured else "message"
        self._reasoning_index = 0
        self._content_index = _CONTENT_INDEX
        self._highest_index = -1
        self._flushed: set[int] = set()

    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        try:
            line = as_object(parse_json(data))
        except ValueError:
            text = "the stream holds a line that is not JSON"
            events += self.broken(StreamFailure(FailureKind.TRANSIENT, text, provider=PROVIDER))
            return
        if line.get("error"):
            events += self.broken(classify_in_band(line, vendor=ERRORS))
            return
        message = as_object(line.get("message"))
        if thinking := as_text(message.get("thinking")):
            self._add_thinking(thinking, events)
        if content := as_text(message.get("content")):
            self._add_content(content, events)
        for call in as_list(message.get("tool_calls")):
            self._add_call(as_object(as_object(call).get("function")), events)
        if line.get("done") is True:
            self._note_usage(line)
            self._end(line.get("done_reason"), events)

    def _add_thinking(self, text: str, events: list[StreamEvent]) -> None:
        if self._highest_index > self._reasoning_index:
            self._flush(self._reasoning_index, events)
            if self._content_index <= self._highest_index:
                self._flush(self._content_index, events)
            self._reasoning_index = self._next_index()
            self._content_index = self._reasoning_index + 1
        events.append(TextPart(self._used(self._reasoning_index), "reasoning", text))

    def _add_content(self, text: str, events: list[StreamEvent]) -> None:
        self._flush(self._reasoning_index, events)
        if self._highest_index > self._content_index:
            self._flush(self._content_index, events)
            self._content_index = self._next_index()
        events.append(TextPart(self._used(self._content_index), self._content_kind, text))

    def _add_call(self, function: JsonObject, events: list[StreamEvent]) -> None:
        self._flush(self._reasoning_index, events)
        index = self._used(self._next_index())
        called = as_text(function.get("name"))
        arguments: JsonValue = function.get("arguments")
        # The server's own ids mean nothing: results are told apart by order and name.
        events += (
            ToolCallStart(index, f"{called}_{index}", called),
            ToolCallArguments(index, compact_json({} if arguments is None else arguments)),
            Flush(index),
        )

    def _end(self, word: JsonValue, events: list[StreamEvent]) -> None:
        self._flush(self._reasoning_index, events)
        if self._content_index == _CONTENT_INDEX or self._content_index <= self._highest_index:
            self._flush(self._content_index, events)
        self.is_finished = True
        reason: FinishReason = Completed()
        if word == "length":
            reason = MaxTokens()
        elif isinstance(word, str) and word in _NO_ANSWER_WORDS:
            reason = OtherReason(word)
        events.append(Finished(reason))

    def _flush(self, index: int, events: list[StreamEvent]) -> None:
        if index not in self._flushed:
            self._flushed.add(index)
            events.append(Flush(index))

    def _used(self, index: int) -> int:
        self._highest_index = max(self._highest_index, index)
        return index

    def _next_index(self) -> int:
        return max(self._highest_index, self._content_index) + 1

    def _note_usage(self, line: JsonObject) -> None:
        """Keep the numbers of the last line; thoughts are part of what was generated."""
        read, said = as_count(line.get("prompt_eval_count")), as_count(line.get("eval_count"))
        if read is not None or said is not None:
            self.usage = Usage(input_tokens=read, output_tokens=said)
