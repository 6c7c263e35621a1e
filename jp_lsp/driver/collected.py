"""A request beside the turn, read to its end before anybody looks: titles, and answers to tools' questions.

Such a request has the guards of every other one and a smaller budget of retries of its own (query pipeline
6.2). Nothing of it is stored or shown, and its tokens are not the turn's.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import anyio.to_thread
from anyio.lowlevel import checkpoint

from jp_lsp.conversation.event import ConversationEvent, MessageResponse, StructuredResponse
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.thread import ThreadEvent
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.driver.pump import Pump
from jp_lsp.ports.clock import Clock
from jp_lsp.ports.provider import CycleRequest, Provider
from jp_lsp.ports.settings import StreamGuards
from jp_lsp.turn.answer_schema import MAX_CORRECTIONS, correction, find_misfits
from jp_lsp.turn.arguments import parse_structured
from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.cycle import GiveUp, ResilientCycle
from jp_lsp.turn.failure import FailureKind, StreamFailure
from jp_lsp.turn.inputs import AttemptId, FromProvider, Input, UsageReported
from jp_lsp.turn.options import RetryPolicy
from jp_lsp.turn.stream_event import (
    Finished,
    FinishReason,
    Flush,
    MaxTokens,
    MetadataPatch,
    Patch,
    Refused,
    RetryRequested,
    StreamEvent,
    TextPart,
    ToolCallArguments,
    ToolCallStart,
)

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
    return (await _collect(provider, request, guards, clock)).events


async def collect_value(
    provider: Provider,
    request: CycleRequest,
    guards: StreamGuards,
    clock: Clock,
    *,
    is_enough: Callable[[JsonValue], bool] = lambda _: False,
) -> JsonValue:
    """Ask for a value that fits the thread's schema; one that does not is asked for again, with what is wrong (8).

    `is_enough` tells that a value will do although it may not fit.

    Raises:
        CollectError: as for `collect`, or no answer fitted.
    """
    schema = request.thread.schema
    assert schema is not None, "a value is asked for with a schema"
    problem = ""
    for _ in range(1 + MAX_CORRECTIONS):
        answer = await _collect(provider, request, guards, clock)
        if isinstance(answer.end, MaxTokens):
            raise CollectError("its answer was cut off at the model's output limit")
        value = structured_value(answer.events)
        if is_enough(value):
            return value
        # In a worker thread: what checks values takes long to load.
        misfits = await anyio.to_thread.run_sync(find_misfits, schema, value)
        if not misfits:
            return value
        problem = misfits[0]
        request = _with_events(answer.request, correction(value, misfits, Timestamp(0)))
    raise CollectError(f"it gave no answer in the form that was asked for: {problem}")


async def _collect(
    provider: Provider, request: CycleRequest, guards: StreamGuards, clock: Clock
) -> "_Answer":
    cycle = ResilientCycle(RETRIES, lambda: 0.0)
    while True:
        cycle.attempt_began()
        answer = _Answer(request)
        pump = Pump(AttemptId(cycle.attempts), answer.take, checkpoint, clock, guards)
        await pump.run(provider, partial(_given, request))
        request = answer.request
        match answer.end:
            case StreamFailure() as failure:
                decision = cycle.after_failure(failure)
                if isinstance(decision, GiveUp):
                    raise CollectError(failure.message)
                await clock.sleep(decision.delay)
            case RetryRequested():
                if not cycle.may_rebuild(answer.patched_events):
                    raise CollectError("the provider asked to be asked again, without an end to it")
            case Refused(category, explanation):
                why = ": ".join(text for text in (category, explanation) if text)
                raise CollectError(f"the model refused to answer{f' ({why})' if why else ''}")
            case _:
                return answer


async def _given(request: CycleRequest) -> CycleRequest:
    return request


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


def _with_events(request: CycleRequest, events: Iterable[ConversationEvent]) -> CycleRequest:
    thread = request.thread
    added = (ThreadEvent(event, None) for event in events)
    return replace(request, thread=replace(thread, events=(*thread.events, *added)))


class _Answer:
    """Puts one response together.

    `request` is what was asked, with the repairs that the provider wanted of it: nobody stores them.
    """

    def __init__(self, request: CycleRequest) -> None:
        self.request = request
        self.patched_events = 0
        self.events: list[ConversationEvent] = []
        self.end: FinishReason | StreamFailure = StreamFailure(
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
            case Patch(patches):
                for patch in patches:
                    self._repair(patch)
            case StreamFailure():
                self.end, self._is_over = event, True
            case Finished(reason):
                self.events += self._builder.finish(at)
                self.end, self._is_over = reason, True
            case _:
                pass

    def _repair(self, patch: MetadataPatch) -> None:
        thread = self.request.thread
        events = tuple(_repaired(item, patch) for item in thread.events)
        self.patched_events += sum(new is not old for new, old in zip(events, thread.events, strict=True))
        self.request = replace(self.request, thread=replace(thread, events=events))


def _repaired(item: ThreadEvent, patch: MetadataPatch) -> ThreadEvent:
    metadata = item.event.metadata
    if metadata.get(patch.key) != patch.value:
        return item
    rest = {name: value for name, value in metadata.items() if name != patch.key}
    return replace(item, event=replace(item.event, metadata=rest))
