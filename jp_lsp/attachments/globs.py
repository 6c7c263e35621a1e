"""Patterns for files in the manner of ignore files: `*`, `?`, `[...]`, `**` (config-and-tools 6.2).

A pattern without a slash fits at any depth, one with a slash from the top on. Patterns come from a workspace
that may be a stranger's, so they are matched with one point to go back to and never with a regular
expression: the work is the pattern's size times the path's, whatever they are.
"""

from collections.abc import Sequence
from typing import Final

from jp_lsp.attachments.name_pattern import NamePattern

_WILD = frozenset("*?[")
_ANY_FOLDERS: Final = "**"


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
        self._folders = [None if name == _ANY_FOLDERS else NamePattern(name) for name in names[:-1]]
        self._name = NamePattern(names[-1]) if names else None
        self._asked: tuple[str, bool] | None = None

    def matches(self, path: str) -> bool:
        """Tell whether it fits a whole path, relative and with slashes.

        Whoever goes through a tree asks for one folder's files in a row, so the last folder's answer is kept.
        """
        folder, _, name = path.rpartition("/")
        if self._name is None or not self._name.fits(name):
            return False
        if self._asked is None or self._asked[0] != folder:
            self._asked = folder, _fits(self._folders, folder.split("/") if folder else [])
        return self._asked[1]

    def covers(self, path: str) -> bool:
        """Tell whether it fits a path or one of the folders that the path lies in."""
        ends = [at for at, character in enumerate(path) if character == "/"]
        return any(self.matches(path[:end]) for end in (*ends, len(path)))


def _fits(pattern: Sequence[NamePattern | None], names: Sequence[str]) -> bool:
    """Match the names of folders one by one; `None` takes any number, at first as few as possible.

    When nothing fits any more, the last `None` takes one more: giving it more is never worse than giving more
    to an earlier one.
    """
    at = read = 0
    resume: tuple[int, int] | None = None
    while read < len(names):
        token = pattern[at] if at < len(pattern) else None
        if at < len(pattern) and token is None:
            resume = at, read
            at += 1
        elif token is not None and token.fits(names[read]):
            at, read = at + 1, read + 1
        elif resume is not None:
            resume = resume[0], resume[1] + 1
            at, read = resume[0] + 1, resume[1]
        else:
            return False
    return all(token is None for token in pattern[at:])
