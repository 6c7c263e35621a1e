"""What of the model's thoughts is shown: the modes of query pipeline 5.6.

Two modes write into the transcript, the others only show that something is going on. This object decides;
`chat` writes.
"""

from dataclasses import dataclass

from jp_lsp.render.chunk import IndicatorMode, ReasoningIndicator
from jp_lsp.render.options import ReasoningDisplay

TIMER_FROM_MS = 300
TIMER_EVERY_MS = 500
CUT_MARK = "..."
STATIC_TEXT = "reasoning..."
_KNOWN_MODES = frozenset({"hidden", "full", "truncate", "progress", "static", "timer", "summary"})


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be shown of a piece of reasoning; `is_cut` once, when there is more than the limit."""

    text: str
    is_cut: bool = False


class ReasoningView:
    """Applies a mode to the reasoning of one turn.

    The limit of `truncate` counts code points over the whole turn; a retry does not fill it up again
    (trap 103).
    """

    def __init__(self, display: ReasoningDisplay) -> None:
        self._mode = display.mode
        self._left = max(display.limit, 0)
        self._was_cut = False
        self._ticks = 0
        self._is_indicated = False
        self._began_ms = 0
        self._shown_ms: int | None = None
        self.region_count = 0
        """How many regions of reasoning have begun; a summary names its region by this number."""

    @property
    def is_persistent(self) -> bool:
        """Whether reasoning becomes part of the transcript as it was thought."""
        return self._mode in {"full", "truncate"}

    @property
    def is_hidden(self) -> bool:
        """Whether not even an indicator is shown."""
        return self._mode == "hidden"

    @property
    def is_unknown(self) -> bool:
        """Whether the mode is one from a newer configuration; it counts as `static`."""
        return self._mode not in _KNOWN_MODES

    def begin_region(self, elapsed_ms: int) -> None:
        """Note that the model begins to think."""
        self.region_count += 1
        self._began_ms = elapsed_ms
        self._shown_ms = None

    def end_region(self) -> bool:
        """Note that it thinks no more, and tell whether an indicator has to go."""
        was_indicated, self._is_indicated = self._is_indicated, False
        return was_indicated

    def allow(self, text: str) -> Allowance:
        """Tell what of the next text belongs into the transcript."""
        if self._mode == "full":
            return Allowance(text)
        if self._mode != "truncate" or self._was_cut:
            return Allowance("")
        shown, self._left = text[: self._left], max(self._left - len(text), 0)
        self._was_cut = len(shown) < len(text)
        return Allowance(shown, self._was_cut)

    def tick(self, elapsed_ms: int) -> ReasoningIndicator | None:
        """Count a piece of reasoning and give the indicator that it calls for."""
        match self._mode:
            case "full" | "truncate" | "hidden":
                return None
            case "progress":
                self._ticks += 1
                return self._indicate("progress", elapsed_ms)
            case "timer":
                return self.elapse(elapsed_ms)
            case _:
                return None if self._is_indicated else self._indicate("static", self._began_ms)

    def elapse(self, elapsed_ms: int) -> ReasoningIndicator | None:
        """Give the indicator that the time calls for; only `timer` has one."""
        is_due = self._shown_ms is None or elapsed_ms - self._shown_ms >= TIMER_EVERY_MS
        if self._mode != "timer" or elapsed_ms - self._began_ms < TIMER_FROM_MS or not is_due:
            return None
        self._shown_ms = elapsed_ms
        return self._indicate("timer", elapsed_ms)

    def _indicate(self, mode: IndicatorMode, elapsed_ms: int) -> ReasoningIndicator:
        self._is_indicated = True
        return ReasoningIndicator(mode, self._ticks, elapsed_ms - self._began_ms)
