"""Which files can be applied by name, for somebody to choose from: personas, skills and the like (1.5, 7.3).

Every configuration file below a load path is one. What to call it, and what it is about, is read off the file:
there is no other place that says so.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from jp_lsp.config.expression import RESERVED
from jp_lsp.config.files import FileCache, LoadedFile, is_file
from jp_lsp.config.layer import Origin
from jp_lsp.config.looks import real_path
from jp_lsp.config.named import find_named
from jp_lsp.config.parse import EXTENSIONS
from jp_lsp.config.pattern import TooManyNames, matches
from jp_lsp.config.problem import Finding, Problem, dotted
from jp_lsp.config.value import MaybeValue, MergedList, MergedText, Partial, Value, entries_of, value_at

_log = logging.getLogger(__name__)

MOST_NAMES = 5_000
"""So many files and folders are looked at below one load path."""

_LONGEST_TITLE = 80
_LONGEST_DESCRIPTION = 240
_COMMENT = re.compile(r"#+ ?(.*)")


@dataclass(frozen=True, slots=True)
class NamedConfiguration:
    """Files that one name stands for.

    Attributes:
        name: what to say, such as `personas/dev`; the shortest that is understood.
        expression: the `--cfg` argument that applies it.
        title: what it calls itself.
        description: what it says that it is about.
        paths: the files, in the order in which they are merged.
        problem: why it cannot be applied.
    """

    name: str
    expression: str
    title: str | None
    description: str | None
    paths: tuple[FilePath, ...]
    problem: str | None = None

    @property
    def group(self) -> str | None:
        """The folder that the file is in, such as `personas` or `skill`."""
        return self.paths[-1].parent.name or None


def list_named(
    cwd: FilePath, roots: Sequence[FilePath], load_paths: Sequence[str], cache: FileCache
) -> list[NamedConfiguration]:
    """List all files that a name leads to, by group and name."""
    names: dict[FilePath, list[str]] = {}
    for root in roots:
        for load_path in load_paths:
            for name, path in _files_below(root / load_path):
                names.setdefault(real_path(path), []).append(name)
    found: dict[str, NamedConfiguration] = {}
    for path, candidates in names.items():
        named = _shortest(path, candidates, cwd, roots, load_paths)
        if named is not None:
            name, paths = named
            found.setdefault(name, _describe(name, paths, cache))
    return sorted(found.values(), key=lambda each: (each.group or "", each.name))


def _files_below(folder: FilePath) -> Iterator[tuple[str, FilePath]]:
    """Give each configuration file below a load path with its name, which has no extension."""
    try:
        paths = matches(folder, "**/*", MOST_NAMES)
    except TooManyNames:
        _log.warning("%s holds more than %d files; none of them is listed", folder, MOST_NAMES)
        return
    for path in paths:
        if path.suffix[1:] in EXTENSIONS and not path.name.startswith(".") and is_file(path):
            yield path.relative_to(folder).with_suffix("").as_posix(), path


def _shortest(
    path: FilePath,
    candidates: Sequence[str],
    cwd: FilePath,
    roots: Sequence[FilePath],
    load_paths: Sequence[str],
) -> tuple[str, tuple[FilePath, ...]] | None:
    """Give the shortest name that really leads to the file; another one may be in its way."""
    for name in sorted(candidates, key=lambda name: (name.count("/"), len(name), name)):
        paths = find_named(name, cwd, roots, load_paths).paths
        if any(real_path(each) == path for each in paths):
            return name, paths
    return None


def _describe(name: str, paths: tuple[FilePath, ...], cache: FileCache) -> NamedConfiguration:
    files = [cache.load(path) for path in paths]
    errors = (
        _problem(file, finding) for file in files for finding in file.findings if finding.severity == "error"
    )
    is_plain = "=" not in name and not name.startswith(("@", "{")) and name not in RESERVED
    return NamedConfiguration(
        name,
        name if is_plain else f"@{name}",
        next(filter(None, (_title(file.partial) for file in reversed(files))), None),
        next(filter(None, (_description(file) for file in reversed(files))), None),
        paths,
        next(errors, None),
    )


def _problem(file: LoadedFile, finding: Finding) -> str:
    origin = Origin("request", file.path.name, file.path, file.line_of(finding.path))
    return str(Problem(dotted(finding.path), finding.text, origin))


def _title(partial: Partial) -> str | None:
    """Take the assistant's name, or what the first section or instruction is called."""
    name = value_at(partial, ("assistant", "name"))
    if isinstance(name, str) and name.strip():
        return _cut(name, _LONGEST_TITLE)
    for key in ("system_prompt_sections", "instructions"):
        for item in _items(value_at(partial, ("assistant", key))):
            title = entries_of(item).get("title")
            if isinstance(title, str) and title.strip():
                return _cut(title, _LONGEST_TITLE)
    return None


def _description(file: LoadedFile) -> str | None:
    """Take the comment that the file begins with, or the first thing that it tells a model."""
    if comment := _first_comment(file.text):
        return _cut(comment, _LONGEST_DESCRIPTION)
    told: list[Value] = [_text(value_at(file.partial, ("assistant", "system_prompt")))]
    sections = _items(value_at(file.partial, ("assistant", "system_prompt_sections")))
    told += [entries_of(section).get("content") for section in sections]
    for text in told:
        if isinstance(text, str) and text.strip():
            return _cut(text.strip().partition("\n\n")[0], _LONGEST_DESCRIPTION)
    return None


def _first_comment(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines():
        match = _COMMENT.fullmatch(line.strip())
        if match is None:
            break
        lines.append(match[1])
    return " ".join(lines).strip()


def _items(value: MaybeValue) -> Sequence[Value]:
    return value.items if isinstance(value, MergedList) else ()


def _text(value: MaybeValue) -> str | None:
    return value.text if isinstance(value, MergedText) else None


def _cut(text: str, size: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else f"{line[: size - 1].rstrip()}…"
