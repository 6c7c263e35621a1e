"""What one configuration file means among all others: whether anything reads it, what in it has no effect.

A file counts as one of the layers, or because a file of a layer extends it, or when a query names it. For the
last kind the layers are looked at as they would be with it applied.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from jp_lsp.config.explain import explain_all
from jp_lsp.config.extends import load_tree
from jp_lsp.config.files import FileCache, LoadedFile, find_file, is_file, read_text
from jp_lsp.config.fold import Order
from jp_lsp.config.gather import Places
from jp_lsp.config.layer import Layer, Origin, Source
from jp_lsp.config.named_list import NamedConfiguration
from jp_lsp.config.parse import EXTENSIONS
from jp_lsp.config.pattern import TooManyNames, is_pattern, matches
from jp_lsp.config.problem import Problem
from jp_lsp.config.value import EMPTY

UNREACHABLE = "nothing reads this file: it is no layer, in no load path, and no file that counts extends it"

OF_EACH_FILE = frozenset({"extends", "inherit"})
"""Keys that every file has for itself: what another one says there takes nothing away from them."""


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A key of the file that has no effect, and the place that decides instead."""

    key: str
    winner: Origin


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is to be known of a file beside its text.

    Attributes:
        overrides: the `--cfg` expression with which it counts; none if it always does.
        is_shared: whether it lies in the workspace, where the command-line tool must read it too.
        problems: those that name this file.
        shadowed: what in it has no effect.
        unreachable: why nothing reads it.
    """

    overrides: tuple[str, ...] = ()
    is_shared: bool = False
    problems: tuple[Problem, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    unreachable: str | None = None


class EditedFiles(FileCache):
    """Files as they are on disk, but for one that is being edited and counts with the text that it has there.

    While that text cannot be read, as is the rule when somebody types, the file on disk is the best that is known.
    """

    def __init__(self, others: FileCache, path: FilePath, text: str) -> None:
        super().__init__()
        self._others = others
        self._name = path.name
        self._path = os.path.realpath(path)
        self._text = text
        self._edited: dict[FilePath, LoadedFile] = {}

    def load(self, path: FilePath) -> LoadedFile:
        """Read a file, or take the text that it has in the editor."""
        if path.name != self._name or os.path.realpath(path) != self._path:
            return self._others.load(path)
        if path not in self._edited:
            edited = read_text(path, self._text)
            self._edited[path] = self._others.load(path) if edited.partial is EMPTY else edited
        return self._edited[path]


def is_same_file(one: FilePath | None, other: FilePath) -> bool:
    """Compare paths, seen through links."""
    return one is not None and one.name == other.name and os.path.realpath(one) == os.path.realpath(other)


def is_read_by(sources: Sequence[Source], path: FilePath) -> bool:
    """Tell whether a file is part of a layer."""
    return any(
        is_same_file(step.origin.path, path)
        for source in sources
        if isinstance(source, Layer)
        for step in source.steps
    )


def expression_of(path: FilePath, named: Sequence[NamedConfiguration], cache: FileCache) -> str | None:
    """Give the `--cfg` expression that makes a file count: its own name, or that of one that extends it."""
    for each in named:
        if any(is_same_file(own, path) for own in each.paths):
            return each.expression
    for each in named:
        trees = (load_tree(own, cache) for own in each.paths)
        if any(is_same_file(file.path, path) for tree in trees for file in tree.files):
            return each.expression
    return None


def shadowed_in(path: FilePath, sources: Sequence[Source], order: Order) -> tuple[Shadowed, ...]:
    """Give the keys that a file sets in vain."""
    return tuple(
        Shadowed(each.key, each.origin)
        for each in explain_all(sources, order)
        if each.key not in OF_EACH_FILE
        for own in each.shadowed
        if is_same_file(own.origin.path, path) and not is_same_file(each.origin.path, path)
    )


def why_unread(path: FilePath, place: str, sources: Sequence[Source]) -> str:
    """Say why no layer has a file; `place` is how a layer without a file would be called where it lies."""
    for source in sources:
        if isinstance(source, Layer) and source.state == "skipped" and source.origin.name == place:
            return f"nothing reads this file: {source.reason}"
    for extension in EXTENSIONS:
        sibling = path.with_suffix(f".{extension}")
        if sibling != path and is_read_by(sources, sibling):
            return f"nothing reads this file: `{sibling.name}` beside it is taken instead"
    return UNREACHABLE


def lies_below(path: FilePath, folder: FilePath) -> bool:
    """Tell whether a file lies in a folder or deeper, seen through links."""
    return FilePath(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def lies_among(path: FilePath, places: Places, load_paths: Sequence[str]) -> bool:
    """Tell whether a file lies where configuration is looked for, whether or not it counts.

    A conversation's files are none, and a load path that is the whole workspace makes none of all that lies in it.
    """
    if any(
        path.stem == stem and is_same_file(folder, path.parent) for _, folder, stem in places.candidates()
    ):
        return True
    store = None if places.root is None else places.root / ".jp"
    if store is not None and lies_below(path, store):
        return not lies_below(path, store / "conversations")
    folders = (root / each for root in places.search_roots() for each in load_paths)
    return any(
        lies_below(path, folder) and (store is None or not lies_below(store, folder)) for folder in folders
    )


def extended_files(folder: FilePath, target: str) -> list[FilePath]:
    """Give the files that an entry of `extends` stands for, seen from the folder of the file that has it."""
    relative = target.lstrip("/\\")
    if not is_pattern(relative):
        found = find_file(folder / relative)
        return [] if found is None else [found]
    try:
        paths = matches(folder, relative)
    except TooManyNames:
        return []
    return [path for path in paths if path.suffix[1:] in EXTENSIONS and is_file(path)]
