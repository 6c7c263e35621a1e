import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.turns import numbered, split
from tests.support.streams import Raw, compaction, delta, lines, message, stream_of, turn, user


@pytest.mark.parametrize(
    ("entries", "numbers", "count"),
    [
        ([], [], 0),
        ([delta()], [0], 0),
        ([user("a"), message("b")], [0, 0], 1),
        ([message("a"), turn(), user("b")], [0, 1, 1], 2),
        ([turn(), turn(), user("a")], [0, 1, 1], 2),
        ([turn(), user("a"), delta(), turn(), user("b"), compaction(0, 0)], [0, 0, 0, 1, 1, 1], 2),
        ([turn(), user("a"), user("b"), turn()], [0, 0, 0, 1], 2),
        ([delta(), turn(), user("a")], [0, 0, 0], 1),
    ],
)
@pytest.mark.requirement("R14", "C34", "C35", "C36")
def test_turns_are_numbered_by_their_starts(entries: list[Raw], numbers: list[int], count: int) -> None:
    stream = stream_of(*entries)
    assert [turn for turn, _ in numbered(stream.entries)] == numbers
    assert stream.turn_count == count
    assert len(split(stream.entries)) == count


def test_a_turn_knows_where_its_events_stand() -> None:
    stream = stream_of(delta(), turn(), user("a"), delta(), message("b"), delta(), turn(), user("c"))
    turns = split(stream.entries)
    assert [(each.index, each.start, each.stop) for each in turns] == [(0, 1, 5), (1, 6, 8)]
    assert [lines(each.events) for each in turns] == [["turn", "user: a", "message: b"], ["turn", "user: c"]]


@given(st.lists(st.sampled_from([turn(), user("a"), message("b"), delta()]), max_size=30))
def test_the_running_count_agrees_with_the_split(entries: list[Raw]) -> None:
    stream = stream_of(*entries)
    turns = split(stream.entries)
    assert stream.turn_count == len(turns)
    assert [event for each in turns for event in each.events] == list(stream.events())
