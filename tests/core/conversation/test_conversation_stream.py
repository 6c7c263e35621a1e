"""The stream in memory: what grows, what a rollback takes away, what changes in place."""

import json

import pytest

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import (
    ChatRequest,
    ConversationEvent,
    MessageResponse,
    ReasoningResponse,
    StructuredResponse,
    ToolCallRequest,
    TurnStart,
)
from jp_lsp.conversation.ids import CallId, EventId, counting_event_ids, event_ids
from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.conversation.stream import ConversationStream
from tests.support.streams import (
    at,
    delta,
    file_text,
    lines,
    message,
    reasoning,
    stored_entries,
    stream_of,
    turn,
    user,
)
from tests.support.work import count_calls


def event(
    kind: TurnStart | ChatRequest | MessageResponse | ReasoningResponse | StructuredResponse, **metadata: str
) -> ConversationEvent:
    return ConversationEvent(at(0), kind, metadata)


@pytest.mark.requirement("R33", "R5")
def test_events_are_appended_in_order_and_given_back() -> None:
    stream = ConversationStream.new(at(0), {"assistant": {}})
    stream.append(event(TurnStart()))
    stream.append(event(ChatRequest("hi")))
    stream.append_config_delta({"user": {"name": "A"}}, at(1))
    stream.append(event(MessageResponse("ho")))
    assert len(stream) == 4
    assert lines(stream.events()) == ["turn", "user: hi", "message: ho"]
    assert lines(stream.events(2)) == ["message: ho"]
    assert list(stream.config_deltas()) == [(2, ConfigDelta({"user": {"name": "A"}}, timestamp=at(1)))]
    assert stream.events_text() == file_text(
        [turn(), user("hi"), delta(1, user={"name": "A"}), message("ho")]
    )
    assert (stream.base_config, stream.base_config_text()) == (
        {"assistant": {}},
        file_text({"assistant": {}}),
    )


@pytest.mark.requirement("R36", "R37", "R40")
def test_ids_are_given_by_the_stream_and_never_used_again() -> None:
    stream = ConversationStream.new(at(0), {})
    stream.append(event(TurnStart()))
    stream.append(event(ChatRequest("a")))
    stream.truncate(1)
    stream.append(event(ChatRequest("b")))
    assert [entry.id for entry in stream.entries] == ["0000000", "0000002"]
    assert "0000002" not in stream.events_text()


def test_an_id_that_is_taken_is_drawn_again() -> None:
    drawn = iter(["a", "a", "a", "b"])
    stream = ConversationStream(at(0), {}, mint=lambda: EventId(next(drawn)))
    stream.append(event(TurnStart()))
    stream.append(event(ChatRequest("x")))
    assert [entry.id for entry in stream.entries] == ["a", "b"]


def test_ids_are_made_of_fair_bytes_only() -> None:
    supply = iter([bytes([252, 255, 0, 35, 36, 71, 251]), bytes([10, 11, 12, 13, 14, 15, 16])])
    assert event_ids(lambda _: next(supply))() == "0z0zzab"
    assert [counting_event_ids()() for _ in range(2)] == ["0000000", "0000000"]


@pytest.mark.requirement("R37")
def test_truncating_rolls_back_entries_turns_and_text() -> None:
    stream = stream_of(turn(), user("a"), message("b"))
    before = stream.events_text()
    mark = len(stream)
    stream.append(event(TurnStart()))
    stream.append_config_delta({}, at(1))
    assert stream.turn_count == 2
    stream.truncate(mark)
    assert (stream.turn_count, stream.events_text()) == (1, before)
    stream.truncate(99)
    assert len(stream) == 3


@pytest.mark.requirement("R34")
def test_the_newer_form_puts_ids_first() -> None:
    stream = ConversationStream(at(0), {}, mint=counting_event_ids(), newer_format=True)
    stream.append(event(TurnStart()))
    stream.append_config_delta({}, at(0))
    assert [list(entry) for entry in stored_entries(stream)] == [
        ["event_id", "timestamp", "type"],
        ["event_id", "type", "timestamp", "delta"],
    ]


