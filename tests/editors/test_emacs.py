"""Emacs with Eglot, as our page for other editors sets it up."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.emacs import Emacs, emacs
from tests.support.http_server import Hold
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.e2e, pytest.mark.requirement("R340")]

TOOL = """
[conversation.tools.mark]
source = "local"
enable = true
command = "touch marked"
summary = "Makes a file."
"""


@pytest.fixture
def vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor


@pytest.fixture
def user(tmp_path: Path, vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path, vendor.url)
    (user.workspace / "notes.txt").write_text("Notes.\n", "utf-8")
    return user


@pytest.fixture
def editor(user: UserFolders) -> Iterator[Emacs]:
    beside_python = str(Path(sys.executable).parent)
    environment = user.environment()
    environment["PATH"] = f"{beside_python}:{environment['PATH']}"
    assert shutil.which("jp-lsp", path=environment["PATH"]), "the program is not installed"
    with emacs(user.workspace, environment, "notes.txt") as editor:
        editor.wait("Notes.")
        editor.command("eglot")
        editor.wait("Connected!")
        yield editor


def test_a_question_is_answered(editor: Emacs, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("It holds notes."))
    editor.command("jp-ask")
    editor.type("What is here?\r")
    editor.wait("*jp*")
    editor.wait("It holds notes.")


@pytest.mark.parametrize(("choice", "is_run"), [("Run", True), ("", False)])
def test_a_tool_runs_only_when_it_is_approved(
    user: UserFolders, editor: Emacs, vendor: ChatVendor, choice: str, is_run: bool
) -> None:
    """The return key alone takes the harmless answer."""
    settings = user.config / "config.toml"
    settings.write_text(settings.read_text("utf-8") + TOOL, "utf-8")
    vendor.will_answer(answer(called("c1", "mark", "{}"), reason="tool_calls"), answer("So be it."))
    editor.command("jp-ask")
    editor.type("Mark it.\r")
    if choice:
        editor.wait("Run local tool mark?")
        editor.choose(choice)
    else:
        editor.wait("Choose an option:")
        editor.type("\r")
    editor.wait("So be it.")
    assert (user.workspace / "marked").exists() == is_run


def test_the_menu_of_a_running_answer_stops_it(editor: Emacs, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Beginning.\n\n", Hold(), "never"))
    editor.command("jp-ask")
    editor.type("Go on.\r")
    editor.wait_until(lambda: bool(vendor.queries), "the model was never asked")
    editor.command("jp-interrupt")
    editor.choose("Stop")
    editor.wait("Beginning.")
