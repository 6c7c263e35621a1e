"""One answer of OpenAI's API: one request, one response, streamed or whole (providers 6.2)."""

from collections.abc import Callable, Sequence
from http import HTTPStatus

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.failure import VendorErrors, classify_response, lost_stream
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.openai.decode import ResponsesDecoder
from jp_lsp.providers.openai.encode import EncodedRequest
from jp_lsp.providers.openai.repair import plan_repair
from jp_lsp.providers.untrusted import as_object, parse_json
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, RetryRequested, StreamEvent, Usage


class ResponsesExchange:
    """Implements `Exchange`."""

    def __init__(
        self, encoded: EncodedRequest, errors: VendorErrors, *, structured: bool, now: Callable[[], float]
    ) -> None:
        self._body = encoded.body
        self._is_body_due = True
        self._streams = encoded.streams
        self._errors = errors
        self._now = now
        self._decoder = ResponsesDecoder(errors, structured=structured, reasons=encoded.reasons)

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
        if not self._is_body_due:
            return None
        self._is_body_due = False
        return self._body

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response."""
        return self._decoder.feed(data)

    def end(self) -> Sequence[StreamEvent]:
        """Take the end of the response."""
        return self._decoder.end()

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        return self._decoder.broken(failure)

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream: an answer in one piece, something to mend, or a failure."""
        if not self._streams and response.status == HTTPStatus.OK and (whole := _whole(response)):
            events = self._decoder.take_whole(whole)
            return [*events, *self._decoder.broken(lost_stream(self._errors))]
        if response.status == HTTPStatus.BAD_REQUEST and (patch := plan_repair(response, self._body)):
            self._decoder.is_finished = True
            return [patch, Finished(RetryRequested())]
        return self._decoder.broken(
            classify_response(
                response.status, response.headers, response.body, vendor=self._errors, now=self._now()
            )
        )


def _whole(response: RefusedResponse) -> JsonObject | None:
    """Read the body as a response; nothing when it is none, such as an error with status 200."""
    try:
        body = as_object(parse_json(response.body))
    except ValueError:
        return None
    return body if "output" in body else None
