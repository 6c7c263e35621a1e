"""An answer in which a tool had to be called, which its vendor could not be made to force (providers 6.1.4, 6.7).

An answer without the call is followed by a request that demands it: once and in earnest from a model that can
answer without thinking, else up to three times in ever clearer words. For the caller it is one answer.
"""

from collections.abc import Callable, Sequence

from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.providers.chaining import Continuation, SeenIndices
from jp_lsp.providers.chat.encode import EncodedRequest, choice_field
from jp_lsp.providers.chat.exchange import ChatExchange
from jp_lsp.providers.chat.messages import text_block
from jp_lsp.providers.forcing import MAX_FOLLOW_UPS, demand
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.untrusted import as_list
from jp_lsp.providers.usage import total
from jp_lsp.tools.definition import ToolChoice
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import (
    Completed,
    Finished,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)

_WITHOUT_THINKING: JsonObject = {"exclude": True, "effort": "none"}


class ForcedExchange:
    """Implements `Exchange`; `make` gives the exchange of one response."""

    def __init__(
        self, encoded: EncodedRequest, owed: ToolChoice, make: Callable[[JsonObject], ChatExchange]
    ) -> None:
        self._body: JsonObject = encoded.body
        self._owed: ToolChoice = owed
        self._can_disable = encoded.can_disable
        self._make = make
        self._follow_ups = 0
        self._past_usage: Usage | None = None
        self._seen = SeenIndices()
        self._begin(None)

    def _begin(self, continuation: Continuation | None) -> None:
        self._inner = self._make(self._body)
        self._continuation = continuation
        self._said: list[str] = []
        self._has_calls = False

    @property
    def usage(self) -> Usage | None:
        """What all responses took together."""
        return total(self._past_usage, self._inner.usage)

    @property
    def wants_more(self) -> bool:
        """Whether the end of the present response is still to come."""
        return self._inner.wants_more and not self._inner.is_due

    def next_request(self) -> JsonObject | None:
        """Give the first body, or that of a further request that has become necessary."""
        return self._inner.next_request()

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._take(self._inner.feed(data))

    def end(self) -> Sequence[StreamEvent]:
        """Take the end of the response."""
        return self._take(self._inner.end())

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream."""
        return self._take(self._inner.refused(response))

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._take(self._inner.broken(failure))

    def _take(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        result: list[StreamEvent] = []
        continuation = self._continuation
        for event in events:
            self._note(event)
            if isinstance(event, Finished) and isinstance(event.reason, Completed) and self._is_missing():
                self._ask_again()
                continue
            for adopted in [event] if continuation is None else continuation.adopt(event):
                self._seen.note(adopted)
                result.append(adopted)
        return result

    def _note(self, event: StreamEvent) -> None:
        match event:
            case TextPart(kind="message" | "structured", text=text):
                self._said.append(text)
            case ToolCallStart() | ToolCallArguments():
                self._has_calls = True
            case _:
                pass

    def _is_missing(self) -> bool:
        # Another tool than the one that had to be called cannot be mended: its result is still to come.
        most = 1 if self._can_disable else MAX_FOLLOW_UPS
        return not self._has_calls and self._follow_ups < most

    def _ask_again(self) -> None:
        messages: list[JsonValue] = [*as_list(self._body.get("messages"))]
        if said := "".join(self._said).strip():
            messages.append({"role": "assistant", "content": [text_block(said)]})
        wanted = demand(self._owed, self._follow_ups)
        messages.append({"role": "user", "content": [text_block(wanted)]})
        changes: JsonObject = {}
        if self._can_disable:
            changes = {"reasoning": _WITHOUT_THINKING, "tool_choice": choice_field(self._owed)}
        self._body = {**self._body, **changes, "messages": messages}
        self._follow_ups += 1
        self._past_usage = self.usage
        self._begin(Continuation(self._seen, cut=None, keeps_reasoning=not self._can_disable))
