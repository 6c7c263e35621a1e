"""Scenarios S9 and S10 (query pipeline 11): cancelled, or left alone, in every phase of a turn."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping

import pytest

from tests.support.busy_server import CALLED, CAPABILITIES, PARTIAL, PHASES, BusyServer, configure_tools
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import fault_of, result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.processes import wait_until_gone
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]


@pytest.fixture
def busy_user(own_user: UserFolders) -> UserFolders:
    configure_tools(own_user)
    return own_user


def told(user: UserFolders, busy: BusyServer, phase: str) -> list[str]:
    """What is stored of a query, without the words that tell it from the others."""
    lines = user.story(busy.conversations[phase])
    return [
        line.replace(f"hi {phase}", "hi").removesuffix(": slow").removesuffix(": asked") for line in lines
    ]


def check_story(story: list[str], phase: str, *, answers_calls: bool) -> None:
    """What came is there, and nothing else."""
    if phase == "waiting":
        assert story == PARTIAL[:2]
    elif phase in {"executing", "interrupted_tools", "responding"} or (
        phase == "approving" and answers_calls
    ):
        assert story[:3] == CALLED, phase
        assert [line.split()[1] for line in story[3:]] == ["call-0"], "each call has one response"
    elif phase == "approving":
        assert story == CALLED, "what waits for the user stays open, to be taken up again"
    else:
        assert story == PARTIAL, phase


@pytest.mark.requirement("S9", "R331", "T23", "F14")
async def test_a_cancel_is_answered_once_in_every_phase(busy_user: UserFolders, vendor: ChatVendor) -> None:
    async with initialized_server(busy_user, capabilities=CAPABILITIES) as server:
        busy = BusyServer(server.client, busy_user)
        await busy.begin(vendor)
        processes = busy.processes()
        for phase in PHASES:
            server.client.cancel(busy.asked[phase].request_id)
            server.client.cancel(busy.asked[phase].request_id)
        for phase in PHASES:
            fault = await fault_of(busy.asked[phase].answered)
            expected = "cancelled_before_start" if phase == "preparing" else "stopped"
            assert (phase, fault.code, fault.data["outcome"]) == (phase, -32800, expected)
            assert fault.data.get("partialSaved", False) == (phase != "preparing")
        for process in processes:
            await wait_until_gone(process)
        assert (await server.client.request("jp/turn/list"))["active"] == []
        for phase, conversation in busy.conversations.items():
            check_story(told(busy_user, busy, phase), phase, answers_calls=True)
            await server.client.request("jp/conversation/render", {"conversation": conversation})
            assert not busy_user.is_locked(conversation)
        assert not (busy_user.workspace / "harmed").exists()
        vendor.will_answer(answer("Still here."))
        again = await server.client.query("on", "u", conversation=busy.conversations["executing"])
        assert again["text"] == "Still here."


async def hang_up(server: JpServer) -> int:
    server.client.hang_up()
    return await server.wait()


async def shut_down(server: JpServer) -> int:
    await server.client.request("shutdown")
    server.client.notify("exit")
    return await server.wait()


def signalled(number: signal.Signals) -> Callable[[JpServer], Awaitable[int]]:
    async def end(server: JpServer) -> int:
        server.process.send_signal(number)
        return await server.wait()

    return end


ENDINGS: Mapping[str, tuple[Callable[[JpServer], Awaitable[int]], int]] = {
    "end of input": (hang_up, 0),
    "shutdown": (shut_down, 0),
    "SIGTERM": (signalled(signal.SIGTERM), 143),
    "SIGINT": (signalled(signal.SIGINT), 130),
}


@pytest.mark.requirement("S10", "R335", "R336", "R134")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_an_ending_leaves_whole_conversations_and_no_process(
    busy_user: UserFolders, vendor: ChatVendor, ending: str
) -> None:
    end, code = ENDINGS[ending]
    async with initialized_server(busy_user, capabilities=CAPABILITIES) as server:
        busy = BusyServer(server.client, busy_user)
        await busy.begin(vendor)
        processes = busy.processes()
        assert await end(server) == code  # `wait` gives it ten seconds
        if ending != "end of input":
            for phase in PHASES:
                result = await result_of(busy.asked[phase].answered)
                expected = "cancelled_before_start" if phase == "preparing" else "stopped"
                assert (phase, result["outcome"]) == (phase, expected)
    for process in processes:
        await wait_until_gone(process)
    for phase, conversation in busy.conversations.items():
        check_story(told(busy_user, busy, phase), phase, answers_calls=False)
        assert not busy_user.is_locked(conversation)
    assert not (busy_user.workspace / "harmed").exists()
    vendor.forget()
    vendor.will_answer(*[answer("Again.") for _ in busy.conversations])
    async with initialized_server(busy_user) as server:
        async with asyncio.TaskGroup() as tasks:
            asked = {
                phase: tasks.create_task(server.client.query("on", phase, conversation=conversation))
                for phase, conversation in busy.conversations.items()
            }
        for phase, task in asked.items():
            assert task.result()["text"] == "Again."
            story = told(busy_user, busy, phase)
            calls = sum(line.startswith("call ") for line in story)
            assert sum(line.startswith(("result", "error")) for line in story) == calls, "no call dangles"
