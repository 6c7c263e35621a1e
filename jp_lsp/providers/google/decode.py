"""From the bytes of one Gemini stream to our events (providers 6.3.2).

The API numbers nothing: text, thoughts and calls come as parts in a row. An index is ours; the next one begins
when another kind of part comes, and with every call.
"""

import logging
from collections.abc import Callable
from typing import Literal

from jp_lsp.conversation.event import NO_METADATA
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.google.contents import SIGNATURE_KEY, SIGNATURE_MEMBER
from jp_lsp.providers.google.errors import ERRORS, classify_event
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.providers.untrusted import as_count, as_list, as_object, as_text, compact_json, member, parse_json
from jp_lsp.render.secrets import cut
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
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

_MALFORMED_CALL = "MALFORMED_FUNCTION_CALL"

_Mode = Literal["message", "reasoning", "structured", "call"]


class GenerateDecoder(ResponseDecoder):
    """Takes one response.

    Args:
        structured: the text is a JSON value.
        first_index: the index of its first event; not 0 for a response that goes on with an answer.
        now: gives Unix seconds.
    """

    def __init__(self, *, structured: bool, first_index: int, now: Callable[[], float]) -> None:
        super().__init__(ERRORS)
        self._text_mode: Literal["message", "structured"] = "structured" if structured else "message"
        self._index = first_index
        self._mode: _Mode | None = None
        self._now = now

    @property
    def next_index(self) -> int:
        """The first index that this response did not use."""
        return self._index if self._mode is None else self._index + 1

    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        try:
            payload = parse_json(data)
        except ValueError:
            self._fail("the stream holds an event that is not JSON", events)
            return
        for item in as_list(payload) or [payload]:
            if not self.is_finished:
                self._on_response(as_object(item), events)

    def _on_response(self, response: JsonObject, events: list[StreamEvent]) -> None:
        if response.get("error"):
            events += self.broken(classify_event(response, self._now()))
            return
        self._note_usage(as_object(response.get("usageMetadata")))
        candidates = [as_object(candidate) for candidate in as_list(response.get("candidates"))]
        for candidate in candidates:
            # We never ask for more than one answer.
            if not candidate.get("index") and not self.is_finished:
                self._on_candidate(candidate, events)
        if not candidates and (reason := as_text(member(response, "promptFeedback", "blockReason"))):
            explanation = as_text(member(response, "promptFeedback", "blockReasonMessage"))
            self._finish_with(Refused(reason, explanation or None), events)

    def _on_candidate(self, candidate: JsonObject, events: list[StreamEvent]) -> None:
        for part in as_list(member(candidate, "content", "parts")):
            self._on_part(as_object(part), events)
        if word := as_text(candidate.get("finishReason")):
            self._on_finish(word, candidate, events)

    def _on_part(self, part: JsonObject, events: list[StreamEvent]) -> None:
        signature = as_text(part.get(SIGNATURE_MEMBER))
        metadata = {SIGNATURE_KEY: signature} if signature else NO_METADATA
        if isinstance(part.get("functionCall"), dict):
            call = as_object(part["functionCall"])
            self._begin("call", events)
            called = as_text(call.get("name"))
            call_id = as_text(call.get("id")).strip() or f"{called}_{self._index}"
            arguments: JsonValue = call.get("args")
            events.append(ToolCallStart(self._index, call_id, called, metadata))
            events.append(
                ToolCallArguments(self._index, compact_json({} if arguments is None else arguments))
            )
        elif text := as_text(part.get("text")):
            mode = "reasoning" if part.get("thought") is True else self._text_mode
            self._begin(mode, events)
            events.append(TextPart(self._index, mode, text, metadata))
        elif "text" not in part:
            _log.debug("google sent a part that we do not know: %s", ", ".join(sorted(part))[:100])

    def _begin(self, mode: _Mode, events: list[StreamEvent]) -> None:
        if self._mode is not None and (mode != self._mode or mode == "call"):
            events.append(Flush(self._index))
            self._index += 1
        self._mode = mode

    def _on_finish(self, word: str, candidate: JsonObject, events: list[StreamEvent]) -> None:
        if word == "MAX_TOKENS":
            self._finish_with(MaxTokens(), events)
        elif word == _MALFORMED_CALL and self._mode is None:
            said = cut(as_text(candidate.get("finishMessage")), 500)
            self._fail(
                f"the model wrote a tool call that cannot be read{f': {said}' if said else ''}", events
            )
        else:
            events.append(Flush(self._index))
            self._finish_with(Completed() if word == "STOP" else OtherReason(word), events)

    def _finish_with(self, reason: FinishReason, events: list[StreamEvent]) -> None:
        self.is_finished = True
        events.append(Finished(reason))

    def _fail(self, message: str, events: list[StreamEvent]) -> None:
        events += self.broken(StreamFailure(FailureKind.TRANSIENT, message, provider=self._errors.provider))

    def _note_usage(self, usage: JsonObject) -> None:
        """Keep the numbers, which are totals. Thoughts are counted beside the answer, and are output too."""
        if not usage:
            return
        said, thought = as_count(usage.get("candidatesTokenCount")), as_count(usage.get("thoughtsTokenCount"))
        self.usage = Usage(
            input_tokens=as_count(usage.get("promptTokenCount")),
            output_tokens=None if said is None and thought is None else (said or 0) + (thought or 0),
            cached_tokens=as_count(usage.get("cachedContentTokenCount")),
            reasoning_tokens=thought,
        )
