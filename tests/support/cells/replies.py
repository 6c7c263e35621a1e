"""Rows of Replying."""

from jp_lsp.conversation.ids import CallId
from jp_lsp.turn.inputs import ClientGone, ToolCrashed
from jp_lsp.turn.phase import Phase
from tests.support.cells.cell import Cell
from tests.support.cells.moves import (
    Move,
    allows_first_call,
    cancels,
    cannot_show,
    chooses,
    dismisses,
    feeds,
    presses,
    returns,
    says,
    stream_ends,
    then,
)
from tests.support.cells.places import (
    executing,
    interrupted_approval,
    pressing,
    replying,
    replying_in_gap,
    replying_to_tools,
    replying_without_menu,
    waiting,
)
from tests.support.turns import Desk, done, message


def _replying_to_nothing() -> Desk:
    """The configured reply came before the first word."""
    return waiting(pressing(streaming="reply")).press()


def _responding_without_menu() -> Desk:
    return executing(options=pressing(tool_call="respond")).press()


def _replying_to_approval() -> Desk:
    return interrupted_approval().choose("respond")


def _replying_when_all_is_done() -> Desk:
    return replying_to_tools().tool_returns("c1").tool_returns("c2")


_BLANK: dict[str, Move] = {"blank": chooses(text="  \n"), "cancelled": dismisses}

REPLIES = (
    Cell(
        "Replying: text non-blank, origin stream",
        replying,
        chooses(text="shorter"),
        Phase.FINISHING,
        "close question: answered; store message: The ans; close stream; save P7",
    ),
    Cell(
        "Replying: text non-blank, origin tools",
        replying_to_tools,
        chooses(text="wrong file"),
        Phase.WAITING,
        "close question: answered; cancel c1; store result c1; save P3; show result c1; "
        "cancel c2; store result c2; save P3; show result c2; save P4; attempt 2.1; "
        "status waiting for first tokens; request (auto)",
        also="all calls are answered at once, so it is past Executing and Continuing",
    ),
    Cell(
        "Replying: text non-blank, origin gap",
        replying_in_gap,
        chooses(text="more"),
        Phase.FINISHING,
        "close question: answered; save P7",
    ),
    Cell(
        "Replying: text blank, origin stream/gap with menu",
        replying,
        chooses(text=" "),
        Phase.INTERRUPTED_STREAM,
        "close question: answered; ask menu: continue / reply / stop / abort",
    ),
    Cell(
        "Replying: text blank, origin stream/gap with menu",
        replying_in_gap,
        chooses(text=" "),
        Phase.CONTINUING,
        "close question: answered; ask menu: continue / reply / stop",
        also="gap",
    ),
    Cell(
        "Replying: text blank, origin tools",
        replying_to_tools,
        chooses(text=" "),
        Phase.WAITING,
        "close question: answered; cancel c1; store result c1; save P3; show result c1; "
        "cancel c2; store result c2; save P3; show result c2; save P4; attempt 2.1; "
        "status waiting for first tokens; request (auto)",
    ),
    *(
        Cell(
            "Replying: blank or cancelled, no menu (configured action reply)",
            replying_without_menu,
            happens,
            Phase.STREAMING,
            "close question: answered; resume view",
            also=how,
        )
        for how, happens in _BLANK.items()
    ),
    Cell(
        "Replying: blank or cancelled, no menu (configured action reply)",
        _replying_to_nothing,
        dismisses,
        Phase.WAITING,
        "close question: answered; resume view",
        also="before the first word",
    ),
    Cell(
        "Replying: blank or cancelled, no menu (configured action reply)",
        replying_without_menu,
        then(says(message("wer")), stream_ends, dismisses),
        Phase.WAITING,
        "close question: answered; resume view; show 'wer'; store message: The answer; save P6; "
        "attempt 1.2; status waiting for first tokens; request (auto)",
        also="the stream died",
    ),
    Cell(
        "Replying: blank or cancelled, no menu (configured action reply)",
        _responding_without_menu,
        dismisses,
        Phase.EXECUTING,
        "close question: answered",
        also="configured respond, cancelled: closing a question never ends tools",
    ),
    Cell(
        "Replying: text_cancelled with menu",
        replying,
        dismisses,
        Phase.INTERRUPTED_STREAM,
        "close question: answered; ask menu: continue / reply / stop / abort",
    ),
    Cell(
        "Replying: text_cancelled with menu",
        replying_to_tools,
        dismisses,
        Phase.INTERRUPTED_TOOLS,
        "close question: answered; ask menu: continue / respond / restart / stop",
        also="tools",
    ),
    Cell(
        "Replying: text_cancelled with menu",
        replying_to_tools,
        cannot_show,
        Phase.INTERRUPTED_TOOLS,
        "notice reply_command; close question: answered; ask menu: continue / respond / restart / stop",
        also="cannot be asked for (4.7 D)",
    ),
    Cell(
        "Replying: press(1)",
        replying,
        presses(later=5),
        Phase.INTERRUPTED_STREAM,
        "close question: withdrawn; ask menu: continue / reply / stop / abort",
    ),
    Cell(
        "Replying: press(1)",
        replying_to_tools,
        presses(later=5),
        Phase.INTERRUPTED_TOOLS,
        "close question: withdrawn; ask menu: continue / respond / restart / stop",
        also="tools",
    ),
    Cell(
        "Replying: press(2)",
        replying,
        presses(),
        Phase.FINISHING,
        "store message: The ans; close question: withdrawn; close stream; save P7",
    ),
    Cell(
        "Replying: cancel_request",
        replying,
        cancels,
        Phase.FINISHING,
        "store message: The ans; close question: withdrawn; close stream; save P7",
    ),
    Cell(
        "Replying: client_gone",
        replying,
        feeds(ClientGone()),
        Phase.CLOSING,
        "store message: The ans; close question: withdrawn; close stream; save P8",
    ),
    Cell(
        "Replying: pump ends meanwhile",
        replying,
        then(says(message("wer"), done()), stream_ends),
        Phase.REPLYING,
    ),
    Cell(
        "Replying: tool_result, tool_crashed, inquiry_result (origin tools)",
        replying_to_tools,
        returns("c1"),
        Phase.REPLYING,
        "store result c1; save P3; show result c1",
        also="result",
        deviates="chunks go out: the text is written in a place of its own, which they do not touch",
    ),
    Cell(
        "Replying: tool_result, tool_crashed, inquiry_result (origin tools)",
        replying_to_tools,
        feeds(ToolCrashed(CallId("c1"), 1, "a bug")),
        Phase.REPLYING,
        "store error c1; save P3; show result c1",
        also="crash",
    ),
    Cell(
        "Replying: all_done (origin tools)",
        replying_to_tools,
        then(returns("c1"), returns("c2")),
        Phase.REPLYING,
        "store result c1; save P3; show result c1; store result c2; save P3; show result c2",
        also="remembered",
    ),
    Cell(
        "Replying: all_done (origin tools)",
        _replying_when_all_is_done,
        chooses(text="and now?"),
        Phase.FINISHING,
        "close question: answered; save P7",
        also="text",
    ),
    *(
        Cell(
            "Replying: all_done (origin tools)",
            _replying_when_all_is_done,
            happens,
            Phase.WAITING,
            "close question: answered; save P4; attempt 2.1; status waiting for first tokens; request (auto)",
            also=how,
        )
        for how, happens in _BLANK.items()
    ),
    Cell(
        "Replying: decision of an open tool prompt",
        _replying_to_approval,
        allows_first_call(),
        Phase.REPLYING,
        "close question: answered; save P3",
    ),
)
