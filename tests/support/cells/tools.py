"""Rows of Executing, InterruptedTools and Continuing."""

from jp_lsp.conversation.ids import CallId
from jp_lsp.turn.inputs import SaveFailed, ToolCrashed, ToolEnded
from jp_lsp.turn.phase import Phase
from tests.support.calls import asks, spec
from tests.support.cells.cell import Cell, Elsewhere
from tests.support.cells.moves import (
    Move,
    cancels,
    chooses,
    dismisses,
    feeds,
    presses,
    returns,
    saves,
    says,
    then,
)
from tests.support.cells.places import (
    approving,
    continuing,
    desk,
    executing,
    interrupted_approval,
    interrupted_tools,
    pressing,
    waiting,
)
from tests.support.turns import Desk, done, message, tool_call


def _asking() -> Desk:
    """The first tool has asked something."""
    return executing().tool_returns("c1", asks())


def _showing_result() -> Desk:
    """The user is to see the result of the only call first."""
    tools = {"look": spec("look", run_mode="unattended", result_mode="ask")}
    return desk().start(tools=tools).says(*tool_call(0, "c1", "look"), done()).tool_returns("c1")


def _first_is_done() -> Desk:
    return executing().tool_returns("c1")


def _all_done_under_menu() -> Desk:
    return interrupted_tools().tool_returns("c1").tool_returns("c2")


_CRASH = ToolCrashed(CallId("c1"), 1, "a bug")

EXECUTING = (
    Cell(
        "Executing: plan has no work at all",
        lambda: desk().start(tools={}),
        says(*tool_call(0, "c1", "gone"), done()),
        Phase.WAITING,
        "show part of a call; show part of a call; store call c1: gone({}); save P2; save P3; "
        "show call c1; store error c1; save P3; show result c1; status running tools; save P4; "
        "attempt 2.1; status waiting for first tokens; request (auto)",
        also="responses were added: Continuing, and saved at once",
    ),
    Cell(
        "Executing: plan has no work at all",
        waiting,
        says(message("Done."), done()),
        Phase.FINISHING,
        "show 'Done.'; store message: Done.; save P7",
        also="no call",
    ),
    Cell(
        "Executing: decision (permission, question, result)",
        approving,
        then(chooses("run")),
        Phase.EXECUTING,
        "close question: answered; save P3; show c2 at work; run c2",
        also="permission",
    ),
    Cell(
        "Executing: decision (permission, question, result)",
        _asking,
        chooses("yes"),
        Phase.EXECUTING,
        "close question: answered; store answer c1.sure.1; save P3; show c1 at work; run c1",
        also="question",
    ),
    Cell(
        "Executing: decision (permission, question, result)",
        _showing_result,
        chooses("deliver"),
        Phase.WAITING,
        "close question: answered; store result c1; save P3; show result c1; save P4; "
        "attempt 2.1; status waiting for first tokens; request (auto)",
        also="result",
    ),
    Cell(
        "Executing: tool_result, inquiry_result, tool_crashed",
        executing,
        returns("c1"),
        Phase.EXECUTING,
        "store result c1; save P3; show result c1",
        also="result",
    ),
    Cell(
        "Executing: tool_result, inquiry_result, tool_crashed",
        executing,
        feeds(_CRASH),
        Phase.EXECUTING,
        "store error c1; save P3; show result c1",
        also="crash",
    ),
    Cell(
        "Executing: all_done",
        lambda: executing("P4").tool_returns("c1"),
        returns("c2"),
        Phase.CONTINUING,
        "store result c2; save P3; show result c2; save P4",
    ),
    Cell(
        "Executing: press(1), a tool prompt is visible",
        approving,
        presses(),
        Phase.INTERRUPTED_TOOLS,
        "ask menu: continue / back / respond / restart / stop",
    ),
    Cell(
        "Executing: press(1), no prompt visible",
        executing,
        presses(),
        Phase.INTERRUPTED_TOOLS,
        "ask menu: continue / respond / restart / stop",
    ),
    Cell(
        "Executing: press(1), no prompt visible",
        lambda: executing(options=pressing(tool_call="stop")),
        presses(),
        Phase.FINISHING,
        "cancel c1; store result c1; save P3; show result c1; cancel c2; store result c2; "
        "save P3; show result c2; save P7",
        also="configured",
    ),
    Cell(
        "Executing: cancel_request",
        _first_is_done,
        cancels,
        Phase.FINISHING,
        "cancel c2; store result c2; save P3; show result c2; save P7",
    ),
    Cell(
        "Executing: store error while saving a response",
        executing,
        feeds(SaveFailed("P3", "the disk is full")),
        Phase.FINISHING,
        "notice failed; cancel c1; store result c1; save P3; show result c1; cancel c2; "
        "store result c2; save P3; show result c2; save P7",
    ),
)

_FOLLOW_UP = "save P4; attempt 2.1; status waiting for first tokens; request (auto)"

