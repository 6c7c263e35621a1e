"""Rows of Waiting, Streaming, InterruptedStream, Replying to an answer, Backoff and Evaluating."""

from jp_lsp.turn.inputs import TimerElapsed
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.response import MAX_HELD_ITEMS
from jp_lsp.turn.stream_event import (
    Flush,
    KeepAlive,
    MaxTokens,
    MetadataPatch,
    Patch,
    Refused,
    RetryRequested,
)
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
    says,
    stream_ends,
    then,
)
from tests.support.cells.places import (
    NO_RETRY,
    backoff,
    desk,
    interrupted,
    interrupted_behind_call,
    streaming,
    streaming_behind_call,
    waiting,
)
from tests.support.turns import Desk, done, failure, message, reasoning, structured, tool_call

_PATCH = Patch((MetadataPatch("k", "v"),))


def _signed() -> Desk:
    """A stream that holds the metadata which `_PATCH` removes."""
    first = desk().start().says(reasoning("", 0, k="v"), Flush(0), message("x", 1), done()).report_saved()
    again = Desk(stream=first.stream, is_new=False, holds_saves=["P7", "P8"])
    return again.start("again")


def _streaming_without_retries() -> Desk:
    return streaming(NO_RETRY)


def _value_is_open() -> Desk:
    return waiting().says(structured("{}"))


def _call_is_open() -> Desk:
    return waiting().says(*tool_call(0, "c1", "look")[:2])


WAITING = (
    *(
        Cell(
            "Waiting: keep_alive, patch, flush without buffered part",
            waiting,
            says(event, KeepAlive()),
            Phase.WAITING,
            "status receiving response data",
            also=type(event).__name__,
        )
        for event in (KeepAlive(), _PATCH, Flush(3))
    ),
    Cell(
        "Waiting: part accepted by the builder", waiting, says(message("The")), Phase.STREAMING, "show 'The'"
    ),
    Cell(
        "Waiting: finished(reason)",
        waiting,
        says(done(MaxTokens())),
        Phase.FINISHING,
        "notice truncated; save P7",
    ),
    Cell(
        "Waiting: call_error(e) / stream_error(e) retryable and budget left",
        waiting,
        says(failure("connect", "nobody there")),
        Phase.BACKOFF,
        "save P6; show retry 1 of 5 in 1 s: Connection error; wait 1",
    ),
    Cell(
        "Waiting: same, not retryable or budget spent",
        waiting,
        says(failure("auth")),
        Phase.FINISHING,
        "notice failed; save P7",
    ),
    Cell(
        "Waiting: same, not retryable or budget spent",
        lambda: waiting(NO_RETRY),
        says(failure("connect")),
        Phase.FINISHING,
        "notice failed; save P7",
        also="no budget",
    ),
    Cell(
        "Waiting: stream_end",
        waiting,
        stream_ends,
        Phase.BACKOFF,
        "save P6; show retry 1 of 5 in 1 s: Server error; wait 1",
    ),
    Cell(
        "Waiting: press(1)",
        waiting,
        presses(),
        Phase.INTERRUPTED_STREAM,
        "pause view; ask menu: continue / reply / stop / abort",
    ),
    Cell("Waiting: cancel_request", waiting, cancels, Phase.FINISHING, "close stream; save P7"),
)

