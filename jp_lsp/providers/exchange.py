"""What an adapter is: an exchange that knows the vendor's words, and one loop that does the HTTP.

An `Exchange` is pure. It says what to send, takes the bytes that come back and gives events; one answer may
take several requests (Anthropic's continuations). `run` connects it to the network. So every rule of a vendor
is tested with recorded bytes, and every fault of a network once, here.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.ports.provider import CycleObserver
from jp_lsp.providers.http import (
    ConnectionBrokenError,
    RefusedResponse,
    ResponseRefusedError,
    VendorHttp,
    read_out,
)
from jp_lsp.providers.surrogates import SurrogateJoiner
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.stream_event import Finished, StreamEvent, Usage


class Exchange(Protocol):
    """One answer of a vendor. The last event that it gives is `Finished` or a `StreamFailure`."""

    @property
    def usage(self) -> Usage | None:
        """What all responses together took, as far as the vendor told."""
        ...

    @property
    def wants_more(self) -> bool:
        """Whether further bytes of the present response matter."""
        ...

    def next_request(self) -> JsonObject | None:
        """Give the body to send now; nothing when the answer is over."""
        ...

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """Take bytes of the response, cut anywhere."""
        ...

    def end(self) -> Sequence[StreamEvent]:
        """Take the clean end of the response."""
        ...

    def refused(self, response: RefusedResponse) -> Sequence[StreamEvent]:
        """Take a response that is no stream."""
        ...

    def broken(self, failure: StreamFailure) -> Sequence[StreamEvent]:
        """Take the loss of the connection."""
        ...


async def run(
    exchange: Exchange,
    http: VendorHttp,
    path: str,
    observer: CycleObserver,
    *,
    accept: str = "text/event-stream",
) -> AsyncGenerator[StreamEvent, None]:
    """Carry an exchange out. Closing this iterator closes the connection at once.

    `accept` is the media type that is asked for.

    The event that ends the answer is given after the connection is closed or free again, and after usage was
    reported, so a caller that stops there leaves nothing behind.
    """
    joiner = SurrogateJoiner()
    usage = _UsageReport(exchange, observer)
    try:
        while (body := exchange.next_request()) is not None:
            try:
                async with aclosing(http.stream(path, body, observer, accept=accept)) as chunks:
                    async for chunk in chunks:
                        events = exchange.feed(chunk)
                        if not exchange.wants_more:
                            await read_out(chunks)
                            break
                        for event in joiner.join(events):
                            yield event
                    else:
                        events = exchange.end()
            except ResponseRefusedError as error:
                events = exchange.refused(error.response)
            except ConnectionBrokenError as error:
                events = exchange.broken(error.failure)
            for event in _masked(joiner.join(events), http):
                if isinstance(event, Finished | StreamFailure):
                    usage.send()
                yield event
    finally:
        usage.send()  # what a response took before it was interrupted is billed as well


class _UsageReport:
    """Tells the observer once, whichever way the answer ends."""

    def __init__(self, exchange: Exchange, observer: CycleObserver) -> None:
        self._exchange = exchange
        self._observer = observer
        self._is_sent = False

    def send(self) -> None:
        if not self._is_sent and (usage := self._exchange.usage) is not None:
            self._is_sent = True
            self._observer.usage_reported(usage)


def _masked(events: Iterable[StreamEvent], http: VendorHttp) -> Iterator[StreamEvent]:
    """Take secrets out of what a failure says: vendors quote keys and addresses back."""
    for event in events:
        if isinstance(event, StreamFailure):
            yield replace(event, message=http.mask(event.message))
        else:
            yield event
