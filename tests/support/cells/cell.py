"""A cell of the transition table as data: a phase, what happens there, where it leads, what is asked for.

The rows of the specification's table (query pipeline 1.4) are read from the specification itself, so that a
row without a case is noticed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from jp_lsp.conversation.event import ToolCallResponse
from jp_lsp.tools.actions import CancelPass, RunPass
from jp_lsp.turn import actions, shown
from jp_lsp.turn.actions import Action
from jp_lsp.turn.phase import Phase
from jp_lsp.turn.stream_event import TextPart
from tests.support.shared import shared_path
from tests.support.streams import summary
from tests.support.turns import Desk


@dataclass(frozen=True, slots=True)
class Cell:
    """One way through one row.

    Attributes:
        row: the phase and the first column of the row, as the specification has them.
        given: leads a desk into the phase. Saves that end a turn are held there (see `desk`).
        happens: what happens then.
        becomes: the phase that follows.
        asks: every action in order, as `told` puts it, with semicolons between them.
        stored: how the stream ends then, where that is part of the row.
        also: distinguishes cases of one row.
        deviates: why the machine does something else than the row says.
    """

    row: str
    given: Callable[[], Desk]
    happens: Callable[[Desk], object]
    becomes: Phase
    asks: str = ""
    stored: tuple[str, ...] = field(default=(), kw_only=True)
    also: str = field(default="", kw_only=True)
    deviates: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        return f"{self.row} ({self.also})" if self.also else self.row


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A row that is not the machine's own, with the test (`file::name`) that proves it where it belongs."""

    row: str
    test: str
    because: str


def rows() -> list[str]:
    """Read the rows of the specification's tables."""
    text = shared_path("spec", "query-pipeline.md").read_text(encoding="utf-8")
    section = text.split("\n### 1.4 ")[1].split("\n### 1.5 ")[0]
    phase, found = "", list[str]()
    for line in section.splitlines():
        if line.startswith("**"):
            phase = line.split("**")[1]
        elif line.startswith("| ") and not line.startswith("| ---"):
            first = line.split(" | ")[0].removeprefix("| ").replace("`", "")
            if first not in {"Event", "Condition"}:
                found.append(f"{phase}: {first}")
    return found


def told_all(log: Iterable[Action]) -> str:
    """Put actions into a few words each."""
    return "; ".join(filter(None, map(told, log)))


def told(action: Action) -> str:
    """Put an action into a few words."""
    match action:
        case actions.Publish(what):
            return _told_shown(what)
        case actions.Save(point):
            return f"save {point}"
        case actions.RequestCycle(_, choice, hint):
            return f"request ({choice}{', with a hint' if hint else ''})"
        case actions.Wait(seconds):
            return f"wait {seconds:g}"
        case actions.Ask(decision):
            choices = " / ".join(choice.id for choice in decision.choices)
            return f"ask {decision.kind}{f': {choices}' if choices else ''}"
        case actions.Withdraw(_, how):
            return f"close question: {how}"
        case actions.Finish(result):
            return f"answer {result.outcome}{', draft' if result.draft else ''}"
        case actions.Refuse(error, draft):
            return f"refuse {error.code}{', draft' if draft else ''}"
        case RunPass(call):
            return f"run {call}"
        case CancelPass(call):
            return f"cancel {call}"
        case actions.ClearDraft():
            return ""  # when a draft is forgotten is no matter of the table
        case _:
            return "".join(
                f" {letter.lower()}" if letter.isupper() else letter for letter in type(action).__name__
            ).strip()


def _told_shown(what: shown.Shown) -> str:
    match what:
        case shown.TurnBegan(index):
            return f"show turn {index}"
        case shown.AttemptBegan(cycle, attempt):
            return f"attempt {cycle}.{attempt}"
        case shown.PartArrived(TextPart(text=text)):
            return f"show {text!r}"
        case shown.PartArrived():
            return "show part of a call"
        case shown.EventStored(event):
            name, _, text = summary(event).partition(": ")
            is_short = not text or isinstance(event.kind, ToolCallResponse)
            return f"store {name if is_short else summary(event)}"
        case shown.CallShown(call):
            return f"show call {call}"
        case shown.RawArgumentsShown(name):
            return f"show raw arguments of {name}"
        case shown.ReasoningSummed():
            return "show summary of reasoning"
        case shown.ResultShown(call):
            return f"show result {call}"
        case shown.ToolRunning(call, _, message):
            return f"show {call} at work{f': {message}' if message else ''}"
        case shown.Retracted(since, reason):
            return f"retract {since}: {reason}"
        case shown.Status(_, detail):
            return f"status {detail}"
        case shown.RetryScheduled(attempt, most, cause, delay):
            return f"show retry {attempt} of {most} in {delay:g} s: {cause}"
        case shown.NoticeGiven(notice):
            return f"notice {notice.code}"
        case shown.TurnEnded(outcome):
            return f"show end: {outcome}"
        case shown.Paused():
            return "pause view"
        case shown.Resumed():
            return "resume view"
