"""Finds the shared test data beside the repository.

The data is not part of the project. A test that needs it skips with a reason where it is missing; the
project's own check turns such a skip into a failure (see `conftest.py`).
"""

import os
import shutil
import stat
from pathlib import Path

import pytest

_ROOT = Path(os.environ.get("JP_SHARED_DATA", Path(__file__).parents[3] / "shared"))


LIVE_CONVERSATIONS = (
    "jp-c17648402467",
    "jp-c17662304290",
    "jp-c17671120783",
    "jp-c17738348630",
    "jp-c17738399468",
    "jp-c17758406187",
    "jp-c17800836875",
)
"""The conversations of the real workspace that are not archived."""


def shared_path(*parts: str) -> Path:
    """Give a path below the shared data, or skip the running test when the data is not there."""
    path = _ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"shared test data is missing: {'/'.join(parts) or 'the folder'}")
    return path


def shared_files(pattern: str) -> list[Path]:
    """List shared files by a glob below the root, for parametrising; empty when the data is missing."""
    return sorted(_ROOT.glob(pattern))


def copy_real_workspace(folder: Path) -> None:
    """Copy a workspace that JP made into a folder that may be there; the copy may be written."""
    shutil.copytree(shared_path("real-workspace"), folder, dirs_exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
