"""Compactions and overlays as a reader sees them (chapter 6.3 of the format, traps 47 to 50)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.directive import Compaction
from jp_lsp.conversation.projection import (
    _winners,  # pyright: ignore[reportPrivateUsage]  # compared with the simple way to say it
    project,
    projected_turns,
)
from tests.support.streams import (
    Raw,
    at,
    call,
    compaction,
    delta,
    lines,
    message,
    raw,
    reasoning,
    result,
    stream_of,
    turn,
    user,
)
from tests.support.work import count_calls

OMIT = {"policy": "omit"}


def conversation(turns: int) -> list[Raw]:
    return [entry for n in range(turns) for entry in (turn(n), user(f"u{n}", n), message(f"m{n}", n))]


def seen(*entries: Raw) -> list[str]:
    stream = stream_of(*entries)
    before = stream.events_text()
    projected = project(stream.entries)
    assert stream.events_text() == before
    return lines([item.event for item in projected])


def raw_turn(n: int) -> list[str]:
    return ["turn", f"user: u{n}", f"message: m{n}"]


def summarised(text: str) -> list[str]:
    return ["turn", "user: [Summary of previous conversation]", f"message: {text}"]


def summary(from_turn: int, to_turn: int, text: str, second: int = 100) -> Raw:
    return compaction(from_turn, to_turn, second, summary={"summary": text})


@pytest.mark.parametrize(
    ("compactions", "expected"),
    [
        ([], [*raw_turn(0), *raw_turn(1), *raw_turn(2), *raw_turn(3)]),
        ([summary(1, 2, "S")], [*raw_turn(0), *summarised("S"), *raw_turn(3)]),
        # 47: an end past the end is cut, a start past the end covers nothing
        ([summary(2, 99, "S")], [*raw_turn(0), *raw_turn(1), *summarised("S")]),
        ([summary(9, 99, "S")], [*raw_turn(0), *raw_turn(1), *raw_turn(2), *raw_turn(3)]),
        ([summary(3, 1, "S")], [*raw_turn(0), *raw_turn(1), *raw_turn(2), *raw_turn(3)]),
        # 48: a newer one inside an older one splits it
        (
            [summary(0, 3, "old", 100), summary(1, 2, "new", 101)],
            [*summarised("old"), *summarised("new"), *summarised("old")],
        ),
        # the later time wins, wherever it stands
        (
            [summary(1, 2, "new", 101), summary(0, 3, "old", 100)],
            [*summarised("old"), *summarised("new"), *summarised("old")],
        ),
        # 49: of equal times the one later in the stream
        ([summary(0, 3, "a"), summary(0, 3, "b")], summarised("b")),
        # 50: equal texts of different compactions are two
        ([summary(0, 1, "S"), summary(2, 3, "S")], [*summarised("S"), *summarised("S")]),
        # a summary goes before the other policies of its turn, even older
        ([summary(0, 3, "S", 100), compaction(0, 3, 101, reasoning="strip")], summarised("S")),
    ],
)
@pytest.mark.requirement("R43", "C47", "C48", "C49", "C50")
def test_summaries(compactions: list[Raw], expected: list[str]) -> None:
    assert seen(*conversation(4), *compactions) == expected


TOOLS: list[Raw] = [
    turn(),
    user("u"),
    reasoning("why"),
    call("c", name="fs_read", path="YS50eHQ="),
    result("c", "content"),
    call("d", name="fs_write"),
    result("d", "no", is_error=True),
    result("e", "orphan"),
]


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        (
            {},
            [
                "turn",
                "user: u",
                "reasoning: why",
                "call c: fs_read({'path': 'a.txt'})",
                "result c: content",
                "call d: fs_write({})",
                "error d: no",
                "result e: orphan",
            ],
        ),
        ({"reasoning": "strip", "tool_calls": OMIT}, ["turn", "user: u"]),
        (
            {"tool_calls": {"policy": "strip", "request": True, "response": False}},
            [
                "turn",
                "user: u",
                "reasoning: why",
                "call c: fs_read({})",
                "result c: content",
                "call d: fs_write({})",
                "error d: no",
                "result e: orphan",
            ],
        ),
        (
            {"tool_calls": {"policy": "strip", "request": False, "response": True}},
            [
                "turn",
                "user: u",
                "reasoning: why",
                "call c: fs_read({'path': 'a.txt'})",
                "result c: [compacted] fs_read: success",
                "call d: fs_write({})",
                "error d: [compacted] fs_write: error",
                "result e: [compacted] unknown: success",
            ],
        ),
        # sizes: `why` has 3 bytes, {"path":"a.txt"} 16, `content` 7, their pair 23
        (
            {"reasoning": {"policy": "strip", "over": "3B"}, "tool_calls": {"policy": "omit", "over": "23"}},
            [
                "turn",
                "user: u",
                "reasoning: why",
                "call c: fs_read({'path': 'a.txt'})",
                "result c: content",
                "call d: fs_write({})",
                "error d: no",
                "result e: orphan",
            ],
        ),
        (
            {"reasoning": {"policy": "strip", "over": "2B"}, "tool_calls": {"policy": "omit", "over": "22"}},
            ["turn", "user: u", "call d: fs_write({})", "error d: no", "result e: orphan"],
        ),
        (
            {"tool_calls": {"policy": "strip", "request": True, "response": True, "over": "7"}},
            [
                "turn",
                "user: u",
                "reasoning: why",
                "call c: fs_read({})",
                "result c: content",
                "call d: fs_write({})",
                "error d: no",
                "result e: orphan",
            ],
        ),
    ],
)
def test_reasoning_and_tools(policies: Raw, expected: list[str]) -> None:
    assert seen(*TOOLS, {**compaction(0, 0), **policies}) == expected


def test_each_policy_has_its_own_latest_compaction() -> None:
    entries = [*TOOLS, compaction(0, 0, 1, tool_calls=OMIT), compaction(0, 0, 2, reasoning="strip")]
    assert seen(*entries) == ["turn", "user: u"]


@pytest.mark.requirement("C38")
def test_the_name_of_a_call_is_that_of_the_last_request_with_its_id() -> None:
    strip = {"policy": "strip", "request": False, "response": True}
    entries = [turn(), user("u"), call("c", name="one"), result("c"), call("c", name="two"), result("c")]
    assert seen(*entries, compaction(0, 0, tool_calls=strip))[3::2] == [
        "result c: [compacted] two: success",
        "result c: [compacted] two: success",
    ]


def test_what_is_no_event_is_not_seen() -> None:
    assert seen(delta(), turn(), raw("mood"), user("u"), compaction(0, 0)) == ["turn", "user: u"]


def test_a_summary_has_the_time_and_place_of_the_first_event_that_it_replaces() -> None:
    stream = stream_of(*conversation(3), summary(1, 2, "S"))
    (first, *_) = [item for item in project(stream.entries) if item.last_turn == 2]
    assert (first.event.timestamp, first.position, first.first_turn) == (at(1), 3, 1)


@pytest.mark.requirement("F35")
def test_shown_turns_keep_the_numbers_that_may_be_typed() -> None:
    stream = stream_of(*conversation(7), summary(1, 4, "S"))
    shown = projected_turns(stream.entries)
    assert [(each.first_turn + 1, each.last_turn + 1) for each in shown] == [(1, 1), (2, 5), (6, 6), (7, 7)]
    (sixth,) = [each for each in shown if each.first_turn <= 5 <= each.last_turn]
    assert lines(sixth.events) == raw_turn(5)


class TestOverlays:
    OVERLAY = raw(
        "event_overlay",
        patches=[
            {
                "matcher": {"matcher": "metadata_value", "key": "sig", "value": "old"},
                "action": {"action": "remove_metadata", "key": "sig"},
            }
        ],
    )

    def test_they_remove_metadata_from_every_event_with_the_value(self) -> None:
        old: Raw = {"sig": "b2xk", "kept": 1}
        new: Raw = {"sig": "bmV3"}
        stream = stream_of(
            turn(),
            reasoning("a", metadata=old),
            self.OVERLAY,
            reasoning("b", metadata=new),
            reasoning("c", metadata=old),
        )
        projected = [dict(item.event.metadata) for item in project(stream.entries)]
        assert projected == [{}, {"kept": 1}, {"sig": "new"}, {"kept": 1}]
        assert [dict(event.metadata) for event in stream.events()][1] == {"sig": "old", "kept": 1}


COMPACTIONS = st.builds(
    lambda start, size, second: Compaction(at(second), start, start + size, "S"),
    st.integers(0, 12),
    st.integers(-1, 12),
    st.integers(0, 3),
)


@given(st.lists(COMPACTIONS, max_size=12), st.integers(1, 10))
def test_winners_are_those_of_the_simple_method(compactions: list[Compaction], turn_count: int) -> None:
    def simple(number: int) -> Compaction | None:
        winner: Compaction | None = None
        for each in compactions:
            covers = each.from_turn <= number <= each.to_turn
            if covers and (winner is None or each.timestamp >= winner.timestamp):
                winner = each
        return winner

    assert _winners(turn_count, compactions, lambda each: each.summary) == [
        simple(n) for n in range(turn_count)
    ]


@pytest.mark.requirement("F34")
def test_many_compactions_of_many_turns_stay_cheap() -> None:
    def cost(turns: int) -> int:
        compactions = [summary(0, n, "S", n) for n in range(turns)]
        stream = stream_of(*conversation(turns), *compactions)
        return count_calls(lambda: projected_turns(stream.entries))

    cost(100)
    assert cost(1000) < 2.5 * cost(500)
