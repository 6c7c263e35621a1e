"""Regions of reasoning, as they are found in what a turn shows."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.ids import CallId
from jp_lsp.driver.reasoning_regions import MOST_CHARACTERS, ReasoningRegion, ReasoningRegions
from jp_lsp.render.chunk import Chunk, Notice
from jp_lsp.render.options import DisplayOptions, Labels, ReasoningDisplay
from jp_lsp.server.shown_to_chunks import ShownToChunks
from jp_lsp.turn.outcome import Outcome
from jp_lsp.turn.shown import (
    AttemptBegan,
    CallShown,
    PartArrived,
    Paused,
    ReasoningSummed,
    Resumed,
    Retracted,
    Shown,
    TurnBegan,
    TurnEnded,
)
from tests.support.turns import message, reasoning

pytestmark = pytest.mark.requirement("R201")

BEGIN, REQUEST, RETRY = TurnBegan(1, "hi"), AttemptBegan(1, 1), AttemptBegan(1, 2)
CALL = CallShown(CallId("a"), "look", {}, None)
END = TurnEnded(Outcome.COMPLETED, is_persisted=True)


def thought(text: str) -> Shown:
    return PartArrived(reasoning(text))


def said(text: str) -> Shown:
    return PartArrived(message(text))


def ended_in(regions: ReasoningRegions, *shown: Shown) -> list[ReasoningRegion]:
    return [region for each in shown if (region := regions.see(each)) is not None]


def found(*shown: Shown) -> list[tuple[int, str]]:
    return [(region.number, region.text) for region in ended_in(ReasoningRegions(), BEGIN, REQUEST, *shown)]


CASES: dict[str, tuple[Sequence[Shown], list[tuple[int, str]]]] = {
    "text ends it": ([thought("a"), thought("b"), said("x")], [(1, "ab")]),
    "a call ends it": ([thought("a"), CALL, thought("b"), CALL], [(1, "a"), (2, "b")]),
    "nothing was said": ([thought("a"), said(""), thought("b"), said("x")], [(1, "ab")]),
    "a retry and a menu do not": (
        [thought("a"), RETRY, Paused(), Resumed(), thought("b"), CALL],
        [(1, "ab")],
    ),
    "the end of the turn is none": ([thought("a"), END], []),
    "a turn counts from one": ([thought("a"), CALL, END, BEGIN, thought("b"), CALL], [(1, "a"), (1, "b")]),
    "what was begun before an attempt": (
        [thought("a"), RETRY, thought("b"), CALL, Retracted("attempt", "empty"), thought("c"), CALL],
        [(1, "ab"), (1, "ac")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_regions(case: str) -> None:
    shown, expected = CASES[case]
    assert found(*shown) == expected


def test_what_is_retracted_is_gone() -> None:
    regions = ReasoningRegions()
    ended = ended_in(regions, BEGIN, thought("a"), CALL, REQUEST, thought("b"), CALL)
    assert [regions.has(region) for region in ended] == [True, True]
    regions.see(Retracted("cycle", "abort"))
    assert [regions.has(region) for region in ended] == [True, False]
    regions.see(END)
    assert [regions.has(region) for region in ended] == [False, False]


def test_no_more_is_kept_than_a_summary_needs() -> None:
    endless = [thought("x" * (MOST_CHARACTERS // 3)) for _ in range(5)]
    ((number, text),) = found(*endless, CALL)
    assert (number, len(text)) == (1, MOST_CHARACTERS)


SHOWN = st.sampled_from(
    [
        *(thought(text) for text in ("a", "", "b\n\n")),
        *(said(text) for text in ("x", "")),
        CALL,
        RETRY,
        AttemptBegan(2, 1),
        Paused(),
        Resumed(),
        Retracted("attempt", "empty"),
        Retracted("cycle", "abort"),
        Retracted("turn", "abort"),
    ]
)


@given(st.lists(SHOWN, max_size=30))
def test_they_are_counted_as_the_view_counts_them(shown: list[Shown]) -> None:
    """A summary names its region by this number."""
    regions, chunks = ReasoningRegions(), ShownToChunks(lambda: 1, lambda: 0)
    chunks.configure(DisplayOptions(reasoning=ReasoningDisplay("summary")), Labels())
    for each in (BEGIN, REQUEST, *shown):
        region = regions.see(each)
        chunks.chunks(each)
        assert region is None or region.number == chunks._view._flow.reasoning.region_count


def test_a_summary_is_a_notice_that_names_its_region() -> None:
    chunks: list[Chunk] = ShownToChunks(lambda: 1, lambda: 0).chunks(ReasoningSummed(2, "It \x1b[31mplans."))
    assert chunks == [
        Notice("reasoning_summary:2", "info", "reasoning_summary", "It plans.", 2),
    ]
