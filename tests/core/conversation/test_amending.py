"""Editing, removing and compacting turns: what changes, and that nothing else does."""

from collections.abc import Callable

import pytest

from jp_lsp.conversation.amend import AmendError, remove_turn, set_request
from jp_lsp.conversation.compact import Policies, TurnsWanted, compact, remove_compactions
from jp_lsp.conversation.directive import OmitToolCalls, StripReasoning, StripToolCalls
from jp_lsp.conversation.export import events_view
from jp_lsp.conversation.stream import ConversationStream
from jp_lsp.conversation.turn_bounds import AtTurn, BehindLast, Bound, KeptTime, KeptTurns, Recently
from tests.support.streams import (
    Raw,
    at,
    call,
    compaction,
    delta,
    message,
    result,
    stored_entries,
    stream_of,
    turn,
    user,
)

UNKNOWN: Raw = {"type": "new_kind", "timestamp": "2026-10-05 21:09:27.8", "text": "kept"}
THREE: tuple[Raw, ...] = (
    turn(),
    user("one", author="me", mood="odd"),
    message("1"),
    compaction(0, 0, reasoning="strip"),
    turn(),
    user("two"),
    delta(assistant={"name": "a"}),
    UNKNOWN,
    message("2"),
    turn(),
    user("three"),
    compaction(1, 5, summary={"summary": "s"}),
)


def changed(change: Callable[[ConversationStream], object], *entries: Raw) -> list[Raw]:
    stream = stream_of(*entries)
    change(stream)
    return stored_entries(stream)


@pytest.mark.requirement("R281")
def test_a_request_gets_another_text_and_keeps_all_else() -> None:
    stored = changed(lambda stream: set_request(stream, 0, "uno \ud800"), *THREE)
    assert stored[1] == {**THREE[1], "content": "uno \ufffd"}
    assert list(stored[1]) == list(THREE[1]), "and the order of its fields"
    assert stored[:1] + stored[2:] == [*THREE[:1], *THREE[2:]]


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("number", "kept"),
    [(0, [4, 5, 6, 7, 8, 9, 10]), (1, [0, 1, 2, 3, 6, 7, 9, 10]), (2, [0, 1, 2, 3, 4, 5, 6, 7, 8])],
)
def test_a_turn_goes_and_compactions_that_reach_it(number: int, kept: list[int]) -> None:
    """Trap 51: earlier compactions stay. Trap 30: what we do not know stays, too."""
    assert changed(lambda stream: remove_turn(stream, number), *THREE) == [THREE[each] for each in kept]


def test_old_streams_have_a_turn_without_a_beginning() -> None:
    """Trap 35."""
    assert changed(lambda stream: remove_turn(stream, 0), user("a"), message("b")) == []
    assert changed(lambda stream: set_request(stream, 0, "c"), user("a")) == [user("c")]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda stream: remove_turn(stream, 3), "the conversation has 3 turns, so there is no turn 4"),
        (lambda stream: set_request(stream, -1, "x"), "so there is no turn 0"),
        (lambda stream: set_request(stream, 0, " \n"), "a request needs a text"),
        (lambda stream: compact(stream, TurnsWanted(), Policies(), at(0)), "say what to leave out"),
        (lambda stream: compact(stream, TurnsWanted(), Policies(" "), at(0)), "the summary is empty"),
        (lambda stream: remove_compactions(stream, 3), "has 2 compactions, so there is no compaction 3"),
    ],
)
def test_what_is_not_possible_changes_nothing(
    change: Callable[[ConversationStream], object], problem: str
) -> None:
    stream = stream_of(*THREE)
    with pytest.raises(AmendError, match=problem):
        change(stream)
    assert stream.revision == 0


def test_the_same_text_is_no_change() -> None:
    stream = stream_of(*THREE)
    set_request(stream, 1, "two")
    assert stream.revision == 0


TEN = tuple(entry for number in range(10) for entry in (turn(), user(str(number))))


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("wanted", "before", "expected"),
    [
        (TurnsWanted(), (), (0, 9)),
        (TurnsWanted(last=(KeptTurns(2),)), (), (0, 7)),
        (TurnsWanted((KeptTurns(1),), (KeptTurns(1),)), (), (1, 8)),
        (TurnsWanted((AtTurn(2),), (AtTurn(4),)), (), (1, 3)),
        (TurnsWanted((AtTurn(-3),)), (), (7, 9)),
        (TurnsWanted((AtTurn(-99),), (AtTurn(-5),)), (), (0, 5)),
        (TurnsWanted((AtTurn(3),), (AtTurn(99),)), (), (2, 9)),
        (TurnsWanted((AtTurn(3), KeptTurns(4)), (AtTurn(9), KeptTurns(3))), (), (4, 6)),
        (TurnsWanted((AtTurn(11),)), (), None),
        (TurnsWanted((AtTurn(5),), (AtTurn(4),)), (), None),
        (TurnsWanted(last=(KeptTurns(10),)), (), None),
        (TurnsWanted((BehindLast(),)), (), (0, 9)),
        (TurnsWanted((BehindLast(),)), (compaction(0, 3, reasoning="strip"),), (4, 9)),
        (TurnsWanted((BehindLast(),)), (compaction(0, 30, reasoning="strip"),), None),
        (TurnsWanted(last=(BehindLast(),)), (compaction(0, 3, reasoning="strip"),), (0, 9)),
    ],
)
def test_which_turns_are_compacted(
    wanted: TurnsWanted, before: tuple[Raw, ...], expected: tuple[int, int] | None
) -> None:
    stream = stream_of(*TEN, *before)
    added = compact(stream, wanted, Policies(reasoning=StripReasoning()), at(9))
    assert (None if added is None else (added.from_turn, added.to_turn)) == expected
    assert (stream.revision == 0) == (expected is None)
    assert stored_entries(stream)[: len(TEN) + len(before)] == [*TEN, *before]


