"""Files that match a pattern such as `parts/**/*.toml`.

The standard library's `glob` follows links in circles and walks as far as it is led. A pattern may come
from a stranger's workspace, so this one looks at a limited number of names.
"""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.config.looks import Entry, entries_of, status_of

MARKS = "*?["
MAX_NAMES = 100_000

_ANY_DEPTH = "**"


class TooManyNames(Exception):
    """The pattern leads through more names than are looked at."""


def is_pattern(text: str) -> bool:
    """Tell whether a path is a pattern."""
    return any(mark in text for mark in MARKS)


def matches(folder: Path, pattern: str, limit: int = MAX_NAMES) -> list[Path]:
    """Give what matches, sorted by the parts of the path; hidden names match too.

    Raises:
        TooManyNames: there are more than `limit` names to look at.
    """
    parts = [part for part in re.split(r"[/\\]", pattern) if part not in {"", "."}]
    return sorted(set(_Walk(limit).expand(folder, parts)))


@dataclass(slots=True)
class _Walk:
    limit: int
    seen: int = 0

    def expand(self, folder: Path, parts: list[str]) -> Iterator[Path]:
        if not parts:
            yield folder
            return
        part, rest = parts[0], parts[1:]
        if part == _ANY_DEPTH:
            while rest[:1] == [_ANY_DEPTH]:
                rest = rest[1:]
            yield from self._expand_any_depth(folder, rest)
        elif is_pattern(part):
            fits = re.compile(fnmatch.translate(part)).match
            for entry in self._entries(folder):
                if fits(entry.name) and (not rest or entry.leads_to_folder):
                    yield from self.expand(folder / entry.name, rest)
        elif status_of(path := folder / part) is not None:
            yield from self.expand(path, rest)

    def _expand_any_depth(self, folder: Path, rest: list[str]) -> Iterator[Path]:
        yield from self.expand(folder, rest)
        for entry in self._entries(folder):
            if entry.is_folder:
                yield from self._expand_any_depth(folder / entry.name, rest)

    def _entries(self, folder: Path) -> Sequence[Entry]:
        entries = entries_of(folder, self.limit + 1)
        self.seen += len(entries)
        if self.seen > self.limit:
            raise TooManyNames
        return entries
