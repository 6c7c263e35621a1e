"""Tools in a real Neovim with nothing but its stock language client."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.http_server import Hold
from tests.support.neovim import Menu, Neovim, neovim
from tests.support.three_tools import call_of, give_tools, heard_from, let_end, times_begun
from tests.support.user_folders import UserFolders

_LINES_BESIDE = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local buffer = vim.api.nvim_win_get_buf(window)
  if window ~= vim.api.nvim_get_current_win() and vim.api.nvim_buf_get_name(buffer):match('%.md$') then
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  end
end
"""
"""What a document holds that was opened in another window than the one where the user is."""

_LAST_LINES_BESIDE = """
local found = {''}
for _, window in ipairs(vim.api.nvim_list_wins()) do
  local buffer = vim.api.nvim_win_get_buf(window)
  if window ~= vim.api.nvim_get_current_win() and vim.api.nvim_buf_get_name(buffer):match('%.md$') then
    table.insert(found, vim.api.nvim_buf_get_lines(buffer, -2, -1, true)[1])
  end
end
return found
"""
"""The last line of each document that is open beside."""

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest.fixture
def user(tmp_path: Path, shared_vendor: ChatVendor) -> UserFolders:
    user = UserFolders(tmp_path, shared_vendor.url)
    give_tools(user)
    return user


@pytest_asyncio.fixture
async def editor(user: UserFolders, tmp_path: Path, vendor: ChatVendor) -> AsyncIterator[Neovim]:
    async with neovim(user, tmp_path / "remote") as editor:
        yield editor


async def edit_and_save(editor: Neovim, text: str) -> None:
    """Replace what is in the document on the screen, with the keys of a person, and save it."""
    await editor.type(f"ggcG{text.replace('<', '<lt>')}<Esc>:w<CR>")


async def document_on_screen(editor: Neovim, suffix: str) -> Path:
    """The document that the server had opened."""
    name = await editor.lua("return vim.api.nvim_buf_get_name(0)")
    assert name.endswith(suffix), name
    return Path(name)


async def write_and_send(editor: Neovim, suffix: str, text: str) -> tuple[Path, Menu]:
    """While a list waits for a number nobody can write, so it is put aside until the document is saved."""
    menu = await editor.press("Keep editing")
    assert menu.titles == ("Keep editing", "Send", "Discard")
    document = await document_on_screen(editor, suffix)
    await edit_and_save(editor, text)
    return document, await editor.press("Send")


@pytest.mark.requirement("R325", "R326")
async def test_an_answer_streams_in(editor: Neovim, vendor: ChatVendor, user: UserFolders) -> None:
    gate = Hold()
    vendor.will_answer(answer("First.\n\n", gate, "Second."))
    await editor.ask("hi", "t")
    await editor.wait_for_text("t", "First.")
    assert await editor.lua("return jp.results['t'] == nil")
    gate.open()
    result = await editor.result("t")
    assert (result["outcome"], result["text"]) == ("completed", "First.\n\nSecond.")
    assert len(await editor.chunks("t")) == result["lastSeq"]
    assert user.story(result["conversation"])[-1] == "message: First.\n\nSecond."


@pytest.mark.requirement("R340", "R334")
async def test_the_command_opens_the_answer(editor: Neovim, vendor: ChatVendor) -> None:
    vendor.will_answer(answer("All is well."))
    params = {"command": "jp.query", "arguments": ["How are things?"]}
    await editor.request("workspace/executeCommand", params, "t")
    assert (await editor.result("t"))["text"] == "All is well."
    lines = await editor.until_lua(_LINES_BESIDE)
    assert lines[-1] == "All is well."


@pytest.mark.requirement("R340", "R334")
async def test_the_command_opens_each_answer(editor: Neovim, vendor: ChatVendor) -> None:
    for number, words in enumerate(("All is well.", "Still well.")):
        vendor.will_answer(answer(words))
        params = {"command": "jp.query", "arguments": ["How are things?"]}
        await editor.request("workspace/executeCommand", params, f"t{number}")
        assert (await editor.result(f"t{number}"))["text"] == words
        async with asyncio.timeout(10):
            while words not in await editor.lua(_LAST_LINES_BESIDE):
                await asyncio.sleep(0.05)


