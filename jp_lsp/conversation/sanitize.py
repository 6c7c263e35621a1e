"""Repairs a stream whose structure is broken (conversation format 5).

Run once at the start of a turn on the stored stream, and on the copy that is sent before each request;
never by loading. Each step is a function from entries to entries; they run in a fixed order, and a second
run finds nothing to do. Entries that stay keep their ids and their texts.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import cast

from jp_lsp.conversation.compaction_ranges import TurnPlaces
from jp_lsp.conversation.entry import Entry
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    EventKind,
    InquiryRequest,
    InquiryResponse,
    ToolCallRequest,
    ToolCallResponse,
    TurnStart,
)
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.timestamp import Timestamp
from jp_lsp.conversation.turns import numbered

INTERRUPTED = "Tool call was interrupted."
"""What a model is told of a call that nobody answered; other readers of the files know these words."""


def sanitize(stream: ConversationStream) -> bool:
    """Repair `stream` in place and tell whether anything changed."""
    if stream.is_sound:
        return False
    before = stream.revision
    places = TurnPlaces(stream)
    _keep(stream, _without_events_before_first_request(stream.entries))
    _keep(stream, _without_orphaned_responses(stream.entries))
    _answer_open_calls(stream)
    _keep(stream, _without_unmatched_inquiries(stream.entries))
    _keep(stream, _without_trailing_turn_starts(stream.entries))
    _keep(stream, _without_repeated_first_turn_starts(stream.entries))
    _open_first_turn(stream)
    if stream.revision != before:
        places.shift_compactions(stream)
    stream.note_sound()
    return stream.revision != before


def interrupted_response(request: ConversationEvent) -> ConversationEvent:
    """Give the error response to a call that nobody answered, with the time of the call."""
    call_id = cast(ToolCallRequest, request.kind).id
    return ConversationEvent(request.timestamp, ToolCallResponse(call_id, INTERRUPTED, is_error=True))


def _keep(stream: ConversationStream, entries: Sequence[Entry]) -> None:
    if len(entries) != len(stream):
        stream.replace(entries)


def _kind(entry: Entry) -> EventKind | None:
    return entry.content.kind if isinstance(entry.content, ConversationEvent) else None


def _first_request(entries: Iterable[Entry]) -> int | None:
    """Give the position of the first chat request."""
    return next((at for at, entry in enumerate(entries) if isinstance(_kind(entry), ChatRequest)), None)


def _without_events_before_first_request(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Step 1: nobody can have answered before anybody asked; turn starts and non-events stay."""
    first = _first_request(entries)
    if first is None:
        return entries
    leading = [entry for entry in entries[:first] if isinstance(_kind(entry), TurnStart | None)]
    return [*leading, *entries[first:]]


def _without_orphaned_responses(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Step 2: remove responses to calls that are nowhere in the stream."""
    called = {kind.id for entry in entries if isinstance(kind := _kind(entry), ToolCallRequest)}
    return [
        entry
        for entry in entries
        if not (isinstance(kind := _kind(entry), ToolCallResponse) and kind.id not in called)
    ]


def _answer_open_calls(stream: ConversationStream) -> None:
    """Step 3: give each call whose id was never answered an error response, right behind it."""
    answered = {kind.id for entry in stream.entries if isinstance(kind := _kind(entry), ToolCallResponse)}
    missing = {
        position + 1: interrupted_response(cast(ConversationEvent, entry.content))
        for position, entry in enumerate(stream.entries)
        if isinstance(kind := _kind(entry), ToolCallRequest) and kind.id not in answered
    }
    if missing:
        stream.insert_all(missing)


def _without_unmatched_inquiries(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Steps 4 and 5: in each turn a question and an answer of its id belong together, whichever stands first.

    Ids may repeat, so each takes the latest other half that is still alone.
    """
    alone: dict[tuple[int, str, bool], list[int]] = defaultdict(list)
    for position, (turn, entry) in enumerate(numbered(entries)):
        kind = _kind(entry)
        if isinstance(kind, InquiryRequest | InquiryResponse):
            is_request = isinstance(kind, InquiryRequest)
            if other_halves := alone[turn, kind.id, not is_request]:
                other_halves.pop()
            else:
                alone[turn, kind.id, is_request].append(position)
    unmatched = {position for positions in alone.values() for position in positions}
    return [entry for position, entry in enumerate(entries) if position not in unmatched]


def _without_trailing_turn_starts(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Step 6: a turn that was opened and got nothing is not there, whatever non-events stand behind it.

    Several in a row go at once, where other programs take one away each time they look.
    """
    last = max(
        (at for at, entry in enumerate(entries) if not isinstance(_kind(entry), TurnStart | None)), default=-1
    )
    return [entry for at, entry in enumerate(entries) if at <= last or _kind(entry) is None]


def _without_repeated_first_turn_starts(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Step 7a: of several turn starts before the first chat request only the last one counts."""
    first = _first_request(entries)
    if first is None:
        return entries
    starts = [at for at in range(first) if isinstance(_kind(entries[at]), TurnStart)]
    dropped = set(starts[:-1])
    return [entry for at, entry in enumerate(entries) if at not in dropped]


def _open_first_turn(stream: ConversationStream) -> None:
    """Step 7b: every turn begins with a turn start, the first one too.

    A stream without any chat request gets its turn start at the very front, unless one is there already.
    """
    entries = stream.entries
    if all(isinstance(_kind(entry), TurnStart | None) for entry in entries):
        return
    first = _first_request(entries)
    if any(isinstance(_kind(entry), TurnStart) for entry in entries[:first]):
        return
    content = entries[first or 0].content
    at = content.timestamp if isinstance(content, ConversationEvent) else Timestamp(0)
    stream.insert_all({first or 0: ConversationEvent(at, TurnStart())})
