"""The Neovim plugin as a person sees it: asking, streaming, folding, two conversations."""

import pytest

from tests.support.chat_vendor import ChatVendor, answer, refused, thought
from tests.support.http_server import Hold
from tests.support.nvim_plugin import chat_text, check_screen, wait_for_chat
from tests.support.nvim_screen import NvimScreen
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_CLOSE_CHAT = "vim.api.nvim_buf_delete(require('jp.client').of().recent.buffer, {})"

_ENDED_CONVERSATIONS = """
local names = {}
for _, chat in pairs(require('jp.client').of().chats) do
  if not chat:running() then table.insert(names, chat.conversation) end
end
table.sort(names)
return #names == 2 and names
"""

_IS_COLOURED = "return vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil"


@pytest.mark.requirement("R326", "R327", "R340", "R2", "R90")
def test_an_answer_streams_in(nvim: NvimScreen, vendor: ChatVendor, update_golden: bool) -> None:
    gate = Hold()
    beginning = "It *multiplies*:\n\n```lua\nlocal area = width * height\n```\n\n"
    vendor.will_answer(answer(thought("Two numbers.\n\nTheir product."), beginning, gate, "That is all."))
    nvim.command("Jp ask What does area do?")
    nvim.wait_for(r"local area")
    check_screen(nvim, "streaming", update=update_golden)
    gate.open()
    nvim.wait_for(r"7 tokens in, 3 out")
    check_screen(nvim, "answered", update=update_golden)
    assert nvim.mode() == "n"
    assert nvim.lua("return vim.fn.expand('%')") == "area.py", "the cursor stays where the user is"


@pytest.mark.requirement("R326", "R340")
def test_the_text_of_a_chat_is_the_transcript(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("First.\n\nSecond."))
    nvim.command("Jp ask Tell me")
    nvim.wait_for("tokens in")
    wanted = "## User\n\nTell me\n\n## Assistant (llamacpp/tiny)\n\nFirst.\n\nSecond.\n"
    assert chat_text(nvim) == wanted


@pytest.mark.requirement("R340")
def test_reasoning_unfolds(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer(thought("I ponder."), "So be it."))
    nvim.command("Jp ask Why?")
    nvim.wait_for("So be it")
    assert "I ponder" not in nvim.text
    nvim.command("Jp chat")
    nvim.type("gg/ponder<CR>")
    nvim.wait_for("I ponder")
    nvim.type("zc")
    nvim.wait_until_gone("I ponder")
    nvim.type("<CR>")
    nvim.wait_for("I ponder")


def test_the_end_is_followed_only_from_the_end(nvim: NvimScreen, vendor: ChatVendor) -> None:
    gate, last_gate = Hold(), Hold()
    items = "".join(f"- item {number}\n" for number in range(40))
    vendor.will_answer(answer(f"{items}\n\n", gate, "Now here.\n\n", last_gate, "The end."))
    nvim.command("Jp ask Count")
    nvim.wait_for("item 38")
    nvim.command("Jp chat")
    nvim.type("gg")
    nvim.wait_for("^.*│Count")
    gate.open()
    wait_for_chat(nvim, "Now here")
    assert "item 38" not in nvim.text
    nvim.type("G")
    nvim.wait_for("Now here")
    last_gate.open()
    nvim.wait_for(r"The end\.")
    nvim.wait_for("tokens in")


