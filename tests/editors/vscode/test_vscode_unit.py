"""The VS Code extension without VS Code: types, lint, its own tests in node, and the size of what is shipped."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold
from tests.support.jp_server import serve_command
from tests.support.npm_package import npm_build, npm_package
from tests.support.three_tools import call_of, give_tools, let_end
from tests.support.user_folders import UserFolders
from tests.support.vscode_extension import EXTENSION

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

LARGEST_BUNDLE = 600_000
"""Bytes; the editor reads all of it before the extension can do anything."""


@pytest.fixture(scope="module")
def npm() -> str:
    return npm_package(EXTENSION)


def run(npm: str, script: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a script of the package, which must succeed; gives what it printed."""
    done = subprocess.run(
        [npm, "run", "--silent", script],
        cwd=EXTENSION,
        env=os.environ | dict(environment or {}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.parametrize("script", ["types", "lint"])
def test_the_sources_are_checked(npm: str, script: str) -> None:
    assert run(npm, script) == "" or script == "lint"


@pytest.mark.requirement("R276", "R328", "R330", "R340", "S11", "S23")
def test_reducer_and_client(npm: str, tmp_path: Path) -> None:
    with ChatVendor() as vendor:
        user = UserFolders(tmp_path, vendor.url)
        teach(vendor, user)
        server = {
            "command": serve_command(),
            "folder": str(user.workspace),
            "environment": user.environment(),
        }
        printed = run(npm, "test", {"JP_TEST_SERVER": json.dumps(server)})
        let_end(user)
    assert "fail 0\n" in printed
    assert "skipped 0\n" in printed


def test_the_bundle_is_small() -> None:
    npm_build(EXTENSION, "vscode:prepublish")
    assert (EXTENSION / "dist" / "extension.js").stat().st_size < LARGEST_BUNDLE


def teach(vendor: ChatVendor, user: UserFolders) -> None:
    """Let the model know what the tests in node ask, as often as they ask it."""
    give_tools(user)
    for _ in range(20):
        vendor.will_answer(answer("Hello."), to="say hello")
        vendor.will_answer(call_of("greet", who="Ada"), answer("Done."), to="use the tool")
    vendor.will_answer(call_of("sleep"), answer("Done."), to="sleep on it")
    vendor.will_answer(answer("First.\n\n", Hold(), "Second."), to="take your time")