@pytest.mark.requirement("S2", "R276", "R340")
async def test_a_tool_runs_once_it_is_allowed(editor: Neovim, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    await editor.ask("go", "t")
    menu = await editor.press("Run")
    assert menu.message == "Run local tool greet?"
    assert menu.titles[:2] == ("Skip", "Run")
    assert (await editor.result("t"))["outcome"] == "completed"
    assert heard_from(vendor).strip() == "hello Ada"


@pytest.mark.requirement("S2", "R276")
@pytest.mark.parametrize(
    "keys", ["1<CR>", "<CR>", "<Esc>"], ids=["by number", "with Enter alone", "dismissed"]
)
async def test_a_tool_that_is_skipped_does_not_run(editor: Neovim, vendor: ChatVendor, keys: str) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    await editor.ask("go", "t")
    assert (await editor.menu()).titles[0] == "Skip"
    await editor.type(keys)
    assert (await editor.result("t"))["outcome"] == "completed"
    assert heard_from(vendor) == "Tool skipped by user."


@pytest.mark.requirement("R276", "R334")
async def test_arguments_are_edited_in_a_document(editor: Neovim, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    await editor.ask("go", "t")
    await editor.press("Edit arguments...")
    document, _ = await write_and_send(editor, ".json", '{"who": }')
    _, complaint = await write_and_send(editor, ".json", '{"who": "Grace"}')
    assert document.name in complaint.message
    assert (await editor.result("t"))["outcome"] == "completed"
    assert "hello Grace" in heard_from(vendor)
    assert not document.exists()


@pytest.mark.requirement("R276", "R334")
async def test_a_tool_asks_for_a_text(editor: Neovim, vendor: ChatVendor, user: UserFolders) -> None:
    vendor.will_answer(call_of("paint"), answer("Done."))
    await editor.ask("go", "t")
    _, menu = await write_and_send(editor, ".md", "deep blue")
    assert "paint: Which colour?" in menu.message
    result = await editor.result("t")
    assert heard_from(vendor).strip() == "painted deep blue"
    assert user.story(result["conversation"])[3:5] == ["inquiry_request", "inquiry_response"]


@pytest.mark.requirement("R138", "R334")
async def test_a_reply_is_written_in_a_document(
    editor: Neovim, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(answer("First.\n\n", Hold(), "Second."), to="hi")
    await editor.ask("hi", "t")
    await editor.wait_for_text("t", "First.")
    await editor.request("jp/interrupt", {"turn": "t"}, "press")
    await editor.press("Reply")
    vendor.will_answer(answer("Right."), to="Shorter!")
    await write_and_send(editor, ".md", "Shorter!")
    result = await editor.result("t")
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
    assert user.story(result["conversation"])[-2:] == ["user: Shorter!", "message: Right."]


@pytest.mark.requirement("R330", "R334")
async def test_a_document_that_was_put_away_unsent_can_be_had_again(
    editor: Neovim, vendor: ChatVendor
) -> None:
    """The client is told of this document as of any other buffer that it is attached to."""
    vendor.will_answer(call_of("paint"), answer("Done."))
    await editor.ask("go", "t")
    await editor.press("Keep editing")
    document = await document_on_screen(editor, ".md")
    await editor.lua("vim.lsp.buf_attach_client(0, jp.client.id)")
    await editor.type("ggcGdeep<Esc>:w<CR>")
    await editor.press("Keep editing")
    await editor.type(":bdelete<CR>")
    closed = await editor.press("Reopen")
    assert closed.titles == ("Reopen", "Send", "Discard")
    await editor.press("Keep editing")
    assert await document_on_screen(editor, ".md") == document
    await editor.type("A red<Esc>:w<CR>")
    await editor.press("Send")
    assert (await editor.result("t"))["outcome"] == "completed"
    assert heard_from(vendor).strip() == "painted deep red"


@pytest.mark.requirement("R330", "R334")
async def test_a_press_brings_a_document_back_of_whose_end_nobody_told(
    editor: Neovim, vendor: ChatVendor
) -> None:
    """The client is not attached to the buffer, so only the user knows that it is gone."""
    vendor.will_answer(call_of("paint"), answer("Done."))
    await editor.ask("go", "t")
    await editor.press("Keep editing")
    document = await document_on_screen(editor, ".md")
    await editor.type(":bdelete<CR>")
    await editor.until_lua("return vim.api.nvim_buf_get_name(0) == ''")
    await editor.request("jp/interrupt", {"turn": "t"}, "press")
    await editor.press("Continue")
    again, _ = await write_and_send(editor, ".md", "deep red")
    assert again == document
    assert (await editor.result("t"))["outcome"] == "completed"
    assert heard_from(vendor).strip() == "painted deep red"


@pytest.mark.requirement("R330", "T25")
async def test_a_list_that_a_menu_has_overtaken_means_nothing_any_more(
    editor: Neovim, vendor: ChatVendor
) -> None:
    """Neovim shows the menu above the older list, and comes back to that when nobody waits for it."""
    vendor.will_answer(call_of("greet", who="Ada"))
    await editor.ask("go", "t")
    await editor.menu()
    await editor.request("jp/interrupt", {"turn": "t"}, "press")
    menu = await editor.press("Stop")
    assert "Restart" in menu.titles
    result = await editor.result("t")
    assert result["outcome"] == "stopped"
    await editor.type("2<CR>")
    vendor.will_answer(answer("Still here."))
    await editor.ask("hi", "after")
    assert (await editor.result("after"))["text"] == "Still here."


@pytest.mark.requirement("R330")
async def test_a_list_that_a_menu_has_overtaken_is_shown_again(editor: Neovim, vendor: ChatVendor) -> None:
    vendor.will_answer(call_of("greet", who="Ada"), answer("Done."))
    await editor.ask("go", "t")
    await editor.menu()
    await editor.request("jp/interrupt", {"turn": "t"}, "press")
    await editor.press("Continue")
    again = await editor.press("Run")
    assert "Run local tool greet?" in again.message
    assert (await editor.result("t"))["outcome"] == "completed"
    assert heard_from(vendor).strip() == "hello Ada"
    await editor.type("<Esc>")


@pytest.mark.requirement("S2", "R276")
async def test_two_tools_are_asked_about_one_after_the_other(
    editor: Neovim, vendor: ChatVendor, user: UserFolders
) -> None:
    """Two lists at once would stand on each other, and the number would go to the wrong one."""
    steps = [
        called(f"call-{at}", "greet", f'{{"who": "{who}"}}', at) for at, who in enumerate(("Ada", "Bob"))
    ]
    vendor.will_answer(answer(*steps, reason="tool_calls"), answer("Done."))
    await editor.ask("go", "t")
    await editor.press("Run")
    await editor.press("Skip")
    assert (await editor.result("t"))["outcome"] == "completed"
    told = [each["content"].strip() for each in vendor.queries[-1]["messages"] if each["role"] == "tool"]
    assert told == ["hello Ada", "Tool skipped by user."]


@pytest.mark.requirement("S12", "T19")
async def test_leaving_the_editor_ends_a_tool_that_runs(
    editor: Neovim, vendor: ChatVendor, user: UserFolders
) -> None:
    vendor.will_answer(call_of("sleep"))
    await editor.ask("go", "t")
    conversation = (await editor.until_lua("return jp.chunks['t']"))[0]["conversation"]
    await editor.until(lambda: times_begun(user) == 1, "the tool did not begin")
    assert await editor.quit() == 0
    await user.wait_for_story(conversation, lambda story: story[-1].endswith(" call-0"))
    await editor.until(lambda: not user.is_locked(conversation), "the conversation is still locked")


async def interrupted(editor: Neovim, vendor: ChatVendor, user: UserFolders) -> None:
    """Press while a tool runs."""
    vendor.will_answer(call_of("sleep"))
    await editor.ask("go", "t")
    await editor.until(lambda: times_begun(user) == 1, "the tool did not begin")
    await editor.request("jp/interrupt", {"turn": "t"}, "press")
    assert await editor.result("press") == {"handled": "menu", "phase": "interrupted_tools"}


@pytest.mark.requirement("R147", "S12")
async def test_a_running_tool_is_stopped(editor: Neovim, vendor: ChatVendor, user: UserFolders) -> None:
    await interrupted(editor, vendor, user)
    menu = await editor.press("Stop")
    assert menu.titles == ("Continue", "Stop and respond", "Restart", "Stop")
    result = await editor.result("t")
    assert (result["outcome"], result["persisted"]) == ("stopped", True)
    assert times_begun(user) == 1


@pytest.mark.requirement("R144")
async def test_a_running_tool_is_restarted(editor: Neovim, vendor: ChatVendor, user: UserFolders) -> None:
    await interrupted(editor, vendor, user)
    vendor.will_answer(answer("Done."))
    await editor.press("Restart")
    await editor.until(lambda: times_begun(user) == 2, "the tool did not begin again")
    let_end(user)
    result = await editor.result("t")
    assert (result["outcome"], result["text"]) == ("completed", "Done.")
    assert heard_from(vendor).strip() == "slept"
