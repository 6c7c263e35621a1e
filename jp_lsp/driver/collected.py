"""A request beside the turn, read to its end before anybody looks: titles, and answers to tools' questions.

Such a request has the guards of every other one and a smaller budget of retries of its own (query pipeline
6.2). Nothing of it is stored or shown, and its tokens are not the turn's.
"""

import logging

from anyio.lowlevel import checkpoint

from jp_lsp.conversation.event import ConversationEvent, MessageResponse, StructuredResponse
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.pump import Pump
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import CycleRequest, Provider
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.turn.arguments import parse_structured
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.cycle import GiveUp, ResilientCycle
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import AttemptId, FromProvider, Input, UsageReported
from jp_lsp.turn.options import RetryPolicy
from jp_lsp.turn.stream_event import Finished, Flush, StreamEvent, TextPart, ToolCallArguments, ToolCallStart

_log = logging.getLogger(__name__)

RETRIES = RetryPolicy(max_retries=3, base_backoff=1.0, max_backoff=30.0)
"""How often and how soon such a request is repeated."""


class CollectError(Exception):
    """The request failed for good; the text is for the user."""


async def collect(
    provider: Provider, request: CycleRequest, guards: StreamGuards, clock: Clock
) -> list[ConversationEvent]:
    """Ask, and give what was answered; what passes is tried again.

    Raises:
        CollectError: the vendor refused, or failed too often.
    """
    cycle = ResilientCycle(RETRIES, lambda: 0.0)
    while True:
        cycle.attempt_began()
        answer = _Answer()
        pump = Pump(AttemptId(cycle.attempts), answer.take, checkpoint, clock, guards)
        await pump.run(provider, request)
        failure = answer.failure
        if failure is None:
            return answer.events
        decision = cycle.after_failure(failure)
        if isinstance(decision, GiveUp):
            raise CollectError(failure.message)
        await clock.sleep(decision.delay)


def structured_value(events: list[ConversationEvent]) -> JsonValue:
    """Find the value that was asked for; a model without structured output may have written it as text."""
    for event in reversed(events):
        match event.kind:
            case StructuredResponse(data):
                return data
            case MessageResponse(text):
                return parse_structured(text)
            case _:
                pass
    return None


class _Answer:
    """Puts one response together."""

    def __init__(self) -> None:
        self.events: list[ConversationEvent] = []
        self.failure: StreamFailure | None = StreamFailure(
            FailureKind.TRANSIENT, "the stream ended without a terminal event"
        )
        self._builder = EventBuilder()
        self._is_over = False

    def take(self, item: Input) -> None:
        """Take what the pump reads; nothing counts behind the end."""
        match item:
            case FromProvider(_, event) if not self._is_over:
                self._take_event(event)
            case UsageReported(usage):
                _log.debug("a request beside the turn took %s", usage)
            case _:
                pass

    def _take_event(self, event: StreamEvent) -> None:
        at = Timestamp(0)
        match event:
            case TextPart() | ToolCallStart() | ToolCallArguments():
                self._builder.accept(event)
            case Flush(index, metadata):
                self.events += self._builder.flush(index, metadata, at)
            case StreamFailure():
                self.failure, self._is_over = event, True
            case Finished():
                self.events += self._builder.finish(at)
                self.failure, self._is_over = None, True
            case _:
                pass
