"""Language features in Neovim: what it shows in configuration files, query documents and code, with its own keys."""

from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.nvim_plugin import check_screen, nvim_with_plugin
from tests.support.nvim_screen import NvimScreen
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_SERVES = "return #vim.lsp.get_clients({ bufnr = 0, name = 'jp' }) == 1"
_DIAGNOSTICS = """
return vim.tbl_map(function(each) return each.message end, vim.diagnostic.get(0))
"""
_FOREIGN = """
local namespace = vim.api.nvim_create_namespace('linter')
vim.diagnostic.set(namespace, 0, { { lnum = 1, col = 4, message = 'numbers only', source = 'linter' } })
"""


def open_config(nvim: NvimScreen, user: UserFolders, text: str, name: str = "config.toml") -> None:
    """Open a file of the workspace's configuration; it starts the server by itself."""
    path = user.workspace / ".jp" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    nvim.command(f"edit .jp/{name}")
    nvim.until_lua(_SERVES)


def test_completion_in_a_configuration_file(nvim: NvimScreen, user: UserFolders, update_golden: bool) -> None:
    open_config(nvim, user, "[assistant]\n")
    nvim.command("set completeopt=menu")
    nvim.type("Go<C-x><C-o>")
    nvim.wait_for("instructions")
    check_screen(nvim, "completion", update=update_golden)
    nvim.type("<C-e>na<C-x><C-o>")
    nvim.until_lua("return vim.api.nvim_get_current_line() == 'name'")


def test_hover_in_a_configuration_file(nvim: NvimScreen, user: UserFolders, update_golden: bool) -> None:
    open_config(nvim, user, '[assistant]\nname = "Ada"\n')
    nvim.type("GK")
    nvim.wait_for(r"now: ")
    check_screen(nvim, "hover", update=update_golden)


def test_a_misspelt_key_is_mended(nvim: NvimScreen, user: UserFolders) -> None:
    open_config(nvim, user, '[assistant]\nnmae = "Ada"\n')
    nvim.until(lambda: nvim.lua(_DIAGNOSTICS), "no diagnostic came")
    nvim.type("Ggra")
    nvim.wait_for("1: Change to `name`")
    nvim.type("1<CR>")
    nvim.until_lua("return vim.api.nvim_get_current_line() == 'name = \"Ada\"'")
    nvim.until(lambda: not nvim.lua(_DIAGNOSTICS), "the diagnostic stayed")


def test_a_code_action_asks_about_a_diagnostic(
    nvim: NvimScreen, vendor: ChatVendor, user: UserFolders
) -> None:
    open_config(nvim, user, '[assistant]\nnmae = "Ada"\n', "personas/ada.toml")
    nvim.until(lambda: nvim.lua(_DIAGNOSTICS), "no diagnostic came")
    vendor.will_answer(answer("It is misspelt."))
    nvim.type("Ggra")
    nvim.wait_for("JP: Explain this problem")
    (number,) = (line.split(":")[0] for line in nvim.text.splitlines() if "Explain this problem" in line)
    nvim.type(f"{number}<CR>")
    nvim.wait_for(r"It is misspelt\.")
    assert 'nmae = "Ada"' in vendor.last_message
    assert nvim.lua("return vim.fs.basename(vim.fn.expand('%'))") == "ada.toml", "the cursor stays"


def test_what_another_server_complains_of_is_asked_about(
    nvim: NvimScreen, vendor: ChatVendor, update_golden: bool
) -> None:
    nvim.command("Jp actions")
    nvim.wait_for("there is no diagnostic on this line")
    nvim.lua(_FOREIGN)
    vendor.will_answer(answer("As you wish."))
    nvim.type("G:Jp actions<CR>")
    nvim.wait_for("1: JP: Fix this problem")
    check_screen(nvim, "actions", update=update_golden)
    nvim.type("1<CR>")
    nvim.wait_for(r"As you wish\.")
    assert "- line 2: numbers only (linter)" in vendor.last_message


def test_code_is_asked_about_in_own_words(nvim: NvimScreen, vendor: ChatVendor) -> None:
    nvim.type("VG:Jp actions<CR>")
    nvim.wait_for("1: JP: Ask about this code")
    nvim.type("1<CR>")
    nvim.wait_for("area.py, lines 1 to 2")
    nvim.until(lambda: nvim.mode() == "i", "no input opened")
    vendor.will_answer(answer("Quite right."))
    nvim.type("Is it right?<C-s>")
    nvim.wait_for(r"Quite right\.")
    assert vendor.last_message.startswith("Is it right?\n\n`area.py`, lines 1 to 2:")
    assert "return width * height" in vendor.last_message


def test_a_setting_is_explained_where_the_cursor_is(nvim: NvimScreen, user: UserFolders) -> None:
    open_config(nvim, user, '[assistant]\nname = "Ada"\n')
    nvim.type("G")
    nvim.command("Jp explain config")
    nvim.wait_for("## `assistant.name`")
    nvim.wait_for(r'^- \.jp/config\.toml:2, wins: `"Ada"`$')
    nvim.wait_for("jp://read/configuration$")
    nvim.command("close")
    nvim.command("Jp config assistant.name")
    nvim.wait_for('assistant.name = "Ada"')
    nvim.command("Jp config assistant.model")
    nvim.wait_for("assistant.model.id")
    nvim.command("close")
    nvim.type(":Jp set assistant.name=Grace<CR>")
    nvim.wait_for("1: This workspace")
    nvim.type("1<CR>")
    nvim.wait_for('assistant.name is "Grace" now; save .*config.toml')
    assert nvim.lua("return vim.api.nvim_get_current_line()") == 'name = "Grace"'
    found = nvim.lua(
        "return require('jp.commands').complete('assistant.na', 'Jp explain config assistant.na')"
    )
    assert found == ["assistant.name"]


def test_a_server_that_was_stopped_is_not_started_by_a_file(nvim: NvimScreen, user: UserFolders) -> None:
    open_config(nvim, user, "")
    nvim.command("Jp shutdown")
    nvim.until_lua("return require('jp.client').of().status == 'stopped'")
    nvim.command("new ask.jp.md")
    assert nvim.lua("return require('jp.client').of().status") == "stopped"


def test_a_missing_server_is_no_trouble_for_a_file(user: UserFolders, short_folder: Path) -> None:
    with nvim_with_plugin(user, short_folder, cmd=["/no/such/jp-lsp"]) as nvim:
        nvim.command("edit .jp/config.toml")
        assert nvim.lua("return vim.fn.execute('messages')") == ""


def test_the_window_is_whole_again_when_an_explanation_is_closed(nvim: NvimScreen, user: UserFolders) -> None:
    open_config(nvim, user, '[assistant]\nname = "Ada"\n')
    nvim.type("GK")
    nvim.wait_for(r"now: ")
    nvim.command("Jp explain config assistant.name")
    nvim.wait_for("Where settings come from")
    nvim.type("q")
    nvim.wait_until_gone("Where settings come from")
    nvim.wait_until_still()
    assert nvim.lua("return vim.o.cmdheight") == 1
