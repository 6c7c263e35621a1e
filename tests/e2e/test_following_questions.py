"""What follows from an answer about a call is asked before the questions about other calls."""

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import result_of
from tests.support.jp_server import initialized_server
from tests.support.screen import Screen
from tests.support.shell_tools import calls, with_tools
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

CAPABILITIES = {
    "experimental": {
        "jp": {"prompt": {"kinds": ["menu", "approval", "pick", "text", "edit"]}, "chunks": True}
    }
}


@pytest.mark.parametrize(
    ("pressed", "follows"),
    [
        (["run_remember"], "Run greet for how long?"),
        (["skip_with_reason"], "Why skip greet?"),
        (["edit"], "Arguments of greet"),
        (["print_args"], "Run local tool greet?"),
        (["change_run_mode", "skip"], "For how long?"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
async def test_it_comes_next(
    own_user: UserFolders, vendor: ChatVendor, pressed: list[str], follows: str
) -> None:
    with_tools(own_user, greet=("echo hello", {"run": "ask"}), harm=("touch harmed", {"run": "ask"}))
    vendor.will_answer(calls("greet", "harm"), answer("Done."))
    async with initialized_server(own_user, capabilities=CAPABILITIES) as server:
        screen = Screen()
        server.client.answers["jp/prompt"] = screen.show
        _, future = server.client.start_query("go", "t")
        for action in pressed:
            (await screen.next_question()).answer({"action": action})
        following = await screen.next_question()
        assert following.params["message"] == follows
        assert following.params["callId"] == "call-0"
        await server.client.request("jp/interrupt", {"turn": "t", "action": "stop"})
        assert (await result_of(future))["outcome"] == "stopped"
        vendor.forget()


@pytest.mark.requirement("R276")
async def test_calls_that_wait_are_spared_what_was_decided_for_the_turn(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """The first call's answer holds for all calls of the tool, and no question about them is shown (trap 96)."""
    with_tools(own_user, greet=("echo hello", {"run": "ask"}))
    vendor.will_answer(calls(*["greet"] * 50), answer("Done."))
    async with initialized_server(own_user, capabilities=CAPABILITIES) as server:
        screen = Screen()
        server.client.answers["jp/prompt"] = screen.show
        _, future = server.client.start_query("go", "t")
        (await screen.next_question()).answer({"action": "run_remember"})
        (await screen.next_question()).answer({"action": "turn"})
        assert (await result_of(future))["outcome"] == "completed"
    assert len(screen.questions) == 2
    told = [message["content"] for message in vendor.queries[-1]["messages"] if message["role"] == "tool"]
    assert told == ["hello\n"] * 50
