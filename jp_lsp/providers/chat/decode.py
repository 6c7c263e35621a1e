"""From the bytes of a chat-completions stream to our events (providers 6.5, rule F).

Indices: 0 is reasoning, 1 the content, 2 and up the tool calls, as the recorded streams of the family fix
it. Text that comes back after something of a higher index gets a new index (query pipeline 2.4), except for a
dialect that reuses them. Nothing here trusts the server: unreadable chunks are skipped, wrong types are
treated as absent.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Literal

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.chat.content_parts import read_content
from jp_lsp.providers.chat.routing import CallDelta, CallRouter
from jp_lsp.providers.chat.scanner import Scanned, TagScanner
from jp_lsp.providers.failure import VendorErrors, classify_in_band
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, member, parse_json, pick
from jp_lsp.turn.failure import StreamFailure
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

_COMPLETE_WORDS = frozenset({"stop", "tool_calls", "function_call"})
_BROKEN_WORDS = frozenset({"error", "insufficient_system_resource"})
_ERROR_MEMBERS = ("error", "message", "type", "code", "status", "status_code")
"""What of a chunk tells of an error: some servers write its status beside it, or do not wrap it at all."""
_LONGEST_SENTINEL = 20
"""Characters of `[DONE]` with some blanks around it; longer data is not looked at twice."""


class ChatDecoder(ResponseDecoder):
    """Takes one response; `Dialect` explains the switches."""

    def __init__(
        self,
        errors: VendorErrors,
        *,
        structured: bool = False,
        scans_tags: bool = False,
        reuses_indices: bool = False,
        flushes_late: bool = False,
        read_details: Callable[[JsonValue], Mapping[str, JsonValue] | None] | None = None,
    ) -> None:
        super().__init__(errors)
        self._content_kind: Literal["message", "structured"] = "structured" if structured else "message"
        self._scanner = TagScanner() if scans_tags else None
        self._reuses_indices = reuses_indices
        self._flushes_late = flushes_late
        self._read_details = read_details
        self._router = CallRouter()
        self._reasoning_index = 0
        self._content_index = 1
        self._has_content = False
        self._opened: set[int] = set()
        self._flushed: set[int] = set()
        self._highest_index = -1
        self._has_warned = False

    def broken(self, failure: StreamFailure) -> list[StreamEvent]:
        """Take the loss of the connection: harmless when the finish was seen, a failure otherwise."""
        if self.is_finished:
            return []
        self.is_finished = True
        if self._finish is not None:
            return [Finished(self._finish)]
        events: list[StreamEvent] = []
        self._release(events)
        return [*events, failure]

    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        if len(data) <= _LONGEST_SENTINEL and data.strip() == "[DONE]":
            events += self._close(self._finish or Completed())
            return
        try:
            payload = parse_json(data)
        except ValueError:
            if name == "error":
                events += self._fail(data)
            else:
                self._warn(f"{self._errors.provider} sent a chunk that is not JSON")
            return
        chunk = as_object(payload)
        if "usage" in chunk or "timings" in chunk:
            self._note_usage(chunk)
        if name == "error" or _is_error(chunk):
            events += self._fail(pick(chunk, _ERROR_MEMBERS) or payload)
            return
        for item in as_list(chunk.get("choices")):
            choice = as_object(item)
            # We never ask for more than one answer, and nothing after the finish counts.
            if self._finish is None and not self.is_finished and not choice.get("index"):
                self._on_choice(choice, events)

    def _on_choice(self, choice: JsonObject, events: list[StreamEvent]) -> None:
        if error := choice.get("error"):
            events += self._fail(error)
            return
        delta = as_object(choice.get("delta"))
        word = choice.get("finish_reason")
        self._on_texts(delta, events)
        if word and self._flushes_late:
            self._flush_texts(events)  # the last chunk may bring calls as well
        for entry in as_list(delta.get("tool_calls")):
            self._on_call(CallDelta.from_entry(as_object(entry)), events)
        if word:
            self._on_finish_word(word, events)

    def _on_texts(self, delta: JsonObject, events: list[StreamEvent]) -> None:
        thoughts = delta.get("reasoning_content")
        other_thoughts = delta.get("reasoning")
        reasoning = as_text(thoughts) or as_text(other_thoughts)
        details = None if self._read_details is None else self._read_details(delta.get("reasoning_details"))
        if reasoning or details is not None:
            self._release(events)
            self._add_reasoning(reasoning, events, details or NO_METADATA)
        content = delta.get("content")
        is_told_apart = thoughts is not None or other_thoughts is not None or isinstance(content, list)
        for kind, text in read_content(content):
            if kind == "reasoning":
                self._release(events)
                self._add_reasoning(text, events)
            elif self._scanner is None or is_told_apart:
                self._release(events)
                self._flush_before(self._reasoning_index, events)
                self._add_content(text, events)
            else:
                self._add_scanned(self._scanner.feed(text), events)

    def _add_scanned(self, scanned: Scanned, events: list[StreamEvent]) -> None:
        if scanned.reasoning:
            self._add_reasoning(scanned.reasoning, events)
        if scanned.content:
            self._add_content(scanned.content, events)

    def _release(self, events: list[StreamEvent]) -> None:
        """Let go of text that might have been a tag: something else follows it, or nothing does."""
        if self._scanner is not None:
            self._add_scanned(self._scanner.release(), events)

    def _add_reasoning(
        self, text: str, events: list[StreamEvent], metadata: Mapping[str, JsonValue] = NO_METADATA
    ) -> None:
        # Metadata alone (a signature) belongs to the thoughts that came before, however late it comes.
        if text and self._highest_index > self._reasoning_index and not self._reuses_indices:
            self._flush(self._reasoning_index, events)
            self._flush_content(events)
            self._reasoning_index = self._next_free_index()
            self._content_index = self._reasoning_index + 1
        events.append(TextPart(self._used(self._reasoning_index), "reasoning", text, metadata))

    def _add_content(self, text: str, events: list[StreamEvent]) -> None:
        if self._highest_index > self._content_index and not self._reuses_indices:
            self._flush_content(events)
            self._content_index = self._next_free_index()
        self._has_content = True
        events.append(TextPart(self._used(self._content_index), self._content_kind, text))

    def _flush_content(self, events: list[StreamEvent]) -> None:
        """Complete the content before something else begins."""
        if self._has_content:
            self._flush(self._content_index, events)
            self._has_content = False

    def _on_call(self, delta: CallDelta, events: list[StreamEvent]) -> None:
        if delta.is_empty:
            return
        call = self._router.find(delta)
        if call is None and self._router.is_full:
            self._warn(f"{self._errors.provider} sent more tool calls than anybody could want")
            return
        if call is None:
            self._release(events)
        self._flush_before(self._reasoning_index, events)
        if call is None:
            call = self._router.open(delta, last_text=self._content_index, next_free=self._next_free_index())
        elif call.repeats(delta):
            return
        if self._router.learn(call, delta):
            events.append(ToolCallStart(self._used(call.index), call.id, call.name))
        if delta.arguments is not None:
            call.add(delta.arguments)
            events.append(ToolCallArguments(self._used(call.index), delta.arguments))

    def _on_finish_word(self, word: JsonValue, events: list[StreamEvent]) -> None:
        text = as_text(word)
        if text in _BROKEN_WORDS:
            events += self._fail(f"the server stopped with {text!r}")
        elif text in _COMPLETE_WORDS:
            self._finish = Completed()
            self._flush_all(events)
        else:
            # Calls that are still open were cut off: they are not flushed, so nobody runs them.
            self._finish = MaxTokens() if text == "length" else OtherReason(word)
            self._flush_texts(events)

    def _close(self, reason: FinishReason) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if self._finish is None:
            self._flush_all(events)
        self.is_finished = True
        events.append(Finished(reason))
        return events

    def _fail(self, error: JsonValue) -> list[StreamEvent]:
        return self.broken(classify_in_band(error, vendor=self._errors))

    def _flush_texts(self, events: list[StreamEvent]) -> None:
        self._release(events)
        self._flush(self._reasoning_index, events)
        self._flush(self._content_index, events)

    def _flush_all(self, events: list[StreamEvent]) -> None:
        self._flush_texts(events)
        for call in self._router.calls:
            self._flush(call.index, events)

    def _flush_before(self, index: int, events: list[StreamEvent]) -> None:
        """Complete an event because another one begins."""
        if not self._flushes_late:
            self._flush(index, events)

    def _flush(self, index: int, events: list[StreamEvent]) -> None:
        if index not in self._flushed and (index in self._opened or not self._flushes_late):
            self._flushed.add(index)
            events.append(Flush(index))

    def _warn(self, sentence: str) -> None:
        """Tell once for each response; a broken server would repeat it with every chunk."""
        _log.log(logging.DEBUG if self._has_warned else logging.WARNING, "%s", sentence)
        self._has_warned = True

    def _used(self, index: int) -> int:
        self._opened.add(index)
        self._highest_index = max(self._highest_index, index)
        return index

    def _next_free_index(self) -> int:
        return max(self._highest_index, self._content_index) + 1

    def _note_usage(self, chunk: JsonObject) -> None:
        """Keep the numbers; llama.cpp counts in `timings` when it was not asked for `usage`."""
        if usage := as_object(chunk.get("usage")):
            self.usage = Usage(
                input_tokens=as_count(usage.get("prompt_tokens")),
                output_tokens=as_count(usage.get("completion_tokens")),
                cached_tokens=as_count(member(usage, "prompt_tokens_details", "cached_tokens")),
                reasoning_tokens=as_count(member(usage, "completion_tokens_details", "reasoning_tokens")),
            )
        elif self.usage is None and (timings := as_object(chunk.get("timings"))):
            cached, read = as_count(timings.get("cache_n")), as_count(timings.get("prompt_n"))
            self.usage = Usage(
                input_tokens=None if read is None else read + (cached or 0),
                output_tokens=as_count(timings.get("predicted_n")),
                cached_tokens=cached,
            )


def _is_error(chunk: JsonObject) -> bool:
    """Whether a chunk says what went wrong, be it within `error` or, as some servers write it, without."""
    return bool(chunk.get("error") or ("choices" not in chunk and as_text(chunk.get("message"))))
