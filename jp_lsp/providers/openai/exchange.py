"""One answer of OpenAI's API: one request, one response, streamed or whole (providers 6.2)."""

from collections.abc import Callable, Sequence
from http import HTTPStatus

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.providers.failure import VendorErrors, lost_stream
from jp_lsp.providers.http import RefusedResponse
from jp_lsp.providers.one_request import OneRequestExchange
from jp_lsp.providers.openai.decode import ResponsesDecoder
from jp_lsp.providers.openai.encode import EncodedRequest
from jp_lsp.providers.openai.repair import plan_repair
from jp_lsp.providers.untrusted import as_object, parse_json
from jp_lsp.turn.stream_event import Finished, RetryRequested, StreamEvent


class ResponsesExchange(OneRequestExchange[ResponsesDecoder]):
    """Implements `Exchange`."""

    def __init__(
        self, encoded: EncodedRequest, errors: VendorErrors, *, structured: bool, now: Callable[[], float]
    ) -> None:
        decoder = ResponsesDecoder(errors, structured=structured, reasons=encoded.reasons)
        super().__init__(encoded.body, decoder, errors, now)
        self._streams = encoded.streams

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream: an answer in one piece, something to mend, or a failure."""
        if not self._streams and response.status == HTTPStatus.OK and (whole := _whole(response)):
            events = self._decoder.take_whole(whole)
            return [*events, *self._decoder.broken(lost_stream(self._errors))]
        if response.status == HTTPStatus.BAD_REQUEST and (patch := plan_repair(response, self._body)):
            self._decoder.is_finished = True
            return [patch, Finished(RetryRequested())]
        return super().refused(response)


def _whole(response: RefusedResponse) -> JsonObject | None:
    """Read the body as a response; nothing when it is none, such as an error with status 200."""
    try:
        body = as_object(parse_json(response.body))
    except ValueError:
        return None
    return body if "output" in body else None
