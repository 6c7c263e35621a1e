"""Which file a change goes into: one of the layers by its name, a path, or a name like those of `--cfg`.

Only files that are configuration count, so that a mistyped path, or a link that came with a workspace, never
leads to a change of something else (config-and-tools 1.11).
"""

import os
from dataclasses import dataclass
from pathlib import Path as FilePath
from urllib.parse import unquote, urlsplit

from jp_lsp.config.about_file import is_read_by
from jp_lsp.config.files import find_by_stem, is_file
from jp_lsp.config.layer import FILE_KINDS
from jp_lsp.config.named import find_named
from jp_lsp.config.parse import EXTENSIONS
from jp_lsp.config.settings import WorkspaceSettings
from jp_lsp.ports.refusal import Refusal

LAYER_WORDS: tuple[str, ...] = FILE_KINDS
"""The words for the file of a layer: as `jp/config/explain` calls them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to change; `path` is where links lead to, `name` is for people."""

    path: FilePath
    name: str
    exists: bool


def find_target(word: str, settings: WorkspaceSettings) -> Target:
    """Find the file that is meant; it need not exist yet.

    Raises:
        Refusal: there is no such place here, it is ambiguous, or it is no configuration file.
    """
    path = _layer_file(word, settings) if word in LAYER_WORDS else _named_file(word, settings)
    real = FilePath(os.path.realpath(path))
    places = settings.places
    folder = FilePath(os.path.realpath(path.parent))
    if (places.holds(path) or places.really_holds(folder)) and not places.really_holds(real):
        raise _refused(
            word,
            f"`{places.name_of(path)}` is a link that leads out of the workspace; change `{real}` itself",
        )
    if real.suffix[1:] not in EXTENSIONS:
        known = ", ".join(f"`.{extension}`" for extension in EXTENSIONS)
        raise _refused(word, f"`{real.name}` is no configuration file; those end in {known}")
    exists = is_file(real)
    if not exists and (real.exists() or real.is_symlink()):
        raise _refused(word, f"`{places.name_of(path)}` is no file")
    if not exists and (sibling := find_by_stem(path.parent, path.stem)) is not None:
        raise _refused(
            word, f"`{places.name_of(sibling)}` is there already, and only one of the two would be read"
        )
    return Target(real, places.name_of(path), exists)


def _layer_file(word: str, settings: WorkspaceSettings) -> FilePath:
    for kind, folder, stem in reversed(list(settings.places.candidates())):
        if kind == word:
            return find_by_stem(folder, stem) or folder / f"{stem}.toml"
    raise Refusal("no_workspace", f"there is no workspace here, so it has no file for `{word}`", origin=word)


def _named_file(word: str, settings: WorkspaceSettings) -> FilePath:
    if not word or "\0" in word:
        raise _refused(
            word, f"say which file: {', '.join(f'`{each}`' for each in LAYER_WORDS)}, a path or a name"
        )
    places = settings.places
    if word.startswith("file:"):
        paths = [FilePath(unquote(urlsplit(word).path))]
    else:
        paths = _by_path(word, settings)
        paths = paths or list(
            find_named(word, places.cwd, places.search_roots(), settings.load_paths()).paths
        )
    if len(paths) > 1:
        found = ", ".join(f"`{places.name_of(path)}`" for path in paths)
        raise _refused(word, f"this name stands for several files ({found}); say which one by its path")
    if not paths:
        raise _refused(
            word, f"`{word}` is no file that configuration is read from; `jp/config/list` names those"
        )
    if not settings.is_configuration(paths[0]) and not is_read_by(settings.sources(), paths[0]):
        raise _refused(word, f"`{places.name_of(paths[0])}` is no file that configuration is read from")
    return paths[0]


def _by_path(word: str, settings: WorkspaceSettings) -> list[FilePath]:
    """Take a word for a path, seen from the current folder or the workspace, if configuration may lie there."""
    places = settings.places
    for base in dict.fromkeys([places.cwd, places.root or places.cwd]):
        path = base / FilePath(word).expanduser()
        if path.suffix[1:] in EXTENSIONS and (
            settings.is_configuration(path) or is_read_by(settings.sources(), path)
        ):
            return [path]
    return []


def _refused(word: str, text: str) -> Refusal:
    return Refusal("invalid_params", text, origin=word or None)
