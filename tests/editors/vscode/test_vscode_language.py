"""The language features in a real VS Code: configuration files, query documents, code actions and settings."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold
from tests.support.user_folders import UserFolders
from tests.support.vscode_window import VsCodeWindow

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("vscode"),
    pytest.mark.usefixtures("closed_editors"),
]

CONFIG = 'config_load_paths = [".jp/config"]\n\n[assistant]\nname = "Ada"\n'
MISSPELT = '[assistant]\nnmae = "Poet"\n'


@pytest.fixture(scope="module")
def user(user: UserFolders) -> UserFolders:
    """A user who is named in the workspace's configuration, with personas still to be written and mended."""
    (user.workspace / ".jp" / "config.toml").write_text(CONFIG, encoding="utf-8")
    personas = user.workspace / ".jp" / "config" / "personas"
    (personas / "new.toml").write_text("[assistant]\n", encoding="utf-8")
    (personas / "wrong.toml").write_text(MISSPELT, encoding="utf-8")
    return user


def test_a_configuration_file_starts_the_server_and_is_completed(window: VsCodeWindow) -> None:
    window.quick_open(".jp/config/personas/new.toml")
    expect(window.status).to_have_attribute("aria-label", re.compile("open the chat"))
    window.editor.click()
    window.press("Control+End")
    window.type("sys")
    window.until_suggested("system_prompt")
    window.picture("completion")
    window.choose_suggestion("system_prompt")
    expect(window.editor).to_contain_text("system_prompt")


def test_a_setting_is_described_and_explained(window: VsCodeWindow) -> None:
    window.quick_open(".jp/config.toml")
    window.go_to(4, 2)
    window.command("Show or Focus Hover")
    hover = window.page.locator(".monaco-hover:visible")
    expect(hover).to_contain_text("from .jp/config.toml:4")
    window.picture("hover")
    window.press("Escape")
    window.command("JP: Explain a Setting...")
    window.tab("Preview assistant.name.md").wait_for()
    expect(window.preview.get_by_text('.jp/config.toml:4, wins: "Ada"')).to_be_visible()
    window.picture("explained")


def test_a_setting_is_found_by_its_value_and_changed(window: VsCodeWindow) -> None:
    window.command("JP: Change a Setting...")
    window.entry.fill("Ada")
    window.choose("assistant.name")
    window.enter("Grace")
    window.choose("This workspace")
    expect(window.toast('assistant.name is "Grace" now.')).to_be_visible()
    window.picture("changed setting")
    window.toast("Grace").get_by_role("button", name="Open File").click()
    expect(window.editor).to_contain_text('name = "Grace"')


def test_a_setting_that_is_not_set_yet_is_typed(window: VsCodeWindow) -> None:
    window.command("JP: Change a Setting...")
    window.entry.fill("assistant.model.parameters.temperature")
    expect(window.row("assistant.model.parameters.temperature")).to_contain_text("as typed")
    window.choose("assistant.model.parameters.temperature")
    window.enter("0.5")
    window.choose("Me, in this workspace")
    expect(window.toast("assistant.model.parameters.temperature is 0.5 now.")).to_be_visible()


def test_a_misspelt_key_is_mended_and_asked_about(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("It is misspelt.\n\n", gate, "That is all."))
    window.quick_open(".jp/config/personas/wrong.toml")
    window.page.locator(".squiggly-error").first.wait_for()
    window.go_to(2, 2)
    window.press("Control+.")
    window.page.locator(".action-widget .monaco-list-row").first.wait_for()
    window.picture("code actions")
    window.page.locator(".action-widget .monaco-list-row", has_text="JP: Explain this problem").click()
    expect(window.text("It is misspelt.")).to_be_visible()
    gate.open()
    expect(window.text("That is all.")).to_be_visible()
    assert 'nmae = "Poet"' in vendor.last_message
    window.quick_open(".jp/config/personas/wrong.toml")
    window.go_to(2, 2)
    window.press("Control+.")
    window.page.locator(".action-widget .monaco-list-row", has_text="Change to `name`").click()
    expect(window.editor).to_contain_text('name = "Poet"')


def test_a_query_document_is_written_and_sent_by_its_lens(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("It greets.\n\n", gate, "That is the end of it."))
    window.command("JP: New Query Document")
    window.tab("query.jp.md").wait_for()
    window.paste("---\nmodel: llamacpp/other\n---\nWhat does @hello.py do?\n")
    lens = window.page.locator(".codelens-decoration a", has_text="Send to JP")
    expect(lens).to_be_visible()
    window.picture("query document")
    lens.click()
    expect(window.text("It greets.")).to_be_visible()
    expect(window.page.locator(".codelens-decoration a", has_text="JP is answering")).to_be_visible()
    window.picture("query document sent")
    gate.open()
    expect(window.text("That is the end of it.")).to_be_visible()
    assert vendor.queries[-1]["model"] == "other"
    assert 'print("hello")' in str(vendor.queries[-1]["messages"])


def test_a_query_document_is_sent_by_its_key(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("By a key."))
    window.command("JP: New Query Document")
    window.tab("query.jp.md").wait_for()
    window.paste("---\nconversation: new\n---\nA short question")
    window.press("Control+Enter")
    expect(window.text("By a key.")).to_be_visible()
    expect(window.text("A short question")).to_be_visible()


def test_a_file_is_attached_and_code_is_inserted_and_applied(
    window: VsCodeWindow, vendor: ChatVendor
) -> None:
    window.quick_open("hello.py")
    window.command("JP: Attach File to the Next Question")
    expect(window.chat.locator(".chip")).to_have_text(re.compile("hello.py"))
    vendor.will_answer(answer("Better:\n\n```python\nprint('good evening')\n```\n"))
    window.ask("How to be polite?")
    expect(window.text("Better:")).to_be_visible()
    assert 'print("hello")' in str(vendor.queries[-1]["messages"])
    window.quick_open("hello.py")
    window.go_to(4, 1)
    window.chat.get_by_role("button", name="Insert at cursor").last.click()
    expect(window.editor).to_contain_text("print('good evening')")
    window.picture("inserted")
    window.command("Undo")
    window.chat.get_by_role("button", name=re.compile("^Apply")).last.click()
    modified = window.page.locator(".monaco-diff-editor .editor.modified .view-lines")
    expect(modified).to_contain_text("good evening")
    window.picture("applying")
    window.toast("Change hello.py like this?").get_by_role("button", name="Apply").click()
    window.tab(re.compile("^hello.py$")).wait_for()
    expect(window.editor).not_to_contain_text("def main")
    expect(window.editor).to_contain_text("good evening")
