"""Interrupts: counting presses, the menus, and which choices each phase offers (query pipeline 4)."""

from dataclasses import dataclass
from typing import Literal

from jp_lsp.tools.decision import Choice, Decision, DecisionId
from jp_lsp.turn.options import InterruptOptions
from jp_lsp.turn.phase import Phase

Handled = Literal["menu", "action", "escalated", "killed", "latched", "none"]

MenuKind = Literal["streaming", "tools", "preparing", "gap"]

_CONTINUE = Choice("continue", "Continue")
_REPLY = Choice("reply", "Reply")
_STOP = Choice("stop", "Stop")
_ABORT = Choice("abort", "Abort (discard)")
_BACK = Choice("back", "Back to the question")

MENUS: dict[MenuKind, tuple[str, tuple[Choice, ...]]] = {
    "streaming": ("The answer is interrupted. What next?", (_CONTINUE, _REPLY, _STOP, _ABORT)),
    "tools": (
        "Tools are running. What next?",
        (
            Choice("continue", "Continue"),
            Choice("respond", "Stop and respond"),
            Choice("restart", "Restart"),
            _STOP,
        ),
    ),
    "preparing": (
        "The query is still being prepared.",
        (Choice("continue", "Keep waiting"), Choice("stop", "Cancel query")),
    ),
    "gap": ("The turn is interrupted. What next?", (_CONTINUE, _REPLY, _STOP)),
}
"""Message and choices of each menu; the harmless choice stands first."""

MENU_OF_PHASE: dict[Phase, MenuKind] = {
    Phase.PREPARING: "preparing",
    Phase.OPENING: "gap",
    Phase.WAITING: "streaming",
    Phase.STREAMING: "streaming",
    Phase.INTERRUPTED_STREAM: "streaming",
    Phase.BACKOFF: "streaming",
    Phase.EXECUTING: "tools",
    Phase.INTERRUPTED_TOOLS: "tools",
    Phase.CONTINUING: "gap",
}
"""Which menu a press opens where."""


@dataclass(frozen=True, slots=True)
class PressReport:
    """What became of a press: the answer to `jp/interrupt`."""

    handled: Handled
    phase: Phase
    allowed: tuple[str, ...] = ()


def choices_in(phase: Phase) -> tuple[str, ...]:
    """Name the choices that a press with a ready-made action may carry in this phase."""
    menu = MENU_OF_PHASE.get(phase)
    return tuple(choice.id for choice in MENUS[menu][1]) if menu else ()


def menu(kind: MenuKind, decision: DecisionId, *, is_over_question: bool = False) -> Decision:
    """Build the menu as a question; one that stands over a tool's question offers the way back to it (4.6)."""
    message, (first, *others) = MENUS[kind]
    choices = (first, _BACK, *others) if is_over_question else (first, *others)
    return Decision(decision, "menu", message, choices)


def reply_question(decision: DecisionId, options: InterruptOptions, *, to_tools: bool) -> Decision:
    """Ask for the text of a reply, or of what the model is told instead of results."""
    if to_tools:
        return Decision(decision, "text", "Your message to the model", composing=options.compose_response)
    return Decision(decision, "text", "Your reply", composing=options.compose_reply)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a press leads to: `choose` carries the configured choice."""

    handled: Handled
    then: Literal["nothing", "menu", "back_to_menu", "choose", "escalate", "kill"]
    choice: str = ""


def judge_press(
    phase: Phase, count: int, options: InterruptOptions, *, has_menu: bool, can_prompt: bool
) -> Verdict:
    """Decide about the `count`-th press in a row: menu or configured action, graceful end, forced end (4.3)."""
    if phase is Phase.IDLE:
        return Verdict("none", "nothing")
    if count >= 3:
        return Verdict("killed", "kill")
    if phase in {Phase.FINISHING, Phase.CLOSING}:
        return Verdict("latched", "nothing")
    if count == 2 or has_menu:
        return Verdict("escalated", "escalate")
    if phase is Phase.REPLYING:
        return Verdict("menu", "back_to_menu")
    if phase is Phase.PREPARING:
        return Verdict("menu", "menu") if can_prompt else Verdict("action", "choose", "stop")
    configured = _configured(phase, options)
    if configured != "prompt":
        return Verdict("action", "choose", configured)
    return Verdict("menu", "menu") if can_prompt else Verdict("action", "choose", "stop")


def _configured(phase: Phase, options: InterruptOptions) -> str:
    match MENU_OF_PHASE.get(phase):
        case "tools":
            return options.tool_call
        case "gap":
            return options.gap
        case _:
            return options.streaming


class PressCounter:
    """Counts presses that follow each other within the cooldown (4.3)."""

    def __init__(self, cooldown: float) -> None:
        self.cooldown = cooldown
        self._count = 0
        self._last: float | None = None

    def press(self, now: float) -> int:
        """Count a press at `now` (monotonic seconds); 1 is a first press. A cooldown of 0 never counts on."""
        is_repeated = self._last is not None and now - self._last <= self.cooldown and self.cooldown > 0
        self._count = self._count + 1 if is_repeated else 1
        self._last = now
        return self._count

    def reset(self) -> None:
        """Forget the presses, after a deliberate Continue."""
        self._count, self._last = 0, None
