"""A running turn keeps the settings that it was prepared with (query pipeline 1.4, common rows)."""

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


async def test_a_running_turn_keeps_its_settings(own_user: UserFolders, vendor: ChatVendor) -> None:
    """The configured press changes beneath the turn: it takes the old way, the next one the new way."""
    path = own_user.config / "config.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}[interrupt.streaming]\naction = 'stop'\n", encoding="utf-8")
    async with initialized_server(own_user) as server:
        running = await HeldQuery.hold(server.client, vendor, "running")
        path.write_text(f"{text}[interrupt.streaming]\naction = 'abort'\n", encoding="utf-8")
        changed = {"settings": {"jp": {"interrupt": {"on_dismiss": "continue"}}}}
        server.client.notify("workspace/didChangeConfiguration", changed)
        assert (await running.press())["handled"] == "action"
        assert (await running.result())["outcome"] == "stopped"
        later = await HeldQuery.hold(server.client, vendor, "later")
        assert (await later.press())["handled"] == "action"
        assert (await later.result())["outcome"] == "aborted"
        vendor.will_answer(answer("Still here."))
        assert (await server.client.query("hi", "last"))["text"] == "Still here."
