"""Packages of npm that tests run: their dependencies are installed once for each state of the lock file."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.file_turn import one_at_a_time

_INSTALLED = ".installed-for"


def npm_package(folder: Path) -> str:
    """Give the path of npm, with the dependencies of a package installed; skips the test where that cannot be."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("no node and npm on this machine")
    state = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    modules = folder / "node_modules"
    with one_at_a_time(folder / "dist" / "install.lock"):
        mark = modules / _INSTALLED
        if not modules.exists() or (mark.exists() and mark.read_text("utf-8") != state):
            done = subprocess.run([npm, "ci"], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                pytest.skip(f"npm could not fetch the dependencies: {done.stderr.strip()[-300:]}")
            mark.write_text(state, "utf-8")
    return npm


def npm_build(folder: Path, script: str) -> None:
    """Run a script that builds something; no two of one package run at once, for they write the same files."""
    npm = npm_package(folder)
    with one_at_a_time(folder / "dist" / "build.lock"):
        done = subprocess.run([npm, "run", "--silent", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