@pytest.mark.requirement("R326")
def test_selected_lines_go_along(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Fine."))
    nvim.type("VG:Jp ask Is it right?<CR>")
    nvim.wait_for("Fine")
    asked = vendor.last_message
    assert asked.startswith("Is it right?")
    assert "`area.py`, lines 1 to 2:\n\n```python\ndef area(width, height):\n" in asked


@pytest.mark.requirement("R221")
def test_a_query_is_written_in_the_input(nvim: NvimScreen, vendor: ChatVendor, update_golden: bool) -> None:
    nvim.command("Jp attach %")
    nvim.command("Jp model llamacpp/other")
    nvim.command("Jp ask")
    nvim.type("Is this<CR>all?")
    nvim.wait_for("all\\?")
    check_screen(nvim, "input", update=update_golden)
    vendor.will_answer(answer("Yes."))
    nvim.type("<C-s>")
    nvim.wait_for("tokens in")
    assert "Yes." in nvim.text
    assert vendor.last_message.endswith("Is this\nall?")
    assert vendor.queries[-1]["model"] == "other"
    assert "return width * height" in str(vendor.queries[-1]["messages"])


@pytest.mark.requirement("R344", "R343")
def test_a_query_that_cannot_be_asked_comes_back(
    nvim: NvimScreen, vendor: ChatVendor, update_golden: bool
) -> None:
    nvim.command("Jp model anthropic/any")
    nvim.command("Jp ask")
    nvim.type("Important words<C-s>")
    nvim.wait_for("✗")
    nvim.wait_for("Important words")
    check_screen(nvim, "not_asked", update=update_golden)
    assert not vendor.queries


@pytest.mark.requirement("R343")
def test_a_failed_turn_says_why_once(nvim: NvimScreen, vendor: ChatVendor, update_golden: bool) -> None:
    vendor.will_answer(refused(401, "that key is wrong"))
    nvim.command("Jp ask hi")
    nvim.wait_for("failed")
    nvim.wait_for("Authentication failed")
    check_screen(nvim, "failed", update=update_golden)
    assert nvim.text.count("Authentication failed") == 1


@pytest.mark.requirement("R337", "S23")
def test_two_conversations_at_once(nvim: NvimScreen, vendor: ChatVendor, user: UserFolders) -> None:
    gates = {"alpha": Hold(), "beta": Hold()}
    for word, gate in gates.items():
        vendor.will_answer(answer(f"Of {word}.\n\n", gate, f"{word} is done."), to=word)
    nvim.command("Jp new Tell of alpha")
    nvim.wait_for(r"Of alpha\.")
    nvim.command("Jp new Tell of beta")
    nvim.wait_for(r"Of beta\.")
    assert "Of alpha" not in nvim.text
    gates["alpha"].open()
    gates["beta"].open()
    nvim.wait_for("beta is done")
    first, second = nvim.until_lua(_ENDED_CONVERSATIONS)
    assert user.story(first)[-1] == "message: Of alpha.\n\nalpha is done."
    assert user.story(second)[-1] == "message: Of beta.\n\nbeta is done."
    nvim.command(f"only | edit jp://conversation/{first}")
    nvim.wait_for("alpha is done")


def test_a_stored_conversation_is_chosen(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Remembered."))
    nvim.command("Jp ask Keep this")
    nvim.wait_for("tokens in")
    nvim.lua(_CLOSE_CHAT)
    nvim.wait_until_gone("Remembered")
    nvim.type(":Jp conversations<CR>")
    nvim.wait_for("1: .* jp-c")
    nvim.type("1<CR>")
    nvim.wait_for(r"Remembered\.")


def test_a_chat_is_opened_again_as_it_was(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer(thought("Hm."), "Remembered."))
    nvim.command("Jp ask Keep this")
    nvim.wait_for("tokens in")
    before = chat_text(nvim)
    nvim.lua(_CLOSE_CHAT)
    nvim.wait_until_gone("Remembered")
    nvim.command("Jp chat last")
    nvim.wait_for(r"Remembered\.")
    nvim.wait_for("▸ thought, 1 line")
    nvim.settle(lambda: nvim.lua("return vim.bo.filetype") == "jpchat")
    assert nvim.lua("return vim.bo.filetype") == "jpchat"
    nvim.settle(lambda: bool(nvim.lua(_IS_COLOURED)))
    assert nvim.lua(_IS_COLOURED)
    nvim.settle(lambda: chat_text(nvim).replace(" (turn 1, now)", "") == before)
    assert chat_text(nvim).replace(" (turn 1, now)", "") == before


_OPEN_AND_LOOK = """
local conversation, milliseconds = ...
require('jp.config').options.load_ms = milliseconds
require('jp').chat(conversation)
local marks = vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })
return { vim.api.nvim_buf_get_lines(0, 0, -1, true), vim.inspect(marks):match('loading the conversation') or '' }
"""
"""Opens a stored conversation, and looks at its chat before the screen can be drawn."""


def test_a_stored_conversation_is_there_when_its_chat_opens(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Remembered."))
    nvim.command("Jp ask Keep this")
    nvim.wait_for("tokens in")
    conversation = nvim.lua("return require('jp.client').of().recent.conversation")
    nvim.lua(_CLOSE_CHAT)
    lines, told = nvim.lua(_OPEN_AND_LOOK, conversation, 10_000)
    assert ("Remembered." in lines, told) == (True, "")


def test_a_conversation_that_takes_long_says_that_it_is_loading(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Remembered."))
    nvim.command("Jp ask Keep this")
    nvim.wait_for("tokens in")
    conversation = nvim.lua("return require('jp.client').of().recent.conversation")
    nvim.lua(_CLOSE_CHAT)
    lines, _ = nvim.lua(_OPEN_AND_LOOK, conversation, 0)
    assert lines == [""]
    nvim.wait_for(r"Remembered\.")
    assert "loading" not in nvim.text


def test_an_empty_chat_says_what_to_do(nvim: NvimScreen, vendor: ChatVendor) -> None:
    nvim.command("Jp")
    nvim.wait_for(r"│i +writes a query *\n.*│<CR> +sends it *\n.*│g\? +shows all keys")
    vendor.will_answer(answer("Hello."))
    nvim.type("ihi<Esc><CR>")
    nvim.wait_for("tokens in")
    assert "writes a query" not in nvim.text


@pytest.mark.requirement("R221")
def test_unsaved_text_is_what_the_model_is_shown(
    nvim: NvimScreen, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("Seen."))
    nvim.type("Onot saved at all<Esc>")
    nvim.command("Jp attach %")
    nvim.command("Jp ask Look")
    nvim.wait_for("Seen")
    assert "not saved at all" in str(vendor.queries[-1]["messages"])
    assert "not saved" not in (user.workspace / "area.py").read_text(encoding="utf-8")


def test_events_and_statusline(nvim: NvimScreen, vendor: ChatVendor) -> None:
    nvim.lua(
        "seen = {} vim.api.nvim_create_autocmd('User', { pattern = 'Jp*', callback = function(event)"
        " table.insert(seen, { event.match, event.data.outcome or '', require('jp').statusline() }) end })"
    )
    assert nvim.lua("return require('jp').statusline()") == ""
    vendor.will_answer(answer("Hello."))
    nvim.command("Jp ask hi")
    nvim.wait_for("tokens in")
    seen = nvim.lua("return seen")
    assert [name for name, *_ in seen if name != "JpConversationChanged"] == [
        "JpServerStarted",
        "JpTurnStarted",
        "JpTurnCompleted",
    ]
    assert [line[1:] for line in seen if line[0] == "JpTurnCompleted"] == [["completed", "JP idle"]]
    assert all("working" in line for name, _, line in seen if name == "JpTurnStarted")


def test_the_end_of_a_paragraph_that_is_longer_than_the_window_is_seen(
    nvim: NvimScreen, vendor: ChatVendor
) -> None:
    gate = Hold()
    words = [f"word{number} " for number in range(300)]
    vendor.will_answer(answer(*words, gate, "The end.\n\nAnd more.\n"))
    nvim.command("Jp ask Write without a break")
    gate.wait_until_reached()
    gate.open()
    nvim.wait_for("tokens in")
    lines = [line.partition("│")[2].strip() for line in nvim.text.splitlines()]
    assert "The end." in nvim.text
    assert "And more." in nvim.text
    assert sum(line != "" for line in lines) > 15, "most of the window is not empty"
