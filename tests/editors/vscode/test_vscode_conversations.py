"""What the VS Code extension does with stored conversations: keeping, copying, removing and finding them."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.support.chat_vendor import ChatVendor, answer, refused, thought
from tests.support.http_server import Hold
from tests.support.three_tools import call_of
from tests.support.user_folders import UserFolders
from tests.support.vscode_window import VsCodeWindow

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("vscode"),
    pytest.mark.usefixtures("new_conversation"),
]


@pytest.fixture(scope="module")
def user(user: UserFolders) -> UserFolders:
    """A user who wants a colour behind reasoning."""
    with (user.config / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[style.reasoning]\nbackground = '#102030'\n")
    return user


def remember(window: VsCodeWindow, vendor: ChatVendor, title: str, *replies: str) -> None:
    """Have a conversation of some turns, which is called by its first line."""
    vendor.will_answer(*map(answer, replies))
    for number, reply in enumerate(replies, start=1):
        window.ask(f"# {title}\n\nTurn {number}")
        expect(window.text(reply)).to_be_visible()
        expect(window.text("7 tokens in")).to_have_count(number)


def test_a_conversation_is_kept_as_the_user_wants(
    window: VsCodeWindow, vendor: ChatVendor, user: UserFolders
) -> None:
    remember(window, vendor, "An old one", "Kept.")
    window.start_conversation()
    remember(window, vendor, "A newer one", "Also kept.")
    window.show_tree()
    row = window.tree_row("An old one")
    window.tree_menu("An old one", "Pin Conversation")
    expect(row).to_have_attribute("aria-label", re.compile("pinned"))
    expect(window.page.locator(".part.sidebar .pane .monaco-list-row", has_text="one").first).to_contain_text(
        "An old one"
    )
    window.tree_menu("An old one", "Change Labels...")
    window.enter("area=storage wip")
    expect(row).to_contain_text("area=storage · wip")
    window.tree_menu("An old one", "Change Labels...")
    window.enter("area=storage")
    expect(row).not_to_contain_text("wip")
    window.tree_menu("An old one", "Say How Long to Keep...")
    window.enter("30d")
    expect(row).to_have_attribute("aria-label", re.compile("may be removed after"))
    window.tree_menu("An old one", "Keep for Me Alone")
    expect(row).to_have_attribute("aria-label", re.compile("only yours"))
    window.tree_menu("An old one", "Make This the Conversation in Use")
    expect(row).to_have_attribute("aria-label", re.compile("in use"))
    row.click(button="right")
    window.page.locator(".monaco-menu").get_by_role("menuitem", name="Write Down...").hover()
    window.picture("tree menu")
    window.press("Escape")
    window.tree_menu("An old one", "Keep in the Workspace")
    expect(row).not_to_have_attribute("aria-label", re.compile("only yours"))
    window.tree_menu("An old one", "Unpin Conversation")
    expect(row).not_to_have_attribute("aria-label", re.compile("pinned"))


def test_what_was_put_away_or_removed_comes_back(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "One to put away", "Kept.")
    window.show_tree()
    window.picture("tree")
    window.tree_menu("One to put away", "Archive Conversation")
    expect(window.tree_row("One to put away")).to_have_count(0)
    window.tree_row("Archived").click()
    expect(window.tree_row("One to put away")).to_be_visible()
    window.picture("archive")
    window.tree_menu("One to put away", "Bring Back from the Archive")
    expect(window.text("Kept.")).to_be_visible()
    expect(window.tree_row("Archived")).to_have_count(0)
    window.tree_menu("One to put away", "Remove Conversation")
    expect(window.tree_row("One to put away")).to_have_count(0)
    window.toast("is removed").get_by_role("button", name="Undo").click()
    window.tree_row("One to put away").click()
    expect(window.text("Kept.")).to_be_visible()
    window.tree_menu("One to put away", "Remove Conversation")
    expect(window.tree_row("One to put away")).to_have_count(0)
    window.command("JP: Take a Removed Conversation Back...")
    window.choose("removed")
    expect(window.text("Kept.")).to_be_visible()


def test_keys_are_for_the_row_that_has_the_focus(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "The lower row", "Kept.")
    window.start_conversation()
    remember(window, vendor, "The upper row", "Also kept.")
    window.tree_row("The lower row").click()
    expect(window.text("Kept.")).to_be_visible()
    window.show_tree()
    focused = window.page.locator(".part.sidebar .monaco-list-row.focused")
    expect(focused).to_contain_text("The upper row")
    window.press("F2")
    expect(window.entry).to_have_value("The upper row")
    window.press("Escape")
    window.show_tree()
    expect(focused).to_contain_text("The upper row")
    window.press("Delete")
    expect(window.toast('"The upper row" is removed.')).to_be_visible()
    expect(window.tree_row("The lower row")).to_be_visible()
    expect(window.tree_row("The upper row")).to_have_count(0)


def test_what_is_typed_wrongly_is_told_in_a_sentence(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "One to keep", "Kept.")
    window.show_tree()
    window.tree_menu("One to keep", "Say How Long to Keep...")
    window.enter("soonish")
    toast = window.toast("`expires` must be a duration")
    expect(toast).to_be_visible()
    expect(toast).not_to_contain_text("Invalid params")
    window.picture("wrong duration")


def test_going_on_in_a_copy(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "Two turns", "Of one.", "Of two.")
    window.show_tree()
    window.tree_menu("Two turns", "Go On in a Copy...")
    window.choose("The last turn")
    expect(window.text("Of one.")).to_have_count(0)
    expect(window.text("Of two.")).to_be_visible()
    vendor.will_answer(answer("Of three."))
    window.ask("Turn three")
    expect(window.text("Of three.")).to_be_visible()
    window.chat.locator(".speech.user").first.hover()
    window.picture("fork button")
    window.chat.locator(".speech.user").first.get_by_role("button", name="Fork: copy").click()
    expect(window.text("Of three.")).to_have_count(0)
    expect(window.text("Of two.")).to_be_visible()


def test_a_conversation_is_written_down(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "For the record", "Well said.")
    window.show_tree()
    window.tree_menu("For the record", "Write Down...")
    window.choose("Markdown")
    expect(window.editor).to_contain_text("Well said.")
    window.picture("written down")
    window.command("View: Revert and Close Editor")


def test_models_are_shown_less(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "Three turns", "Of one.", "Of two.", "Of three.")
    window.show_tree()
    window.tree_menu("Three turns", "Shorten for Models...")
    window.picture("policies")
    window.choose("Leave out reasoning, and")
    expect(window.toast("Models are shown turn 1 in a shorter form.")).to_be_visible()
    window.tree_menu("Three turns", "Shorten for Models...")
    window.choose("Show models all of it again")
    expect(window.toast("all of the conversation again")).to_be_visible()


def test_a_model_sums_it_up_unless_that_is_cancelled(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "To sum up", "Of one, at length. " * 40, "Of two.", "Of three.")
    hold = Hold()
    vendor.will_answer(answer("Too late", hold, "."))
    window.show_tree()
    window.tree_menu("To sum up", "Shorten for Models...")
    window.choose("Let a model sum it up")
    progress = window.toast("Summing up turn 1")
    expect(progress).to_be_visible()
    window.picture("summing up")
    progress.get_by_role("button", name="Cancel").click()
    expect(window.toast("The compaction was cancelled; the conversation is as it was.")).to_be_visible()
    vendor.will_answer(answer("All is well."))
    window.show_tree()
    window.tree_menu("To sum up", "Shorten for Models...")
    window.choose("Let a model sum it up")
    expect(window.toast("Models are shown turn 1 in a shorter form.")).to_be_visible()


def test_the_rules_of_the_settings_shorten_it(
    window: VsCodeWindow, vendor: ChatVendor, user: UserFolders
) -> None:
    settings = user.workspace / ".jp" / "config.toml"
    settings.write_text(
        "[[conversation.compaction.rules]]\nreasoning = 'strip'\nkeep_first = 0\nkeep_last = 1\n", "utf-8"
    )
    remember(window, vendor, "By the rules", "Of one.", "Of two.", "Of three.")
    window.show_tree()
    window.tree_menu("By the rules", "Shorten for Models...")
    window.choose("As the settings say")
    expect(window.toast("Models are shown turns 1 to 2 in a shorter form.")).to_be_visible()
    settings.unlink()


def turn_button(window: VsCodeWindow, turn: int, name: str) -> Locator:
    """A button of a turn, which is there while the pointer is."""
    speech = window.chat.locator(f'[data-turn="{turn}"] .speech.user')
    speech.hover()
    return speech.get_by_role("button", name=name)


def test_a_turn_is_asked_again_changed_and_removed(window: VsCodeWindow, vendor: ChatVendor) -> None:
    remember(window, vendor, "Turns to mend", "Of one.", "Of two.")
    vendor.will_answer(answer("Of two again."))
    turn_button(window, 2, "Ask this turn again").click()
    expect(window.text("Of two again.")).to_be_visible()
    expect(window.text("Of two.")).to_have_count(0)
    expect(window.chat.locator(".turn")).to_have_count(2)
    turn_button(window, 2, "Ask it in other words").click()
    expect(window.editor).to_contain_text("Turn 2")
    window.editor.click()
    window.press("Control+a")
    window.page.keyboard.insert_text("Ask another thing")
    vendor.will_answer(answer("Of another thing."))
    window.command("JP: Send")
    expect(window.text("Of another thing.")).to_be_visible()
    expect(window.text("Of two again.")).to_have_count(0)
    expect(window.chat.locator(".turn")).to_have_count(2)
    turn_button(window, 1, "Change what you said").hover()
    window.picture("turn buttons")
    turn_button(window, 1, "Change what you said").click()
    expect(window.editor).to_contain_text("Turns to mend")
    window.editor.click()
    window.press("Control+Home", "Shift+End")
    window.page.keyboard.insert_text("# Turns that are mended")
    window.picture("changing a turn")
    window.command("JP: Send")
    expect(window.text("Turns that are mended")).to_be_visible()
    expect(window.chat.locator('[data-turn="1"]')).not_to_contain_text("Turns to mend")
    expect(window.text("The conversation as it was is kept in")).to_be_visible()
    turn_button(window, 1, "Remove this turn").click()
    window.page.locator(".monaco-dialog-box").get_by_role("button", name="Remove").click()
    expect(window.text("Turns that are mended")).to_have_count(0)
    expect(window.text("Of another thing.")).to_be_visible()
    window.picture("turn removed")


@pytest.mark.requirement("R340")
def test_a_hit_of_a_search_is_opened_at_its_place(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(
        call_of("greet", who="Needle"),
        answer(thought("A needle, hm."), "Found it."),
        answer("\n\n".join(["x"] * 60)),
    )
    window.ask("Greet somebody")
    window.answer("Run")
    expect(window.text("Found it.")).to_be_visible()
    window.ask("Say a lot")
    expect(window.text("7 tokens in")).to_have_count(1)
    window.start_conversation()
    window.command("JP: Search All Conversations...")
    window.entry.fill("needle")
    expect(window.row("A needle, hm.")).to_contain_text("turn 1, thought")
    window.picture("search")
    window.choose("A needle, hm.")
    found = window.chat.locator(".found")
    expect(found).to_contain_text("A needle, hm.")
    expect(found).to_be_in_viewport()
    window.picture("found")
    window.command("JP: Search All Conversations...")
    window.entry.fill("hello Needle")
    window.choose("hello Needle")
    expect(found).to_have_class(re.compile("tool"))
    expect(found).to_be_in_viewport()
    window.command("JP: Search All Conversations...")
    window.entry.fill("not said by anybody")
    expect(window.row("Nowhere in")).to_be_visible()
    window.press("Escape")


def test_the_colour_behind_reasoning_is_that_of_the_settings(
    window: VsCodeWindow, vendor: ChatVendor
) -> None:
    vendor.will_answer(answer(thought("Hm."), "So be it."))
    window.ask("Why?")
    expect(window.text("So be it.")).to_be_visible()
    expect(window.chat.locator(".reasoning")).to_have_css("background-color", "rgb(16, 32, 48)")
    window.chat.locator(".reasoning summary").click()
    window.picture("reasoning")


@pytest.mark.requirement("R343")
def test_a_failure_is_not_the_users_word(window: VsCodeWindow, vendor: ChatVendor) -> None:
    vendor.will_answer(refused(401, "that key is wrong"))
    window.ask("Are you there?")
    expect(window.chat.get_by_text("Authentication failed").first).to_be_visible()
    window.picture("failed")
    expect(window.chat.locator(".speech.user")).not_to_contain_text("Authentication failed")


def test_the_walkthrough_knows_that_the_server_runs(window: VsCodeWindow) -> None:
    window.command("JP: Get Started")
    step = window.page.locator('.getting-started-step[data-step-id$="#server"]')
    expect(step.locator(".codicon-getting-started-step-checked")).to_be_visible()
    window.picture("walkthrough")
    window.command("View: Close Editor")
