"""The Neovim plugin when things go wrong or fast: a killed server, a flood of text while somebody types."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer, said
from tests.support.http_server import Hold
from tests.support.nvim_plugin import chat_text, check_screen, nvim_with_plugin, wait_for_chat
from tests.support.nvim_screen import NvimScreen
from tests.support.three_tools import call_of, heard_from, let_end, times_begun
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_CHILDREN = "return vim.api.nvim_get_proc_children(vim.fn.getpid())"
_STATUS = "return require('jp.client').of().status"
_LAST_SEQ = "local s = require('jp.client').of().recent.sections return s[#s].state.last_seq"

_PARAGRAPHS, _AT_ONCE = 10_000, 100


def paragraphs(first: int) -> list[bytes]:
    """Some numbered paragraphs, each a piece of its own."""
    return [said(f"Paragraph {number}.\n\n") for number in range(first, first + _AT_ONCE)]


def kill_server(nvim: NvimScreen) -> None:
    """Kill the only process that Neovim has started."""
    (server,) = nvim.lua(_CHILDREN)
    os.kill(server, signal.SIGKILL)


@pytest.mark.requirement("S12", "R339", "R344", "R340")
def test_a_turn_that_was_cut_off_is_resumed(
    nvim: NvimScreen, vendor: ChatVendor, user: UserFolders, update_golden: bool
) -> None:
    vendor.will_answer(call_of("sleep"))
    nvim.command("Jp ask Sleep")
    nvim.until(lambda: times_begun(user) == 1, "the tool did not begin")
    kill_server(nvim)
    nvim.wait_for("Jp resume")
    nvim.command("messages clear | echo ''")
    check_screen(nvim, "cut_off", update=update_golden)
    let_end(user)
    vendor.will_answer(answer("Slept."))
    nvim.command("Jp resume")
    nvim.wait_for("It may have run")
    nvim.command("Jp approve")
    nvim.wait_for(r"Slept\.")
    nvim.wait_for("tokens in")
    check_screen(nvim, "resumed", update=update_golden)
    assert heard_from(vendor).strip() == "slept"


@pytest.mark.requirement("R344")
def test_a_query_that_the_server_took_down_is_marked(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("First.\n\n", Hold(), "Second."))
    nvim.command("Jp ask hi")
    nvim.wait_for("First")
    kill_server(nvim)
    nvim.wait_for("✗ The server ended by signal 9")
    nvim.until_lua("return require('jp.client').of().status == 'ready'")
    vendor.will_answer(answer("Back again."))
    nvim.command("Jp ask more")
    nvim.wait_for("Back again")


def test_a_server_that_dies_often_is_left_stopped(
    user: UserFolders, vendor: ChatVendor, short_folder: Path
) -> None:
    with nvim_with_plugin(user, short_folder, restarts=1, size=(120, 24)) as nvim:
        vendor.will_answer(answer("Hello."))
        nvim.command("Jp ask hi")
        nvim.wait_for("tokens in")
        kill_server(nvim)
        nvim.wait_for("is started again")
        nvim.until_lua("return require('jp.client').of().status == 'ready'")
        kill_server(nvim)
        nvim.wait_for("left stopped")
        assert nvim.lua(_STATUS) == "stopped"
        assert nvim.lua(_CHILDREN) == []
        nvim.command("Jp start")
        nvim.until_lua("return require('jp.client').of().status == 'ready'")
        vendor.will_answer(answer("Back again."))
        nvim.command("Jp ask more")
        nvim.wait_for("Back again")


@pytest.mark.requirement("R330")
def test_a_question_goes_with_its_server(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"))
    nvim.command("Jp ask go")
    nvim.wait_for("JP needs you")
    kill_server(nvim)
    nvim.wait_until_gone("JP needs you")
    nvim.command("Jp approve")
    nvim.wait_for("nothing waits for an answer")


def test_the_server_stops_when_it_is_told_to(nvim: NvimScreen, vendor: ChatVendor, user: UserFolders) -> None:
    vendor.will_answer(answer("First.\n\n", Hold(), "Second."))
    nvim.command("Jp ask hi")
    nvim.wait_for("First")
    nvim.command("Jp shutdown")
    nvim.until_lua("return require('jp.client').of().status == 'stopped'")
    assert nvim.lua(_CHILDREN) == []
    nvim.wait_for(r"The server|interrupted|stopped")


@pytest.mark.requirement("R341", "R2", "R340")
def test_typing_goes_on_while_an_answer_floods_in(nvim: NvimScreen, vendor: ChatVendor) -> None:
    """With each key a hundred chunks come: each key is on the screen, and the answer grows between the keys."""
    gates = [Hold() for _ in range(_PARAGRAPHS // _AT_ONCE)]
    steps = [step for at, gate in enumerate(gates) for step in (gate, *paragraphs(at * _AT_ONCE))]
    vendor.will_answer(answer("Begin.\n\n", *steps))
    nvim.command("Jp ask Flood me")
    nvim.wait_for("Begin")
    typed, grown = "", set[int]()
    nvim.type("O")
    for gate, key in zip(gates, "keys arrive, the screen goes on;" * 4, strict=False):
        gate.open()
        nvim.type(key)
        typed += key
        nvim.wait_for(f"^{re.escape(typed.splitlines()[-1].rstrip())}")
        grown.add(nvim.lua(_LAST_SEQ))
        if key == ";":
            nvim.type("<CR>")
            typed += "\n"
    assert "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -3, true)")) == typed.rstrip("\n")
    assert len(grown) > len(gates) // 10, "the answer grew between the keys"
    nvim.type("<Esc>")
    nvim.until_lua("return require('jp.client').of().recent:running() == nil")
    wait_for_chat(nvim, f"Paragraph {_PARAGRAPHS - 1}.")
    shown = [text for text in chat_text(nvim).split() if text.endswith(".")]
    assert shown[1:] == [f"{number}." for number in range(_PARAGRAPHS)]
    nvim.wait_for(f"Paragraph {_PARAGRAPHS - 1}")
