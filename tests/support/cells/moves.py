"""What can happen to a desk, as values for tables."""

from collections.abc import Callable
from typing import TypeAlias

from jp_lsp.turn.inputs import Answered, AskFailed, CancelRequested, Input
from jp_lsp.turn.stream_event import StreamEvent
from tests.support.turns import Desk

Move: TypeAlias = Callable[[Desk], object]


def then(*moves: Move) -> Move:
    """One after the other."""

    def do(here: Desk) -> None:
        for move in moves:
            move(here)

    return do


def feeds(*items: Input) -> Move:
    return lambda here: here.feed(*items)


def says(*events: StreamEvent) -> Move:
    return lambda here: here.says(*events)


def presses(action: str | None = None, text: str | None = None, *, later: float = 0.0) -> Move:
    return lambda here: here.press(action, text, later=later)


def chooses(choice: str | None = None, text: str | None = None) -> Move:
    return lambda here: here.choose(choice, text)


def returns(call: str) -> Move:
    return lambda here: here.tool_returns(call)


def allows_first_call() -> Move:
    """The oldest open question, which is not the one on top, is answered with yes."""
    return lambda here: here.feed(Answered(next(iter(here.core.open_decisions)), "run"))


def dismisses(here: Desk) -> None:
    here.dismiss()


def cannot_show(here: Desk) -> None:
    here.feed(AskFailed(here.open_decision, "no screen"))


def stream_ends(here: Desk) -> None:
    here.stream_ends()


def cancels(here: Desk) -> None:
    here.feed(CancelRequested())


def saves(here: Desk) -> None:
    here.report_saved()
