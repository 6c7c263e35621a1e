"""What the Neovim plugin does with stored conversations: naming, keeping, copying, removing and finding them."""

import json

import pytest

from tests.support.chat_vendor import ChatVendor, answer, thought
from tests.support.http_server import Hold
from tests.support.nvim_plugin import chat_text, check_screen, wait_for_chat
from tests.support.nvim_screen import NvimScreen
from tests.support.three_tools import call_of
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

LONG = "Of one, at length. " * 40
RULES = """
[[conversation.compaction.rules]]
reasoning = "strip"
keep_first = 0
keep_last = 1
"""

_ID = "return require('jp.client').of().recent.conversation"
_TITLE = "return require('jp.client').of().recent.title"
_SUMMARIES = """
local client = require('jp.client').of()
local answer = client.lsp:request_sync('jp/conversation/list', { archived = ... or false }, 5000)
return answer.result.conversations
"""


def ask(nvim: NvimScreen, vendor: ChatVendor, question: str, reply: str) -> str:
    """Ask in a new conversation, and give its id."""
    vendor.will_answer(answer(reply))
    nvim.command(f"Jp new {question}")
    wait_for_chat(nvim, reply)
    nvim.wait_for("tokens in")
    return str(nvim.lua(_ID))


def summary(nvim: NvimScreen, conversation: str) -> dict[str, object]:
    """What the server lists of a conversation."""
    (found,) = (each for each in nvim.lua(_SUMMARIES) if each["conversation"] == conversation)
    return dict(found)


def listed(nvim: NvimScreen, *, archived: bool = False) -> list[str]:
    return [str(each["conversation"]) for each in nvim.lua(_SUMMARIES, archived)]


def test_a_conversation_is_named_labelled_pinned_and_kept(nvim: NvimScreen, vendor: ChatVendor) -> None:
    conversation = ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp rename Locks and files")
    nvim.until(lambda: nvim.lua(_TITLE) == "Locks and files", "it was not renamed")
    nvim.command("Jp label area=storage wip")
    nvim.wait_for("labels: area=storage, wip")
    nvim.command("Jp label -wip")
    nvim.wait_for("labels: area=storage$")
    nvim.command("Jp pin")
    nvim.wait_for("is pinned")
    nvim.command("Jp expire 30d")
    nvim.wait_for("may be removed after")
    nvim.command("Jp move local")
    nvim.wait_for("is yours alone now")
    known = summary(nvim, conversation)
    assert known["title"] == "Locks and files"
    assert known["labels"] == [{"key": "area", "value": "storage"}]
    assert known["local"] is True
    assert "pinnedAt" in known
    assert "expiresAt" in known
    nvim.command("Jp expire never")
    nvim.wait_for("is kept")
    nvim.command("Jp unpin")
    nvim.wait_for("is not pinned")
    nvim.command("Jp move workspace")
    nvim.wait_for("is in the workspace now")
    known = summary(nvim, conversation)
    assert not {"pinnedAt", "expiresAt"} & set(known)
    assert known["local"] is False


def test_what_was_put_away_or_removed_comes_back(nvim: NvimScreen, vendor: ChatVendor) -> None:
    conversation = ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp archive")
    nvim.wait_for("is archived")
    assert (listed(nvim), listed(nvim, archived=True)) == ([], [conversation])
    nvim.type(":Jp unarchive<CR>")
    nvim.wait_for(f"1: .*{conversation}")
    nvim.type("1<CR>")
    nvim.until(lambda: listed(nvim) == [conversation], "it did not come back")
    nvim.command("Jp remove")
    nvim.wait_for("is removed; `:Jp restore` takes it back")
    assert listed(nvim) == []
    nvim.type(":Jp restore<CR>")
    nvim.wait_for(f"1: .*{conversation}")
    nvim.type("1<CR>")
    nvim.until(lambda: listed(nvim) == [conversation], "it was not restored")
    nvim.wait_until_gone(r"\(removed\)")
    wait_for_chat(nvim, "Kept.")


def test_what_could_not_be_asked_goes_when_the_conversation_is_back(
    nvim: NvimScreen, vendor: ChatVendor
) -> None:
    conversation = ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp archive")
    nvim.wait_for(r"Remember this \(archived\)")
    nvim.command("Jp ask Are you there")
    nvim.wait_for("There is no conversation")
    nvim.type(":Jp unarchive<CR>")
    nvim.wait_for(f"1: .*{conversation}  Remember this")
    nvim.type("1<CR>")
    nvim.wait_until_gone("There is no conversation")
    nvim.wait_until_gone(r"\(archived\)")
    wait_for_chat(nvim, "Kept.")


