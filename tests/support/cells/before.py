"""Rows of Idle and Preparing, and of the save that opens a turn."""

from jp_lsp.conversation.directive import ConfigDelta
from jp_lsp.conversation.event import ChatRequest
from jp_lsp.turn.failure import QueryError
from jp_lsp.turn.inputs import (
    ClientGone,
    Prepared,
    PreparedTurn,
    PrepareFailed,
    ShutdownRequested,
    Start,
)
from jp_lsp.turn.options import TurnOptions
from jp_lsp.turn.phase import Phase
from tests.support.cells.cell import Cell, Elsewhere
from tests.support.cells.moves import Move, cancels, chooses, dismisses, feeds, presses, then
from tests.support.cells.places import idle, preparing
from tests.support.turns import CONVERSATION, Desk

_OVER = "a machine lives for one query, so what leads back to Idle ends it"


def _is_prepared(here: Desk) -> Desk:
    turn = PreparedTurn(
        CONVERSATION,
        here.stream,
        ChatRequest("hi"),
        TurnOptions(),
        is_new=True,
        config_delta=ConfigDelta({"x": 1}),
    )
    return here.feed(Prepared(turn))


_CANCEL = "cancel preparation; answer cancelled_before_start, draft"
_MENU = "ask menu: continue / stop; close question"

_CANCELLED: dict[str, tuple[Move, str]] = {
    "press": (then(presses(), presses()), f"{_MENU}: withdrawn; {_CANCEL}"),
    "menu": (then(presses(), chooses("stop")), f"{_MENU}: answered; {_CANCEL}"),
    "cancel": (cancels, _CANCEL),
}


def _opening_that_fails() -> Desk:
    return Desk(failing_saves=["P1"]).feed(Start("hi"))


BEFORE = (
    Cell("Idle: start", idle, feeds(Start("hi")), Phase.PREPARING, "prepare"),
    Cell(
        "Idle: press(n) for an unknown token",
        idle,
        presses(),
        Phase.IDLE,
        deviates="the host keeps it for the query to come, and says `latched`, which is a word of 4.2",
    ),
    Cell("Idle: cancel_request", idle, cancels, Phase.IDLE),
    Cell(
        "Idle: shutdown_requested",
        idle,
        feeds(ShutdownRequested()),
        Phase.IDLE,
        deviates="a query that has not begun has nothing to close; the host refuses those that come later",
    ),
    Cell(
        "Preparing: prepared",
        preparing,
        _is_prepared,
        Phase.WAITING,
        "show turn 1; save P1; attempt 1.1; status waiting for first tokens; request (auto)",
    ),
    Cell(
        "Preparing: prepare_failed",
        preparing,
        feeds(PrepareFailed(QueryError("model_unknown", "no"))),
        Phase.FAILED,
        "refuse model_unknown, draft",
        deviates=_OVER,
    ),
    Cell(
        "Preparing: save_failed (P1)",
        _opening_that_fails,
        _is_prepared,
        Phase.FAILED,
        "show turn 1; save P1; retract turn: abort; keep draft; refuse persist_failed, draft",
        deviates=_OVER,
    ),
    Cell("Preparing: press(1)", preparing, presses(), Phase.PREPARING, "ask menu: continue / stop"),
    Cell(
        "Preparing: press(1)",
        preparing,
        then(presses(), dismisses),
        Phase.PREPARING,
        "ask menu: continue / stop; close question: answered",
        also="dismissed",
    ),
    Cell(
        "Preparing: press(1)",
        preparing,
        then(presses(), chooses("continue")),
        Phase.PREPARING,
        "ask menu: continue / stop; close question: answered",
        also="Keep waiting",
    ),
    *(
        Cell(
            "Preparing: press(2), menu *Cancel*, cancel_request",
            preparing,
            happens,
            Phase.COMPLETE,
            asks,
            also=how,
            deviates=_OVER,
        )
        for how, (happens, asks) in _CANCELLED.items()
    ),
    *(
        Cell(
            "Preparing: client_gone / shutdown_requested",
            preparing,
            feeds(item),
            Phase.COMPLETE,
            _CANCEL,
            also=type(item).__name__,
            deviates="nothing is to be saved, so it is closed at once",
        )
        for item in (ClientGone(), ShutdownRequested())
    ),
)

BEFORE_ELSEWHERE = (
    Elsewhere(
        "Preparing: request text empty",
        "driver/test_query_writing.py::test_without_a_text_nothing_is_touched",
        "the user is asked for the text first, so that preparation finds out",
    ),
    Elsewhere(
        "Preparing: lock busy",
        "driver/test_lock_question.py::test_who_waits_for_a_conversation_is_asked",
        "locks are the preparation's, and so is their question",
    ),
)
