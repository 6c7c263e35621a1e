"""A chat of Ollama as an exchange: one request, one response."""

from collections.abc import Callable, Sequence

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.failure import classify_response
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.ollama.decode import ERRORS, ChatDecoder
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import StreamEvent, Usage


class ChatExchange:
    """Implements `Exchange`."""

    def __init__(self, body: JsonObject, *, structured: bool, now: Callable[[], float]) -> None:
        self._body: JsonObject | None = body
        self._now = now
        self._decoder = ChatDecoder(structured=structured)

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
        body, self._body = self._body, None
        return body

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._decoder.feed(data)

    def end(self) -> Sequence[StreamEvent]:
        """Take the end of the response."""
        return self._decoder.end()

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream."""
        failure = classify_response(
            response.status, response.headers, response.body, vendor=ERRORS, now=self._now()
        )
        return self._decoder.broken(failure)

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._decoder.broken(failure)