BY_THE_MINUTE = tuple(entry for number in range(10) for entry in (turn(60 * number), user(str(number))))
MINUTE = 60_000_000_000


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (TurnsWanted((KeptTime(MINUTE * 2),)), (3, 9)),
        (TurnsWanted((KeptTime(MINUTE * 2 - 1),)), (2, 9)),
        (TurnsWanted((KeptTime(MINUTE * 99),)), None),
        (TurnsWanted(last=(KeptTime(MINUTE * 2),)), (0, 7)),
        (TurnsWanted(last=(KeptTime(0),)), (0, 9)),
        (TurnsWanted(last=(KeptTime(MINUTE * 99),)), None),
        (TurnsWanted((Recently(MINUTE * 2),)), (8, 9)),
        (TurnsWanted((Recently(MINUTE * 99),)), (0, 9)),
        (TurnsWanted((Recently(0),)), None),
        (TurnsWanted((KeptTime(MINUTE),), (Recently(MINUTE),)), (2, 8)),
    ],
)
def test_turns_are_told_by_the_time(wanted: TurnsWanted, expected: tuple[int, int] | None) -> None:
    """Ten turns, one a minute; it is nine minutes after the first."""
    stream = stream_of(*BY_THE_MINUTE)
    added = compact(stream, wanted, Policies(reasoning=StripReasoning()), at(9 * 60))
    assert (None if added is None else (added.from_turn, added.to_turn)) == expected


@pytest.mark.parametrize("bound", [KeptTurns(0), KeptTime(0), AtTurn(1), Recently(MINUTE), BehindLast()])
def test_an_empty_conversation_has_nothing_to_compact(bound: Bound) -> None:
    stream = stream_of()
    assert compact(stream, TurnsWanted((bound,), (bound,)), Policies("x"), at(0)) is None


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ((), (4, 5)),
        (((3, 4),), (3, 5)),
        (((6, 8),), (4, 5)),
        (((5, 7), (7, 99)), (4, 9)),
        (((0, 3),), (4, 5)),
        (((1, 4), (0, 1)), (0, 5)),
    ],
)
def test_a_summary_takes_in_those_that_it_touches(
    before: tuple[tuple[int, int], ...], expected: tuple[int, int]
) -> None:
    summaries = [compaction(*each, summary={"summary": "old"}) for each in before]
    stream = stream_of(*TEN, *summaries, compaction(0, 9, reasoning="strip"))
    added = compact(stream, TurnsWanted((AtTurn(5),), (AtTurn(6),)), Policies("new"), at(9))
    assert added is not None
    assert (added.from_turn, added.to_turn) == expected


@pytest.mark.requirement("R281")
@pytest.mark.parametrize(
    ("policies", "stored"),
    [
        (Policies("text"), {"summary": {"summary": "text"}}),
        (Policies(reasoning=StripReasoning()), {"reasoning": "strip"}),
        (Policies(tool_calls=OmitToolCalls()), {"tool_calls": {"policy": "omit"}}),
        (
            Policies(reasoning=StripReasoning(), tool_calls=StripToolCalls(None, -1)),
            {"reasoning": "strip", "tool_calls": {"policy": "strip", "request": False, "response": True}},
        ),
    ],
)
def test_a_compaction_as_it_is_stored(policies: Policies, stored: Raw) -> None:
    stream = stream_of(turn(), user("a"))
    added = compact(stream, TurnsWanted(), policies, at(9))
    entry = stored_entries(stream)[-1]
    assert entry == compaction(0, 0, 9, **stored)
    assert list(entry) == list(compaction(0, 0, 9, **stored))
    assert stream_of(*stored_entries(stream)).entries[-1].content == added, "and is read as it was meant"


def test_compactions_are_removed() -> None:
    without = [entry for entry in THREE if entry["type"] != "compaction"]
    assert changed(lambda stream: remove_compactions(stream, None), *THREE) == without
    assert changed(lambda stream: remove_compactions(stream, 2), *THREE) == list(THREE[:-1])
    assert changed(lambda stream: remove_compactions(stream, None), *without) == without


@pytest.mark.requirement("R281")
def test_other_programs_see_decoded_events() -> None:
    """Traps 24 to 29: what is encoded on disk is not in an export."""
    stream = stream_of(
        turn(), call("c", path="a2V5"), result("c", "b2s="), delta(), message("m", metadata={"k": 1})
    )
    assert events_view(stream.events()) == [
        {"timestamp": "2026-10-05T21:09:27Z", "type": "turn_start"},
        {
            "timestamp": "2026-10-05T21:09:27Z",
            "type": "tool_call_request",
            "id": "c",
            "name": "read",
            "arguments": {"path": "key"},
        },
        {
            "timestamp": "2026-10-05T21:09:27Z",
            "type": "tool_call_response",
            "id": "c",
            "content": "ok",
            "is_error": False,
        },
        {
            "timestamp": "2026-10-05T21:09:27Z",
            "type": "chat_response",
            "message": "m",
            "metadata": {"k": 1},
        },
    ]
