"""The real local model, where a test may use it."""

import os
from pathlib import Path

import pytest

from jp_lsp.providers.local.install import install
from jp_lsp.providers.local.job import InstallError, Job
from jp_lsp.providers.local.release import current_release


def local_model_folder() -> Path:
    """Give the user data folder that has the model, installing it there first if need be; else skip."""
    folder = os.environ.get("JP_TEST_LOCAL_DATA")
    if not folder:
        pytest.skip("JP_TEST_LOCAL_DATA names no folder in which the local model is or may be installed")
    try:
        install(Path(folder), current_release(), Job())
    except InstallError as error:
        pytest.skip(f"the local model is not there: {error}")
    return Path(folder)
