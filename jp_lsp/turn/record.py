"""One turn within its conversation's stream: where it stands, and what can be read off it.

Nothing here is a second list: unanswered calls, the answer's text and the range of entries are derived
from the stream each time they are asked for.
"""

from collections.abc import Mapping

from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    StructuredResponse,
    ToolCallRequest,
    ToolCallResponse,
)
from jp_lsp.conversation.ids import CallId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.turn.answer_schema import find_misfits
from jp_lsp.turn.outcome import StructuredResult


class TurnRecord:
    """A turn that begins at entry `start` of the stream.

    `checkpoint` is where the current cycle begins and an abort rolls back to; `attempt_mark` is where the
    current attempt begins and a refusal or an empty answer rolls back to.
    """

    def __init__(self, stream: ConversationStream, start: int) -> None:
        self.stream = stream
        self.start = start
        self.checkpoint = len(stream)
        self.attempt_mark = len(stream)

    def append(self, event: ConversationEvent) -> None:
        """Append an event to the stream."""
        self.stream.append(event)

    def unanswered_calls(self, since: int | None = None) -> list[ConversationEvent]:
        """Give the tool calls of this turn that have no response yet, in request order.

        Ids may repeat over the cycles of a turn, so responses are matched by count. `since` is the entry
        to begin at, the turn's own start unless given.
        """
        open_calls: list[ConversationEvent] = []
        for event in self.stream.events(self.start if since is None else since):
            match event.kind:
                case ToolCallRequest():
                    open_calls.append(event)
                case ToolCallResponse(id=answered):
                    for call in open_calls:
                        if isinstance(call.kind, ToolCallRequest) and call.kind.id == answered:
                            open_calls.remove(call)
                            break
                case _:
                    pass
        return open_calls

    def request(self) -> ChatRequest:
        """Give what the user asked in this turn."""
        kinds = (event.kind for event in self.stream.events(self.start))
        return next((kind for kind in kinds if isinstance(kind, ChatRequest)), ChatRequest(""))

    def is_answered(self) -> bool:
        """Whether the turn ends with an answer rather than with a request or a response of a tool."""
        events = self.stream.events(self.start)
        return bool(events) and isinstance(events[-1].kind, MessageResponse | StructuredResponse)

    def amend_call(self, call: CallId, metadata: Mapping[str, JsonValue]) -> None:
        """Add metadata to the latest request of this turn with this id."""
        for position in range(len(self.stream) - 1, self.start - 1, -1):
            event = self.stream.entries[position].event
            if event is not None and isinstance(event.kind, ToolCallRequest) and event.kind.id == call:
                self.stream.amend(position, metadata)
                return

    def cycle_is_empty(self) -> bool:
        """Whether the current cycle has produced neither message, nor value, nor call (2.7)."""
        return not any(
            isinstance(event.kind, MessageResponse | StructuredResponse | ToolCallRequest)
            for event in self.stream.events(self.checkpoint)
        )

    def cycle_has_calls(self) -> bool:
        """Whether the current cycle has tool calls, handed over or not."""
        return any(isinstance(event.kind, ToolCallRequest) for event in self.stream.events(self.checkpoint))

    def drop_unreadable_calls(self) -> list[str]:
        """Take back the calls of this attempt whose arguments were cut; gives their names, sorted."""
        events = self.stream.events(self.attempt_mark)
        cut = [event for event in events if "arguments_error" in event.metadata]
        if not cut:
            return []
        self.stream.truncate(self.attempt_mark)
        for event in events:
            if event not in cut:
                self.stream.append(event)
        return sorted(event.kind.name for event in cut if isinstance(event.kind, ToolCallRequest))

    def text(self) -> str:
        """Join the message texts of the turn."""
        return "".join(
            event.kind.text
            for event in self.stream.events(self.start)
            if isinstance(event.kind, MessageResponse)
        )

    def structured(self, schema: JsonObject | None, since: int | None = None) -> StructuredResult | None:
        """Give the last structured value of this turn, or since an entry, if it was asked for with a schema."""
        events = self.stream.events(self.start if since is None else since)
        values = [event.kind for event in events if isinstance(event.kind, StructuredResponse)]
        if schema is None or not values:
            return None
        misfits = find_misfits(schema, values[-1].data)
        return StructuredResult(values[-1].data, not misfits, misfits)
