"""VS Code when there is nothing yet: no workspace of ours, no configuration, no key and no model."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.user_folders import UserFolders
from tests.support.vscode_window import VsCodeWindow

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> UserFolders:
    """A user who has only just installed us."""
    user = UserFolders(tmp_path_factory.mktemp("user"))
    user.write("hello.py", 'print("hello")\n')
    (user.workspace / ".jp").rmdir()
    return user


def test_a_folder_is_made_a_workspace_also_where_the_command_has_several_words(
    window: VsCodeWindow, user: UserFolders
) -> None:
    window.command("JP: Make This Folder a Workspace")
    window.command("File: Focus on Files Explorer")
    expect(window.page.locator(".explorer-folders-view .monaco-list-row", has_text=".jp")).to_be_visible()
    assert (user.workspace / ".jp").is_dir()


def test_the_tree_says_that_there_is_no_conversation(window: VsCodeWindow) -> None:
    window.show_chat()  # which starts the server
    window.show_tree()
    expect(window.page.get_by_text("No conversations in this workspace yet.")).to_be_visible()


def test_a_question_without_a_model_leads_to_one(window: VsCodeWindow) -> None:
    window.show_chat()
    window.ask("What is this?")
    expect(window.text("no model is set")).to_be_visible()
    expect(window.question).to_have_value("What is this?")
    window.chat.get_by_role("button", name="Choose a Model").click()
    step = window.page.get_by_role("button", name=re.compile("Choose a model")).first
    expect(step).to_be_visible()
    install = window.page.get_by_role("button", name="Install the Small Built-in Model")
    expect(install).to_be_visible()
    window.picture("no model")
