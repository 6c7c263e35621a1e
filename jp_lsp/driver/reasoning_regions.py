"""Where the model's thinking ends, and what was thought, from what a turn shows.

Regions are counted as `render.reasoning` counts them: text of another kind or a call ends one, a retry or a menu
does not, and what is retracted was never there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from jp_lsp.turn.shown import AttemptBegan, CallShown, PartArrived, Retracted, Shown, TurnBegan, TurnEnded
from jp_lsp.turn.stream_event import TextPart

MOST_CHARACTERS = 100_000
"""So much of one region is kept; a summary needs no more."""


@dataclass(frozen=True, slots=True)
class ReasoningRegion:
    """A stretch of reasoning that is over; `number` counts from 1 within its turn."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a turn is: the regions that are over, and the pieces of the one that is under way."""

    ended: tuple[ReasoningRegion, ...] = ()
    pieces: tuple[str, ...] = ()


class ReasoningRegions:
    """Follows the turns of one query."""

    def __init__(self) -> None:
        self._ended: tuple[ReasoningRegion, ...] = ()
        self._pieces: list[str] = []
        self._characters = 0
        self._marks: Mapping[str, _Place] = MappingProxyType({})

    def see(self, shown: Shown) -> ReasoningRegion | None:
        """Take what is shown, and give the region that it ends, if it ends one."""
        match shown:
            case TurnBegan():
                self._go_to(_Place())
                self._marks = {"turn": _Place()}
            case AttemptBegan(attempt=attempt):
                marked = ("cycle", "attempt") if attempt == 1 else ("attempt",)
                self._marks = {**self._marks, **dict.fromkeys(marked, self._place)}
            case PartArrived(TextPart(kind="reasoning", text=text)):
                self._think(text)
            case PartArrived(TextPart(text=text)) if text:
                return self._end()
            case CallShown():
                return self._end()
            case Retracted(since=since) if since != "structured":
                self._go_to(self._marks[since])
            case TurnEnded():
                self._go_to(_Place())
            case _:
                pass
        return None

    def has(self, region: ReasoningRegion) -> bool:
        """Tell whether a region is still part of the turn that runs."""
        return any(each is region for each in self._ended)

    @property
    def _place(self) -> _Place:
        return _Place(self._ended, tuple(self._pieces))

    def _go_to(self, place: _Place) -> None:
        self._ended, self._pieces = place.ended, list(place.pieces)
        self._characters = sum(map(len, self._pieces))

    def _think(self, text: str) -> None:
        kept = text[: MOST_CHARACTERS - self._characters]
        if kept:
            self._pieces.append(kept)
            self._characters += len(kept)

    def _end(self) -> ReasoningRegion | None:
        if not self._pieces:
            return None
        region = ReasoningRegion(len(self._ended) + 1, "".join(self._pieces))
        self._go_to(replace(self._place, ended=(*self._ended, region), pieces=()))
        return region
