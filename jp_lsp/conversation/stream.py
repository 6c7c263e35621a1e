"""A conversation in memory: a base configuration and a list of entries that only grows.

Only the rollback of a cycle, repair, and a provider's wish to drop metadata take away or change what is
there. Every entry has an id in memory; whether ids and the other newer forms are written is decided once,
when the stream is made (conversation format 3.12).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jp_lsp.conversation import entry as entry_text
from jp_lsp.conversation import json_text
from jp_lsp.conversation.directive import Compaction, ConfigDelta
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import ConversationEvent
from jp_lsp.conversation.events_text import EventsText, is_joined
from jp_lsp.conversation.ids import EventId, counting_event_ids
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turns import TurnCounter


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """The files as they were read, to be written back while nothing changes; `None` where that is no use.

    `is_verbatim` says that the entries have the very texts that stand in `events`, so that what is appended can
    go behind it, whatever stands between them there.
    """

    base_config: str | None = None
    events: str | None = None
    is_verbatim: bool = False


class ConversationStream:
    """Base configuration and entries of one conversation.

    `mint` gives candidates for entry ids; taken ones are skipped. `ambiguous_ids` are those that the file
    had more than once. `revision` grows with every change, so that a reader knows whether to look again.
    """

    def __init__(
        self,
        created_at: Timestamp,
        base_config: JsonObject,
        entries: Sequence[Entry] = (),
        *,
        mint: Callable[[], EventId],
        newer_format: bool = False,
        ambiguous_ids: frozenset[EventId] = frozenset(),
        source: SourceTexts = SourceTexts(),
    ) -> None:
        self.created_at = created_at
        self.base_config = base_config
        self.newer_format = newer_format
        self.ambiguous_ids = ambiguous_ids
        self.revision = 0
        self._sound_at: int | None = None
        self._mint = mint
        self._entries = list(entries)
        self._seen_ids = {entry.id for entry in entries} | ambiguous_ids
        self._turns = TurnCounter()
        self._count_turns()
        self._base_text = source.base_config
        self._source_events = source.events
        self._source_count = len(entries) if source.is_verbatim else None
        if source.events is not None and is_joined(source.events, self._entries):
            self._source_events = None  # the same text is made from the entries

    @classmethod
    def new(cls, created_at: Timestamp, base_config: JsonObject) -> "ConversationStream":
        """Start an empty stream whose ids are merely counted; for tests and for copies never saved."""
        return cls(created_at, base_config, mint=counting_event_ids())

    def __len__(self) -> int:
        """Count the entries, of every kind."""
        return len(self._entries)

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries; the sequence is the stream's own and grows with it."""
        return self._entries

    def append(self, event: ConversationEvent) -> None:
        """Append an event.

        Raises:
            ValueError: a value of the event cannot be written as JSON (NaN, infinity); nothing changed.
        """
        self._entries.append(self._entry(event))
        self._turns.feed(event.kind)
        self.revision += 1

    def insert_all(self, events: Mapping[int, ConversationEvent]) -> None:
        """Insert each event before the entry that now has its position; only repair does that."""
        entries: list[Entry] = []
        for position in range(len(self._entries) + 1):
            if position in events:
                entries.append(self._entry(events[position]))
            entries.extend(self._entries[position : position + 1])
        self.replace(entries)

    def append_config_delta(self, delta: JsonObject, at: Timestamp, unsets: Sequence[str] = ()) -> None:
        """Append a change of settings; `unsets` are for streams of the newer form alone (conversation format 3.12).

        Raises:
            ValueError: a value of the delta cannot be written as JSON.
        """
        assert self.newer_format or not unsets, "a file of the older form cannot say that a value is gone"
        event_id = self._next_id()
        text = entry_text.config_delta_text(delta, at, self._written(event_id), unsets)
        self._entries.append(Entry(event_id, ConfigDelta(delta, tuple(unsets), timestamp=at), text))
        self.revision += 1

    def append_compaction(self, compaction: Compaction) -> None:
        """Append a compaction, which holds for all entries wherever it stands."""
        event_id = self._next_id()
        text = entry_text.compaction_text(compaction, self._written(event_id))
        self._entries.append(Entry(event_id, compaction, text))
        self.revision += 1

    def truncate(self, length: int) -> None:
        """Remove every entry from position `length` on (rollback of a cycle); ids are not used again."""
        if length < len(self._entries):
            source = self._source_events if self._is_behind_source(length) else None
            self.replace(self._entries[:length])
            self._source_events = source

    def replace(self, entries: Sequence[Entry]) -> None:
        """Put other entries in place of all; for repair."""
        self._entries = list(entries)
        self._source_events = None
        self._count_turns()
        self.revision += 1

    def events(self, start: int = 0) -> Sequence[ConversationEvent]:
        """Give the typed events among the entries from position `start` on, decoded."""
        tail = self._entries[start:] if start else self._entries
        return [entry.content for entry in tail if isinstance(entry.content, ConversationEvent)]

    def config_deltas(self) -> Iterator[tuple[int, ConfigDelta]]:
        """Give each change of settings and its position among the entries."""
        for position, entry in enumerate(self._entries):
            if isinstance(entry.content, ConfigDelta):
                yield position, entry.content

    @property
    def turn_count(self) -> int:
        """Count the turns (conversation format 6.1)."""
        return self._turns.count

    @property
    def is_sound(self) -> bool:
        """Whether repair has looked through it as it is now, so that it need not look again."""
        return self._sound_at == self.revision

    def note_sound(self) -> None:
        """Note that repair would find nothing to do; the next change makes that unknown."""
        self._sound_at = self.revision

    def remove_metadata(self, key: str, value: str) -> int:
        """Remove `key` from each event whose metadata has exactly `value` under it; count the events."""
        changed = 0
        for position, entry in enumerate(self._entries):
            if isinstance(entry.content, ConversationEvent) and entry.content.metadata.get(key) == value:
                self._put(position, entry_text.without_metadata(entry, key))
                changed += 1
        self.revision += bool(changed)
        return changed

    def amend(self, position: int, metadata: Mapping[str, JsonValue]) -> None:
        """Add metadata to the event at an entry's position; its id and its place stay."""
        entry = self._entries[position]
        assert isinstance(entry.content, ConversationEvent), "only events have metadata"
        self._put(position, entry_text.with_metadata(entry, metadata))
        self.revision += 1

    def copy(self, *, created_at: Timestamp | None = None) -> "ConversationStream":
        """Give a stream of the same entries that can be changed without touching this one.

        With `created_at` it is another conversation's. No entry is looked at, so that even a copy of a very long
        stream is made at once.
        """
        copied = ConversationStream(
            self.created_at if created_at is None else created_at,
            self.base_config,
            mint=self._mint,
            newer_format=self.newer_format,
            ambiguous_ids=self.ambiguous_ids,
            source=SourceTexts(self._base_text),
        )
        copied._entries = self._entries.copy()
        copied._seen_ids = self._seen_ids.copy()
        copied._turns.count = self._turns.count
        if self.is_sound:
            copied.note_sound()
        return copied

    def base_config_text(self) -> str:
        """Give the text of `base_config.json`; one that was read is given back as it was."""
        if self._base_text is None:
            self._base_text = json_text.to_text(self.base_config) + "\n"
        return self._base_text

    def events_text(self) -> str:
        """Give the text of `events.json`; a stream that did not change gives the text that was read."""
        return self.events_now().text()

    def events_now(self) -> EventsText:
        """Give the text of `events.json` as it is now, without putting it together yet."""
        if self._source_events is None or (self._source_count is None and self.revision > 0):
            return EventsText(None, tuple(self._entries))
        if self.revision == 0 or self._source_count is None:
            return EventsText(self._source_events, ())
        return EventsText(self._source_events, tuple(self._entries[self._source_count :]))

    def _is_behind_source(self, position: int) -> bool:
        """Tell whether a position is behind all that stands in the text that was read."""
        return self._source_count is not None and position >= self._source_count

    def _put(self, position: int, entry: Entry) -> None:
        """Put an entry in place of another one."""
        self._entries[position] = entry
        if not self._is_behind_source(position):
            self._source_events = None

    def _entry(self, event: ConversationEvent) -> Entry:
        event_id = self._next_id()
        text = entry_text.event_text(event, self._written(event_id), newer_format=self.newer_format)
        return Entry(event_id, event, text)

    def _next_id(self) -> EventId:
        while (event_id := self._mint()) in self._seen_ids:
            pass
        self._seen_ids.add(event_id)
        return event_id

    def _written(self, event_id: EventId) -> EventId | None:
        return event_id if self.newer_format else None

    def _count_turns(self) -> None:
        self._turns = TurnCounter()
        for entry in self._entries:
            if isinstance(entry.content, ConversationEvent):
                self._turns.feed(entry.content.kind)
