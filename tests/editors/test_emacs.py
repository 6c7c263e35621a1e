"""Emacs with Eglot, as our page for other editors sets it up."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
def user(tmp_path: Path, vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path, vendor.url)
    (user.workspace / "notes.txt").write_text("Notes.\n", "utf-8")
    return user


def environment(user: UserFolders) -> dict[str, str]:
    """One in which the server is found."""
    beside_python = str(Path(sys.executable).parent)
    found = user.environment()
    found["PATH"] = f"{beside_python}:{found['PATH']}"
    assert shutil.which("jp-lsp", path=found["PATH"]), "the program is not installed"
    return found


@pytest.fixture
def editor(user: UserFolders) -> Iterator[Emacs]:
    with emacs(user.workspace, environment(user), "notes.txt") as editor:
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


UNTIL_AN_ANSWER_ARRIVES = """\
(let (turns) (while (not (equal (plist-get (car turns) :phase) "streaming")) (sleep-for 0.05)
(setq turns (append (plist-get (jsonrpc-request (eglot-current-server) :jp/turn/list
(make-hash-table)) :active) nil))) (message "It %s" "arrives"))""".replace("\n", " ")


def test_the_menu_of_a_running_answer_stops_it(editor: Emacs, vendor: ChatVendor) -> None:
    """What is kept is what had been shown when the menu opened."""
    vendor.will_answer(answer("Beginning.\n\n", Hold(), "never"))
    editor.command("jp-ask")
    editor.type("Go on.\r")
    editor.evaluate(UNTIL_AN_ANSWER_ARRIVES)
    editor.wait("It arrives")
    editor.command("jp-interrupt")
    editor.choose("Stop")
    editor.wait("Beginning.")


@pytest.fixture
def opened(user: UserFolders) -> Iterator[Callable[[str, str], Emacs]]:
    """Gives a function that opens a file of the workspace, which starts the server by itself."""
    with ExitStack() as stack:

        def open_file(name: str, text: str) -> Emacs:
            (user.workspace / name).write_text(text, "utf-8")
            editor = stack.enter_context(emacs(user.workspace, environment(user), name))
            editor.wait("Connected!")
            return editor

        yield open_file


def test_a_configuration_file_is_completed_and_checked(opened: Callable[[str, str], Emacs]) -> None:
    editor = opened(".jp/config.toml", "[assistant]\nnmae = 'Ada'\n")
    editor.command("flymake-show-buffer-diagnostics")
    editor.wait("did you mean")
    editor.type("\x1b>na\x1b\t")
    editor.wait_until(lambda: "name =" in editor.lines, "`na` was not completed")


def test_a_query_document_is_completed_and_sent(
    user: UserFolders, opened: Callable[[str, str], Emacs], vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("It holds notes."))
    editor = opened("ask.jp.md", "---\nconversation: new\n---\n\nWhat does @not")
    editor.type("\x1b>\x1b\t")
    editor.wait("What does @notes.txt")
    editor.type(" hold?")
    editor.command("jp-send")
    editor.wait("It holds notes.")
    assert "What does @notes.txt hold?" in (user.workspace / "ask.jp.md").read_text("utf-8")
    assert "Notes." in str(vendor.queries[-1]["messages"])
