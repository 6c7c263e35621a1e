"""Turns that go: those before a fork, and those that are asked again."""

import pytest

from jp_lsp.conversation.compaction_ranges import end_before
from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.fork import fork
from jp_lsp.conversation.retain import keep_between, keep_ends, keep_last, request_of, take_back
from jp_lsp.conversation.stream import ConversationStream
from tests.support.streams import (
    Raw,
    at,
    call,
    compaction,
    delta,
    entry_lines,
    message,
    raw,
    result,
    stored_entries,
    stream_of,
    turn,
    user,
)

UNKNOWN = raw("mood", level=3)
ONE, TWO, THREE = ([turn(), user(name), message(name.upper())] for name in ("a", "b", "c"))


def ranges(stream: ConversationStream) -> list[tuple[int, int]]:
    found = (entry.content for entry in stream.entries)
    return [(each.from_turn, each.to_turn) for each in found if isinstance(each, Compaction)]


@pytest.mark.parametrize(
    ("entries", "number", "expected"),
    [
        ([*ONE, *TWO, *THREE], 1, ["turn", "user: a", "message: A"]),
        ([*ONE, *TWO], 0, []),
        # what holds for the whole conversation stays, in its place and with its text
        ([*ONE, delta(model="x"), *TWO, UNKNOWN, *THREE, delta(model="y")], 1, None),
        # events before the first turn start are a turn of their own (6.1)
        ([user("a"), message("A"), *TWO], 1, ["user: a", "message: A"]),
        ([user("a"), message("A"), *TWO], 0, []),
        # an empty turn counts (trap 36)
        ([*ONE, turn(), *TWO], 2, ["turn", "user: a", "message: A", "turn"]),
    ],
)
@pytest.mark.requirement("F35")
def test_a_turn_is_taken_back_with_all_that_follow(
    entries: list[Raw], number: int, expected: list[str] | None
) -> None:
    stream = stream_of(*entries)
    take_back(stream, number)
    if expected is None:
        assert stored_entries(stream) == [*ONE, delta(model="x"), UNKNOWN, delta(model="y")]
    else:
        assert entry_lines(stream.entries) == expected


@pytest.mark.requirement("F35", "C47", "C51")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0, 0), [(0, 0)]),  # earlier ones stay (trap 51)
        ((0, 2), [(0, 0)]),  # one that reaches into the taken turns ends before them
        ((1, 2), []),  # nothing is left of it: it would hide the new turn 2
        ((7, 9), [(7, 9)]),  # past the end it covered nothing (trap 47)
    ],
)
def test_no_compaction_hides_the_turn_that_is_asked_again(
    before: tuple[int, int], after: list[tuple[int, int]]
) -> None:
    stream = stream_of(*ONE, *TWO, *THREE, compaction(*before, summary={"summary": "s"}))
    take_back(stream, 1)
    assert ranges(stream) == after


@pytest.mark.requirement("R43", "C47")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0, 1), [(0, 1)]),
        ((0, 2), [(0, 1)]),
        ((1, 99), [(1, 1)]),  # past the end, so it would hide all that is asked from now on
        ((2, 2), []),
        ((7, 9), []),
        ((3, 1), [(3, 1)]),  # covers nothing, now and later
    ],
)
def test_no_compaction_hides_a_turn_that_begins(
    before: tuple[int, int], after: list[tuple[int, int]]
) -> None:
    shorter = compaction(*before, summary={"summary": "s", "source": "authored"})
    stream = stream_of(*ONE, *TWO, delta(), shorter)
    end_before(stream, 2)
    assert ranges(stream) == after
    kept = [{**shorter, "from_turn": first, "to_turn": last} for first, last in after]
    assert stored_entries(stream) == [*ONE, *TWO, delta(), *kept]
    assert (stream.revision == 0) == (after == [before])


@pytest.mark.parametrize(
    ("entries", "number", "expected"),
    [
        ([*ONE, *TWO], 1, "b"),
        ([turn(), user("first"), message("x"), user("second")], 0, "first"),  # trap 34
        ([*ONE, turn()], 1, None),
        ([*ONE], 4, None),
    ],
)
@pytest.mark.requirement("C34")
def test_what_a_turn_asked(entries: list[Raw], number: int, expected: str | None) -> None:
    found = request_of(stream_of(*entries), number)
    assert (None if found is None else found.content) == expected


@pytest.mark.parametrize(
    ("entries", "count", "expected"),
    [
        ([*ONE, *TWO, *THREE], 2, ["turn", "user: b", "message: B", "turn", "user: c", "message: C"]),
        ([*ONE, *TWO], 2, ["turn", "user: a", "message: A", "turn", "user: b", "message: B"]),
        ([*ONE], 9, ["turn", "user: a", "message: A"]),
        ([*ONE, delta(), *TWO], 0, ["ConfigDelta"]),
        ([*ONE, delta(), UNKNOWN, *TWO], 1, ["ConfigDelta", "Unknown", "turn", "user: b", "message: B"]),
        # counted are turn starts (6.1): the leading turn without one goes only when one start too few is left
        ([user("a"), *TWO], 1, ["turn", "user: b", "message: B"]),
        ([user("a"), *TWO], 2, ["user: a", "turn", "user: b", "message: B"]),
        ([], 0, []),
    ],
)
def test_the_last_turns_are_kept(entries: list[Raw], count: int, expected: list[str]) -> None:
    stream = stream_of(*entries)
    keep_last(stream, count)
    assert entry_lines(stream.entries) == expected


