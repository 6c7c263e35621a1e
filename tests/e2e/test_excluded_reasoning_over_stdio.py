"""Thinking that the user does not want to see, from a server that sends it all the same (config-and-tools 3.3)."""

from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer, thought
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

EXCLUDED = ['assistant.model.parameters.reasoning:={"effort":"high","exclude":true}']


def text_chunks(client: JpClient, token: str) -> list[str]:
    return [chunk["md"] for chunk in client.chunks(token) if chunk["type"] == "text"]


@pytest.mark.parametrize("display", ["full", "summary", "20"])
async def test_it_is_stored_for_the_model_and_shown_to_nobody(
    own_user: UserFolders, vendor: ChatVendor, display: str
) -> None:
    vendor.will_answer(answer(thought("Under the mat?"), "In the drawer."), answer("Yes."))
    async with initialized_server(own_user) as server:
        client = server.client
        asked = [*EXCLUDED, f"style.reasoning.display={display}"]
        result = await client.query("Where is it?", "1", config=asked)
        conversation: Any = {"conversation": result["conversation"]}
        await client.query("Sure?", "2", **conversation)
        assert "drawer" in client.transcript("1")
        assert not any("mat" in text for text in (*text_chunks(client, "1"), *text_chunks(client, "2")))
        shown = await client.request("jp/conversation/render", conversation)
        assert "mat" not in shown["md"]
        assert "drawer" in shown["md"]
    assert "reasoning: Under the mat?" in own_user.story(result["conversation"])
    assert vendor.queries[0]["chat_template_kwargs"] == {"enable_thinking": True}
    assert len(vendor.queries) == 2  # nobody was asked to sum it up
    sent = [each for each in vendor.queries[1]["messages"] if each["role"] == "assistant"]
    assert sent == [{"role": "assistant", "reasoning_content": "Under the mat?", "content": "In the drawer."}]
