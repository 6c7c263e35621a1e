"""A summary of what the model thinks, as an editor sees it (query pipeline 5.6)."""

import json

import pytest

from tests.support.chat_vendor import ChatVendor, answer, refused, thought
from tests.support.http_server import Hold
from tests.support.jp_client import JP_CLIENT, result_of
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e, pytest.mark.requirement("R201")]

SUMMED_UP = ["style.reasoning.display=summary", "style.reasoning.summary_model.id=llamacpp/small"]


@pytest.mark.parametrize("is_refused", [False, True], ids=["summed up", "refused"])
async def test_what_the_model_thinks_is_summed_up_beside_the_answer(
    own_user: UserFolders, vendor: ChatVendor, is_refused: bool
) -> None:
    held = Hold()
    vendor.will_answer(
        answer(thought("Look for "), thought("the key."), "In the", held, " drawer."), to="Where"
    )
    small = refused(401, "no such key") if is_refused else answer("It looks for the key.")
    vendor.will_answer(small, to="Look for the key.")
    async with initialized_server(own_user, capabilities=JP_CLIENT) as server:
        client = server.client
        _, future = client.start_query("Where is it?", "t", config=SUMMED_UP)

        def notices() -> list[tuple[str, str, int]]:
            chunks = [chunk for chunk in client.chunks("t") if chunk["type"] == "notice"]
            return [(each["code"], each["text"], each["regionIndex"]) for each in chunks if "text" in each]

        if is_refused:
            await client.wait_for(lambda: len(vendor.queries) == 2 or None)
        else:
            await client.wait_for(lambda: notices() or None)
        held.open()
        result = await result_of(future)
        assert (result["outcome"], result["text"]) == ("completed", "In the drawer.")
        assert notices() == ([] if is_refused else [("reasoning_summary", "It looks for the key.", 1)])
        assert "key" not in client.transcript("t")
        story = own_user.story(result["conversation"])
        assert story == [
            "turn",
            "user: Where is it?",
            "reasoning: Look for the key.",
            "message: In the drawer.",
        ]
    asked = next(query for query in vendor.queries if query["model"] == "small")
    assert "one to three sentences" in json.dumps(asked["messages"])