STREAMING = (
    Cell("Streaming: part accepted", streaming, says(message("wer")), Phase.STREAMING, "show 'wer'"),
    Cell("Streaming: part rejected (kind mismatch)", streaming, says(reasoning("hm")), Phase.STREAMING),
    Cell(
        "Streaming: flush -> text event",
        streaming,
        says(Flush(0)),
        Phase.STREAMING,
        "store message: The ans; save P2",
    ),
    Cell(
        "Streaming: flush -> structured",
        _value_is_open,
        says(Flush(0)),
        Phase.STREAMING,
        "store data: {}; save P2",
    ),
    Cell(
        "Streaming: flush -> tool call",
        _call_is_open,
        says(Flush(0)),
        Phase.STREAMING,
        "store call c1: look({}); save P2; save P3; show call c1",
    ),
    Cell(
        "Streaming: flush -> tool call",
        lambda: desk().start(tools={}).says(*tool_call(0, "c1", "look")[:2]),
        says(Flush(0)),
        Phase.STREAMING,
        "store call c1: look({}); save P2; save P3; show call c1",
        also="of no tool: its answer waits for the end of the response",
    ),
    Cell("Streaming: flush -> nothing", streaming, says(Flush(7)), Phase.STREAMING),
    Cell(
        "Streaming: finished(reason)",
        streaming,
        says(done()),
        Phase.FINISHING,
        "store message: The ans; save P7",
    ),
    Cell("Streaming: patch / keep_alive", streaming, says(_PATCH, KeepAlive()), Phase.STREAMING),
    Cell(
        "Streaming: retryable error, no flushed tool call in this cycle",
        streaming,
        says(failure("timeout")),
        Phase.BACKOFF,
        "store message: The ans; save P6; show retry 1 of 5 in 1 s: Timeout; wait 1",
    ),
    Cell(
        "Streaming: retryable error, >= 1 flushed tool call",
        streaming_behind_call,
        says(failure("timeout")),
        Phase.EXECUTING,
        "store message: more; notice stream_ended_early; status running tools",
    ),
    Cell(
        "Streaming: fatal error, or budget spent",
        streaming_behind_call,
        says(failure("quota")),
        Phase.FINISHING,
        "store message: more; notice failed; close question: withdrawn; store error c1; save P3; "
        "show result c1; save P7",
    ),
    Cell(
        "Streaming: fatal error, or budget spent",
        _streaming_without_retries,
        says(failure("timeout")),
        Phase.FINISHING,
        "store message: The ans; notice failed; save P7",
        also="no budget",
    ),
    Cell(
        "Streaming: stream_end",
        streaming,
        stream_ends,
        Phase.BACKOFF,
        "store message: The ans; save P6; show retry 1 of 5 in 1 s: Server error; wait 1",
    ),
    Cell(
        "Streaming: press(1)",
        streaming,
        presses(),
        Phase.INTERRUPTED_STREAM,
        "pause view; ask menu: continue / reply / stop / abort",
    ),
    Cell(
        "Streaming: press(1)",
        streaming_behind_call,
        presses(),
        Phase.INTERRUPTED_STREAM,
        "pause view; ask menu: continue / back / reply / stop / abort",
        also="over a question (4.6)",
    ),
    Cell(
        "Streaming: cancel_request",
        streaming,
        cancels,
        Phase.FINISHING,
        "store message: The ans; close stream; save P7",
    ),
    Cell(
        "Streaming: a tool decision arrives",
        streaming_behind_call,
        chooses("run"),
        Phase.STREAMING,
        "close question: answered; save P3",
    ),
)

_DEATHS: dict[str, Move] = {"error": says(failure("auth")), "lost": stream_ends}

_NO_CHOICE: dict[str, Move] = {"dismissed": dismisses, "failed": cannot_show}

_HELD: dict[str, tuple[Move, str]] = {
    "finished": (says(message("wer"), done()), ""),
    "full": (says(*[message(".")] * MAX_HELD_ITEMS), "pause reading"),
    "error": (says(failure()), ""),
}

INTERRUPTED_STREAM = (
    Cell(
        "InterruptedStream: menu(stop)",
        interrupted,
        then(says(message("wer")), chooses("stop")),
        Phase.FINISHING,
        "close question: answered; store message: The ans; close stream; save P7",
    ),
    Cell(
        "InterruptedStream: menu(abort)",
        interrupted_behind_call,
        chooses("abort"),
        Phase.ABORTED,
        "close question: answered; close stream; close question: withdrawn; retract turn: abort; "
        "discard conversation; keep draft; show end: aborted; answer aborted, draft",
    ),
    Cell(
        "InterruptedStream: menu(reply)",
        interrupted,
        chooses("reply"),
        Phase.REPLYING,
        "close question: answered; ask text",
    ),
    Cell(
        "InterruptedStream: menu(continue), queue holds more items or pump is still reading",
        interrupted,
        then(says(message("w"), message("er")), chooses("continue")),
        Phase.STREAMING,
        "close question: answered; resume view; show 'w'; show 'er'",
    ),
    Cell(
        "InterruptedStream: menu(continue), queue holds more items or pump is still reading",
        interrupted_behind_call,
        chooses("back"),
        Phase.STREAMING,
        "close question: answered; resume view",
        also="back to the question",
    ),
    *(
        Cell(
            "InterruptedStream: menu(continue), pump ended with an error or without finished",
            interrupted,
            then(says(message("w")), death, chooses("continue")),
            Phase.WAITING,
            "close question: answered; resume view; show 'w'; store message: The answ; save P6; "
            "attempt 1.2; status waiting for first tokens; request (auto)",
            also=how,
        )
        for how, death in _DEATHS.items()
    ),
    *(
        Cell(
            "InterruptedStream: menu_dismissed / menu_failed",
            interrupted,
            happens,
            Phase.FINISHING,
            "close question: answered; store message: The ans; close stream; save P7",
            also=how,
        )
        for how, happens in _NO_CHOICE.items()
    ),
    *(
        Cell(
            "InterruptedStream: press(2) or any press while the menu is open",
            interrupted,
            presses(later=later),
            Phase.FINISHING,
            "store message: The ans; close question: withdrawn; close stream; save P7",
            also=f"after {later} s",
        )
        for later in (0, 60)
    ),
    Cell(
        "InterruptedStream: press(3)",
        interrupted,
        then(presses(), presses()),
        Phase.FAILED,
        "store message: The ans; close question: withdrawn; close stream; save P7; "
        "show end: killed; answer killed",
        deviates="the second press is always between: it has ended the turn gracefully and saves already",
    ),
    Cell(
        "InterruptedStream: cancel_request",
        interrupted,
        cancels,
        Phase.FINISHING,
        "store message: The ans; close question: withdrawn; close stream; save P7",
    ),
    *(
        Cell(
            "InterruptedStream: queued finished, queue full, stream error",
            interrupted,
            happens,
            Phase.INTERRUPTED_STREAM,
            asks,
            also=how,
        )
        for how, (happens, asks) in _HELD.items()
    ),
    Cell(
        "InterruptedStream: a tool decision arrives",
        interrupted_behind_call,
        allows_first_call(),
        Phase.INTERRUPTED_STREAM,
        "close question: answered; save P3",
    ),
)

