"""Patterns for files in the manner of ignore files: `*`, `?`, `[...]`, `**` (config-and-tools 6.2).

A pattern without a slash fits at any depth, one with a slash from the top on. Patterns come from a workspace
that may be a stranger's, so they are matched with one point to go back to and never with a regular
expression: the work is the pattern's size times the path's, whatever they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

_WILD = frozenset("*?[")
_ANY_FOLDERS: Final = "**"
_Token = TypeVar("_Token")
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class _Character:
    """One character of a name: one of `ranges`, or none of them; without ranges, any."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = False

    def fits(self, character: str) -> bool:
        if not self.ranges:
            return True
        return any(first <= character <= last for first, last in self.ranges) != self.is_negated


_Name = tuple["_Character | None", ...]
"""A pattern for a name; `None` stands for `*`."""


def is_glob(text: str) -> bool:
    """Tell whether a path is a pattern."""
    return not _WILD.isdisjoint(text)


class Glob:
    """A pattern.

    Attributes:
        folder: the folders at its begin that are no patterns themselves; nothing outside of it can fit.
    """

    def __init__(self, pattern: str) -> None:
        names = [name for name in pattern.split("/") if name]
        if pattern.rstrip("/") and "/" not in pattern.rstrip("/"):
            names.insert(0, _ANY_FOLDERS)
        if names and names[-1] == _ANY_FOLDERS:
            names.append("*")  # what is below a folder, not the folder
        literal = next((at for at, name in enumerate(names) if is_glob(name)), len(names))
        self.folder = "/".join(names[: min(literal, len(names) - 1)])
        self._names: list[_Name | None] = [
            None if name == _ANY_FOLDERS else _parse_name(name) for name in names
        ]

    def matches(self, path: str) -> bool:
        """Tell whether it fits a whole path, relative and with slashes."""
        return _fits(self._names, path.split("/"), _fits_name)

    def covers(self, path: str) -> bool:
        """Tell whether it fits a path or one of the folders that the path lies in."""
        names = path.split("/")
        return any(_fits(self._names, names[:end], _fits_name) for end in range(1, len(names) + 1))


def _fits_name(pattern: _Name, name: str) -> bool:
    return _fits(pattern, name, _Character.fits)


def _fits(
    pattern: Sequence[_Token | None], items: Sequence[_Item], fits: Callable[[_Token, _Item], bool]
) -> bool:
    """Match items one by one; `None` takes any number, at first as few as possible.

    When nothing fits any more, the last `None` takes one more: giving it more is never worse than giving more
    to an earlier one.
    """
    at = read = 0
    resume: tuple[int, int] | None = None
    while read < len(items):
        token = pattern[at] if at < len(pattern) else None
        if at < len(pattern) and token is None:
            resume = at, read
            at += 1
        elif token is not None and fits(token, items[read]):
            at, read = at + 1, read + 1
        elif resume is not None:
            resume = resume[0], resume[1] + 1
            at, read = resume[0] + 1, resume[1]
        else:
            return False
    return all(token is None for token in pattern[at:])


def _parse_name(text: str) -> _Name:
    tokens: list[_Character | None] = []
    at = 0
    while at < len(text):
        end = at + 1
        match text[at]:
            case "*":
                if not tokens or tokens[-1] is not None:
                    tokens.append(None)
            case "?":
                tokens.append(_Character())
            case "[" if (close := text.find("]", at + (3 if text[at + 1 : at + 2] in {"!", "^"} else 2))) > 0:
                tokens.append(_parse_set(text[at + 1 : close]))
                end = close + 1
            case "\\" if at + 1 < len(text):
                tokens.append(_Character(((text[at + 1], text[at + 1]),)))
                end = at + 2
            case character:
                tokens.append(_Character(((character, character),)))
        at = end
    return tuple(tokens)


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
