"""Finding the files that a `--cfg` argument names (config-and-tools 1.5).

A path that leads to a file, seen from the current folder, is taken as it is. Any other name is looked for
below each of at most three roots; all hits count, so that a user's own copy adds to the workspace's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jp_lsp.config.files import find_file, is_file


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """What was found, in the order in which it is merged, and the folders that were searched."""

    paths: tuple[Path, ...]
    searched: tuple[Path, ...] = ()


def find_named(name: str, cwd: Path, roots: Sequence[Path], load_paths: Sequence[str]) -> NamedFiles:
    """Find a named file. A folder of that name is no file and does not end the search (trap 6)."""
    direct = cwd / name
    if is_file(direct):
        return NamedFiles((direct,))
    searched = [[root / path for path in load_paths] for root in roots]
    hits = (
        next(filter(None, (find_file(folder / name) for folder in folders)), None) for folders in searched
    )
    return NamedFiles(
        tuple(hit for hit in hits if hit is not None),
        tuple(folder for folders in searched for folder in folders),
    )
