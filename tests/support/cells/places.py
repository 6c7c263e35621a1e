"""Desks that stand in each phase of a turn."""

from jp_lsp.turn.inputs import SavePoint, ShutdownRequested, Start
from jp_lsp.turn.options import InterruptOptions, RetryPolicy, TurnOptions
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import Flush
from tests.support.calls import spec
from tests.support.turns import Desk, done, failure, message, tool_call

LAST: tuple[SavePoint, ...] = ("P7", "P8")
"""The saves that end a turn; holding them shows the phase that waits for them."""

FREE = {name: spec(name, run_mode="unattended") for name in ("look", "see")}
ASKED = {name: spec(name) for name in ("look", "see")}

NO_RETRY = TurnOptions(retry=RetryPolicy(max_retries=0))


def desk(*holds: SavePoint, options: TurnOptions | None = None) -> Desk:
    """A desk that holds the last saves, and others that are named."""
    return Desk(options=options, holds_saves=(*LAST, *holds))


def pressing(**actions: str | float) -> TurnOptions:
    """What a press does, as configured."""
    return TurnOptions(interrupt=InterruptOptions(**actions))  # type: ignore[arg-type]


def idle() -> Desk:
    return desk()


def preparing() -> Desk:
    return desk().feed(Start("hi"))


def opening(options: TurnOptions | None = None) -> Desk:
    return desk("P1", options=options).start()


def waiting(options: TurnOptions | None = None) -> Desk:
    return desk(options=options).start(tools=FREE)


def streaming(options: TurnOptions | None = None) -> Desk:
    return waiting(options).says(message("The ans"))


def streaming_behind_call() -> Desk:
    """A call came whole, its approval is open, and the answer goes on."""
    return desk().start(tools=ASKED).says(*tool_call(0, "c1", "look"), message("more", 1))


def interrupted() -> Desk:
    return streaming().press()


def interrupted_behind_call() -> Desk:
    return streaming_behind_call().press()


def replying() -> Desk:
    return interrupted().choose("reply")


def replying_without_menu() -> Desk:
    return streaming(pressing(streaming="reply")).press()


def backoff() -> Desk:
    return waiting().says(failure("rate_limit", "slow down", 30.0))


def executing(*holds: SavePoint, options: TurnOptions | None = None) -> Desk:
    """Two tools run."""
    here = desk(*holds, options=options).start(tools=FREE)
    return here.says(*tool_call(0, "c1", "look"), *tool_call(1, "c2", "see"), done())


def approving() -> Desk:
    """Two calls wait for the user."""
    return desk().start(tools=ASKED).says(*tool_call(0, "c1", "look"), *tool_call(1, "c2", "see"), done())


def interrupted_tools() -> Desk:
    return executing().press()


def interrupted_approval() -> Desk:
    return approving().press()


def replying_to_tools() -> Desk:
    return interrupted_tools().choose("respond")


def continuing(options: TurnOptions | None = None) -> Desk:
    """All tools are answered, and the cycle is being stored."""
    return executing("P4", options=options).tool_returns("c1").tool_returns("c2")


def replying_in_gap() -> Desk:
    return continuing(pressing(gap="prompt")).press().choose("reply")


def finishing() -> Desk:
    return streaming().says(Flush(0), done())


def closing() -> Desk:
    return streaming().feed(ShutdownRequested())


def complete() -> Desk:
    return finishing().report_saved()


PLACES = {
    Phase.PREPARING: preparing,
    Phase.OPENING: opening,
    Phase.WAITING: waiting,
    Phase.STREAMING: streaming,
    Phase.INTERRUPTED_STREAM: interrupted,
    Phase.REPLYING: replying,
    Phase.BACKOFF: backoff,
    Phase.EXECUTING: executing,
    Phase.INTERRUPTED_TOOLS: interrupted_tools,
    Phase.CONTINUING: continuing,
    Phase.FINISHING: finishing,
    Phase.CLOSING: closing,
}
"""Every phase in which a turn can be met between two inputs, and a way to it."""
