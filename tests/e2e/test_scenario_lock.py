"""Two servers and one conversation (query pipeline 1.4, lock busy): the second user is asked, and nobody writes over the other."""

import pytest

from tests.e2e.test_tools import STOCK, choose, screen_of
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.held_query import HeldQuery
from tests.support.jp_client import fault_of, result_of
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

IMPATIENT = ["style.lock_wait.timeout_secs=1"]


@pytest.mark.requirement("S23", "T24", "R280")
@pytest.mark.parametrize(
    "choice", ["Keep waiting", "Ask in a new conversation", "Ask in a copy", "Cancel query"]
)
async def test_a_conversation_of_another_server_is_asked_about(
    own_user: UserFolders, vendor: ChatVendor, choice: str
) -> None:
    async with (
        initialized_server(own_user) as first,
        initialized_server(own_user, capabilities=STOCK) as second,
    ):
        held = await HeldQuery.hold(first.client, vendor, "holder")
        screen = screen_of(second)
        _, future = second.client.start_query("me too", "t", conversation=held.conversation, config=IMPATIENT)
        question = await screen.next_question()
        assert held.conversation in question.params["message"]
        assert f"in use by process {first.process.pid}, since " in question.params["message"], "who holds it"
        assert {action["title"].removesuffix(" (default)") for action in question.params["actions"]} == {
            "Keep waiting",
            "Ask in a new conversation",
            "Ask in a copy",
            "Cancel query",
        }
        if choice == "Cancel query":
            choose(question, choice)
            fault = await fault_of(future)
            assert (fault.data["code"], fault.data["draft"]) == ("lock_timeout", "me too")
            held.go_on()
            await held.result()
            return
        vendor.will_answer(answer("Mine."), to="me too")
        if choice == "Keep waiting":
            held.go_on()
            await held.result()
        choose(question, choice)
        result = await result_of(future)
        assert (result["outcome"], result["text"]) == ("completed", "Mine.")
        is_same = result["conversation"] == held.conversation
        assert is_same == (choice == "Keep waiting")
        if choice == "Ask in a copy":
            assert own_user.story(result["conversation"])[:2] == ["turn", "user: hi"]
        if not is_same:
            held.go_on()
            await held.result()
        assert own_user.story(held.conversation)[:3] == ["turn", "user: hi", "message: First.\n\nSecond."]
