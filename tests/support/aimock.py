"""aimock: a fake of many model vendors on one port, written by others, told what to say by fixtures.

It comes with `npm ci --prefix tests/e2e/vendor_servers`; a test that needs it skips where it is missing.
"""

import json
import subprocess
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_packages import find_node
from tests.support.vscode_host import free_port

_SCRIPT = Path(__file__).parents[1] / "e2e/vendor_servers/node_modules/@copilotkit/aimock/dist/cli.js"
_PATIENCE = 60.0

Fixture = dict[str, Any]


@contextmanager
def aimock(folder: Path, fixtures: Sequence[Fixture]) -> Generator[str]:
    """Serve fixtures; gives the address."""
    node = find_node()
    if node is None:
        pytest.skip("Node.js is missing: pip install -e '.[dev]'")
    if not _SCRIPT.exists():
        pytest.skip("aimock is missing: npm ci --prefix tests/e2e/vendor_servers")
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": list(fixtures)}), "utf-8")
    port = free_port()
    command = [node, str(_SCRIPT), "-p", str(port), "-f", str(file), "--strict", "--log-level", "silent"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            _until_it_answers(f"http://127.0.0.1:{port}/__aimock/journal", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def requests_to(url: str) -> list[dict[str, Any]]:
    """What it was asked, oldest first, without the lists of models."""
    with urllib.request.urlopen(f"{url}/__aimock/journal", timeout=10) as answer:
        entries: list[dict[str, Any]] = json.load(answer)
    return [each for each in entries if each["method"] == "POST"]


def _until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, f"aimock ended with {process.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("aimock did not answer in time")