BACKOFF = (
    Cell(
        "Backoff: timer",
        backoff,
        feeds(TimerElapsed()),
        Phase.WAITING,
        "attempt 1.2; status waiting for first tokens; request (auto)",
    ),
    Cell(
        "Backoff: press(1)",
        backoff,
        presses(),
        Phase.INTERRUPTED_STREAM,
        "cancel wait; pause view; ask menu: continue / reply / stop / abort",
    ),
    Cell(
        "Backoff: menu(continue) from there",
        lambda: backoff().press(),
        chooses("continue"),
        Phase.WAITING,
        "close question: answered; resume view; attempt 1.2; status waiting for first tokens; request (auto)",
    ),
    Cell("Backoff: cancel_request", backoff, cancels, Phase.FINISHING, "cancel wait; save P7"),
)

EVALUATING = (
    Cell(
        "Evaluating: refusal",
        streaming_behind_call,
        says(done(Refused("cyber"))),
        Phase.FINISHING,
        "close question: withdrawn; retract attempt: refused; notice refused; save P7",
        stored=("turn", "user: hi"),
    ),
    Cell(
        "Evaluating: finished(retry) authorised",
        _signed,
        says(_PATCH, done(RetryRequested())),
        Phase.WAITING,
        "status receiving response data; save P6; attempt 1.2; status waiting for first tokens; "
        "request (auto)",
    ),
    Cell(
        "Evaluating: finished(retry) not authorised",
        streaming,
        says(done(RetryRequested())),
        Phase.FINISHING,
        "store message: The ans; notice failed; save P7",
    ),
    Cell(
        "Evaluating: unanswered tool calls in the current turn",
        waiting,
        says(*tool_call(0, "c1", "look"), done()),
        Phase.EXECUTING,
        "show part of a call; show part of a call; store call c1: look({}); save P2; save P3; "
        "show call c1; status running tools; show c1 at work; run c1",
    ),
    Cell(
        "Evaluating: response empty (2.7) and attempts left",
        waiting,
        then(says(reasoning("hm"), done()), feeds(TimerElapsed())),
        Phase.WAITING,
        "show 'hm'; store reasoning: hm; retract attempt: empty; save P6; "
        "show retry 1 of 5 in 1 s: Empty answer; wait 1; attempt 1.2; "
        "status waiting for first tokens; request (auto, with a hint)",
        stored=("turn", "user: hi"),
        deviates="the next attempt waits for its time, as after a failure (6.3)",
    ),
    Cell(
        "Evaluating: otherwise",
        streaming,
        says(done()),
        Phase.FINISHING,
        "store message: The ans; save P7",
        also="completed",
    ),
    Cell(
        "Evaluating: otherwise",
        streaming,
        says(done(MaxTokens())),
        Phase.FINISHING,
        "store message: The ans; notice truncated; save P7",
        also="truncated",
    ),
    Cell(
        "Evaluating: otherwise",
        lambda: waiting(NO_RETRY),
        says(done()),
        Phase.FINISHING,
        "notice empty; save P7",
        also="empty",
    ),
)

STREAM = (*WAITING, *STREAMING, *INTERRUPTED_STREAM, *BACKOFF, *EVALUATING)