_AFTER_ALL_DONE: dict[str, tuple[Move, Phase, str]] = {
    "continue": (chooses("continue"), Phase.WAITING, _FOLLOW_UP),
    "respond": (
        then(chooses("respond"), chooses(text="and now?")),
        Phase.FINISHING,
        "ask text; close question: answered; save P7",
    ),
    "stop": (chooses("stop"), Phase.FINISHING, "save P7"),
    "restart": (chooses("restart"), Phase.WAITING, f"notice nothing_to_restart; {_FOLLOW_UP}"),
}

INTERRUPTED_TOOLS = (
    Cell(
        "InterruptedTools: menu(continue)",
        interrupted_tools,
        chooses("continue"),
        Phase.EXECUTING,
        "close question: answered",
    ),
    Cell(
        "InterruptedTools: menu(respond)",
        interrupted_tools,
        chooses("respond"),
        Phase.REPLYING,
        "close question: answered; ask text",
    ),
    Cell(
        "InterruptedTools: menu(stop)",
        lambda: _first_is_done().press(),
        chooses("stop"),
        Phase.FINISHING,
        "close question: answered; cancel c2; store result c2; save P3; show result c2; save P7",
    ),
    Cell(
        "InterruptedTools: menu(restart)",
        lambda: _first_is_done().press(),
        then(chooses("restart"), feeds(ToolEnded(CallId("c2")))),
        Phase.EXECUTING,
        "close question: answered; cancel c2; show c2 at work; run c2",
    ),
    Cell(
        "InterruptedTools: menu(back)",
        interrupted_approval,
        chooses("back"),
        Phase.EXECUTING,
        "close question: answered",
    ),
    Cell(
        "InterruptedTools: menu_dismissed, press(2)",
        interrupted_tools,
        dismisses,
        Phase.FINISHING,
        "close question: answered; cancel c1; store result c1; save P3; show result c1; "
        "cancel c2; store result c2; save P3; show result c2; save P7",
        also="dismissed",
    ),
    Cell(
        "InterruptedTools: menu_dismissed, press(2)",
        interrupted_approval,
        presses(),
        Phase.FINISHING,
        "close question: withdrawn; close question: withdrawn; store result c1; save P3; "
        "show result c1; close question: withdrawn; store result c2; save P3; show result c2; "
        "save P7",
        also="press",
    ),
    Cell(
        "InterruptedTools: press(3)",
        interrupted_tools,
        then(presses(), presses()),
        Phase.FAILED,
        "close question: withdrawn; cancel c1; store result c1; save P3; show result c1; "
        "cancel c2; store result c2; save P3; show result c2; save P7; show end: killed; "
        "answer killed",
        deviates="the second press is always between: it has cancelled the tools; the end of the query kills "
        "what is left of them",
    ),
    Cell(
        "InterruptedTools: all_done while the menu is open",
        interrupted_tools,
        then(returns("c1"), returns("c2")),
        Phase.INTERRUPTED_TOOLS,
        "store result c1; save P3; show result c1; store result c2; save P3; show result c2",
        also="menu stays",
    ),
    *(
        Cell(
            "InterruptedTools: all_done while the menu is open",
            _all_done_under_menu,
            happens,
            becomes,
            f"close question: answered; {asks}",
            also=choice,
        )
        for choice, (happens, becomes, asks) in _AFTER_ALL_DONE.items()
    ),
    Cell(
        "InterruptedTools: cancel_request",
        interrupted_tools,
        cancels,
        Phase.FINISHING,
        "close question: withdrawn; cancel c1; store result c1; save P3; show result c1; "
        "cancel c2; store result c2; save P3; show result c2; save P7",
    ),
)

CONTINUING = (
    Cell(
        "Continuing: saved (P4)",
        continuing,
        saves,
        Phase.WAITING,
        "attempt 2.1; status waiting for first tokens; request (auto)",
    ),
    Cell(
        "Continuing: save_failed",
        continuing,
        feeds(SaveFailed("P4", "the disk is full")),
        Phase.FINISHING,
        "notice failed; save P7",
    ),
    Cell("Continuing: press(1)", continuing, presses(), Phase.FINISHING, "save P7"),
    Cell(
        "Continuing: press(1)",
        lambda: continuing(pressing(gap="prompt")),
        presses(),
        Phase.CONTINUING,
        "ask menu: continue / reply / stop",
        also="with a menu",
    ),
    Cell("Continuing: cancel_request", continuing, cancels, Phase.FINISHING, "save P7"),
)

TOOLS = (*EXECUTING, *INTERRUPTED_TOOLS, *CONTINUING)

TOOLS_ELSEWHERE = (
    Elsewhere(
        "Executing: tick",
        "server/test_tool_times.py::test_a_tool_that_takes_a_while_shows_that_it_runs",
        "time passes in the outbox: the machine is told what tools say, not that seconds go by",
    ),
)
