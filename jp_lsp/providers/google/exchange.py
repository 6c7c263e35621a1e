"""One answer of the Gemini API, which may take several requests (providers 6.3.2).

The model sometimes calls a tool that it was not offered, and the API gives up on the answer. The same request
is then sent again; for the caller it is all one response.
"""

from collections.abc import Callable, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.google.decode import GenerateDecoder
from jp_lsp.providers.google.errors import classify_refusal
from jp_lsp.providers.google.repair import plan_repair
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.usage import total
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, OtherReason, RetryRequested, StreamEvent, Usage

MAX_RESENDS = 3
_RESEND_AFTER = Finished(OtherReason("UNEXPECTED_TOOL_CALL"))


class GenerateExchange:
    """Implements `Exchange`."""

    def __init__(self, body: JsonObject, *, structured: bool, now: Callable[[], float]) -> None:
        self._body = body
        self._is_body_due = True
        self._structured = structured
        self._now = now
        self._resends_left = MAX_RESENDS
        self._past_usage: Usage | None = None
        self._decoder = self._new_decoder(0)

    @property
    def usage(self) -> Usage | None:
        """What all responses took together."""
        return total(self._past_usage, self._decoder.usage)

    @property
    def wants_more(self) -> bool:
        """Whether the end of the present response is still to come."""
        return not self._is_body_due and not self._decoder.is_finished

    def next_request(self) -> JsonObject | None:
        """Give the body, and once more when it has to be sent again."""
        if not self._is_body_due:
            return None
        self._is_body_due = False
        return self._body

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._take(self._decoder.feed(data))

    def end(self) -> Sequence[StreamEvent]:
        """Take the end of the response."""
        return self._take(self._decoder.end())

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._decoder.broken(failure)

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a refusal: one about signatures is mended and tried again, any other is a failure."""
        if (patch := plan_repair(response, self._body)) is not None:
            self._decoder.is_finished = True
            return [patch, Finished(RetryRequested())]
        return self._decoder.broken(classify_refusal(response, self._now()))

    def _new_decoder(self, first_index: int) -> GenerateDecoder:
        return GenerateDecoder(structured=self._structured, first_index=first_index, now=self._now)

    def _take(self, events: list[StreamEvent]) -> list[StreamEvent]:
        if not events or events[-1] != _RESEND_AFTER or self._resends_left == 0:
            return events
        self._resends_left -= 1
        self._past_usage = self.usage
        self._decoder = self._new_decoder(self._decoder.next_index)
        self._is_body_due = True
        return events[:-1]
