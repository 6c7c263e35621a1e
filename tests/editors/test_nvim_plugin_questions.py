"""Questions in the Neovim plugin: they stand beside their call, take no key, and mean nothing until answered."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.http_server import Hold
from tests.support.nvim_plugin import check_screen, nvim_with_plugin, wait_for_chat
from tests.support.nvim_screen import NvimScreen
from tests.support.three_tools import call_of, heard_from, let_end, times_begun
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e

_QUESTIONS = "return #require('jp.client').of().questions"


@pytest.fixture
def asked(nvim: NvimScreen, vendor: ChatVendor) -> Iterator[NvimScreen]:
    """An editor in whose chat `greet` waits to be allowed, the cursor in the input."""
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    nvim.command("Jp ask")
    nvim.type("go<C-s><Esc>")
    nvim.wait_for("g1 Skip")
    yield nvim
    nvim.wait_for("tokens in")


@pytest.mark.requirement("R276", "R328", "R340", "S2")
def test_a_tool_runs_once_it_is_allowed(asked: NvimScreen, vendor: ChatVendor, update_golden: bool) -> None:
    check_screen(asked, "approval", update=update_golden)
    asked.type("g2")
    asked.wait_for("Done")
    asked.wait_for("tokens in")
    check_screen(asked, "tool_ran", update=update_golden)
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("R276", "R330", "S2")
@pytest.mark.parametrize("keys", ["g1", "g0", ":Jp skip<CR>"])
def test_a_tool_that_is_skipped_or_dismissed_does_not_run(
    asked: NvimScreen, vendor: ChatVendor, keys: str
) -> None:
    asked.type(keys)
    asked.wait_for("Done")
    assert heard_from(vendor) == "Tool skipped by user."


@pytest.mark.requirement("R276", "R330")
def test_a_list_that_is_closed_leaves_the_question_open(asked: NvimScreen, vendor: ChatVendor) -> None:
    asked.type("ga")
    asked.wait_for("2: Run")
    asked.type("<Esc>")
    asked.wait_until_gone("2: Run")
    assert asked.lua(_QUESTIONS) == 1
    asked.type("ga")
    asked.wait_for("2: Run")
    asked.type("2<CR>")
    asked.wait_for("Done")
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("R276", "R334", "R340")
def test_arguments_are_edited(asked: NvimScreen, vendor: ChatVendor, update_golden: bool) -> None:
    asked.type("g3")
    asked.wait_for(":w sends")
    check_screen(asked, "edit", update=update_golden)
    asked.type('ggdGi{"who": }<Esc>:w<CR>')
    asked.wait_for("Arguments of greet \\(")
    asked.wait_for(":w sends")
    asked.type(":q!<CR>")
    asked.wait_until_gone(":w sends")
    assert asked.lua(_QUESTIONS) == 1, "leaving the text leaves the question open"
    asked.type("g1")
    asked.wait_for(":w sends")
    asked.type('ggdGi{"who": "Grace"}<Esc>:w<CR>')
    asked.wait_for("Done")
    assert "hello Grace" in heard_from(vendor)


@pytest.mark.requirement("R276", "R334")
def test_a_reason_is_asked_for_where_the_user_is(asked: NvimScreen, vendor: ChatVendor) -> None:
    asked.type("g4")
    asked.wait_for("Why skip greet\\? $|^Why skip greet\\?")
    asked.type("Not now.<CR>")
    asked.wait_for("Done")
    assert "Not now." in heard_from(vendor)


@pytest.mark.requirement("R276")
def test_an_answer_is_remembered_for_a_scope(
    asked: NvimScreen, vendor: ChatVendor, user: UserFolders
) -> None:
    asked.type("g5")
    asked.wait_for("for how long")
    asked.type("g1")
    asked.wait_for("Done")
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("R328", "R329", "R340")
def test_a_question_takes_no_key_that_is_typed(
    nvim: NvimScreen, vendor: ChatVendor, update_golden: bool
) -> None:
    gate = Hold()
    vendor.will_answer(answer(gate, called("call-0", "greet", '{"who": "Ada"}'), reason="tool_calls"))
    nvim.command("Jp ask go")
    assert gate.wait_until_reached()
    nvim.type("Otyping 1 word ")
    gate.open()
    nvim.wait_for("JP needs you")
    nvim.type("2 here<CR>g2 y")
    nvim.wait_for("g2 y")
    check_screen(nvim, "hint", update=update_golden)
    assert nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, 2, true)") == ["typing 1 word 2 here", "g2 y"]
    assert nvim.lua(_QUESTIONS) == 1
    assert nvim.mode() == "i"
    vendor.will_answer(answer("Done."))
    nvim.type("<Esc>:Jp approve<CR>")
    nvim.wait_until_gone("JP needs you")
    wait_for_chat(nvim, "Done.")
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("R330")
def test_a_key_that_comes_too_early_answers_nothing(
    user: UserFolders, vendor: ChatVendor, short_folder: Path
) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    with nvim_with_plugin(user, short_folder, answer_delay_ms=3_600_000) as nvim:
        nvim.command("Jp ask")
        nvim.type("go<C-s><Esc>")
        nvim.wait_for("g1 Skip")
        nvim.type("g2")
        nvim.wait_for("has only just come")
        assert nvim.lua(_QUESTIONS) == 1
        nvim.command("Jp skip")
        nvim.wait_for("Done")
    assert heard_from(vendor) == "Tool skipped by user."


@pytest.mark.requirement("R276", "R334")
def test_a_tool_asks_for_a_text(nvim: NvimScreen, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("paint"), answer("Done."))
    nvim.command("Jp ask go")
    nvim.wait_for("paint: Which colour")
    assert nvim.mode() == "n", "nothing waits for keys"
    nvim.type(":Jp answer<CR>")
    nvim.until(lambda: nvim.mode() == "c", "no line to type in")
    nvim.type("deep blue<CR>")
    nvim.wait_for("Done")
    assert heard_from(vendor).strip() == "painted deep blue"


@pytest.mark.requirement("R328")
def test_a_secret_is_not_seen(nvim: NvimScreen, vendor: ChatVendor, user: UserFolders) -> None:
    script = user.workspace / "paint.py"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace('"answer_type": "text"', '"answer_type": "secret"'), encoding="utf-8")
    vendor.will_answer(call_of("paint"), answer("Done."))
    nvim.command("Jp ask go")
    nvim.wait_for("paint: Which colour")
    nvim.type(":Jp answer<CR>")
    nvim.until(lambda: nvim.mode() == "c", "no line to type in")
    nvim.type("hush")
    nvim.wait_for(r"\*\*\*\*")
    assert "hush" not in nvim.text
    nvim.type("<CR>")
    nvim.wait_for("Done")
    assert heard_from(vendor).strip() == "painted hush"


@pytest.mark.requirement("R276")
def test_two_calls_are_asked_about_one_after_the_other(nvim: NvimScreen, vendor: ChatVendor) -> None:
    steps = [
        called(f"call-{at}", "greet", f'{{"who": "{who}"}}', at) for at, who in enumerate(("Ada", "Bob"))
    ]
    vendor.will_answer(answer(*steps, reason="tool_calls"), answer("Done."))
    nvim.command("Jp ask")
    nvim.type("go<C-s><Esc>")
    nvim.wait_for("g1 Skip")
    nvim.type("g2")
    nvim.wait_for("result of greet")
    nvim.wait_for("g1 Skip")
    nvim.type("g1")
    nvim.wait_for("Done")
    told = [each["content"].strip() for each in vendor.queries[-1]["messages"] if each["role"] == "tool"]
    assert told == ["hello Ada", "Tool skipped by user."]


@pytest.mark.requirement("R276", "R340")
def test_a_proposed_edit_is_shown_as_a_diff(
    user: UserFolders, vendor: ChatVendor, short_folder: Path, update_golden: bool
) -> None:
    config = user.config / "config.toml"
    switch = "\n[conversation.tools.editor_edit_file]\nenable = true\n"
    config.write_text(config.read_text(encoding="utf-8") + switch, encoding="utf-8")
    edit: dict[str, Any] = {"old": "width * height", "new": "abs(width * height)"}
    arguments = json.dumps({"path": "area.py", "version": "1", "edits": [edit]})
    vendor.will_answer(answer(called("call-0", "editor_edit_file", arguments), reason="tool_calls"))
    with nvim_with_plugin(user, short_folder) as nvim:
        nvim.command("Jp ask")
        nvim.type("Make it positive<C-s><Esc>")
        nvim.wait_for("gd Show the change")
        nvim.type("gd")
        nvim.wait_for(r"return abs\(width \* height\)")
        check_screen(nvim, "diff", update=update_golden)
        nvim.type("q")
        nvim.wait_for("gd Show the change")
        vendor.will_answer(answer("Done."))
        nvim.type("g1")
        nvim.wait_for("Done")


class TestInterrupting:
    """The menu while an answer comes, and each of its choices."""

    @pytest.fixture
    def streaming(self, nvim: NvimScreen, vendor: ChatVendor) -> Iterator[tuple[NvimScreen, Hold]]:
        gate = Hold()
        vendor.will_answer(answer("First.\n\n", gate, "Second."), to="hi")
        nvim.command("Jp ask")
        nvim.type("hi<C-s><Esc>")
        nvim.wait_for("First")
        nvim.type("<C-c>")
        nvim.wait_for("g1 Continue")
        yield nvim, gate
        gate.open()

    @pytest.mark.requirement("R11", "R138", "R332", "R340")
    def test_continue(self, streaming: tuple[NvimScreen, Hold], update_golden: bool) -> None:
        nvim, gate = streaming
        check_screen(nvim, "menu", update=update_golden)
        nvim.type("g1")
        nvim.wait_until_gone("g1 Continue")
        gate.open()
        nvim.wait_for("Second")
        nvim.wait_for("tokens in")

    @pytest.mark.requirement("R138", "R334")
    def test_reply(self, streaming: tuple[NvimScreen, Hold], vendor: ChatVendor, update_golden: bool) -> None:
        nvim, _ = streaming
        vendor.will_answer(answer("Right."), to="Shorter!")
        nvim.type("g2")
        nvim.wait_for("^Your reply: ?$")
        nvim.type("Shorter!<CR>")
        nvim.wait_for("Right")
        nvim.wait_for("tokens in")
        nvim.command("echo ''")
        check_screen(nvim, "replied", update=update_golden)

    @pytest.mark.requirement("R138")
    def test_stop(self, streaming: tuple[NvimScreen, Hold]) -> None:
        nvim, _ = streaming
        nvim.type("g3")
        nvim.wait_for("stopped")
        assert "First." in nvim.text

    @pytest.mark.requirement("R138")
    def test_abort(self, streaming: tuple[NvimScreen, Hold]) -> None:
        nvim, _ = streaming
        nvim.type("g4")
        nvim.wait_for("discarded")
        assert "First." not in nvim.text

    @pytest.mark.requirement("R332")
    def test_a_second_press_ends_the_turn(self, streaming: tuple[NvimScreen, Hold]) -> None:
        nvim, _ = streaming
        nvim.type("<C-c>")
        nvim.wait_for("interrupted")
        assert "First." in nvim.text

    @pytest.mark.requirement("R332")
    def test_the_menu_is_a_list_for_whoever_is_elsewhere(self, nvim: NvimScreen, vendor: ChatVendor) -> None:
        vendor.will_answer(answer("First.\n\n", Hold(), "Second."), to="hi")
        nvim.command("Jp ask hi")
        nvim.wait_for("First")
        nvim.type(":Jp interrupt<CR>")
        nvim.wait_for("3: Stop")
        nvim.type("3<CR>")
        nvim.wait_for("stopped")

    @pytest.mark.requirement("R332")
    def test_commands_skip_the_menu(self, nvim: NvimScreen, vendor: ChatVendor) -> None:
        vendor.will_answer(answer("First.\n\n", Hold(), "Second."), to="hi")
        nvim.command("Jp ask hi")
        nvim.wait_for("First")
        vendor.will_answer(answer("Right.\n\n", Hold(), "More."), to="Shorter!")
        nvim.command("Jp reply Shorter!")
        nvim.wait_for("Right")
        nvim.command("Jp stop")
        nvim.wait_for("stopped")

    @pytest.mark.requirement("R144", "R147")
    def test_tools_are_restarted_and_answered_for(
        self, nvim: NvimScreen, vendor: ChatVendor, user: UserFolders
    ) -> None:
        vendor.will_answer(call_of("sleep"))
        nvim.command("Jp ask")
        nvim.type("go<C-s><Esc>")
        nvim.until(lambda: times_begun(user) == 1, "the tool did not begin")
        nvim.type("<C-c>")
        nvim.wait_for("g3 Restart")
        nvim.type("g3")
        nvim.until(lambda: times_begun(user) == 2, "the tool did not begin again")
        vendor.will_answer(answer("Understood."))
        nvim.command("Jp reply Never mind")
        nvim.wait_for("Understood")
        assert heard_from(vendor).endswith("Never mind")
        let_end(user)


@pytest.mark.requirement("R328", "R276")
def test_the_question_about_the_first_of_many_calls_is_seen(nvim: NvimScreen, vendor: ChatVendor) -> None:
    """It stands far above the end, which is followed again when everything is answered."""
    calls = [called(f"call-{at}", "greet", f'{{"who": "person {at}"}}', at) for at in range(50)]
    vendor.will_answer(answer(*calls, reason="tool_calls"), answer("All are greeted."))
    nvim.command("Jp ask Greet everybody")
    nvim.wait_for('"who": "person 0"')
    nvim.wait_for("│┃ Run local tool greet")
    nvim.command("Jp chat")
    nvim.type("g2")
    nvim.wait_for('"who": "person 1"')
    nvim.type("g5")
    nvim.wait_for("Run greet for how long")
    nvim.type("g1")
    nvim.wait_for("All are greeted")
    nvim.wait_for("tokens in")
