"""Installing, configuring and examining the Neovim plugin, and its pure specs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.neovim import neovim_program
from tests.support.nvim_plugin import PLUGIN, SPECS, nvim_with_plugin
from tests.support.nvim_screen import NvimScreen
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_BUFFER = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')"
_MESSAGES = "return vim.fn.execute('messages')"


def test_pure_specs() -> None:
    argv = [neovim_program(), "--headless", "--clean", "-l", str(SPECS)]
    told = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert re.search(r"^\d{2,} passed, 0 failed$", told.stdout, re.MULTILINE)


def test_checkhealth(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Hello."))
    nvim.command("Jp ask hi")
    nvim.wait_for("Hello")
    nvim.command("checkhealth jp")
    report = nvim.lua(_BUFFER)
    assert re.search(r"OK version 0\.\d+", report)
    assert re.search(r"OK version jp-lsp \d", report)
    assert "needs a key: environment variable ANTHROPIC_API_KEY is not set" in report
    assert "A new conversation would ask llamacpp/tiny" in report
    assert "local tools: greet, paint, sleep" in report
    assert "ERROR" not in report


def test_checkhealth_without_a_server(user: UserFolders, short_folder: Path) -> None:
    with nvim_with_plugin(user, short_folder, cmd=["/no/such/jp-lsp"]) as nvim:
        nvim.command("checkhealth jp")
        report = nvim.lua(_BUFFER)
    assert "ERROR not found: looked at `/no/such/jp-lsp`" in report
    assert "python3 -m pip install" in report


def test_checkhealth_names_what_keeps_a_query_from_being_asked(user: UserFolders, short_folder: Path) -> None:
    config = user.config / "config.toml"
    text = config.read_text(encoding="utf-8").replace("llamacpp/tiny", "anthropic/any")
    config.write_text(text, encoding="utf-8")
    with nvim_with_plugin(user, short_folder) as nvim:
        nvim.command("checkhealth jp")
        report = nvim.lua(_BUFFER)
    assert "ERROR A new conversation would ask anthropic/any" in report
    assert "WARNING A query here would not reach a model." in report


def test_help(user: UserFolders, short_folder: Path) -> None:
    plugin = user.home / "plugin"
    shutil.copytree(PLUGIN / "doc", plugin / "doc")
    with nvim_with_plugin(user, short_folder) as nvim:
        nvim.command(f"set rtp^={plugin} | helptags {plugin}/doc")
        for subject in ("jp.txt", ":Jp-ask", "jp-option-chat.size", "JpNeedsYou", "hl-JpKey"):
            nvim.command(f"help {subject}")
            assert nvim.lua("return vim.fs.basename(vim.fn.bufname())") == "jp.txt"
            assert f"*{subject}*" in nvim.lua("return vim.api.nvim_get_current_line()")


def test_the_keys_are_shown_also_where_no_help_tags_were_made(nvim: NvimScreen) -> None:
    nvim.command("Jp chat new")
    nvim.type("<Esc>g?")
    nvim.wait_for(r"^KEYS .*jp-keys")
    assert nvim.lua("return vim.bo.filetype") == "help"


def test_wrong_options_are_named(user: UserFolders, short_folder: Path) -> None:
    with nvim_with_plugin(user, short_folder, modle="x") as nvim:
        nvim.until_lua(f"return (function() {_MESSAGES} end)():find('there is no option `modle`', 1, true)")


def test_a_missing_server_is_told_of_once(user: UserFolders, short_folder: Path) -> None:
    with nvim_with_plugin(user, short_folder, cmd=["/no/such/jp-lsp"], size=(160, 20)) as nvim:
        nvim.command("Jp ask Important words")
        nvim.wait_for("✗ no server")
        messages = nvim.lua(_MESSAGES)
        assert messages.count("no server") == 1
        assert "python3 -m pip install" in messages
        nvim.command("Jp ask")
        nvim.wait_for("Important words")


def test_the_workspace_brings_its_own_server(user: UserFolders, short_folder: Path) -> None:
    program = user.workspace / ".venv" / "bin" / "jp-lsp"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho here >> ran\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    with nvim_with_plugin(user, short_folder, cmd=[], restarts=2, size=(160, 20)) as nvim:
        nvim.command("Jp ask hi")
        nvim.wait_for("left stopped")
        assert nvim.lua("return require('jp').statusline()") == "JP stopped"
    assert (user.workspace / "ran").read_text(encoding="utf-8") == "here\n" * 3


@pytest.mark.requirement("R340")
def test_a_method_that_the_server_lacks_is_not_sent(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Hello."))
    nvim.command("Jp ask hi")
    nvim.wait_for("tokens in")
    nvim.lua("require('jp.client').of().methods['jp/conversation/title'] = nil")
    nvim.command("Jp rename Other")
    nvim.wait_for("is not offered by this server")


def test_what_a_query_would_send_is_explained(nvim: NvimScreen, vendor: ChatVendor) -> None:
    nvim.command("Jp explain What?")
    nvim.wait_for("What would be sent")
    explanation = nvim.lua(_BUFFER)
    assert "Model: `llamacpp/tiny`" in explanation
    assert "- `greet`: Can greet" in explanation
    assert not vendor.queries


def test_the_server_starts_with_a_file_by_lsp_enable(user: UserFolders, short_folder: Path) -> None:
    with nvim_with_plugin(user, short_folder) as nvim:
        nvim.command("lua vim.lsp.enable('jp')")
        nvim.command("edit area.py")
        nvim.until_lua("return require('jp.client').of().status == 'ready'")
        nvim.until_lua("return #vim.lsp.get_clients({ name = 'jp', bufnr = 0 }) == 1")


def test_where_settings_come_from_is_explained(nvim: NvimScreen) -> None:
    nvim.command("Jp explain config assistant.model.id")
    nvim.wait_for("Where settings come from")
    explanation = nvim.lua(_BUFFER)
    assert "## `assistant.model.id`" in explanation
    assert "config.toml:4, wins" in explanation


def test_a_persona_is_chosen(nvim: NvimScreen, vendor: ChatVendor, user: UserFolders) -> None:
    folder = user.workspace / ".jp" / "config" / "personas"
    folder.mkdir(parents=True)
    text = '[assistant]\nsystem_prompt = "You are a pirate."\n'
    (folder / "pirate.toml").write_text(text, encoding="utf-8")
    paths = 'config_load_paths = [".jp/config"]\n'
    (user.workspace / ".jp" / "config.toml").write_text(paths, encoding="utf-8")
    assert nvim.lua("return require('jp.commands').complete('p', 'Jp persona p')") == ["pirate"]
    nvim.type(":Jp persona<CR>")
    nvim.wait_for("1: .*pirate")
    nvim.type("1<CR>")
    nvim.wait_for("is asked with personas/pirate")
    vendor.will_answer(answer("Arr."))
    nvim.command("Jp ask hi")
    nvim.wait_for("Arr")
    assert "You are a pirate." in str(vendor.queries[-1]["messages"][0])


def test_a_model_is_chosen(nvim: NvimScreen, vendor: ChatVendor) -> None:
    nvim.type(":Jp model<CR>")
    nvim.wait_for(r"1: llamacpp/tiny")
    nvim.type("1<CR>")
    nvim.wait_for("the next query asks llamacpp/tiny")


@pytest.mark.requirement("R340")
def test_a_conversation_is_named(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("Hello."))
    nvim.command("Jp ask hi")
    nvim.wait_for("tokens in")
    nvim.command("Jp rename A better name")
    nvim.wait_for("│ A better name")
