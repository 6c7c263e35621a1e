"""The server is killed at random moments of its work: what it had said was stored is there, and work goes on.

Each round has two turns at once, one in a new conversation and one in an old one. The next server, which is
warm already, lists and shows both conversations and asks on in both before its own turns begin.

What must be on disk is known from outside: a turn that was reported as stored, and everything that the vendor
was sent, because nothing is sent before it is durable (P1, P4, P6).

`JP_KILL_ROUNDS` says how many rounds there are, `JP_KILL_SEED` makes others of them.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from jp_lsp.conversation.interruption import NOTE
from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient, Json
from tests.support.jp_server import JpServer
from tests.support.scripted_turns import ScriptedTurn, scripted_turn
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

ROUNDS = int(os.environ.get("JP_KILL_ROUNDS", "20"))
SEED = os.environ.get("JP_KILL_SEED", "1")

LONGEST_DELAYS = (0.0, 0.004, 0.03, 0.3)
"""Seconds behind the chosen event; a save takes some milliseconds, flushes are saved every 250."""


@dataclass
class Attempt:
    """A turn that was under way when its server was killed."""

    turn: ScriptedTurn
    conversation: str | None
    stories: list[Json] = field(default_factory=list)
    was_reported: bool = False


class Pool:
    """Servers that are started ahead of their use."""

    def __init__(self, user: UserFolders, size: int) -> None:
        self._user = user
        self._ready = [asyncio.ensure_future(self._start()) for _ in range(size)]

    async def take(self) -> JpServer:
        server = await self._ready.pop(0)
        self._ready.append(asyncio.ensure_future(self._start()))
        return server

    async def close(self) -> None:
        for starting in self._ready:
            await (await starting).kill()

    async def _start(self) -> JpServer:
        server = await JpServer.start(self._user)
        await server.client.initialize(self._user.workspace)
        return server


@asynccontextmanager
async def pool_of(user: UserFolders, size: int) -> AsyncGenerator[Pool]:
    pool = Pool(user, size)
    try:
        yield pool
    finally:
        await pool.close()


@pytest.fixture
def own_vendor() -> Iterator[ChatVendor]:
    with ChatVendor() as vendor:
        yield vendor


@pytest.mark.requirement(
    "S11", "T04", "R49", "R165", "R278", "R344", "R12", "R14", "R16", "R175", "R289", "F28", "R160"
)
async def test_what_was_reported_as_stored_survives_a_kill_at_any_moment(
    own_vendor: ChatVendor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    user = UserFolders(tmp_path_factory.mktemp("killed"), own_vendor.url)
    random = Random(SEED)
    counts: Counter[str] = Counter()
    known: set[str] = set()
    attempts: list[Attempt] = []
    old: str | None = None
    async with pool_of(user, 2) as pool:
        for number in range(ROUNDS):
            server = await pool.take()
            await verify(server.client, own_vendor, user, attempts, known, counts)
            old = random.choice(sorted(known)) if known else None
            own_vendor.forget()
            attempts = await work_and_kill(server, own_vendor, random, number, old)
        server = await pool.take()
        await verify(server.client, own_vendor, user, attempts, known, counts)
        for conversation in sorted(known):
            await server.client.request("jp/conversation/render", {"conversation": conversation})
        await server.stop()
        server.log.check()
    sys.stdout.write(f"\n{ROUNDS} kills, {len(known)} conversations; {dict(sorted(counts.items()))}\n")
    assert counts["turns"] >= ROUNDS


async def work_and_kill(
    server: JpServer, vendor: ChatVendor, random: Random, number: int, old: str | None
) -> list[Attempt]:
    """Start the turns of a round, and kill the server somewhere in them."""
    client = server.client
    attempts = [Attempt(scripted_turn(f"round {number} new", random), None)]
    if old is not None:
        attempts.append(Attempt(scripted_turn(f"round {number} old", random), old))
    steering: list[asyncio.Task[None]] = []
    for attempt in attempts:
        turn = attempt.turn
        turn.plan(vendor)
        client.start_query(turn.question, turn.question, conversation=attempt.conversation or "new")
        steering.append(asyncio.ensure_future(turn.steer(client)))
    await moment(client, random, random.choice(attempts).turn)
    server.process.kill()
    await server.process.wait()
    for attempt in attempts:
        attempt.stories = vendor.queries_about(attempt.turn.question)
        if attempt.turn.reply is not None:
            attempt.stories += [
                body for body in vendor.queries_about(attempt.turn.reply[0]) if body not in attempt.stories
            ]
        chunks = client.chunks(attempt.turn.question)
        ends = [chunk for chunk in chunks if chunk["type"] == "turn_end"]
        attempt.was_reported = bool(ends) and ends[-1]["persisted"]
        if attempt.conversation is None and chunks:
            attempt.conversation = chunks[0]["conversation"]
    for task in steering:
        task.cancel()
    await asyncio.gather(*steering, return_exceptions=True)
    await server.kill()
    server.log.check()
    return attempts


async def moment(client: JpClient, random: Random, turn: ScriptedTurn) -> None:
    """Let some time pass: until the vendor passes a gate, until some messages came, or just some."""
    kind = random.choice(["gate", "gate", "messages", "time"])
    end = asyncio.ensure_future(client.wait_for(lambda: _has_ended(client, turn)))
    if kind == "gate":
        gate = random.choice(turn.gates)
        while not (gate.is_reached or end.done()):
            await asyncio.sleep(0.001)
    elif kind == "messages":
        wanted = len(client.messages) + random.randint(1, 25)
        enough = asyncio.ensure_future(client.wait_for(lambda: len(client.messages) >= wanted))
        await asyncio.wait([enough, end], return_when=asyncio.FIRST_COMPLETED)
        enough.cancel()
    else:
        await asyncio.sleep(random.uniform(0, 0.2))
    end.cancel()
    await asyncio.sleep(random.uniform(0, random.choice(LONGEST_DELAYS)))


def _has_ended(client: JpClient, turn: ScriptedTurn) -> bool:
    chunks = client.progress(turn.question)
    return any(chunk["type"] == "turn_end" and chunk["outcome"] != "replied" for chunk in chunks)


async def verify(
    client: JpClient,
    vendor: ChatVendor,
    user: UserFolders,
    attempts: list[Attempt],
    known: set[str],
    counts: Counter[str],
) -> None:
    """Hold what the next server finds against what the killed one had promised."""
    listed = (await client.request("jp/conversation/list"))["conversations"]
    # One that was killed in the middle of its first save is listed with its problem; nothing of it was promised.
    on_disk = {each["conversation"] for each in listed if "problem" not in each}
    assert known <= on_disk, "a conversation is gone"
    for attempt in attempts:
        counts["turns"] += 1
        counts[f"kind {attempt.turn.kind}"] += 1
        counts["reported as stored"] += attempt.was_reported
        counts[f"vendor requests {len(attempt.stories)}"] += 1
        conversation = attempt.conversation
        if conversation not in on_disk:
            assert not attempt.stories, "the vendor was asked, so the turn had to be on disk"
            counts["killed before anything was stored"] += 1
            continue
        assert conversation is not None
        await client.request("jp/conversation/render", {"conversation": conversation})
        question = f"check after {attempt.turn.question.replace(' ', '-')}"
        vendor.will_answer(answer("Checked."), to=question)
        result = await client.query(question, question, conversation=conversation)
        assert (result["outcome"], result["text"]) == ("completed", "Checked.")
        (asked,) = vendor.queries_about(question)
        check_structure(asked["messages"], user.events(conversation))
        for body in attempt.stories:
            check_covers(asked["messages"][:-1], body["messages"])
        check_stored(attempt, user.events(conversation), counts)
    known |= on_disk


def check_structure(told: list[Json], events: list[Json]) -> None:
    """Every turn has its one request, and the model is shown a result for every call."""
    kinds = [event["type"] for event in events]
    assert kinds.count("turn_start") == kinds.count("chat_request")
    calls = [call["id"] for message in told for call in message.get("tool_calls", [])]
    assert calls == [message["tool_call_id"] for message in told if message["role"] == "tool"]


def check_stored(attempt: Attempt, events: list[Json], counts: Counter[str]) -> None:
    """What is on disk of an answer is a beginning of what the vendor said, or all of it."""
    turn = attempt.turn
    is_whole = True
    for asked in turn.answers:
        message, reasoning = stored_answer(events, asked)
        assert turn.answers[asked].startswith(message), "something is stored that was never said"
        assert turn.thoughts.get(asked, "").startswith(reasoning)
        is_whole = is_whole and (message, reasoning) == (turn.answers[asked], turn.thoughts.get(asked, ""))
        counts["answers stored in part"] += bool(message) and message != turn.answers[asked]
    if attempt.was_reported and turn.press is None:
        assert is_whole
    counts["turns stored as a whole"] += is_whole


def stored_answer(events: list[Json], asked: str) -> tuple[str, str]:
    """The message and the reasoning that are stored behind something that the user said."""
    message, reasoning, is_own = "", "", False
    for event in events:
        if event["type"] == "chat_request":
            is_own = event["content"] == asked
        elif is_own:
            message += event.get("message", "")
            reasoning += event.get("reasoning", "")
    return message, reasoning


def check_covers(history: list[Json], sent: list[Json]) -> None:
    """Everything that was sent to the vendor is still there; only its last message may have grown."""
    assert len(history) >= len(sent)
    for at, (now, then) in enumerate(zip(history, sent, strict=False)):
        assert now["role"] == then["role"]
        if at < len(sent) - 1 or then["role"] != "assistant":
            assert (_said(now), now.get("tool_calls")) == (_said(then), then.get("tool_calls"))
        for part in ("content", "reasoning_content"):
            assert _text(now, part).startswith(_text(then, part))


def _said(message: Json) -> str:
    """The text of a message, without what was put before it for the model."""
    return _text(message, "content").removeprefix(f"{NOTE}\n\n")


def _text(message: Json, part: str) -> Any:
    return message.get(part) or ""
