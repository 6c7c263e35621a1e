"""Configuration files on disk: finding, reading, and remembering what did not change.

A place for a configuration is a folder and a name without extension; the five extensions are tried in a
fixed order. What was read is kept until the file's times, size or inode change, because a workspace has a
hundred files and every query looks at all of them (config-and-tools 1.1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from jp_lsp.config import toml_lines
from jp_lsp.config.looks import Status, status_of
from jp_lsp.config.models import own_models
from jp_lsp.config.parse import EXTENSIONS, MAX_FILE_SIZE, TOO_LARGE, ParseError, parse
from jp_lsp.config.problem import Finding, Report
from jp_lsp.config.read import read_table
from jp_lsp.config.schema import SCHEMA
from jp_lsp.config.value import EMPTY, Partial, Path

_CACHE_LIMIT = 4096


@dataclass(slots=True, eq=False)
class LoadedFile:
    """A file in normal form, with what is wrong in it; `foreign` is what the command-line tool would refuse."""

    path: FilePath
    partial: Partial
    findings: tuple[Finding, ...] = ()
    foreign: tuple[Finding, ...] = ()
    failure_line: int | None = None
    text: str = ""
    _lines: Mapping[Path, int] | None = field(default=None)

    def line_of(self, path: Path) -> int | None:
        """Find the line of a key, or of the nearest one around it."""
        if self.failure_line is not None:
            return self.failure_line
        if self._lines is None:
            self._lines = _key_lines(self.text, self.path.suffix)
        candidates = (path[:end] for end in range(len(path), 0, -1))
        return next((self._lines[found] for found in candidates if found in self._lines), None)


class FileCache:
    """Reads files, each only when it changed."""

    def __init__(self) -> None:
        self._known: dict[FilePath, tuple[Status, LoadedFile]] = {}

    def load(self, path: FilePath) -> LoadedFile:
        """Read a file that exists; what cannot be read is a finding, not an exception."""
        try:
            status = status_of(path)
            known = self._known.get(path)
            if known is not None and known[0] == status:
                return known[1]
            if status is not None and status.size > MAX_FILE_SIZE:
                return LoadedFile(path, EMPTY, (Finding((), TOO_LARGE),))
            loaded = _read(path, path.read_bytes())
        except OSError as error:
            return LoadedFile(path, EMPTY, (Finding((), f"cannot be read: {error.strerror or error}"),))
        if len(self._known) >= _CACHE_LIMIT:
            self._known.clear()
        if status is not None and status.is_settled:
            self._known[path] = (status, loaded)
        return loaded


def _read(path: FilePath, data: bytes) -> LoadedFile:
    extension = path.suffix[1:]
    if extension not in EXTENSIONS:
        known = ", ".join(EXTENSIONS)
        return LoadedFile(path, EMPTY, (Finding((), f"has no format that is understood ({known})"),))
    try:
        raw = parse(data, extension)
    except ParseError as error:
        return LoadedFile(path, EMPTY, (Finding((), str(error)),), failure_line=error.line)
    report = Report()
    partial = read_table(SCHEMA, raw, report)
    return LoadedFile(
        path, partial, tuple(report.findings), tuple(own_models(partial)), None, data.decode("utf-8-sig")
    )


def _key_lines(text: str, suffix: str) -> Mapping[Path, int]:
    if suffix == ".toml":
        return toml_lines.key_lines(text)
    from jp_lsp.config import key_lines  # most workspaces have no file in another format

    return key_lines.key_lines(text, suffix)


def read_text(path: FilePath, text: str) -> LoadedFile:
    """Read a text as if it stood in a file, which need not exist."""
    return _read(path, text.encode("utf-8", "surrogatepass"))


def is_file(path: FilePath) -> bool:
    """Tell whether there is a regular file, through symbolic links."""
    status = status_of(path)
    return status is not None and status.is_file


def find_by_stem(folder: FilePath, stem: str) -> FilePath | None:
    """Find `stem` with one of the extensions; later siblings are ignored."""
    candidates = (folder / f"{stem}.{extension}" for extension in EXTENSIONS)
    return next(filter(is_file, candidates), None)


def find_file(path: FilePath) -> FilePath | None:
    """Find a file that was asked for by name: as it is, with an extension added, or with another one.

    Adding comes before replacing, so that `v1.2` finds `v1.2.toml` (trap 1).
    """
    if is_file(path):
        return path
    if not path.name:
        return None
    return find_by_stem(path.parent, path.name) or find_by_stem(path.parent, path.stem)