def test_what_is_typed_about_a_conversation(nvim: NvimScreen, vendor: ChatVendor) -> None:
    conversation = ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp label area=storage wip")
    nvim.wait_for("labels: area=storage, wip")
    nvim.type(":Jp label<CR>")
    nvim.wait_for("Labels beside area=storage wip")
    nvim.type("-wip<CR>")
    nvim.wait_for("labels: area=storage$")
    nvim.type(":Jp expire<CR>")
    nvim.wait_for("Remove it after")
    nvim.type("soonish<CR>")
    nvim.wait_for("jp: `expires` must be a duration")
    nvim.command("Jp expire 30d")
    nvim.wait_for(r"may be removed after \d{4}-\d\d-\d\d \d\d:\d\d UTC$")
    nvim.type(":Jp move<CR>")
    nvim.wait_for("1: For you alone")
    nvim.type("1<CR>")
    nvim.wait_for("is yours alone now")
    assert summary(nvim, conversation)["local"] is True


def test_a_long_title_is_cut_at_its_end(nvim: NvimScreen, vendor: ChatVendor) -> None:
    ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp rename Locks and files, at such a length that no window is wide enough for it")
    nvim.wait_for("│ Locks and files, at such.*…$")
    nvim.command("Jp pin")
    nvim.wait_for('"Locks and files, at such a length that .*…" is pinned')


def test_something_is_done_with_a_conversation_of_the_list(nvim: NvimScreen, vendor: ChatVendor) -> None:
    first = ask(nvim, vendor, "First", "One.")
    second = ask(nvim, vendor, "Second", "Two.")
    nvim.command("Jp conversations nonsense")
    nvim.wait_for("nothing is called `nonsense`")
    nvim.type(":Jp conversations pin<CR>")
    nvim.wait_for(f"2: .*{first}")
    nvim.type("2<CR>")
    nvim.wait_for("is pinned")
    assert "pinnedAt" in summary(nvim, first)
    nvim.type(":Jp conversations<CR>")
    nvim.wait_for(f"1: .*{first} .*pinned")
    nvim.wait_for(f"2: .*{second} .*in use")
    nvim.type("<CR>")


def test_going_on_in_a_copy(nvim: NvimScreen, vendor: ChatVendor) -> None:
    first = ask(nvim, vendor, "Turn one", "Of one.")
    vendor.will_answer(answer("Of two."))
    nvim.command("Jp ask Turn two")
    wait_for_chat(nvim, "Of two.")
    nvim.until_lua("return not require('jp.client').of().recent:running()")
    nvim.command("Jp chat")
    nvim.type("gg")
    nvim.command("Jp fork here")
    nvim.until(lambda: nvim.lua(_ID) != first, "no copy is shown")
    wait_for_chat(nvim, "Of one.")
    assert "Of two." not in chat_text(nvim)
    nvim.command(f"Jp chat {first}")
    nvim.command("Jp fork last 1")
    nvim.until(lambda: nvim.lua(_ID) != first, "no copy is shown")
    wait_for_chat(nvim, "Of two.")
    assert "Of one." not in chat_text(nvim)
    nvim.command("Jp fork sideways")
    nvim.wait_for("`:Jp fork last 3`")
    assert len(listed(nvim)) == 3


def test_a_conversation_is_written_down(nvim: NvimScreen, vendor: ChatVendor, user: UserFolders) -> None:
    ask(nvim, vendor, "Remember this", "Kept.")
    nvim.command("Jp export markdown story.md")
    nvim.wait_for("`:w` writes it")
    assert nvim.lua("return vim.bo.filetype") == "markdown"
    assert not (user.workspace / "story.md").exists()
    nvim.command("write")
    assert "Kept." in (user.workspace / "story.md").read_text(encoding="utf-8")
    nvim.command("Jp export json story.json")
    nvim.until_lua("return vim.fn.expand('%') == 'story.json'")
    nvim.command("write")
    assert "Kept." in json.dumps(json.loads((user.workspace / "story.json").read_text(encoding="utf-8")))


def test_models_are_shown_less(nvim: NvimScreen, vendor: ChatVendor) -> None:
    ask(nvim, vendor, "Turn one", "Of one.")
    nvim.command("Jp compact reasoning")
    nvim.wait_for("there are no turns to compact")
    for word in ("two", "three"):
        vendor.will_answer(answer(f"Of {word}."))
        nvim.command(f"Jp ask Turn {word}")
        wait_for_chat(nvim, f"Of {word}.")
        nvim.until_lua("return not require('jp.client').of().recent:running()")
    nvim.type(":Jp compact<CR>")
    nvim.wait_for("3: Leave out reasoning, and what tools")
    nvim.type("3<CR>")
    nvim.wait_for("models are shown turn 1 in a shorter form")
    nvim.command("Jp compact reset")
    nvim.wait_for("models are shown all of it again")


