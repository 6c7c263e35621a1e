"""However a server ends in the middle of its work, what came is on disk, and the process is gone."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jp_lsp.conversation.interruption import NOTE
from tests.support.chat_vendor import ChatVendor, answer, broken, refused, thought
from tests.support.held_query import HeldQuery
from tests.support.http_server import Hold
from tests.support.jp_client import JpClient, Json, result_of
from tests.support.jp_server import JpServer, initialized_server, jp_server, serve_command
from tests.support.screen import Screen
from tests.support.user_folders import UserFolders
from tests.support.wire_process import ROOT

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

CAPABILITIES = {"experimental": {"jp": {"prompt": {"kinds": ["menu", "text"]}}}}
PARTIAL = ["turn", "user: hi", "reasoning: Hm.", "message: First.\n\n"]
STORIES: Mapping[str, list[str]] = {
    "waiting": ["turn", "user: hi"],
    "streaming": PARTIAL,
    "interrupted_stream": PARTIAL,
    "replying": PARTIAL,
    "backoff": ["turn", "user: hi", "message: Half."],
}
"""What must be stored of a query that was in this phase."""


class Busy:
    """A server that is at work in five conversations, each in another phase."""

    def __init__(self, server: JpServer) -> None:
        self.server = server
        self.asked: dict[str, asyncio.Future[Json]] = {}
        self.conversations: dict[str, str] = {}

    @property
    def client(self) -> JpClient:
        return self.server.client

    async def begin(self, vendor: ChatVendor) -> None:
        """Ask once for each phase, and wait until all are where they should be."""
        screen = Screen()
        self.client.answers["jp/prompt"] = screen.show
        vendor.will_answer(answer(Hold(), "never"), to="waiting")
        vendor.will_answer(broken("Half."), to="backoff")
        vendor.will_answer(refused(429, "slow down, try again in 60 seconds"), to="backoff")
        for phase in ("streaming", "interrupted_stream", "replying"):
            vendor.will_answer(answer(thought("Hm."), "First.\n\n", Hold(), "never"), to=phase)
        for phase in STORIES:
            _, self.asked[phase] = self.client.start_query(f"hi {phase}", phase, conversation="new")
        for phase in ("interrupted_stream", "replying"):
            await self.client.wait_for_text(phase, "First.")
            await self.client.request("jp/interrupt", {"turn": phase})
            question = await screen.next_question()
            if phase == "replying":
                question.answer({"action": "reply"})
                await screen.next_question()
                break
        await self.client.wait_for_text("streaming", "First.")
        await self.client.wait_for_chunk("backoff", "retry", delayMs=60_000)
        await self.client.wait_for_chunk("waiting", "status", phase="waiting")
        listed = (await self.client.request("jp/turn/list"))["active"]
        assert {turn["turn"]: turn["phase"] for turn in listed} == {phase: phase for phase in STORIES}
        self.conversations = {turn["turn"]: turn["conversation"] for turn in listed}


async def hang_up(busy: Busy) -> int:
    busy.client.hang_up()
    return await busy.server.wait()


async def shut_down(busy: Busy) -> int:
    await busy.client.request("shutdown")
    assert all(asked.done() for asked in busy.asked.values()), "queries are answered before `shutdown` is"
    busy.client.notify("exit")
    return await busy.server.wait()


async def just_exit(busy: Busy) -> int:
    busy.client.notify("exit")
    return await busy.server.wait()


def signalled(number: signal.Signals) -> Callable[[Busy], Awaitable[int]]:
    async def end(busy: Busy) -> int:
        busy.server.process.send_signal(number)
        return await busy.server.wait()

    return end


ENDINGS: Mapping[str, tuple[Callable[[Busy], Awaitable[int]], int]] = {
    "end of input": (hang_up, 0),
    "shutdown": (shut_down, 0),
    "exit": (just_exit, 1),
    "SIGTERM": (signalled(signal.SIGTERM), 143),
    "SIGINT": (signalled(signal.SIGINT), 130),
    "SIGHUP": (signalled(signal.SIGHUP), 129),
}


@pytest.mark.requirement("S10", "T04", "R134", "R335", "R336", "R344")
@pytest.mark.parametrize("ending", ENDINGS)
async def test_what_came_is_stored_in_every_phase(user: UserFolders, vendor: ChatVendor, ending: str) -> None:
    end, expected_code = ENDINGS[ending]
    async with jp_server(user) as server:
        await server.client.initialize(user.workspace, capabilities=CAPABILITIES)
        busy = Busy(server)
        await busy.begin(vendor)
        assert await end(busy) == expected_code
        for phase, story in STORIES.items():
            told = [line.replace(f"hi {phase}", "hi") for line in user.story(busy.conversations[phase])]
            assert told == story, phase
            assert not user.is_locked(busy.conversations[phase])
        if ending != "end of input":
            for phase, asked in busy.asked.items():
                result = await result_of(asked)
                assert (phase, result["outcome"], result["persisted"]) == (phase, "stopped", True)


@pytest.mark.requirement("T02", "T03", "T04")
async def test_the_next_server_goes_on_where_the_last_one_was_stopped(
    user: UserFolders, vendor: ChatVendor
) -> None:
    async with initialized_server(user) as server:
        query = await HeldQuery.hold(server.client, vendor, "t")
        server.process.send_signal(signal.SIGTERM)
        await server.wait()
    vendor.will_answer(answer("Right."))
    async with initialized_server(user) as server:
        result = await server.client.query("go on", "u", conversation=query.conversation)
    assert result["text"] == "Right."
    assert vendor.queries[-1]["messages"][1:] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "First.\n\n"},
        {"role": "user", "content": f"{NOTE}\n\ngo on"},
    ]


@pytest.mark.requirement("S10")
async def test_a_server_without_work_is_gone_at_once(user: UserFolders) -> None:
    for end, expected_code in ENDINGS.values():
        async with initialized_server(user) as server:
            began = asyncio.get_running_loop().time()
            assert await end(Busy(server)) == expected_code
            assert asyncio.get_running_loop().time() - began < 3


@pytest.mark.requirement("S10", "R336", "R337")
async def test_of_two_clients_on_a_socket_one_goes_and_the_other_stays(
    user: UserFolders, vendor: ChatVendor
) -> None:
    async with jp_server(user, "--tcp", "127.0.0.1:0") as server:
        leaving, staying = await server.connect(), await server.connect()
        for client in (leaving, staying):
            await client.initialize(user.workspace)
        query = await HeldQuery.hold(leaving, vendor, "leaving", text="first question")
        other = await HeldQuery.hold(staying, vendor, "staying", text="second question")
        conversation = query.conversation
        await leaving.close()
        story = await user.wait_for_story(conversation, lambda lines: "message" in lines[-1])
        assert story == ["turn", "user: first question", "message: First.\n\n"]
        other.go_on()
        assert (await other.result())["text"] == "First.\n\nSecond."
        last = await HeldQuery.hold(staying, vendor, "last", text="third question")
        server.process.send_signal(signal.SIGTERM)
        assert (await last.result())["outcome"] == "stopped"
        assert await server.wait() == 143
        assert user.story(last.conversation)[-1] == "message: First.\n\n"


class Doomed:
    """An editor that will not live to see the answer."""

    def __init__(self, process: asyncio.subprocess.Process, report: Any) -> None:
        self.process = process
        self.server: int = report["server"]
        self.conversation: str = report["conversation"]


@asynccontextmanager
async def doomed_editor(user: UserFolders, vendor: ChatVendor) -> AsyncGenerator[Doomed]:
    vendor.will_answer(answer("First.\n\n", Hold(), "never"))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "tests" / "support" / "doomed_editor.py"),
        str(user.workspace),
        *serve_command(),
        env=user.environment(),
        cwd=user.workspace,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            yield Doomed(process, json.loads(await process.stdout.readline()))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process.stdin.close()


@pytest.mark.requirement("S10", "R336", "T04")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at other processes in /proc")
@pytest.mark.parametrize("fate", ["killed", "deaf"])
async def test_the_editor_is_gone_in_the_middle_of_an_answer(
    user: UserFolders, vendor: ChatVendor, fate: str
) -> None:
    async with doomed_editor(user, vendor) as editor:
        if fate == "killed":
            editor.process.send_signal(signal.SIGKILL)
            await editor.process.wait()
        else:
            assert editor.process.stdin is not None
            editor.process.stdin.write(b"deaf\n")
        async with asyncio.timeout(10):
            while is_running(editor.server):
                await asyncio.sleep(0.02)
        assert user.story(editor.conversation) == ["turn", "user: hi", "message: First.\n\n"]
        assert not user.is_locked(editor.conversation)


def is_running(pid: int) -> bool:
    """Whether a process lives; one that only waits to be counted does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
