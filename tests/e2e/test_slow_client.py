"""Clients that stop reading: nothing is lost, nothing grows, and nobody else notices."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.chat_vendor import ChatVendor, answer, called, said
from tests.support.http_server import Hold, Reply
from tests.support.jp_client import JpClient, result_of
from tests.support.jp_server import JpServer, initialized_server, jp_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

PART_COUNT = 50_000
PARAGRAPH = "x" * 199
PARTS_IN_PARAGRAPH = 100
SILENCE = 5.0
"""Seconds without reading; an editor that is busy elsewhere."""

ALLOWED_GROWTH = 50_000_000


def flood_text() -> str:
    """Fifty thousand parts in five hundred paragraphs: ten megabytes, far more than any pipe holds."""
    paragraph = "".join(f"{PARAGRAPH} " for _ in range(PARTS_IN_PARAGRAPH))
    return "\n\n".join(paragraph.rstrip() for _ in range(PART_COUNT // PARTS_IN_PARAGRAPH))


def flood(gate: Hold) -> Reply:
    """The text in as many parts; the gate is behind all of them but the last word."""
    paragraphs = flood_text().split("\n\n")
    steps: list[bytes | Hold] = []
    for number, paragraph in enumerate(paragraphs):
        words = paragraph.split(" ")
        pieces = [f"{word} " for word in words[:-1]] + [words[-1]]
        before = "\n\n" if number else ""
        steps.append(b"".join(said(before + piece if piece is pieces[0] else piece) for piece in pieces))
    return answer(*steps, gate, "\n\nDone.")


@pytest_asyncio.fixture(loop_scope="session")
async def listening(user: UserFolders) -> AsyncIterator[JpServer]:
    async with jp_server(user, "--tcp", "127.0.0.1:0") as server:
        yield server


async def connected(server: JpServer, user: UserFolders) -> JpClient:
    client = await server.connect()
    await client.initialize(user.workspace)
    return client


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory another process uses")
@pytest.mark.requirement("S21", "R341")
async def test_a_client_that_stops_reading_holds_up_nobody_and_misses_nothing(
    listening: JpServer, user: UserFolders, vendor: ChatVendor
) -> None:
    slow, quick = await connected(listening, user), await connected(listening, user)
    vendor.will_answer(answer("Warm."), to="warm up")
    await quick.query("warm up", "warm", conversation="new")
    before = resident_bytes(listening.process.pid)
    gate = Hold()
    vendor.will_answer(flood(gate), to="flood")
    no_limit = ["assistant.request.max_response_bytes=0"]
    _, flooded = slow.start_query("flood", "flood", conversation="new", config=no_limit)
    await slow.wait_for_chunk("flood", "role", role="assistant")
    slow.stop_reading()
    loop = asyncio.get_running_loop()
    silent_until = loop.time() + SILENCE
    times: list[float] = []
    while loop.time() < silent_until:
        began = loop.time()
        vendor.will_answer(answer("Quick."), to="meanwhile")
        assert (await quick.query("meanwhile", f"quick-{len(times)}"))["text"] == "Quick."
        times.append(loop.time() - began)
    assert not gate.is_reached, "the vendor could send everything, so nothing was held up"
    assert resident_bytes(listening.process.pid) - before < ALLOWED_GROWTH
    assert max(times) < 2, times
    slow.read_on()
    gate.open()
    result = await result_of(flooded)
    expected = f"{flood_text()}\n\nDone."
    assert result["text"] == expected
    assert slow.transcript("flood").endswith(f"\n\n{expected}")
    assert user.story(result["conversation"])[-1] == f"message: {expected}"


@pytest.mark.requirement("S21", "R341")
async def test_tools_and_saves_go_on_while_nobody_reads(user: UserFolders, vendor: ChatVendor) -> None:
    """More than a pipe holds, but less than is allowed to wait: the turn goes on to its end."""
    text = "\n\n".join("y" * 4000 for _ in range(25))
    gate = Hold()
    async with initialized_server(user) as server:
        client = server.client
        vendor.will_answer(
            answer("Go.\n\n", gate, text, called("c1", "read", "{}"), reason="tool_calls"),
            answer(text, called("c2", "read", "{}"), reason="tool_calls"),
            answer("The end."),
        )
        _, asked = client.start_query("hi", "unread", conversation="new")
        await client.wait_for_text("unread", "Go.")
        conversation = client.chunks("unread")[0]["conversation"]
        client.stop_reading()
        gate.open()
        story = await user.wait_for_story(conversation, lambda lines: lines[-1:] == ["message: The end."])
        assert [line for line in story if "c1" in line or "c2" in line] == [
            "call c1: read",
            "error c1",
            "call c2: read",
            "error c2",
        ]
        assert not asked.done()
        client.read_on()
        result = await result_of(asked)
        assert (result["outcome"], result["turns"][0]["cycles"]) == ("completed", 3)
        assert client.transcript("unread").count("y" * 4000) == 50
        assert client.messages[-1].get("id") is not None, "the result is the last word"


@pytest.mark.requirement("S21", "R332")
async def test_a_client_that_does_not_read_can_stop_the_turn_all_the_same(
    user: UserFolders, vendor: ChatVendor
) -> None:
    async with initialized_server(user) as server:
        client = server.client
        vendor.will_answer(flood(Hold()))
        no_limit = ["assistant.request.max_response_bytes=0"]
        _, asked = client.start_query("hi", "stuck", conversation="new", config=no_limit)
        await client.wait_for_chunk("stuck", "role", role="assistant")
        conversation = client.chunks("stuck")[0]["conversation"]
        client.stop_reading()
        client.notify("jp/interrupt", {"turn": "stuck", "action": "stop"})
        story = await user.wait_for_story(conversation, lambda lines: "message: " in lines[-1])
        client.read_on()
        result = await result_of(asked)
        assert result["outcome"] == "stopped"
        assert f"message: {result['text']}" == story[-1]
        assert flood_text().startswith(result["text"])


def resident_bytes(pid: int) -> int:
    """Memory of a process that is really in use."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
