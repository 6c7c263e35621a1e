"""An answer that takes one request and one response: the exchange of most vendors."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.failure import VendorErrors, classify_response
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.sse_decoder import ResponseDecoder
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import StreamEvent, Usage

Decoder = TypeVar("Decoder", bound=ResponseDecoder)


class OneRequestExchange(Generic[Decoder]):
    """Implements `Exchange` with a vendor's decoder.

    Args:
        body: the request.
        decoder: reads the response.
        errors: how the vendor says what went wrong.
        now: gives Unix seconds.
    """

    def __init__(
        self, body: JsonObject, decoder: Decoder, errors: VendorErrors, now: Callable[[], float]
    ) -> None:
        self.is_due = True
        """Whether the request has still to go out."""
        self._body = body
        self._decoder = decoder
        self._errors = errors
        self._now = now

    @property
    def usage(self) -> Usage | None:
        """What the response took."""
        return self._decoder.usage

    @property
    def wants_more(self) -> bool:
        """Whether the end is still to come."""
        return not self._decoder.is_finished

    def next_request(self) -> JsonObject | None:
        """Give the one body, once."""
        if not self.is_due:
            return None
        self.is_due = False
        return self._body

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._decoder.feed(data)

    def end(self) -> Sequence[StreamEvent]:
        """Take the end of the response."""
        return self._decoder.end()

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream."""
        failure = classify_response(
            response.status, response.headers, response.body, vendor=self._errors, now=self._now()
        )
        return self._decoder.broken(failure)

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._decoder.broken(failure)
