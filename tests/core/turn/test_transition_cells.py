"""The table of query pipeline 1.4, cell by cell, and that none of its rows is forgotten."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from jp_lsp.turn.inputs import CancelRequested, ClientGone, Crashed, Input, ShutdownRequested
from jp_lsp.turn.phase import Phase
from tests.support.cells.before import BEFORE, BEFORE_ELSEWHERE
from tests.support.cells.cell import Cell, Elsewhere, rows, told, told_all
from tests.support.cells.endings import ENDINGS, ENDINGS_ELSEWHERE
from tests.support.cells.places import PLACES, complete, interrupted, streaming
from tests.support.cells.replies import REPLIES
from tests.support.cells.stream import STREAM
from tests.support.cells.tools import TOOLS, TOOLS_ELSEWHERE
from tests.support.turns import Desk, done, failure, message

CELLS: tuple[Cell, ...] = (*BEFORE, *STREAM, *TOOLS, *REPLIES, *ENDINGS)
ELSEWHERE: tuple[Elsewhere, ...] = (*BEFORE_ELSEWHERE, *TOOLS_ELSEWHERE, *ENDINGS_ELSEWHERE)

EVERYWHERE: dict[str, tuple[Input, str, Phase]] = {
    "Common rows: shutdown_requested": (ShutdownRequested(), "P8", Phase.CLOSING),
    "Common rows: client_gone": (ClientGone(), "P8", Phase.CLOSING),
    "Common rows: unexpected exception": (Crashed("a bug", "trace"), "P7", Phase.FINISHING),
}
"""Rows that hold in every phase: what happens, the save that it leads to, the phase that waits for it."""

ENDING = {Phase.PREPARING, Phase.FINISHING, Phase.CLOSING}
"""Where nothing is stored yet, or the last save is out already."""

KILLING = "Common rows: press(3)"


@pytest.mark.requirement("R63", "R151")
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_cell_of_the_table(cell: Cell) -> None:
    desk = cell.given()
    before = len(desk.log)
    cell.happens(desk)
    assert told_all(desk.log[before:]) == cell.asks
    assert desk.phase is cell.becomes
    if cell.stored:
        assert tuple(desk.stored[-len(cell.stored) :]) == cell.stored


@pytest.mark.requirement("R298", "R336")
@pytest.mark.parametrize("row", EVERYWHERE)
@pytest.mark.parametrize("phase", [phase for phase in PLACES if phase not in ENDING], ids=str)
def test_what_may_happen_anywhere_keeps_what_came(row: str, phase: Phase) -> None:
    item, point, becomes = EVERYWHERE[row]
    desk = PLACES[phase]()
    came = [line for line in desk.stored if not line.startswith("error")]
    before = len(desk.log)
    desk.feed(item)
    asked = [told(action) for action in desk.log[before:]]
    assert (asked[-1], desk.phase) == (f"save {point}", becomes)
    assert desk.core.open_decisions == {}
    assert desk.stored[: len(came)] == came
    if phase in {Phase.STREAMING, Phase.INTERRUPTED_STREAM, Phase.REPLYING}:
        assert desk.stored[-1] == "message: The ans"
    requests = len(desk.requests)
    desk.report_saved()
    assert desk.phase.is_terminal
    assert len(desk.requests) == requests


@pytest.mark.parametrize("row", EVERYWHERE)
@pytest.mark.parametrize("phase", [phase for phase in PLACES if phase in ENDING], ids=str)
def test_what_may_happen_anywhere_does_not_disturb_an_ending(row: str, phase: Phase) -> None:
    desk = PLACES[phase]().feed(EVERYWHERE[row][0]).report_saved()
    assert desk.phase.is_terminal
    assert desk.core.open_decisions == {}


@pytest.mark.requirement("R131")
@pytest.mark.parametrize("phase", PLACES, ids=str)
def test_three_presses_end_a_query_in_every_phase(phase: Phase) -> None:
    """No save comes back, and still it is answered: one attempt was made, and nothing waits for it."""
    desk = PLACES[phase]()
    for _ in range(3):
        desk.press()
    assert desk.phase.is_terminal
    assert desk.core.open_decisions == {}
    if phase is not Phase.PREPARING:
        assert (desk.result.outcome, desk.phase) == ("killed", Phase.FAILED)
        saves = [told(action) for action in desk.log if told(action) in {"save P7", "save P8"}]
        assert len(saves) == 1


def test_every_row_of_the_table_has_a_test() -> None:
    proven = {cell.row for cell in CELLS} | {row.row for row in ELSEWHERE} | {*EVERYWHERE, KILLING}
    assert sorted(set(rows()) - proven) == []
    assert sorted(proven - set(rows())) == [], "a case names a row that the table does not have"


def test_what_is_proven_elsewhere_is_there() -> None:
    tests = Path(__file__).parents[2]
    for row in ELSEWHERE:
        file, _, name = row.test.partition("::")
        found = re.search(
            rf"^(async )?def {name}\(", (tests / file).read_text(encoding="utf-8"), re.MULTILINE
        )
        assert found, row.test


def test_no_two_cases_have_one_name() -> None:
    names = [str(cell) for cell in CELLS]
    assert sorted({name for name in names if names.count(name) > 1}) == []


OVER: dict[Phase, Callable[[], Desk]] = {
    Phase.COMPLETE: complete,
    Phase.ABORTED: lambda: interrupted().choose("abort"),
    Phase.FAILED: lambda: streaming().says(failure("auth")).report_saved(),
}


@pytest.mark.parametrize("phase", OVER, ids=str)
def test_a_query_that_is_over_hears_nothing(phase: Phase) -> None:
    desk = OVER[phase]()
    assert desk.phase is phase
    before = len(desk.log)
    desk.says(message("late"), done()).stream_ends().press().report_saved()
    desk.feed(CancelRequested(), ShutdownRequested(), ClientGone(), Crashed("late", ""))
    assert (len(desk.log), desk.phase, desk.core.last_press.handled) == (before, phase, "none")
