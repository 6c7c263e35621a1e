"""A server that follows a script, for the client on a real terminal."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.terminal_process import Scripted, Step


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[[Sequence[Step]], Scripted]:
    return lambda steps: Scripted(tmp_path, steps)
