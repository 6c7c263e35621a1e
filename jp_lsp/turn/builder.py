"""EventBuilder: the parts of one provider response become whole conversation events.

Each open index has a buffer of one kind. A flush completes it; events leave in ascending index order, so
one that is flushed while a lower index is open is held until that is done (query pipeline 2).
"""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, assert_never

from jp_lsp.conversation.event import (
    ConversationEvent,
    EventKind,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_text import replace_surrogates
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.turn.arguments import parse_arguments, parse_structured
from jp_lsp.turn.stream_event import Part, TextPart, ToolCallArguments, ToolCallStart

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Buffer:
    kind: Literal["message", "reasoning", "structured", "tool_call"]
    rank: tuple[int, int]
    texts: list[str] = field(default_factory=list[str])
    metadata: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    id: str = ""
    name: str = ""

    def append(self, text: str) -> None:
        # Empty pieces open the buffer and mean nothing beyond; a stream of nothing else must not fill it.
        if text:
            self.texts.append(text)

    @property
    def text(self) -> str:
        return replace_surrogates("".join(self.texts))


class EventBuilder:
    """Builds the events of one response; a new attempt gets a new builder.

    Args:
        taken_ids: gives the call ids that the conversation has already, which a made-up id must avoid;
            called only when an id has to be made up.
    """

    def __init__(self, taken_ids: Callable[[], Collection[str]] = tuple) -> None:
        self._taken_ids = taken_ids
        self._cycle_ids: set[str] = set()
        self._open: dict[int, _Buffer] = {}
        self._held: dict[tuple[int, int], ConversationEvent] = {}
        self._times_flushed: dict[int, int] = {}
        self.violations = 0

    def accept(self, part: Part) -> bool:
        """Take a part. `False` means that its index holds another kind: it is neither stored nor shown."""
        match part:
            case TextPart(index, kind, text, metadata):
                buffer = self._buffer(index, kind)
                if buffer is not None:
                    buffer.append(text)
                    buffer.metadata.update(metadata)
            case ToolCallStart(index, id, name, metadata):
                buffer = self._buffer(index, "tool_call")
                if buffer is not None:
                    buffer.id = buffer.id or id
                    buffer.name = buffer.name or name
                    buffer.metadata.update(metadata)
            case ToolCallArguments(index, text):
                buffer = self._buffer(index, "tool_call")
                if buffer is not None:
                    buffer.append(text)
            case _:
                assert_never(part)
        return buffer is not None

    def flush(self, index: int, metadata: Mapping[str, JsonValue], at: Timestamp) -> list[ConversationEvent]:
        """Complete an index; gives the events that may now be stored, which can be none or several."""
        buffer = self._open.pop(index, None)
        if buffer is not None:
            self._times_flushed[index] = self._times_flushed.get(index, 0) + 1
            buffer.metadata.update(metadata)
            event = self._complete(index, buffer, at)
            if event is not None:
                self._held[buffer.rank] = event
        return self._release()

    def finish(self, at: Timestamp) -> list[ConversationEvent]:
        """End the response: open texts are completed, open tool calls are dropped."""
        return self._close(at, {"message", "reasoning", "structured"})

    def commit_partial(self, at: Timestamp) -> list[ConversationEvent]:
        """Keep what a broken or stopped response left: held events and open reasoning and message text."""
        partials = set(self._open)
        events = self._close(at, {"message", "reasoning"})
        if partials:
            _log.debug("kept %d events of an unfinished response", len(events))
        return events

    def incomplete_tool_calls(self) -> list[str]:
        """Name the tool calls that are still open, sorted; unnamed ones are left out."""
        return sorted(b.name for b in self._open.values() if b.kind == "tool_call" and b.name)

    @property
    def has_open_structured(self) -> bool:
        """Whether a structured value is still arriving."""
        return any(buffer.kind == "structured" for buffer in self._open.values())

    def clear(self) -> None:
        """Forget everything, as after a refusal."""
        self._open.clear()
        self._held.clear()

    def _buffer(
        self, index: int, kind: Literal["message", "reasoning", "structured", "tool_call"]
    ) -> _Buffer | None:
        # A part behind the flush of its index opens a new event, which stands behind those that are there.
        rank = self._times_flushed.get(index, 0), index
        buffer = self._open.setdefault(index, _Buffer(kind, rank))
        if buffer.kind == kind:
            return buffer
        self.violations += 1
        _log.warning("a %s part came for index %d, which holds a %s; ignored", kind, index, buffer.kind)
        return None

    def _release(self) -> list[ConversationEvent]:
        lowest_open = min((buffer.rank for buffer in self._open.values()), default=None)
        ready = sorted(rank for rank in self._held if lowest_open is None or rank < lowest_open)
        return [self._held.pop(rank) for rank in ready]

    def _close(self, at: Timestamp, kinds: Collection[str]) -> list[ConversationEvent]:
        for index in sorted(self._open):
            buffer = self._open.pop(index)
            if buffer.kind not in kinds:
                _log.warning("an unfinished %s %s at index %d is dropped", buffer.kind, buffer.name, index)
                continue
            event = self._complete(index, buffer, at)
            if event is not None and not _is_blank_partial(event):
                self._held[buffer.rank] = event
        return self._release()

    def _complete(self, index: int, buffer: _Buffer, at: Timestamp) -> ConversationEvent | None:
        kind: EventKind
        metadata = buffer.metadata
        match buffer.kind:
            case "reasoning":
                kind = ReasoningResponse(buffer.text)
            case "message":
                if not buffer.text.strip():
                    return None
                kind = MessageResponse(buffer.text)
            case "structured":
                if not buffer.text.strip():
                    return None
                kind = StructuredResponse(parse_structured(buffer.text))
            case "tool_call":
                if not buffer.name:
                    _log.warning("a tool call without a name at index %d is dropped", index)
                    return None
                arguments, problem = parse_arguments(buffer.text)
                if problem is not None:
                    metadata = {**metadata, "arguments_error": problem, "arguments_raw": buffer.text}
                kind = ToolCallRequest(self._call_id(index, buffer), buffer.name, arguments)
            case _:
                assert_never(buffer.kind)
        return ConversationEvent(at, kind, metadata)

    def _call_id(self, index: int, buffer: _Buffer) -> CallId:
        """Keep the vendor's id unless this response used it already; make one up where there is none.

        Adapters of vendors without ids make up the same ones. Those count from zero in every response, so they
        must not be taken in the conversation either.
        """
        made_up = f"{buffer.name}_{index}"
        is_made_up = not buffer.id.strip() or buffer.id == made_up
        wanted = made_up if is_made_up else buffer.id
        taken = self._cycle_ids.union(self._taken_ids()) if is_made_up else self._cycle_ids
        call_id, number = wanted, 1
        while call_id in taken:
            number += 1
            call_id = f"{wanted}_{number}"
        if call_id != buffer.id and not is_made_up:
            _log.warning("call id %r came twice in one response; the later one is now %r", buffer.id, call_id)
        self._cycle_ids.add(call_id)
        return CallId(call_id)


def _is_blank_partial(event: ConversationEvent) -> bool:
    """An unfinished reasoning without text only matters for its metadata."""
    return isinstance(event.kind, ReasoningResponse) and not event.kind.text.strip() and not event.metadata
