"""What of a conversation is attached: `CONTENT[:RANGE]`, such as `ua:-3` (config-and-tools 6.5)."""

import re
from dataclasses import dataclass

_LETTERS = frozenset("uart")
_SELECTION = re.compile(r"([uart]+|\*)(?::(.*))?", re.ASCII)
_RANGE = re.compile(r"(?P<last>-\d{1,9})|(?P<first>\d{1,9})?(?P<dots>\.\.)?(?P<end>\d{1,9})?", re.ASCII)


class BadSelection(Exception):
    """A selection says nothing; the text says what is expected."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Kinds of content, as the letters `u`, `a`, `r`, `t`, and a range of turns.

    `first` and `end` count from 1, both included, open where `None`; `last` asks for so many turns from the
    end instead. `text` is the selection as it was written.
    """

    text: str
    content: frozenset[str]
    first: int | None = None
    end: int | None = None
    last: int | None = None

    def turns(self, count: int) -> range:
        """Give the indices, from 0, of the turns that are meant, where there are `count`."""
        if self.last is not None:
            return range(max(count - self.last, 0), count)
        first = 0 if self.first is None else self.first - 1
        return range(first, count if self.end is None else min(self.end, count))


LAST_ANSWER = Selection("a:-1", frozenset("a"), last=1)
"""What is meant when nothing is said."""


def read_selection(text: str) -> Selection:
    """Read a selection.

    Raises:
        BadSelection: it is none.
    """
    found = _SELECTION.fullmatch(text)
    if found is None:
        raise BadSelection(f"{text!r} must begin with letters of u, a, r and t, or with *")
    letters, given = found.groups()
    content = _LETTERS if letters == "*" else frozenset(letters)
    if given is None:
        return Selection(text, content, last=1)
    bounds = _RANGE.fullmatch(given)
    if not given or bounds is None or (not bounds["dots"] and bounds["end"]):
        raise BadSelection(f"{given!r} is no range of turns; write N, -N, N..M, N.., ..M or ..")
    if bounds["last"]:
        return _checked(Selection(text, content, last=-int(bounds["last"])))
    first = int(bounds["first"]) if bounds["first"] else None
    end = int(bounds["end"]) if bounds["end"] else None
    return _checked(Selection(text, content, first, end if bounds["dots"] else first))


def _checked(selection: Selection) -> Selection:
    if 0 in {selection.first, selection.end, selection.last}:
        raise BadSelection(f"{selection.text!r}: turns are counted from 1")
    return selection
