"""Runs of `*`, `_`, `~` and `^`: which open emphasis, which close it, which stay text (CommonMark 6.2).

Closers are matched as they come, which is what CommonMark's algorithm does outside of brackets. Within
brackets nobody knows yet whether a link will come of them, so a closer there looks no further back than the
bracket; `inline` gives up where that might matter.
"""

import unicodedata
from dataclasses import dataclass

_MATCH_BY_EQUAL_SIZE = "~^"


@dataclass(slots=True)
class Opener:
    """A run that may open; `start` is its place, `count` what of it is still unmatched."""

    character: str
    start: int
    count: int
    size: int
    can_close: bool


def _is_space(character: str) -> bool:
    return character == "" or character.isspace()


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def flanking(character: str, before: str, after: str) -> tuple[bool, bool]:
    """Tell whether a run can open and whether it can close; an empty neighbour is the border of the text."""
    space_before, space_after = _is_space(before), _is_space(after)
    punctuation_before = not space_before and _is_punctuation(before)
    punctuation_after = not space_after and _is_punctuation(after)
    left = not space_after and (not punctuation_after or space_before or punctuation_before)
    right = not space_before and (not punctuation_before or space_after or punctuation_after)
    if character == "_":
        return left and (not right or punctuation_before), right and (not left or punctuation_after)
    return left, right


class DelimiterStack:
    """The openers that nothing has closed yet, in order of their place."""

    __slots__ = ("_openers",)

    def __init__(self) -> None:
        self._openers: list[Opener] = []

    def __len__(self) -> int:
        return len(self._openers)

    @property
    def first(self) -> int | None:
        """The place of the first open run."""
        return self._openers[0].start if self._openers else None

    def drop_from(self, bottom: int) -> None:
        """Forget the openers from index `bottom` on; the link around them is complete."""
        del self._openers[bottom:]

    def add(self, character: str, start: int, size: int, before: str, after: str, bottom: int) -> bool:
        """Take a whole run with its neighbours; closers look back no further than to index `bottom`.

        Returns:
            Whether there is a run further back that it might have closed.
        """
        can_open, can_close = flanking(character, before, after)
        count = size
        while can_close and count:
            index = self._find(character, count, size, can_open, bottom)
            if index is None:
                break
            opener = self._openers[index]
            del self._openers[index + 1 :]
            used = min(opener.count, count, 2) if character not in _MATCH_BY_EQUAL_SIZE else count
            opener.count -= used
            count -= used
            if not opener.count:
                del self._openers[index]
        if can_open and count:
            self._openers.append(Opener(character, start + size - count, count, size, can_close))
        return (
            can_close
            and count > 0
            and any(opener.character == character for opener in self._openers[:bottom])
        )

    def _find(self, character: str, count: int, size: int, can_open: bool, bottom: int) -> int | None:
        for index in range(len(self._openers) - 1, bottom - 1, -1):
            opener = self._openers[index]
            if opener.character != character:
                continue
            if character in _MATCH_BY_EQUAL_SIZE:
                if opener.count == count:
                    return index
                continue
            # The "rule of three": runs that could do both match only with fitting sizes.
            ambiguous = (opener.can_close or can_open) and (opener.size + size) % 3 == 0
            if not ambiguous or (opener.size % 3 == 0 and size % 3 == 0):
                return index
        return None