@pytest.mark.parametrize(("count", "kept"), [(3, [(0, 1)]), (2, [])])
@pytest.mark.requirement("C51")
def test_compactions_go_with_the_first_turn_that_goes(count: int, kept: list[tuple[int, int]]) -> None:
    stream = stream_of(*ONE, *TWO, *THREE, compaction(0, 1, summary={"summary": "s"}))
    keep_last(stream, count)
    assert ranges(stream) == kept


@pytest.mark.requirement("C30")
def test_a_fork_loses_nothing_and_leaves_its_source_alone() -> None:
    entries = [
        *ONE,
        delta(model="x"),
        UNKNOWN,
        compaction(0, 0, summary={"summary": "s"}),
        *TWO,
        delta(model="y"),
    ]
    source = stream_of(*entries)
    before, revision = source.events_text(), source.revision
    copy = fork(source, created_at=at(99))
    assert (copy.events_text(), copy.base_config_text()) == (before, source.base_config_text())
    assert [entry.id for entry in copy.entries] == [entry.id for entry in source.entries]
    assert copy.created_at == at(99)
    keep_last(copy, 0)
    assert (source.events_text(), source.revision) == (before, revision)
    assert source.created_at != at(99)


@pytest.mark.requirement("F27")
def test_a_fork_is_repaired_and_a_turn_without_content_is_none_of_the_last() -> None:
    broken = stream_of(*ONE, turn(), user("b"), call("c"), turn())
    copy = fork(broken, created_at=at(9), keep_turns=1)
    assert entry_lines(copy.entries)[:3] == ["turn", "user: b", "call c: read({})"]
    assert len(copy) == 4
    whole = fork(stream_of(*ONE, result("nobody")), created_at=at(9))
    assert entry_lines(whole.entries) == ["turn", "user: a", "message: A"]


@pytest.mark.requirement("F34")
def test_a_fork_writes_each_entry_once() -> None:
    """Settings that change often are copied as they are, not recomputed for each event."""
    changes = [each for number in range(200) for each in (*ONE, delta(step=number))]
    source = stream_of(*changes)
    copy = fork(source, created_at=at(9))
    assert all(mine is theirs for mine, theirs in zip(copy.entries, source.entries, strict=True))


A, B, C, D = ([turn(), user(name), message(name.upper())] for name in ("a", "b", "c", "d"))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, 0, "a"),
        (2, 0, "ab"),
        (0, 1, "d"),
        (1, 1, "ad"),
        (0, 0, ""),
        (2, 2, "abcd"),
        (4, 0, "abcd"),
        (9, 9, "abcd"),
        (0, 9, "abcd"),
    ],
)
def test_both_ends_are_kept(first: int, last: int, expected: str) -> None:
    stream = stream_of(*A, *B, UNKNOWN, *C, *D, delta(model="y"))
    keep_ends(stream, first, last)
    asked = [line.removeprefix("user: ") for line in entry_lines(stream.entries) if "user: " in line]
    assert "".join(asked) == expected
    assert UNKNOWN in stored_entries(stream), "what is of the whole conversation stays"
    assert stored_entries(stream)[-1] == delta(model="y")


@pytest.mark.requirement("F35")
def test_a_compaction_before_the_first_turn_that_goes_stays() -> None:
    stream = stream_of(*A, *B, *C, *D, compaction(0, 1), compaction(1, 2), compaction(3, 3))
    keep_ends(stream, 2, 1)
    assert ranges(stream) == [(0, 1)]


@pytest.mark.requirement("C51", "R281")
@pytest.mark.parametrize(
    ("since", "until", "expected", "left"),
    [
        (None, None, "abc", [(0, 0), (1, 2)]),
        (10, None, "bc", []),
        (None, 20, "ab", [(0, 0)]),
        (None, 15, "ab", [(0, 0)]),
        (10, 20, "b", []),
        (11, 20, "", []),
        (30, None, "", []),
        (None, 21, "abc", [(0, 0), (1, 2)]),
    ],
)
def test_what_was_said_within_a_time_is_kept(
    since: int | None, until: int | None, expected: str, left: list[tuple[int, int]]
) -> None:
    """From the first moment on, and before the last one; what holds for the whole conversation stays."""
    turns = [
        entry for number, text in enumerate("abc") for entry in (turn(10 * number), user(text, 10 * number))
    ]
    stream = stream_of(*turns, UNKNOWN, delta(99, model="y"), compaction(0, 0), compaction(1, 2))
    keep_between(stream, None if since is None else at(since), None if until is None else at(until))
    asked = [line.removeprefix("user: ") for line in entry_lines(stream.entries) if "user: " in line]
    assert "".join(asked) == expected
    assert ranges(stream) == left
    assert [entry for entry in stored_entries(stream) if entry in (UNKNOWN, delta(99, model="y"))] == [
        UNKNOWN,
        delta(99, model="y"),
    ]
