"""MCP servers that hang, die and shout, or are told to stop: each costs its own call and no more."""

import asyncio
import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.support import mcp_packages
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, fault_of, result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.mcp_turns import calling, declare, heard, offered
from tests.support.processes import Living, living, wait_until_gone
from tests.support.user_folders import UserFolders

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc and starts a shell"),
]

LONG = "trigger-long-running-operation"
FOR_EVER = (LONG, {"duration": 600, "steps": 12_000})
"""Tells of its progress twenty times a second, and does not come to an end."""

SILENT = ("sh", "-c", "cat > /dev/null")
"""Takes everything, and never answers."""


def shell(script: str, command: tuple[str, ...]) -> tuple[str, ...]:
    """A shell script that ends with starting a server."""
    return ("sh", "-c", f"{script} exec {shlex.join(command)}")


def servers_of(server: JpServer, text: str) -> list[Living]:
    """The processes that a server has started itself, and whose command contains a text."""
    return [each for each in living() if each.parent == server.process.pid and text in each.command]


async def wait_until_running(client: JpClient, token: str) -> None:
    """Wait until a call has told of its progress, so that it certainly runs."""
    await client.wait_for(
        lambda: next((chunk for chunk in client.chunks(token) if "percentage" in chunk), None)
    )


@pytest.mark.requirement("R146", "R174", "T11")
async def test_a_call_that_is_stopped_is_cancelled_at_the_server(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    """What the server still says of that call is ignored, and the same server makes the next one."""
    command = shell("tee sent.jsonl |", mcp_packages.everything())
    declare(own_user, "everything", command, LONG, "echo")
    sent = own_user.workspace / "sent.jsonl"
    async with initialized_server(own_user) as server:
        client = server.client
        vendor.will_answer(calling(FOR_EVER))
        _, asked = client.start_query("go", "t")
        await wait_until_running(client, "t")
        await client.request("jp/interrupt", {"turn": "t", "action": "stop"})
        result = await result_of(asked)
        assert result["outcome"] == "stopped"
        vendor.will_answer(calling(("echo", {"message": "still here"})), answer("Done."))
        await client.query("again", "u", conversation=result["conversation"])
    assert heard(vendor) == ["Echo: still here"]
    messages = [json.loads(line) for line in sent.read_text(encoding="utf-8").splitlines()]
    calls = [message["id"] for message in messages if message.get("method") == "tools/call"]
    cancelled = [
        message["params"]["requestId"]
        for message in messages
        if message.get("method") == "notifications/cancelled"
    ]
    assert len(calls) == 2
    assert cancelled == calls[:1]
    assert [message.get("method") for message in messages].count("initialize") == 1


@pytest.mark.requirement("R226")
async def test_a_server_that_is_killed_costs_its_call_and_is_started_again(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    declare(own_user, "everything", mcp_packages.everything(), LONG, "echo")
    declare(own_user, "time", mcp_packages.time(), "convert_time")
    zones = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    async with initialized_server(own_user) as server:
        client = server.client
        vendor.will_answer(calling(FOR_EVER, ("convert_time", zones)), answer("Done."))
        _, asked = client.start_query("go", "t")
        await wait_until_running(client, "t")
        await client.wait_for_chunk("t", "tool_result", callId="call-1")
        (process,) = servers_of(server, "server-everything")
        os.kill(process.pid, signal.SIGKILL)
        result = await result_of(asked)
        died, converted = heard(vendor)
        assert died.splitlines()[0] == "MCP server 'everything' was ended by signal 9"
        assert json.loads(converted)["time_difference"] == "+9.0h"
        vendor.will_answer(calling(("echo", {"message": "back"})), answer("Done."))
        await client.query("again", "u", conversation=result["conversation"])
        assert heard(vendor) == ["Echo: back"]
        (restarted,) = servers_of(server, "server-everything")
        assert restarted.pid != process.pid


@pytest.mark.requirement("T11")
async def test_a_server_that_never_answers_the_first_question_fails_the_query_in_time(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    declare(own_user, "silent", SILENT, "anything", startup_timeout_secs=1)
    async with initialized_server(own_user) as server:
        fault = await server.client.refusal("jp/query", {"text": "go", "partialResultToken": "t"})
        assert fault.data["code"] == "mcp_failed"
        assert fault.message == "MCP server 'silent' cannot be used: it did not answer within 1 s"
        assert servers_of(server, "cat") == []
    assert vendor.queries == []


async def test_a_server_that_never_answers_and_is_optional_costs_its_tools_only(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    declare(own_user, "silent", SILENT, "anything", startup_timeout_secs=1, optional=True)
    declare(own_user, "everything", mcp_packages.everything(), "echo")
    vendor.will_answer(calling(("echo", {"message": "hi"})), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
        reason = "MCP server 'silent' cannot be used: it did not answer within 1 s"
        text = f"Tool anything is not offered: {reason}"
        await server.client.wait_for_chunk("t", "notice", level="warning", text=text)
    assert heard(vendor) == ["Echo: hi"]
    assert offered(vendor).keys() == {"echo", "describe_tools"}


@pytest.mark.requirement("T11")
async def test_a_query_that_waits_for_a_silent_server_can_be_cancelled(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    declare(own_user, "silent", SILENT, "anything", startup_timeout_secs=0)
    async with initialized_server(own_user) as server:
        request, asked = server.client.start_query("go", "t")
        async with asyncio.timeout(30):
            while not servers_of(server, "cat"):
                await asyncio.sleep(0.02)
        server.client.cancel(request)
        assert (await fault_of(asked)).data["outcome"] == "cancelled_before_start"
        assert await server.stop() == 0
    assert vendor.queries == []


LINES = 'yes "$(printf %01000d 7)"'
FLOODS = {
    "beside the protocol": f"{LINES} | head -n 100000 >&2;",
    "beside the protocol, on and on": f"{LINES} >&2 &",
    "in place of messages": f"{LINES} | head -n 100000;",
}


@pytest.mark.parametrize("script", FLOODS.values(), ids=FLOODS)
async def test_a_flood_is_passed_over(script: str, own_user: UserFolders, vendor: ChatVendor) -> None:
    declare(own_user, "everything", shell(script, mcp_packages.everything()), "echo")
    vendor.will_answer(calling(("echo", {"message": "above water"})), answer("Done."))
    async with initialized_server(own_user) as server:
        await server.client.query("go", "t")
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        assert int(peak) < 200_000, "so many kilobytes: it is kept somewhere"
        assert await server.stop() == 0
    assert heard(vendor) == ["Echo: above water"]


async def test_a_message_without_end_fails_the_query(own_user: UserFolders, vendor: ChatVendor) -> None:
    endless = shell("tr '\\0' x < /dev/zero;", ("true",))
    declare(own_user, "endless", endless, "anything")
    async with initialized_server(own_user) as server:
        fault = await server.client.refusal("jp/query", {"text": "go", "partialResultToken": "t"})
        assert fault.data["code"] == "mcp_failed"
        assert "it sent a message that is larger than any that is taken" in fault.message
        assert servers_of(server, "/dev/zero") == []
    assert vendor.queries == []


@pytest.mark.requirement("T06")
@pytest.mark.parametrize("how", ["asked to exit", "the editor hung up", "killed"])
async def test_no_server_is_left(how: str, own_user: UserFolders, vendor: ChatVendor) -> None:
    declare(own_user, "everything", mcp_packages.everything(), LONG)
    declare(own_user, "time", mcp_packages.time(), "convert_time")
    vendor.will_answer(calling(FOR_EVER))
    async with initialized_server(own_user) as server:
        server.client.start_query("go", "t")
        await wait_until_running(server.client, "t")
        started = [
            each.pid for text in ("server-everything", "mcp_server_time") for each in servers_of(server, text)
        ]
        assert len(started) == 2
        match how:
            case "asked to exit":
                assert await server.stop() == 0
            case "the editor hung up":
                server.client.hang_up()
                await server.wait()
            case _:
                server.process.kill()
        await wait_until_gone(*started)
