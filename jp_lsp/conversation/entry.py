"""One element of `events.json`: its text, kept as it was read, and what it means.

An entry that nobody changed is written back character for character. That one rule keeps unknown
fields, odd number texts and original timestamps, and makes saving a long stream a join of texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from jp_lsp.conversation import base64_text, directive, event_codec, json_text
from jp_lsp.conversation.directive import Compaction, Directive, Unknown
from jp_lsp.conversation.event import ChatRequest, ConversationEvent
from jp_lsp.conversation.ids import EventId
from jp_lsp.conversation.json_value import JsonObject, JsonValue
from jp_lsp.conversation.timestamp import Timestamp

Content: TypeAlias = ConversationEvent | Directive

LEVEL = 1
"""Entries stand one level deep in the file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a stream: the id it has in memory, its meaning, and its text at level one."""

    id: EventId
    content: Content
    text: str

    @property
    def event(self) -> ConversationEvent | None:
        """The event, if this entry is one."""
        return self.content if isinstance(self.content, ConversationEvent) else None


def decode(raw: JsonValue) -> Content:
    """Say what a parsed element means.

    Raises:
        ShapeError: its kind is known and its shape is wrong; says which field.
    """
    if not isinstance(raw, Mapping):
        return Unknown()
    kind = raw.get("type")
    if not isinstance(kind, str):
        return Unknown()
    if kind in event_codec.EVENT_TYPES:
        return event_codec.decode(raw)
    if kind in directive.DIRECTIVE_TYPES:
        return directive.decode(raw)
    return Unknown()


def event_text(event: ConversationEvent, event_id: EventId | None, *, newer_format: bool) -> str:
    """Write a new event; `event_id` comes first if the file carries ids.

    Raises:
        ValueError: a value of the event cannot be written as JSON.
    """
    try:
        stored = event_codec.encode(event, newer_format=newer_format)
    except RecursionError:
        raise ValueError("the event is nested too deep to be written as JSON") from None
    return json_text.to_text(with_id(stored, event_id), LEVEL)


def config_delta_text(
    delta: JsonObject, at: Timestamp, event_id: EventId | None, unsets: Sequence[str] = ()
) -> str:
    """Write a new change of settings; what it unsets is named only where there is something (3.8).

    Raises:
        ValueError: a value of the delta cannot be written as JSON.
    """
    stored: JsonObject = {"type": "config_delta", "timestamp": str(at), "delta": delta}
    if unsets:
        stored = {**stored, "unsets": list(unsets)}
    return json_text.to_text(with_id(stored, event_id), LEVEL)


def compaction_text(compaction: Compaction, event_id: EventId | None) -> str:
    """Write a new compaction."""
    return json_text.to_text(with_id(directive.encode_compaction(compaction), event_id), LEVEL)


def rewritten(raw: JsonObject) -> str:
    """Write a stored object that was changed in place."""
    return json_text.to_text(raw, LEVEL)


def with_id(raw: JsonObject, event_id: EventId | None) -> JsonObject:
    """Put an id in front of a stored object, in place of the one that it has."""
    if event_id is None:
        return raw
    return {"event_id": event_id, **{key: value for key, value in raw.items() if key != "event_id"}}


def with_metadata(entry: Entry, added: Mapping[str, JsonValue]) -> Entry:
    """Give an event's entry with more metadata; all else is kept as it was read, also what we do not know.

    Raises:
        ValueError: a value cannot be written as JSON.
    """
    event = cast(ConversationEvent, entry.content)
    raw = dict(cast(JsonObject, json_text.from_text(entry.text)))
    try:
        encoded = cast(JsonObject, base64_text.encode_values(added))
    except RecursionError:
        raise ValueError("the metadata is nested too deep to be written as JSON") from None
    raw["metadata"] = {**cast(JsonObject, raw.get("metadata", {})), **encoded}
    return Entry(entry.id, replace(event, metadata={**event.metadata, **added}), rewritten(raw))


def without_metadata(entry: Entry, key: str) -> Entry:
    """Give an event's entry without one of its metadata keys; all else is kept as it was read."""
    event = cast(ConversationEvent, entry.content)
    kept = {name: value for name, value in event.metadata.items() if name != key}
    raw = dict(cast(JsonObject, json_text.from_text(entry.text)))
    stored = {name: value for name, value in cast(JsonObject, raw["metadata"]).items() if name != key}
    if stored:
        raw["metadata"] = stored
    else:
        del raw["metadata"]
    return Entry(entry.id, ConversationEvent(event.timestamp, event.kind, kept), rewritten(raw))


def with_request(entry: Entry, text: str) -> Entry:
    """Give a request's entry with another text; all else is kept as it was read."""
    event = cast(ConversationEvent, entry.content)
    text = json_text.replace_surrogates(text)
    raw = {**cast(JsonObject, json_text.from_text(entry.text)), "content": text}
    kind = replace(cast(ChatRequest, event.kind), content=text)
    return Entry(entry.id, replace(event, kind=kind), rewritten(raw))


def with_turns(entry: Entry, from_turn: int, to_turn: int) -> Entry:
    """Give a compaction's entry with another range; all else is kept as it was read."""
    compaction = cast(Compaction, entry.content)
    if (compaction.from_turn, compaction.to_turn) == (from_turn, to_turn):
        return entry
    raw = {**cast(JsonObject, json_text.from_text(entry.text)), "from_turn": from_turn, "to_turn": to_turn}
    return Entry(entry.id, replace(compaction, from_turn=from_turn, to_turn=to_turn), rewritten(raw))
