"""Settings that say what a press, a menu and the place for a reply are."""

from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

CAPABILITIES: dict[str, Any] = {
    "window": {"showDocument": {"support": True}, "workDoneProgress": True},
    "experimental": {"jp": {"prompt": {"kinds": ["menu", "text", "edit"]}}},
}


@pytest.mark.requirement("R333", "R139")
async def test_the_cancel_button_of_the_progress_can_be_a_press(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    options = {"jp": {"interrupt": {"progress_cancel": "press"}}}
    async with initialized_server(own_user, capabilities=CAPABILITIES, options=options) as server:
        client, screen = server.client, Screen()
        client.answers["jp/prompt"] = screen.show
        query = await HeldQuery.hold(client, vendor, "t", workDoneToken="work")
        client.notify("window/workDoneProgress/cancel", {"token": "work"})
        question = await screen.next_question()
        assert question.params["kind"] == "menu"
        question.answer({"action": "continue"})
        await client.wait_for_chunk("t", "prompt_closed")
        query.go_on()
        assert (await query.result())["text"] == "First.\n\nSecond."


@pytest.mark.requirement("R135")
async def test_a_menu_that_nobody_answers_in_time_is_dismissed(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    options = {"jp": {"interrupt": {"menu_timeout_secs": 1}}}
    async with initialized_server(own_user, capabilities=CAPABILITIES, options=options) as server:
        screen = Screen()
        server.client.answers["jp/prompt"] = screen.show
        query = await HeldQuery.hold(server.client, vendor, "t")
        await query.press()
        await screen.next_question()
        result = await query.result()
    assert (result["outcome"], result["text"]) == ("interrupted", "First.\n\n")


@pytest.mark.parametrize(("setting", "kind"), [("false", "text"), ("true", "edit"), ('"always"', "edit")])
async def test_where_a_reply_is_written(
    own_user: UserFolders, vendor: ChatVendor, setting: str, kind: str
) -> None:
    with (own_user.config / "config.toml").open("a", encoding="utf-8") as file:
        file.write(f"[interrupt.streaming]\ncompose_in_editor = {setting}\n")
    async with initialized_server(own_user, capabilities=CAPABILITIES) as server:
        screen = Screen()
        server.client.answers["jp/prompt"] = screen.show
        query = await HeldQuery.hold(server.client, vendor, "t")
        await query.press()
        (await screen.next_question()).answer({"action": "reply"})
        question = await screen.next_question()
        assert (question.params["kind"], question.params["message"]) == (kind, "Your reply")
        vendor.will_answer(answer("Right."), to="Shorter")
        question.answer({"text": "Shorter, please."})
        result = await query.result()
    assert [turn["outcome"] for turn in result["turns"]] == ["replied", "completed"]
