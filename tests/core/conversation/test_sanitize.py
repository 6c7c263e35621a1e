"""One stream for each numbered step of chapter 5 of the format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.event import ConversationEvent, TurnStart
from jp_lsp.conversation.sanitize import INTERRUPTED, sanitize
from jp_lsp.conversation.stream import ConversationStream
from tests.support.streams import (
    Raw,
    answer,
    at,
    call,
    compaction,
    delta,
    entry_lines,
    message,
    question,
    raw,
    reasoning,
    result,
    stored_entries,
    stream_of,
    turn,
    user,
)
from tests.support.work import count_calls

UNKNOWN = raw("mood")


def look_again(stream: ConversationStream) -> bool:
    """Repair a stream that does not know that it was repaired."""
    stream.replace(stream.entries)
    assert not stream.is_sound
    return sanitize(stream)


def check(entries: list[Raw], expected: list[str]) -> ConversationStream:
    """Repair, compare, and see that a second run finds nothing to do and that loading did none of it."""
    stream = stream_of(*entries)
    assert stored_entries(stream) == entries
    ids = {entry.id: entry.text for entry in stream.entries}
    unchanged = entry_lines(stream.entries) == expected
    assert sanitize(stream) is not unchanged
    assert entry_lines(stream.entries) == expected
    assert look_again(stream) is False
    kept = [entry for entry in stream.entries if entry.id in ids]
    assert [entry.id for entry in kept] == [id for id in ids if id in {entry.id for entry in kept}]
    return stream


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # 1: nothing but turn starts and non-events may stand before the first request
        (
            [message("x"), delta(), UNKNOWN, turn(), reasoning("y"), user("a")],
            ["ConfigDelta", "Unknown", "turn", "user: a"],
        ),
        ([turn(), message("x")], ["turn", "message: x"]),
        # 2: responses to nothing
        ([turn(), user("a"), result("c"), message("x")], ["turn", "user: a", "message: x"]),
        ([turn(), user("a"), result("c"), call("c")], ["turn", "user: a", "result c: ", "call c: read({})"]),
        # 3: calls without response, each with its own
        (
            [turn(), user("a"), call("c", 5), message("x")],
            ["turn", "user: a", "call c: read({})", f"error c: {INTERRUPTED}", "message: x"],
        ),
        (
            [turn(), user("a"), call("c"), call("d"), result("d", "ok")],
            [
                "turn",
                "user: a",
                "call c: read({})",
                f"error c: {INTERRUPTED}",
                "call d: read({})",
                "result d: ok",
            ],
        ),
        # 3 tests sets and does not count: one response is enough for an id
        (
            [turn(), user("a"), call("c"), result("c", "1"), call("c")],
            ["turn", "user: a", "call c: read({})", "result c: 1", "call c: read({})"],
        ),
        # 4 and 5: inquiries without their other half, within a turn
        ([turn(), user("a"), answer("q")], ["turn", "user: a"]),
        ([turn(), user("a"), question("q")], ["turn", "user: a"]),
        ([turn(), user("a"), answer("q"), question("q")], ["turn", "user: a", "answer q", "question q"]),
        (
            [turn(), user("a"), answer("q"), question("q"), question("q")],
            ["turn", "user: a", "answer q", "question q"],
        ),
        ([turn(), user("a"), question("q"), answer("q")], ["turn", "user: a", "question q", "answer q"]),
        (
            [turn(), user("a"), question("q"), turn(), user("b"), answer("q")],
            ["turn", "user: a", "turn", "user: b"],
        ),
        (
            [turn(), user("a"), question("q"), question("q"), answer("q"), answer("q"), answer("q")],
            ["turn", "user: a", "question q", "question q", "answer q", "answer q"],
        ),
        # 6: the last event is a turn start, whatever non-events follow
        (
            [turn(), user("a"), message("x"), turn(), delta()],
            ["turn", "user: a", "message: x", "ConfigDelta"],
        ),
        ([turn(), user("a"), turn(), delta(), turn()], ["turn", "user: a", "ConfigDelta"]),
        ([turn(), delta(), turn()], ["ConfigDelta"]),
        # 7a: of several leading turn starts the last stays
        ([turn(), delta(), turn(), user("a")], ["ConfigDelta", "turn", "user: a"]),
        # 7b: the first request has a turn start before it
        ([user("a", 7), message("x")], ["turn", "user: a", "message: x"]),
        ([delta(), user("a"), turn(), user("b")], ["ConfigDelta", "turn", "user: a", "turn", "user: b"]),
        ([message("x"), message("y")], ["turn", "message: x", "message: y"]),
        # nothing to open a turn for
        ([], []),
        ([delta(), UNKNOWN], ["ConfigDelta", "Unknown"]),
        # not repaired
        (
            [turn(), user("a"), user("b"), message(""), turn(), turn(), user("c")],
            ["turn", "user: a", "user: b", "message: ", "turn", "turn", "user: c"],
        ),
    ],
)
@pytest.mark.requirement("R16", "R42", "C35", "C36", "C37", "C38")
def test_each_step(entries: list[Raw], expected: list[str]) -> None:
    check(entries, expected)


@pytest.mark.requirement("F27")
def test_a_turn_marker_without_content_goes_and_the_delta_behind_it_stays() -> None:
    stream = check(
        [turn(), user("a"), message("x"), turn(1), delta(2)], ["turn", "user: a", "message: x", "ConfigDelta"]
    )
    assert stream.turn_count == 1


@pytest.mark.parametrize(
    ("entries", "second"),
    [([user("a", 7)], 7), ([message("x", 4)], 4), ([delta(), message("x", 4)], None)],
)
def test_an_inserted_turn_start_has_the_time_of_what_it_opens(entries: list[Raw], second: int | None) -> None:
    stream = stream_of(*entries)
    sanitize(stream)
    (opened,) = [each for each in stream.events() if type(each.kind).__name__ == "TurnStart"]
    assert str(opened.timestamp) == ("1970-01-01 00:00:00.0" if second is None else str(at(second)))


@pytest.mark.requirement("C39")
def test_the_interrupted_response_is_written_as_other_readers_know_it() -> None:
    stream = stream_of(turn(), user("a"), call("c", 5))
    sanitize(stream)
    assert stored_entries(stream)[-1] == {
        "timestamp": str(at(5)),
        "type": "tool_call_response",
        "id": "c",
        "content": "VG9vbCBjYWxsIHdhcyBpbnRlcnJ1cHRlZC4=",
        "is_error": True,
    }


class TestCompactions:
    """Repair keeps compactions, and they go on to cover the turns that they covered."""

    @pytest.mark.parametrize(
        ("leading", "range_before", "range_after"),
        [
            ([turn(), turn()], (2, 3), (1, 2)),
            ([turn(), turn(), turn()], (0, 2), (0, 0)),
            ([message("x"), turn()], (1, 1), (0, 0)),
            ([message("x"), turn()], (0, 9), (0, 8)),
            ([turn()], (0, 1), (0, 1)),
            ([], (0, 0), (0, 0)),
            ([turn(), turn()], (7, 9), (7, 9)),
        ],
    )
    @pytest.mark.requirement("C52")
    def test_ranges_move_with_their_turns(
        self, leading: list[Raw], range_before: tuple[int, int], range_after: tuple[int, int]
    ) -> None:
        more = [user("a"), turn(), user("b"), turn(), user("c"), message("d")]
        shortening = compaction(*range_before, summary={"summary": "S", "source": "authored"})
        stream = stream_of(*leading, *more, shortening)
        sanitize(stream)
        from_turn, to_turn = range_after
        assert stored_entries(stream)[-1] == {**shortening, "from_turn": from_turn, "to_turn": to_turn}

    def test_one_that_covered_only_what_is_gone_is_gone_too(self) -> None:
        check([turn(), turn(), user("a"), compaction(0, 0, summary={"summary": "S"})], ["turn", "user: a"])
        check(
            [turn(), user("a"), turn(), compaction(1, 1, summary={"summary": "S"})],
            ["turn", "user: a"],
        )


ENTRY = st.sampled_from(
    [
        turn(),
        turn(),
        user("a"),
        message("x"),
        call("c"),
        result("c"),
        call("d"),
        result("d"),
        question("q"),
        answer("q"),
        delta(),
        UNKNOWN,
        compaction(0, 1, summary={"summary": "S"}),
    ]
)


@given(st.lists(ENTRY, max_size=25))
@pytest.mark.requirement("R16", "R42", "C30")
def test_any_stream_is_repaired_once_and_for_all(entries: list[Raw]) -> None:
    stream = stream_of(*entries)
    sanitize(stream)
    kinds = entry_lines(stream.entries)
    calls = {line.split()[1].strip(":") for line in kinds if line.startswith("call ")}
    answered = {line.split()[1].strip(":") for line in kinds if line.startswith(("result ", "error "))}
    assert calls == answered
    assert kinds.count("question q") == kinds.count("answer q")
    assert kinds.count("Unknown") == entries.count(UNKNOWN)
    assert kinds.count("ConfigDelta") == entries.count(delta())
    requests = [at for at, line in enumerate(kinds) if line == "user: a"]
    if requests:
        assert kinds[: requests[0]].count("turn") == 1
    assert kinds[-1:] != ["turn"]
    assert look_again(stream) is False
    assert entry_lines(stream.entries) == kinds


@pytest.mark.requirement("F34")
def test_a_stream_that_did_not_change_is_not_looked_through_again() -> None:
    stream = stream_of(turn(), user("a"), *(message(f"m{number}") for number in range(1000)))
    first = count_calls(lambda: sanitize(stream))
    again = count_calls(lambda: sanitize(stream.copy()))
    assert again < 50 < first
    stream.append(ConversationEvent(at(1), TurnStart()))
    assert not stream.is_sound
    assert sanitize(stream), "the turn that was opened last is empty"


@pytest.mark.requirement("F34")
def test_a_copy_costs_the_same_for_every_stream_and_shares_nothing_that_changes() -> None:
    def cost(count: int) -> int:
        stream = stream_of(turn(), user("a"), *(message(f"m{number}") for number in range(count)))
        return count_calls(stream.copy)

    assert cost(2000) == cost(2)
    stream = stream_of(turn(), user("a"))
    copy = stream.copy()
    copy.append(ConversationEvent(at(1), TurnStart()))
    assert (len(stream), stream.turn_count) == (2, 1)
    assert (len(copy), copy.turn_count) == (3, 2)
    stream.append(ConversationEvent(at(1), TurnStart()))
    assert stream.entries[2].id != copy.entries[2].id, "both take their ids from one source"
