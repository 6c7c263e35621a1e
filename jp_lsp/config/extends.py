"""A file together with what it extends, as one flat sequence of files (config-and-tools 1.4).

Files to extend are named relative to the file that names them; patterns are allowed. What comes "before"
is folded first, then the file itself, then what comes "after", all in one row: a nested file is not
merged as a unit of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from jp_lsp.config.files import FileCache, LoadedFile, find_file, is_file
from jp_lsp.config.looks import real_path
from jp_lsp.config.parse import EXTENSIONS
from jp_lsp.config.pattern import MAX_NAMES, TooManyNames, is_pattern, matches
from jp_lsp.config.problem import Finding
from jp_lsp.config.value import ABSENT, MergedList, Value, entries_of

MAX_DEPTH = 255
MAX_FILES = 4_000


@dataclass(frozen=True, slots=True)
class FileTree:
    """The files in the order in which they are folded, with findings that concern what they name."""

    files: tuple[LoadedFile, ...]
    findings: tuple[tuple[LoadedFile, Finding], ...] = ()


def load_tree(path: FilePath, cache: FileCache) -> FileTree:
    """Load a file and all that it extends, directly or not. A shared file comes once for each mention."""
    walk = _Walk(cache)
    walk.visit(path, ())
    return FileTree(tuple(walk.files), tuple(walk.findings))


@dataclass(slots=True)
class _Walk:
    cache: FileCache
    files: list[LoadedFile] = field(default_factory=lambda: [])
    findings: list[tuple[LoadedFile, Finding]] = field(default_factory=lambda: [])
    is_full: bool = False

    def visit(self, path: FilePath, above: tuple[FilePath, ...]) -> None:
        file = self.cache.load(path)
        here = (*above, real_path(path))
        before: list[tuple[int, str]] = []
        after: list[tuple[int, str]] = []
        for index, target, is_late in _targets(file):
            (after if is_late else before).append((index, target))
        for index, target in before:
            self._extend(file, index, target, here)
        self.files.append(file)
        for index, target in after:
            self._extend(file, index, target, here)

    def _extend(self, file: LoadedFile, index: int, target: str, above: tuple[FilePath, ...]) -> None:
        for path in self._find(file, index, target):
            if self.is_full:
                return
            if len(self.files) >= MAX_FILES:
                self.is_full = True
                self._note(file, index, f"more than {MAX_FILES} files are extended")
            elif real_path(path) in above:
                names = " -> ".join(str(member) for member in (*above, real_path(path)))
                self._note(file, index, f"configuration `extends` cycle detected: {names}")
            elif len(above) >= MAX_DEPTH:
                self._note(file, index, f"more than {MAX_DEPTH} files extend one another")
            else:
                self.visit(path, above)

    def _find(self, file: LoadedFile, index: int, target: str) -> list[FilePath]:
        folder = file.path.parent
        # An absolute path is taken for a relative one; only the entry itself can be a pattern, whatever
        # the folder is called (trap 40).
        relative = target.lstrip("/\\")
        if is_pattern(relative):
            return list(self._matches(file, index, folder, relative))
        found = find_file(folder / relative)
        if found is None:
            self._note(file, index, f"`{target}` does not exist and is left out", is_error=False)
            return []
        return [found]

    def _matches(self, file: LoadedFile, index: int, folder: FilePath, pattern: str) -> Iterator[FilePath]:
        try:
            paths = matches(folder, pattern)
        except TooManyNames:
            self._note(file, index, f"`{pattern}` leads through more than {MAX_NAMES} files")
            return
        for path in paths:
            if not is_file(path):
                continue  # a folder is no file, and no reason to lose the layer (trap 66)
            if path.suffix[1:] in EXTENSIONS:
                yield path
            else:
                text = f"`{path.name}` matches `{pattern}` but is no configuration file and is left out"
                self._note(file, index, text, is_error=False)

    def _note(self, file: LoadedFile, index: int, text: str, *, is_error: bool = True) -> None:
        finding = Finding(("extends", index), text, "error" if is_error else "warning")
        self.findings.append((file, finding))


def _targets(file: LoadedFile) -> Iterator[tuple[int, str, bool]]:
    """Give each entry of `extends`: its index, its path, and whether it comes after the file."""
    entries = file.partial.get("extends", ABSENT)
    for index, entry in enumerate(entries.items if isinstance(entries, MergedList) else ()):
        match _path_of(entry):
            case str() as target if target:
                yield index, target, entries_of(entry).get("strategy") == "after"
            case _:
                pass


def _path_of(entry: Value) -> Value:
    return entry if isinstance(entry, str) else entries_of(entry).get("path")