def test_only_the_newer_form_says_that_a_value_is_gone() -> None:
    newer = stream_of(turn(), newer_format=True)
    newer.append_config_delta({}, at(1), ["assistant.name"])
    entry = stored_entries(newer)[-1]
    assert (entry["delta"], entry["unsets"]) == ({}, ["assistant.name"])
    again = stream_of(*stored_entries(newer))
    ((_, before), (_, after)) = (next(iter(each.config_deltas())) for each in (newer, again))
    assert (after, after.unsets) == (before, ("assistant.name",))
    older = stream_of(turn())
    with pytest.raises(AssertionError, match="older form"):
        older.append_config_delta({}, at(1), ["assistant.name"])
    assert older.revision == 0


def test_what_no_file_can_hold_is_refused_and_changes_nothing() -> None:
    stream = stream_of(turn())
    before = (stream.events_text(), stream.revision)
    with pytest.raises(ValueError, match="nan"):
        stream.append(event(StructuredResponse(float("nan"))))
    with pytest.raises(ValueError, match="inf"):
        stream.append_config_delta({"x": float("inf")}, at(0))
    deep: JsonValue = []
    for _ in range(2000):
        deep = [deep]
    for kind in (StructuredResponse(deep), ToolCallRequest(CallId("c"), "t", {"x": deep})):
        with pytest.raises(ValueError, match="nested too deep"):
            stream.append(ConversationEvent(at(0), kind))
    assert (stream.events_text(), stream.revision, len(stream.events())) == (*before, 1)


def test_surrogates_in_a_new_event_do_not_break_the_file() -> None:
    stream = stream_of()
    stream.append(event(MessageResponse("a\ud800")))
    stream.append(ConversationEvent(at(0), ToolCallRequest(CallId("c"), "t", {"x": "\udc00"})))
    stream.events_text().encode()
    assert stored_entries(stream)[0]["message"] == "a\ufffd"


def test_metadata_are_removed_from_exactly_the_events_that_have_the_value() -> None:
    stream = stream_of(
        turn(),
        reasoning("a", 1, x=5, metadata={"sig": "b2xk", "other": "c3Jj"}),
        reasoning("b", 2, metadata={"sig": "bmV3"}),
        reasoning("c", 3, metadata={"sig": "b2xk"}),
    )
    assert stream.remove_metadata("sig", "old") == 2
    assert [dict(each.metadata) for each in stream.events()] == [{}, {"other": "src"}, {"sig": "new"}, {}]
    assert stored_entries(stream) == [
        turn(),
        reasoning("a", 1, x=5, metadata={"other": "c3Jj"}),
        reasoning("b", 2, metadata={"sig": "bmV3"}),
        reasoning("c", 3),
    ]
    revision = stream.revision
    assert stream.remove_metadata("sig", "old") == 0
    assert stream.revision == revision


def test_a_copy_changes_alone() -> None:
    stream = stream_of(turn(), user("a"))
    copy = stream.copy()
    copy.append(event(MessageResponse("b")))
    assert (len(stream), len(copy)) == (2, 3)
    assert stream.revision == 0


@pytest.mark.requirement("F34")
def test_appending_and_saving_a_long_stream_stays_cheap() -> None:
    """Twice the length may cost about twice the work, when each append is followed by the usual questions."""

    def work(count: int) -> None:
        stream = ConversationStream.new(at(0), {})
        for number in range(count):
            stream.append(event(MessageResponse(f"text {number}")))
            assert stream.turn_count == 1
            assert len(stream.events(number)) == 1
        json.loads(stream.events_text())

    work(100)
    assert count_calls(lambda: work(4000)) < 2.5 * count_calls(lambda: work(2000))
