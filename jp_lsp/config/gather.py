"""Collecting the layers: files where they are expected, variables, and what the request asks for (1.2, 1.5).

Everything is read here and nothing is merged for good. What is wrong with one file does not keep the others
from being looked at, so that a user sees all problems at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import assert_never, cast

from jp_lsp.config.assign import AssignmentError
from jp_lsp.config.environment import EnvironmentLayer, read_environment
from jp_lsp.config.expression import Assignment, ExpressionError, FileReference, parse_expression
from jp_lsp.config.extends import FileTree, load_tree
from jp_lsp.config.files import FileCache, LoadedFile, find_by_stem
from jp_lsp.config.fold import layer_partial
from jp_lsp.config.layer import WORKSPACE_KINDS, Change, Layer, LayerKind, Origin, Source, Step
from jp_lsp.config.looks import real_path, status_of
from jp_lsp.config.merge import merge_tables
from jp_lsp.config.named import find_named
from jp_lsp.config.problem import Finding, Problem, dotted
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import ABSENT, EMPTY, MergedList, Partial, value_at

_EXTENDED_FOLDER = "config.d"


@dataclass(frozen=True, slots=True)
class Places:
    """Where configuration lives. Without a workspace `root` is `None`, and so may be the user's part of it.

    Args:
        root: the workspace, the folder that holds `.jp`.
        cwd: the folder that the request comes from.
        user_config_dir: the user's own configuration.
        user_workspace_dir: what the user keeps for this workspace alone.
    """

    root: FilePath | None
    cwd: FilePath
    user_config_dir: FilePath
    user_workspace_dir: FilePath | None = None

    def name_of(self, path: FilePath) -> str:
        """Name a file for people: relative to the workspace where it lies in it."""
        return str(path.relative_to(self.root)) if self.root is not None and self.holds(path) else str(path)

    def holds(self, path: FilePath) -> bool:
        """Tell whether a file lies in the workspace."""
        return self.root is not None and path.is_relative_to(self.root)

    def really_holds(self, path: FilePath) -> bool:
        """Tell the same of a path without links, also where the workspace was opened through one."""
        return self.root is not None and path.is_relative_to(self.root.resolve())

    def candidates(self) -> Iterator[tuple[LayerKind, FilePath, str]]:
        """Give the places of the implicit files, lowest first: kind, folder, and name without extension."""
        yield "user_global", self.user_config_dir, "config"
        if self.root is not None:
            yield "workspace", self.root / ".jp", "config"
        for folder in self._chain():
            yield "cwd", folder, ".jp"
        if self.user_workspace_dir is not None:
            yield "user_workspace", self.user_workspace_dir, "config"

    def _chain(self) -> Iterator[FilePath]:
        """Give the folders from the workspace, or the top of the disk, down to the current one."""
        top = self.root if self.root is not None else FilePath(self.cwd.anchor)
        if not self.cwd.is_relative_to(top):
            yield top
            return
        yield from reversed(
            [self.cwd, *(parent for parent in self.cwd.parents if parent.is_relative_to(top))]
        )

    def search_roots(self) -> Sequence[FilePath]:
        """Give what load paths are relative to, in the order in which what is found there is merged."""
        roots = [self.user_config_dir / "config"]
        if self.root is not None:
            roots.append(self.root)
        if self.user_workspace_dir is not None:
            roots.append(self.user_workspace_dir / "config")
        return roots


@dataclass(frozen=True, slots=True)
class Gathered:
    """All sources but the conversation, in no particular order of kinds, and what is wrong with them."""

    sources: tuple[Source, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds whatever a query asks for: the implicit files, and the environment above them.

    `load_paths` are where files are looked for that a query names; `problems` are those of the files.
    """

    files: Sequence[Layer]
    environment: EnvironmentLayer
    load_paths: Sequence[str]
    problems: tuple[Problem, ...]


def read_standing(places: Places, environ: Mapping[str, str], cache: FileCache) -> Standing:
    """Read what does not depend on a query; `cache` has what was read before."""
    reading = _Reading(places, cache)
    files = reading.implicit_files()
    lower = EMPTY
    for layer in files:
        lower = merge_tables(SCHEMA, lower, layer_partial(layer))
    environment = read_environment(environ, lower)
    lower = merge_tables(SCHEMA, lower, layer_partial(environment.layer))
    return Standing(files, environment, _load_paths(lower), tuple(reading.problems))


def gather(
    places: Places,
    standing: Standing,
    overrides: Sequence[str],
    cache: FileCache,
    document: FilePath | None = None,
) -> Gathered:
    """Read everything that a query's settings come from.

    Args:
        places: where files are.
        standing: what holds whatever is asked for.
        overrides: `--cfg` arguments, in order.
        cache: what was read before.
        document: the file that the arguments are written in, if they are.
    """
    reading = _Reading(places, cache)
    environment = standing.environment
    requested = reading.request(overrides, standing, document)
    return Gathered(
        (*standing.files, environment.layer, *requested),
        (*standing.problems, *reading.problems, *environment.problems),
    )


def _load_paths(tree: Partial) -> Sequence[str]:
    """Give `config_load_paths`; only files and the environment have a say in it.

    An absolute path is taken for a relative one, as in `extends`.
    """
    held = value_at(tree, ("config_load_paths",))
    items = cast("Sequence[str]", held.items) if isinstance(held, MergedList) else ()
    return tuple(path.lstrip("/\\") for path in items)


