"""Rows of Finishing, of the phases behind the end, and those that hold everywhere."""

from jp_lsp.conversation.ids import CallId
from jp_lsp.tools.decision import DecisionId
from jp_lsp.tools.outcome import Succeeded
from jp_lsp.turn.inputs import (
    Answered,
    CancelRequested,
    Crashed,
    Dismissed,
    SaveFailed,
    ToolEnded,
    ToolFinished,
)
from jp_lsp.turn.phase import Phase
from tests.support.cells.cell import Cell, Elsewhere
from tests.support.cells.moves import Move, feeds, presses, saves, says, then
from tests.support.cells.places import complete, executing, finishing, pressing, replying, streaming
from tests.support.turns import Desk, done, failure, message


def _finishing_failed() -> Desk:
    return streaming().says(failure("auth"))


def _finishing_for_reply() -> Desk:
    return replying().choose(text="shorter")


_SAVE_FAILED = SaveFailed("P7", "the disk is full", "file:///copy")

_LATE: dict[str, Move] = {
    "provider": says(message("late"), done()),
    "tool": feeds(ToolFinished(CallId("c1"), 1, Succeeded("late")), ToolEnded(CallId("c1"))),
    "answer": feeds(Answered(DecisionId("t/1"), "abort"), Dismissed(DecisionId("t/1"))),
    "save": feeds(SaveFailed("P7", "late")),
    "cancel": feeds(CancelRequested()),
    "crash": feeds(Crashed("late", "")),
}

ENDINGS = (
    Cell("Finishing: saved", finishing, saves, Phase.COMPLETE, "show end: completed; answer completed"),
    Cell(
        "Finishing: saved",
        _finishing_failed,
        saves,
        Phase.FAILED,
        "show end: failed; answer failed",
        also="failed",
    ),
    Cell(
        "Finishing: saved",
        _finishing_for_reply,
        saves,
        Phase.WAITING,
        "show end: replied; show turn 2; save P1; attempt 1.1; "
        "status waiting for first tokens; request (auto)",
        also="the chain goes on",
    ),
    Cell(
        "Finishing: save_failed",
        finishing,
        feeds(_SAVE_FAILED),
        Phase.FAILED,
        "notice persist_failed; show end: failed; answer failed",
    ),
    Cell("Finishing: press(1), press(2)", finishing, presses(), Phase.FINISHING, also="first"),
    Cell(
        "Finishing: press(1), press(2)", finishing, then(presses(), presses()), Phase.FINISHING, also="second"
    ),
    Cell(
        "Finishing: press(3)",
        finishing,
        then(presses(), presses(), presses()),
        Phase.FAILED,
        "show end: killed; answer killed",
    ),
    Cell(
        "Common rows: press(2) without an open menu (a configured action answered the first one)",
        lambda: streaming(pressing(streaming="continue")).press(),
        presses(),
        Phase.FINISHING,
        "store message: The ans; close stream; save P7",
        also="stream",
    ),
    Cell(
        "Common rows: press(2) without an open menu (a configured action answered the first one)",
        lambda: executing(options=pressing(tool_call="continue")).press(),
        presses(),
        Phase.FINISHING,
        "cancel c1; store result c1; save P3; show result c1; cancel c2; store result c2; "
        "save P3; show result c2; save P7",
        also="tools",
    ),
    Cell(
        "Common rows: cancel_request in Finishing or later",
        finishing,
        feeds(CancelRequested()),
        Phase.FINISHING,
    ),
    Cell(
        "Common rows: cancel_request in Finishing or later",
        _finishing_for_reply,
        then(feeds(CancelRequested()), saves),
        Phase.COMPLETE,
        "keep draft; show end: stopped; answer stopped, draft",
        also="the reply becomes a draft",
    ),
    *(
        Cell(
            "Common rows: decision, answer or tool event for something already closed",
            complete,
            happens,
            Phase.COMPLETE,
            also=what,
        )
        for what, happens in _LATE.items()
    ),
)

ENDINGS_ELSEWHERE = (
    Elsewhere(
        "Common rows: query_again, same conversation",
        "driver/test_query.py::test_a_second_query_on_a_busy_conversation_is_refused_or_queued",
        "the host holds the conversation of a running query",
    ),
    Elsewhere(
        "Common rows: query_again, other conversation",
        "driver/test_query.py::test_two_conversations_run_side_by_side",
        "the host gives each query a machine of its own",
    ),
    Elsewhere(
        "Common rows: config or document notifications",
        "e2e/test_scenario_settings.py::test_a_running_turn_keeps_its_settings",
        "a machine gets its options once; the settings of a workplace change beside it",
    ),
)
