"""What the decoders of all vendors' streams have in common: server-sent events in, our events out, until the end.

A vendor's decoder says what one payload means, and what the loss of the connection means where it stands.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from jp_lsp.providers.failure import VendorErrors, lost_stream
from jp_lsp.providers.sse import EventTooLargeError, SseDecoder, SseEvent
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import FinishReason, StreamEvent, Usage


class ResponseDecoder(ABC):
    """Takes one response. After `is_finished` it gives nothing more.

    Args:
        errors: how the vendor says what went wrong.
    """

    def __init__(self, errors: VendorErrors) -> None:
        self.is_finished = False
        self.usage: Usage | None = None
        self._errors = errors
        self._finish: FinishReason | None = None
        self._sse = SseDecoder()

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take bytes, cut anywhere."""
        if self.is_finished:
            return []
        try:
            return self._take(self._sse.feed(data))
        except EventTooLargeError as error:
            return self.broken(StreamFailure(FailureKind.OTHER, str(error), provider=self._errors.provider))

    def end(self) -> list[StreamEvent]:
        """Take the clean end of the body, whether or not the vendor has announced it."""
        if self.is_finished:
            return []
        events = self._take(self._sse.end())
        return events + self.broken(lost_stream(self._errors))

    @abstractmethod
    def broken(self, failure: StreamFailure) -> list[StreamEvent]:
        """Take the loss of the connection: harmless when the reason to stop was told, else a failure."""

    @abstractmethod
    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        """Take the data of one event of that name, which may be empty; add to `events`."""

    def _take(self, sse_events: Sequence[SseEvent]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for name, data in sse_events:
            if data and not data.isspace():
                self._on_payload(name, data, events)
            if self.is_finished:
                break
        return events
