"""The VS Code extension in a real VS Code, with the real server and a model that says what it is told to.

One window serves all tests; each begins a conversation of its own. Those about the tree of conversations come
first, while all of its rows are in sight. Pictures of what they see are kept in the
folder that `JP_SCREENSHOTS` names, else in that of the test run.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.http_server import Hold
from tests.support.three_tools import call_of, heard_from
from tests.support.user_folders import UserFolders
from tests.support.vscode_user import SOURCE
from tests.support.vscode_window import VsCodeWindow, kill_server

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("vscode"),
    pytest.mark.usefixtures("new_conversation"),
]


def test_conversations_are_opened_renamed_archived_and_removed(
    window: VsCodeWindow, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer("Kept."), answer("Also kept."))
    window.ask("# The first one\n\nRemember this")
    expect(window.text("Kept.")).to_be_visible()
    window.start_conversation()
    window.ask("# The second one\n\nRemember that")
    expect(window.text("Also kept.")).to_be_visible()
    window.show_tree()
    window.tree_row("The first one").click()
    expect(window.text("Remember this")).to_be_visible()
    expect(window.question).to_be_focused()
    window.tree_menu("The first one", "Rename Conversation...")
    window.enter("The renamed one")
    expect(window.tree_row("The renamed one")).to_be_visible()
    expect(window.chat.get_by_role("heading", name="The renamed one")).to_be_visible()
    window.tree_menu("The second one", "Archive Conversation")
    expect(window.tree_row("The second one")).to_have_count(0)
    window.toast("is archived").get_by_role("button", name="Undo").click()
    expect(window.tree_row("The second one")).to_be_visible()
    window.tree_menu("The second one", "Remove Conversation")
    expect(window.tree_row("The second one")).to_have_count(0)
    window.picture("tree")


@pytest.mark.requirement("S23")
def test_conversations_side_by_side(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("Still ", gate, "thinking."), to="slow")
    vendor.will_answer(answer("Quick."), to="fast")
    window.ask("A slow one")
    gate.wait_until_reached()
    window.start_conversation()
    window.ask("A fast one")
    expect(window.text("Quick.")).to_be_visible()
    window.show_tree()
    working = window.page.locator(".pane .monaco-list-row:has(.codicon-loading)")
    expect(working).to_have_count(1)
    window.picture("conversations")
    working.click()
    expect(window.text("A slow one")).to_be_visible()
    gate.open()
    expect(window.text("Still thinking.")).to_be_visible()


def test_an_answer_streams_into_the_chat(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(
        answer(
            '## What it does\n\nThe function `main` prints **hello**:\n\n```python\nprint("hello")\n```\n\n',
            gate,
            "And that is all.\n",
        )
    )
    window.ask("What does `main` do?")
    gate.wait_until_reached()
    expect(window.text("The function main prints")).to_be_visible()
    expect(window.status).to_have_attribute("aria-label", re.compile("JP is working"))
    window.picture("streaming")
    gate.open()
    expect(window.text("And that is all.")).to_be_visible()
    expect(window.text("7 tokens in")).to_be_visible()
    expect(window.status).to_have_attribute("aria-label", re.compile("open the chat"))
    window.picture("answered")


def test_asking_from_the_palette(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Forty-two."))
    window.command("JP: Ask...")
    window.enter("What is the answer?")
    expect(window.text("Forty-two.")).to_be_visible()


def test_asking_about_a_selection(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("It prints."))
    window.open_file("hello.py")
    window.editor.click()
    window.press("Control+Home", "Shift+ArrowDown", "Shift+ArrowDown", "Control+Alt+j")
    expect(window.chat.locator(".chip")).to_have_text(re.compile("hello.py:1-2"))
    expect(window.question).to_be_focused()
    window.picture("selection")
    window.type("And this?")
    window.press("Enter")
    expect(window.text("It prints.")).to_be_visible()
    expect(window.chat.locator(".chip")).to_have_count(0)
    selected = "".join(SOURCE.splitlines(keepends=True)[:2])
    assert vendor.last_message == f"And this?\n\nhello.py:1-2:\n\n```python\n{selected}```"


def test_a_code_action_asks_in_the_chat(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("It greets.\n\n", gate, "That is all."))
    window.open_file("hello.py")
    window.editor.click()
    window.press("Control+Home", "Shift+ArrowDown", "Control+.")
    window.page.locator(".action-widget .monaco-list-row", has_text="JP: Explain this code").click()
    expect(window.text("It greets.")).to_be_visible()
    gate.open()
    expect(window.text("That is all.")).to_be_visible()
    assert "def main():" in vendor.last_message


@pytest.mark.requirement("R276", "R328", "R340")
def test_a_tool_is_approved_inside_the_conversation(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("It said hello."))
    window.ask("Greet Ada")
    expect(window.prompt).to_contain_text("Run local tool greet?")
    expect(window.status).to_have_attribute("aria-label", re.compile("waits for your answer"))
    expect(window.toast("greet")).to_have_count(0)
    window.picture("approval")
    window.answer("Run")
    expect(window.text("It said hello.")).to_be_visible()
    assert "hello Ada" in heard_from(vendor)
    expect(window.prompt).to_have_count(0)


@pytest.mark.requirement("R276")
def test_arguments_are_edited_in_an_editor(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Greeted."))
    window.ask("Greet somebody")
    window.answer("Edit arguments...")
    window.tab("Arguments of greet.json").wait_for()
    window.editor.click()
    window.press("Control+Home", "ArrowDown", "End", "ArrowLeft", "Backspace", "Backspace", "Backspace")
    window.type("Grace")
    expect(window.editor).to_contain_text('"Grace"')
    window.picture("editing arguments")
    window.press("Control+Enter")
    expect(window.text("Greeted.")).to_be_visible()
    assert "hello Grace" in heard_from(vendor)
    expect(window.page.locator(".tab", has_text="Arguments of greet.json")).to_have_count(0)


def test_arguments_are_read_as_a_document(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Well."))
    window.ask("Greet her")
    window.chat.get_by_role("button", name=re.compile("^Open")).first.click()
    window.tab("arguments of greet.json").wait_for()
    expect(window.editor).to_contain_text('"who"')
    window.answer("Skip")
    expect(window.text("Well.")).to_be_visible()


@pytest.mark.requirement("R276")
def test_a_proposed_edit_is_compared_with_the_file(window: VsCodeWindow, vendor: ChatVendor) -> None:
    edit = {"path": "hello.py", "version": "?", "edits": [{"old": '"hello"', "new": '"good evening"'}]}
    vendor.will_answer(
        answer(called("call-0", "editor_edit_file", json.dumps(edit)), reason="tool_calls"),
        answer("As you like."),
    )
    window.ask("Make it polite")
    window.chat.get_by_role("button", name=re.compile("diff|Compare", re.I)).first.click()
    modified = window.page.locator(".monaco-diff-editor .editor.modified .view-lines")
    expect(modified).to_contain_text("good evening")
    window.picture("diff")
    window.answer("Skip")
    expect(window.text("As you like.")).to_be_visible()


@pytest.mark.requirement("R328", "R332")
def test_the_interrupt_menu(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("First.\n\n", gate, "Second."))
    window.ask("Tell a long story")
    gate.wait_until_reached()
    expect(window.text("First.")).to_be_visible()
    window.press("Control+Alt+.")
    expect(window.prompt).to_contain_text("What next?")
    window.picture("interrupt menu")
    vendor.will_answer(answer("Short, then."))
    window.answer("Reply")
    window.prompt.get_by_role("textbox").fill("Shorter!")
    window.press("Enter")
    gate.open()
    expect(window.text("Short, then.")).to_be_visible()
    assert vendor.last_message.endswith("\n\nShorter!")


def test_the_model_and_the_persona_are_picked(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Aye."))
    window.command("JP: Pick Model...")
    expect(window.row("llamacpp/tiny")).to_contain_text("the model of this conversation now")
    window.picture("picking a model")
    window.enter("llamacpp/other")
    expect(window.chat.get_by_role("button", name="Model: llamacpp/other")).to_be_visible()
    window.command("JP: Pick Persona...")
    window.choose("poet")
    expect(window.chat.get_by_role("button", name="Persona: Poet")).to_be_visible()
    window.ask("Who are you?")
    expect(window.text("Aye.")).to_be_visible()
    expect(window.chat.get_by_role("heading", name="Poet llamacpp/other")).to_be_visible()
    assert vendor.queries[-1]["model"] == "other"


@pytest.mark.requirement("R328")
def test_a_question_in_a_hidden_view_is_told_of(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(
        answer(gate, called("call-0", "greet", '{"who": "Ada"}'), reason="tool_calls"), answer("Right.")
    )
    window.ask("Greet later")
    gate.wait_until_reached()
    window.command("File: Focus on Files Explorer")
    gate.open()
    window.toast("Run local tool greet?").get_by_role("button", name="Show").click()
    window.answer("Skip")
    expect(window.text("Right.")).to_be_visible()


def test_a_server_is_stopped_and_started(window: VsCodeWindow, vendor: ChatVendor) -> None:
    window.command("JP: Stop Server")
    expect(window.status).to_have_attribute("aria-label", re.compile("stopped"))
    start = window.chat.get_by_role("button", name="Start Server")
    expect(start).to_be_visible()
    window.picture("stopped")
    start.click()
    expect(start).to_have_count(0)
    vendor.will_answer(answer("Here again."))
    window.ask("Are you there?")
    expect(window.text("Here again.")).to_be_visible()


def test_the_page_comes_back_as_it_was_after_it_was_hidden(window: VsCodeWindow, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("Before.\n\n", gate, "After."))
    window.ask("Go on meanwhile")
    expect(window.text("Before.")).to_be_visible()
    window.question.fill("half a thought")
    expect(window.question).to_have_value("half a thought")
    window.command("File: Focus on Files Explorer")
    gate.open()
    window.command("JP: Open Chat")
    expect(window.text("After.")).to_be_visible()
    expect(window.text("Before.")).to_be_visible()
    expect(window.question).to_have_value("half a thought")
    window.question.fill("")


def test_the_walkthrough(window: VsCodeWindow) -> None:
    window.command("JP: Get Started")
    for step in ("Install the server", "Choose a model", "Ask something", "Approve a tool"):
        expect(window.page.get_by_role("button", name=re.compile(step)).first).to_be_visible()
    window.picture("walkthrough")
    window.command("View: Close Editor")


def test_the_extension_was_activated_by_what_was_used(window: VsCodeWindow) -> None:
    """No time is asserted; `tests/bench/bench_vscode.py` measures it."""
    assert window.activation_milliseconds("JP") >= 0
    window.command("View: Close Editor")


@pytest.mark.requirement("S11")
def test_a_killed_server_is_started_again_and_the_turn_resumed(
    window: VsCodeWindow, vendor: ChatVendor, user: UserFolders
) -> None:
    gate = Hold()
    vendor.will_answer(answer("Half of it.\n\n", gate, "And the rest."))
    window.ask("Tell me all")
    gate.wait_until_reached()
    expect(window.text("Half of it.")).to_be_visible()
    kill_server(user.environment())
    expect(window.text("The server stopped before it had answered.")).to_be_visible()
    resume = window.chat.get_by_role("button", name="Go on")
    expect(resume).to_be_visible()
    window.picture("cut off")
    vendor.will_answer(answer("The whole answer."))
    resume.click()
    expect(window.text("The whole answer.")).to_be_visible()
    expect(window.text("Tell me all")).to_have_count(1)
    expect(window.text("Half of it.")).to_have_count(0)


def test_all_of_it_by_keys(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done by keys."))
    window.press("Control+Alt+j")
    expect(window.question).to_be_focused()
    window.type("Greet, please")
    window.press("Enter")
    expect(window.prompt).to_be_visible()
    window.press("Control+.")
    expect(window.prompt.get_by_role("button", name="Skip", exact=True)).to_be_focused()
    window.press("Tab")
    expect(window.prompt.get_by_role("button", name="Run", exact=True)).to_be_focused()
    window.press("Enter")
    expect(window.text("Done by keys.")).to_be_visible()
    expect(window.question).to_be_focused()


THEMES = {
    "dark": "Dark Modern",
    "light": "Light Modern",
    "high contrast": "Dark High Contrast",
}


@pytest.mark.parametrize("theme", list(THEMES))
def test_every_theme_has_a_page_without_faults(
    window: VsCodeWindow, vendor: ChatVendor, user: UserFolders, theme: str
) -> None:
    window.use_theme(THEMES[theme])
    vendor.will_answer(
        answer(
            'A *list*:\n\n1. `one`\n2. [two](https://example.org)\n\n> quoted\n\n```json\n{"a": 1}\n```\n'
        ),
        call_of("greet", who="Ada"),
        answer("Fine."),
    )
    window.ask("Show me everything")
    expect(window.text("quoted")).to_be_visible()
    window.ask("And greet")
    expect(window.prompt).to_be_visible()
    window.picture(f"theme {theme}")
    faults = window.accessibility_faults()
    window.answer("Skip")
    expect(window.text("Fine.")).to_be_visible()
    assert faults == []
