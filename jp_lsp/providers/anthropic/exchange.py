"""One answer of Anthropic's API, which may take several requests (providers 6.1.4, 6.1.6, 6.1.7).

Further requests go out for two reasons: the output limit cut the text (`chaining`), or a tool that had to be
called was not (`forcing`). For the caller they are one response: one `Finished`, one budget, one order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.anthropic.decode import MessagesDecoder
from jp_lsp.providers.anthropic.encode import EncodedRequest, tool_choice_field
from jp_lsp.providers.anthropic.repair import plan_repair
from jp_lsp.providers.anthropic.response import ResponseRecord
from jp_lsp.providers.anthropic.thinking import DISABLED
from jp_lsp.providers.chaining import (
    GO_ON,
    MAX_CONTINUATIONS,
    Continuation,
    CutText,
    SeenIndices,
)
from jp_lsp.providers.failure import VendorErrors, classify_response
from jp_lsp.providers.forcing import MAX_FOLLOW_UPS, demand
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.untrusted import as_list, as_object
from jp_lsp.providers.usage import total
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    FinishReason,
    Flush,
    KeepAlive,
    MaxTokens,
    RetryRequested,
    StreamEvent,
    TextPart,
    Usage,
)

_MOST_HELD = 100
"""Events that may wait with a flush; pings say nothing, so those beyond are dropped."""


@dataclass(slots=True)
class _Response:
    """The response that is being read."""

    decoder: MessagesDecoder
    record: ResponseRecord
    continuation: Continuation | None


class MessagesExchange:
    """Implements `Exchange`."""

    def __init__(
        self,
        encoded: EncodedRequest,
        errors: VendorErrors,
        *,
        structured: bool,
        chains: bool,
        now: Callable[[], float],
    ) -> None:
        self._errors = errors
        self._structured = structured
        self._can_disable = encoded.can_disable
        self._owed: ToolChoice | None = encoded.owed
        self._continuations_left = MAX_CONTINUATIONS if chains and encoded.may_chain else 0
        self._follow_ups = 0
        self._now = now
        self._body: JsonObject = encoded.body
        self._is_body_due = True
        self._seen = SeenIndices()
        self._last_text_index = -1
        self._held: list[StreamEvent] = []
        self._past_usage: Usage | None = None
        self._response = self._new_response(None)

    @property
    def usage(self) -> Usage | None:
        """What all responses took together."""
        return total(self._past_usage, self._response.decoder.usage)

    @property
    def wants_more(self) -> bool:
        """Whether the end of the present response is still to come."""
        return not self._is_body_due and not self._response.decoder.is_finished

    def next_request(self) -> JsonObject | None:
        """Give the first body, or that of a further request that has become necessary."""
        if not self._is_body_due:
            return None
        self._is_body_due = False
        return self._body

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._take(self._response.decoder.feed(data))

    def end(self) -> Sequence[StreamEvent]:
        """Take the clean end of the response."""
        return self._take(self._response.decoder.end())

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._take(self._response.decoder.broken(failure))

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a refusal: one about stale thinking is mended and tried again, any other is a failure."""
        is_first = self._response.continuation is None
        if is_first and response.status == 400 and (patch := plan_repair(response, self._body)):
            self._response.decoder.is_finished = True
            return [patch, Finished(RetryRequested())]
        return self.broken(
            classify_response(
                response.status, response.headers, response.body, vendor=self._errors, now=self._now()
            )
        )

    def _new_response(self, continuation: Continuation | None) -> _Response:
        decoder = MessagesDecoder(self._errors, structured=self._structured)
        return _Response(decoder, ResponseRecord(), continuation)

    def _take(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        result: list[StreamEvent] = []
        record, continuation = self._response.record, self._response.continuation
        for event in events:
            record.note(event)
            if isinstance(event, Finished):
                self._on_finished(event.reason, result)
                continue
            for adopted in [event] if continuation is None else continuation.adopt(event):
                self._emit(adopted, result)
        return result

    def _emit(self, event: StreamEvent, result: list[StreamEvent]) -> None:
        """Pass an event on; the flush of a text waits, since the next event may say that the text goes on."""
        if self._held and isinstance(event, KeepAlive):
            if len(self._held) < _MOST_HELD:
                self._held.append(event)
            return
        self._let_go(result)
        is_end_of_text = isinstance(event, Flush) and event.index == self._last_text_index
        if is_end_of_text and self._continuations_left > 0:
            self._held.append(event)
            return
        if isinstance(event, StreamFailure):
            self._finish_seam(result)
        self._pass_on(event, result)

    def _finish_seam(self, result: list[StreamEvent]) -> None:
        if self._response.continuation is not None:
            for event in self._response.continuation.finish():
                self._pass_on(event, result)

    def _pass_on(self, event: StreamEvent, result: list[StreamEvent]) -> None:
        self._seen.note(event)
        if isinstance(event, TextPart) and event.kind != "reasoning":
            self._last_text_index = event.index
        result.append(event)

    def _let_go(self, result: list[StreamEvent], *, of_flush: bool = True) -> None:
        held, self._held = self._held, []
        for event in held:
            if of_flush or not isinstance(event, Flush):
                self._pass_on(event, result)

    def _on_finished(self, reason: FinishReason, result: list[StreamEvent]) -> None:
        self._finish_seam(result)
        match reason:
            case MaxTokens() if self._can_chain():
                self._let_go(result, of_flush=False)
                self._chain()
            case Completed() if self._owed and self._can_follow_up():
                self._let_go(result)
                self._follow_up(self._owed)
            case _:
                self._let_go(result)
                result.append(Finished(reason))

    def _can_chain(self) -> bool:
        record = self._response.record
        return self._continuations_left > 0 and record.ends_in_text and not record.has_calls

    def _chain(self) -> None:
        """Ask for the rest of the text."""
        self._continuations_left -= 1
        cut = CutText(self._last_text_index, self._response.record.last_text)
        self._ask(GO_ON, {}, Continuation(self._seen, cut=cut, keeps_reasoning=False))

    def _can_follow_up(self) -> bool:
        # If another tool was called than the one that had to be, nothing can be appended either: the request
        # would hold a call without a result.
        most = 1 if self._can_disable else MAX_FOLLOW_UPS
        return not self._response.record.has_calls and self._follow_ups < most

    def _follow_up(self, owed: ToolChoice) -> None:
        """Demand the call that did not come; without thinking it can be forced."""
        changes: dict[str, JsonValue] = {}
        if self._can_disable:
            changes = {"thinking": DISABLED, "tool_choice": tool_choice_field(owed)}
            if config := as_object(self._body.get("output_config")):
                changes["output_config"] = {name: value for name, value in config.items() if name != "effort"}
        continuation = Continuation(self._seen, cut=None, keeps_reasoning=not self._can_disable)
        self._ask(demand(owed, self._follow_ups), changes, continuation)
        self._follow_ups += 1

    def _ask(self, text: str, changes: JsonObject, continuation: Continuation) -> None:
        messages = list(as_list(self._body.get("messages")))
        if blocks := self._response.record.blocks():
            messages.append({"role": "assistant", "content": blocks})
        messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        self._body = {**self._body, **changes, "messages": messages}
        self._is_body_due = True
        self._past_usage = self.usage
        self._response = self._new_response(continuation)
