"""Patterns for one name: `*`, `?`, `[...]`, and a backslash in front of what stands for itself.

Between two `*` stands a piece, whose size is fixed. Each piece is looked for behind the one before and taken where
it fits first: to take it later is never better. So the work is at most the pattern's size times the name's, and
next to none where a piece is a plain text.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Character:
    """One character of a name: one of `ranges`, or none of them; without ranges, any."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = False

    def fits(self, character: str) -> bool:
        if not self.ranges:
            return True
        return any(first <= character <= last for first, last in self.ranges) != self.is_negated

    @property
    def only(self) -> str | None:
        """The one character that fits, if there is just one."""
        is_one = len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1] and not self.is_negated
        return self.ranges[0][0] if is_one else None


class _Piece:
    """What stands between two `*`."""

    def __init__(self, characters: list[_Character]) -> None:
        self.size = len(characters)
        self._characters = characters
        literals = [only for character in characters if (only := character.only) is not None]
        self._literal = "".join(literals) if len(literals) == self.size else None

    def fits(self, name: str, at: int) -> bool:
        """Tell whether the name goes on with it at a place; there must be enough of the name."""
        if self._literal is not None:
            return name.startswith(self._literal, at)
        return all(each.fits(name[at + offset]) for offset, each in enumerate(self._characters))

    def find(self, name: str, begin: int, end: int) -> int:
        """Give the first place between two others where it fits; -1 if there is none."""
        if self._literal is not None:
            return name.find(self._literal, begin, end)
        return next((at for at in range(begin, end - self.size + 1) if self.fits(name, at)), -1)


class NamePattern:
    """A pattern for a name, or for one part of a path."""

    def __init__(self, pattern: str) -> None:
        self._first, *self._others = (_Piece(piece) for piece in _parse(pattern))

    def fits(self, name: str) -> bool:
        """Tell whether it fits the whole name."""
        first = self._first
        if not self._others:
            return len(name) == first.size and first.fits(name, 0)
        *middle, last = self._others
        at, end = first.size, len(name) - last.size
        if end < at or not first.fits(name, 0) or not last.fits(name, end):
            return False
        for piece in middle:
            found = piece.find(name, at, end)
            if found < 0:
                return False
            at = found + piece.size
        return True


def _parse(text: str) -> list[list[_Character]]:
    pieces: list[list[_Character]] = [[]]
    at = 0
    while at < len(text):
        end = at + 1
        match text[at]:
            case "*":
                pieces.append([])
            case "?":
                pieces[-1].append(_Character())
            case "[" if (close := text.find("]", at + (3 if text[at + 1 : at + 2] in {"!", "^"} else 2))) > 0:
                pieces[-1].append(_parse_set(text[at + 1 : close]))
                end = close + 1
            case "\\" if at + 1 < len(text):
                pieces[-1].append(_Character(((text[at + 1], text[at + 1]),)))
                end = at + 2
            case character:
                pieces[-1].append(_Character(((character, character),)))
        at = end
    return pieces


def _parse_set(text: str) -> _Character:
    is_negated = text[0] in {"!", "^"}
    rest = text[1:] if is_negated else text
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(rest):
        if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
            ranges.append((rest[at], rest[at + 2]))
            at += 3
        else:
            ranges.append((rest[at], rest[at]))
            at += 1
    return _Character(tuple(ranges), is_negated)
