from pathlib import Path

import pytest

from tests.adapters.attachments.fetching import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "project").mkdir()
    return Folder(tmp_path / "project")