def _has(layer: Layer, path: FilePath) -> bool:
    """Tell whether a file is part of a layer."""
    return real_path(path) in _files_of(layer)


def _overlap(layer: Layer, other: Layer) -> bool:
    """Tell whether two layers have a file in common, such as two personas that extend the same skill (7.3)."""
    return not _files_of(layer).isdisjoint(_files_of(other))


def _files_of(layer: Layer) -> set[FilePath]:
    return {real_path(step.origin.path) for step in layer.steps if step.origin.path is not None}


@dataclass(slots=True)
class _Reading:
    places: Places
    cache: FileCache
    problems: list[Problem] = field(default_factory=lambda: [])

    def implicit_files(self) -> Sequence[Layer]:
        """Read the file layers; `inherit = false` keeps the more specific ones from being read (trap 2)."""
        layers: list[Layer] = []
        sealed_by: str | None = None
        for kind, folder, stem in self.places.candidates():
            place = Origin(kind, self.places.name_of(folder / f"{stem}.*"))
            if sealed_by is not None:
                layers.append(Layer(place, state="skipped", reason=f"`inherit` is false in {sealed_by}"))
                continue
            path = find_by_stem(folder, stem)
            if path is None:
                layers.append(Layer(place, state="not found"))
                continue
            layer = self._layer(kind, path)
            layers.append(layer)
            if layer_partial(layer).get("inherit") is False:
                sealed_by = layer.origin.name
        return layers

    def request(
        self, overrides: Sequence[str], standing: Standing, document: FilePath | None
    ) -> Sequence[Source]:
        """Read what the request asks for, in its order."""
        sources: list[Source] = []
        named: list[Layer] = []
        for text in overrides:
            name = f"--cfg {text}" if len(text) <= 60 else f"--cfg {text[:56]} ..."
            origin = Origin("request", name, document)
            try:
                expression = parse_expression(text)
            except ExpressionError as error:
                self.problems.append(Problem("", str(error), origin))
                continue
            except AssignmentError as error:
                self.problems.append(Problem(error.key, error.text, origin))
                continue
            match expression:
                case FileReference():
                    applied = self._named(expression.name, standing, named, origin)
                    sources += applied
                    named += applied
                case Assignment():
                    sources.append(
                        Change(
                            origin, expression.key, expression.value, expression.is_json, expression.merges
                        )
                    )
                case _:
                    assert_never(expression)
        return sources

    def _named(
        self, name: str, standing: Standing, before: Sequence[Layer], origin: Origin
    ) -> Sequence[Layer]:
        """Read the files that a name stands for; what a file named before has brought is not added again (trap 36)."""
        found = find_named(name, self.places.cwd, self.places.search_roots(), standing.load_paths)
        if not found.paths:
            searched = ", ".join(f"`{self.places.name_of(folder)}`" for folder in found.searched)
            where = f"in {searched}" if searched else "because `config_load_paths` is empty"
            self.problems.append(Problem("", f"no file of that name was found, {where}", origin))
        for path in found.paths:
            if (holder := next((each for each in standing.files if _has(each, path)), None)) is not None:
                text = f"{holder.origin} has this file already, so its list items are there twice"
                self.problems.append(Problem("", text, self._origin("request", path), "hint"))
        layers: list[Layer] = []
        for path in found.paths:
            layer = self._layer("request", path)
            layers.append(
                replace(layer, skips_known=any(_overlap(layer, each) for each in (*before, *layers)))
            )
        return layers

    def _layer(self, kind: LayerKind, path: FilePath) -> Layer:
        tree = load_tree(path, self.cache)
        self._note_problems(kind, tree)
        self._note_extended_folder(kind, path, tree)
        steps = tuple(Step(self._origin(kind, file.path), file.partial, file.line_of) for file in tree.files)
        return Layer(self._origin(kind, path), steps)

    def _origin(self, kind: LayerKind, path: FilePath) -> Origin:
        return Origin(kind, self.places.name_of(path), path)

    def _note_problems(self, kind: LayerKind, tree: FileTree) -> None:
        for file in dict.fromkeys(tree.files):
            for finding in file.findings:
                self._note(kind, file, finding)
            if kind in WORKSPACE_KINDS or self.places.holds(file.path):
                for finding in file.foreign:
                    self._note(kind, file, finding)
        for file, finding in tree.findings:
            self._note(kind, file, finding)

    def _note(self, kind: LayerKind, file: LoadedFile, finding: Finding) -> None:
        origin = Origin(kind, self.places.name_of(file.path), file.path, file.line_of(finding.path))
        self.problems.append(Problem(dotted(finding.path), finding.text, origin, finding.severity))

    def _note_extended_folder(self, kind: LayerKind, path: FilePath, tree: FileTree) -> None:
        """Hint at a folder that looks as if it were loaded by itself (trap 4)."""
        is_extending = any(value_at(file.partial, ("extends",)) is not ABSENT for file in tree.files)
        folder = None if is_extending else status_of(path.parent / _EXTENDED_FOLDER)
        if folder is not None and folder.is_folder:
            text = f'`{_EXTENDED_FOLDER}` is not loaded by itself; to load it set `extends = ["{_EXTENDED_FOLDER}/**/*"]`'
            self.problems.append(Problem("extends", text, self._origin(kind, path), "hint"))
