"""One attempt's response as it arrives: its builder, and what is held while a menu is open."""

from collections.abc import Callable, Collection

from jp_lsp.turn.builder import EventBuilder
from jp_lsp.turn.failure import StreamFailure
from jp_lsp.turn.inputs import AttemptId
from jp_lsp.turn.stream_event import Finished, StreamEvent, TextPart, ToolCallArguments

MAX_HELD_ITEMS = 2048
MAX_HELD_BYTES = 4 * 1024 * 1024


class StreamEnd:
    """Stands in the held items for the end of the iterator."""


class Response:
    """What one request has brought so far."""

    def __init__(self, attempt: AttemptId, taken_ids: Callable[[], Collection[str]]) -> None:
        self.attempt = attempt
        self.builder = EventBuilder(taken_ids)
        self.is_open = True
        self.is_paused = False
        self.is_receiving = False
        self.patched_events = 0
        self._held: list[StreamEvent | StreamEnd] = []
        self._held_bytes = 0

    def hold(self, item: StreamEvent | StreamEnd) -> bool:
        """Keep an item for later. `True` says that reading should pause now: enough is held."""
        self._held.append(item)
        if isinstance(item, TextPart | ToolCallArguments):
            self._held_bytes += len(item.text)
        is_full = len(self._held) >= MAX_HELD_ITEMS or self._held_bytes >= MAX_HELD_BYTES
        should_pause = is_full and not self.is_paused
        self.is_paused = self.is_paused or is_full
        return should_pause

    def take_held(self) -> tuple[list[StreamEvent], bool]:
        """Give what was held, in order, and whether the stream died behind it.

        A stream that finished is not dead, whatever its connection did afterwards.
        """
        items, self._held, self._held_bytes = self._held, [], 0
        events: list[StreamEvent] = []
        for item in items:
            if isinstance(item, StreamEnd | StreamFailure):
                return events, True
            events.append(item)
            if isinstance(item, Finished):
                return events, False
        return events, False

    def drop_held(self) -> None:
        """Forget what was held; nobody has seen it."""
        self._held, self._held_bytes = [], 0
