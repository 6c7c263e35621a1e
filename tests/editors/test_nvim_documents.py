"""Query documents in Neovim: written in a buffer, sent by their lens, answered in a chat."""

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.http_server import Hold
from tests.support.nvim_plugin import chat_text, check_screen, wait_for_chat
from tests.support.nvim_screen import NvimScreen
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_RUN_LENS = "vim.api.nvim_win_set_cursor(0, { 1, 0 }) vim.lsp.codelens.run()"
_ID = "return require('jp.client').of().recent.conversation"
_IS_CALM = "return require('jp.client').of().recent:running() == nil"


def write(nvim: NvimScreen, name: str, text: str) -> None:
    """Write a query document in a buffer; nothing is saved."""
    nvim.command(f"Jp document {name}")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(..., '\\n'))", text)
    nvim.wait_for("Send to JP")


def test_a_document_is_sent_by_its_lens(
    nvim: NvimScreen, vendor: ChatVendor, user: UserFolders, update_golden: bool
) -> None:
    gate = Hold()
    vendor.will_answer(answer("It multiplies.\n\n", gate, "That is all."))
    write(nvim, "ask", "---\nmodel: llamacpp/other\n---\n\nWhat does @area.py do?")
    assert nvim.lua("return vim.bo.filetype") == "markdown"
    check_screen(nvim, "document", update=update_golden)
    nvim.lua(_RUN_LENS)
    nvim.wait_for(r"It multiplies\.")
    nvim.wait_for("JP is answering")
    check_screen(nvim, "document_sent", update=update_golden)
    gate.open()
    nvim.wait_for(r"That is all\.")
    nvim.wait_for("Send to JP")
    assert vendor.queries[-1]["model"] == "other"
    assert "return width * height" in str(vendor.queries[-1]["messages"])
    assert not (user.workspace / "ask.jp.md").exists()


def test_a_document_goes_on_in_the_conversation_that_it_names(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Of one."))
    nvim.command("Jp new Turn one")
    wait_for_chat(nvim, "Of one.")
    nvim.until_lua(_IS_CALM)
    conversation = nvim.lua(_ID)
    vendor.will_answer(answer("Of two."))
    write(nvim, "more", f"---\nconversation: {conversation}\n---\nTurn two")
    nvim.command("Jp send")
    wait_for_chat(nvim, "Of two.")
    nvim.until(lambda: "Of one." in chat_text(nvim), "the whole conversation was never shown")
    assert nvim.lua(_ID) == conversation
    assert nvim.lua("return #vim.tbl_keys(require('jp.client').of().chats)") == 1


def test_the_turn_of_a_document_is_interrupted_by_its_lens(nvim: NvimScreen, vendor: ChatVendor) -> None:
    gate = Hold()
    vendor.will_answer(answer("Once upon a time.\n\n", gate, "The end."))
    write(nvim, "story", "Tell a long story")
    nvim.lua(_RUN_LENS)
    nvim.wait_for("Once upon")
    nvim.wait_for("JP is answering")
    nvim.lua(_RUN_LENS)
    nvim.wait_for("What next\\?")
    nvim.command("Jp stop")
    gate.open()
    nvim.wait_for("Send to JP")
    assert "The end." not in chat_text(nvim)


def test_completion_and_hover_in_a_document(nvim: NvimScreen, update_golden: bool) -> None:
    write(nvim, "ask", "---\nmodel: llamacpp/tiny\n---\nSee @ar")
    nvim.type("GA<C-x><C-o>")
    nvim.wait_for(r"See @area\.py")
    nvim.type("<Esc>ggj0K")
    nvim.wait_for("The model to ask")


def test_what_is_no_document_is_not_sent(nvim: NvimScreen) -> None:
    nvim.command("Jp send")
    nvim.wait_for("this is no query document")


def test_a_document_without_a_name_gets_one(nvim: NvimScreen, user: UserFolders) -> None:
    (user.workspace / "query.jp.md").write_text("There already.", encoding="utf-8")
    nvim.command("Jp document")
    assert nvim.lua("return vim.fs.basename(vim.fn.expand('%'))") == "query-2.jp.md"