def have_three_turns(nvim: NvimScreen, vendor: ChatVendor) -> str:
    """A conversation of three turns, the first of them with a long answer; gives its id."""
    conversation = ask(nvim, vendor, "Turn one", LONG)
    for word in ("two", "three"):
        vendor.will_answer(answer(f"Of {word}."))
        nvim.command(f"Jp ask Turn {word}")
        wait_for_chat(nvim, f"Of {word}.")
        nvim.until_lua("return not require('jp.client').of().recent:running()")
    return conversation


def test_a_model_sums_it_up_unless_that_is_cancelled(nvim: NvimScreen, vendor: ChatVendor) -> None:
    have_three_turns(nvim, vendor)
    nvim.command("Jp cancel")
    nvim.wait_for("there is nothing to cancel")
    hold = Hold()
    vendor.will_answer(answer("Too late", hold, "."))
    nvim.command("Jp compact summary")
    nvim.until(lambda: hold.is_reached, "no model was asked")
    nvim.wait_for("`:Jp cancel` ends it")
    nvim.command("Jp cancel")
    nvim.wait_for("the conversation is as it was")
    vendor.will_answer(answer("All is well."))
    nvim.command("Jp compact summary")
    nvim.wait_for("models are shown turn 1 in a shorter form")


def test_the_rules_of_the_settings_shorten_it(
    nvim: NvimScreen, vendor: ChatVendor, user: UserFolders
) -> None:
    (user.workspace / ".jp" / "config.toml").write_text(RULES, encoding="utf-8")
    have_three_turns(nvim, vendor)
    nvim.command("Jp compact rules")
    nvim.wait_for("models are shown turns 1 to 2 in a shorter form")


def test_a_turn_is_asked_again_changed_and_removed(nvim: NvimScreen, vendor: ChatVendor) -> None:
    have_three_turns(nvim, vendor)
    nvim.command("Jp chat")
    nvim.type("G")
    nvim.command("Jp turn jump")
    nvim.wait_for("but not `jump`")
    vendor.will_answer(answer("Of three again."))
    nvim.command("Jp turn replay In other words")
    wait_for_chat(nvim, "Of three again.")
    nvim.until(lambda: "Of three.\n" not in chat_text(nvim), "the old turn stayed")
    wait_for_chat(nvim, "In other words")
    nvim.type("gg")
    nvim.type(":Jp turn<CR>")
    nvim.wait_for("2: Change what you said in it")
    nvim.type("2<CR>")
    nvim.wait_for("What you said in turn 1")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "Turn one"
    nvim.type("ccTurn first<CR>and foremost<Esc>")
    nvim.command("write")
    nvim.wait_for("as it was it is kept in")
    wait_for_chat(nvim, "Turn first\nand foremost")
    assert "Turn one" not in chat_text(nvim).splitlines()
    nvim.type("gg")
    nvim.command("Jp turn remove")
    nvim.until(lambda: "Turn first" not in chat_text(nvim), "it was not removed")
    wait_for_chat(nvim, "Of two.")


@pytest.mark.requirement("R340")
def test_a_hit_of_a_search_is_opened_at_its_place(
    nvim: NvimScreen, vendor: ChatVendor, update_golden: bool
) -> None:
    vendor.will_answer(call_of("greet", who="Needle"), answer(thought("A needle, hm."), "Found the needle."))
    nvim.command("Jp new Greet somebody")
    nvim.wait_for("Run local tool greet")
    nvim.command("Jp approve")
    wait_for_chat(nvim, "Found the needle.")
    nvim.until_lua("return not require('jp.client').of().recent:running()")
    ask(nvim, vendor, "# Something else", "\n\n".join(["Nothing."] * 40))
    nvim.command("%bwipeout! | only")
    nvim.type(":Jp search needle<CR>")
    nvim.wait_for("thought: A needle, hm")
    check_screen(nvim, "hits", update=update_golden)
    (number,) = (line.split(":")[0] for line in nvim.text.splitlines() if "thought: A needle" in line)
    nvim.type(f"{number}<CR>")
    nvim.until_lua("return vim.api.nvim_get_current_line() == 'A needle, hm.'")
    assert nvim.lua("return vim.api.nvim_win_get_cursor(0)[2]") == 2
    nvim.wait_for("A needle, hm")
    nvim.command("Jp search nowhere at all")
    nvim.wait_for('"nowhere at all" is nowhere in 2 conversations')
