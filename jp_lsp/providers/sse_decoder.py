"""What the decoders of all vendors' streams have in common: framed payloads in, our events out, until the end.

A vendor's decoder says what one payload means.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from jp_lsp.providers.failure import VendorErrors, lost_stream
from jp_lsp.providers.sse import EventTooLargeError, SseDecoder, SseEvent
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.stream_event import Finished, FinishReason, StreamEvent, Usage


class Framing(Protocol):
    """Finds the payloads in the bytes of a body."""

    def feed(self, chunk: bytes) -> Sequence[SseEvent]:
        """Take bytes, cut anywhere.

        Raises:
            EventTooLargeError: a payload is over the limit.
        """
        ...

    def end(self) -> Sequence[SseEvent]:
        """Take the end of the body."""
        ...


class ResponseDecoder(ABC):
    """Takes one response. After `is_finished` it gives nothing more.

    Args:
        errors: how the vendor says what went wrong.
        framing: how payloads follow one another; server-sent events when nothing else is said.
    """

    def __init__(self, errors: VendorErrors, framing: Framing | None = None) -> None:
        self.is_finished = False
        self.usage: Usage | None = None
        self._errors = errors
        self._finish: FinishReason | None = None
        self._framing: Framing = framing or SseDecoder()

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take bytes, cut anywhere."""
        if self.is_finished:
            return []
        try:
            return self._take(self._framing.feed(data))
        except EventTooLargeError as error:
            return self.broken(StreamFailure(FailureKind.OTHER, str(error), provider=self._errors.provider))

    def end(self) -> list[StreamEvent]:
        """Take the clean end of the body, whether or not the vendor has announced it."""
        if self.is_finished:
            return []
        events = self._take(self._framing.end())
        return events + self.broken(lost_stream(self._errors))

    def broken(self, failure: StreamFailure) -> list[StreamEvent]:
        """Take the loss of the connection: harmless when the reason to stop was told, else a failure.

        Where a vendor tells the reason only as the very end, whatever comes before it is lost.
        """
        if self.is_finished:
            return []
        self.is_finished = True
        return [failure if self._finish is None else Finished(self._finish)]

    @abstractmethod
    def _on_payload(self, name: str, data: str, events: list[StreamEvent]) -> None:
        """Take the data of one event of that name, which may be empty; add to `events`."""

    def _take(self, payloads: Sequence[SseEvent]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for name, data in payloads:
            if data and not data.isspace():
                self._on_payload(name, data, events)
            if self.is_finished:
                break
        return events
