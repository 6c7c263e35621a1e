"""Scenarios S17 and S20 (query pipeline 11): what needs a vendor that numbers its blocks."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from random import Random

import pytest
import pytest_asyncio

from tests.e2e.test_tools import STOCK, choose, screen_of, with_tools
from tests.support.blocks_vendor import (
    ENVIRONMENT,
    BlocksVendor,
    began,
    ended,
    piece,
    stop,
    text,
    thinking,
    tool,
    user_of,
)
from tests.support.http_server import Hold, Reply
from tests.support.jp_client import result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

STREAMS = 40
KINDS = ("text", "thinking", "input_json")


@pytest.fixture(scope="module")
def blocks() -> Iterator[BlocksVendor]:
    with BlocksVendor() as vendor:
        yield vendor


@pytest.fixture(scope="module")
def blocks_user(tmp_path_factory: pytest.TempPathFactory, blocks: BlocksVendor) -> UserFolders:
    user = user_of(tmp_path_factory.mktemp("user"), blocks)
    with_tools(user, harm=("touch harmed", {"run": "unattended"}), asked=("touch harmed", {"run": "ask"}))
    return user


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def blocks_server(blocks_user: UserFolders) -> AsyncIterator[JpServer]:
    async with initialized_server(blocks_user, capabilities=STOCK, environment=ENVIRONMENT) as server:
        yield server


@pytest.mark.requirement("S17", "R18")
async def test_a_refusal_takes_a_complete_call_back_before_it_runs(
    blocks_server: JpServer, blocks_user: UserFolders, blocks: BlocksVendor
) -> None:
    """Both calls are whole: one would run unasked, the other was allowed meanwhile."""
    gate = Hold()
    blocks.will_answer(
        Reply.sse(
            began(),
            text(0) + piece(0, "text", "I do it.\n\n") + stop(0),
            tool(1, "c1", "harm") + piece(1, "input_json", "{}") + stop(1),
            tool(2, "c2", "asked") + piece(2, "input_json", "{}") + stop(2),
            gate,
            ended("refusal", category="cyber", explanation="That would do harm."),
        )
    )
    client, screen = blocks_server.client, screen_of(blocks_server)
    _, future = client.start_query("go", "refused", conversation="new")
    choose(await screen.next_question(), "Run")
    gate.open()
    result = await result_of(future)
    assert result["outcome"] == "refused"
    assert "cyber: That would do harm." in str(result["notices"])
    assert blocks_user.story(result["conversation"]) == ["turn", "user: go"]
    assert len(blocks.queries) == 1
    assert "I do it." not in client.transcript("refused")
    assert not (blocks_user.workspace / "harmed").exists()
    blocks.will_answer(Reply.sse(began(), text(0), piece(0, "text", "Fine."), stop(0), ended()))
    again = await client.query("then not", "after", conversation=result["conversation"])
    assert again["text"] == "Fine."
    assert "c1" not in json.dumps(blocks.queries[-1])
    assert not (blocks_user.workspace / "harmed").exists()


@dataclass
class Block:
    """One block of a random stream: what it begins with, what is still to come of it."""

    index: int
    kind: str
    pieces: list[str]
    has_begun: bool = False

    @property
    def expected(self) -> str:
        """How it must be stored."""
        match self.kind:
            case "text":
                return f"message: {''.join(self.pieces)}"
            case "thinking":
                return f"reasoning: {''.join(self.pieces)}"
            case _:
                return f"call c{self.index}: gone"

    def begin(self) -> bytes:
        match self.kind:
            case "text":
                return text(self.index)
            case "thinking":
                return thinking(self.index)
            case _:
                return tool(self.index, f"c{self.index}", "gone")


def random_stream(random: Random) -> tuple[list[bytes], list[str]]:
    """Blocks that begin in order, go on in any, and end in any: the bytes, and what must be stored of them."""
    blocks: list[Block] = []
    for index in range(random.randint(1, 6)):
        kind = random.choice(KINDS)
        pieces = [f"{index}.{number} " for number in range(random.randint(1, 4))]
        blocks.append(Block(index, kind, ['{"a"', ":", "1}"] if kind == "input_json" else pieces))
    expected = [block.expected for block in blocks]
    waiting, open_blocks, steps = list(blocks), list[Block](), [began()]
    left = {block.index: list(block.pieces) for block in blocks}
    while waiting or open_blocks:
        if waiting and (not open_blocks or random.random() < 0.3):
            block = waiting.pop(0)
            open_blocks.append(block)
            steps.append(block.begin())
            continue
        block = random.choice(open_blocks)
        if left[block.index]:
            steps.append(piece(block.index, block.kind, left[block.index].pop(0)))
        else:
            open_blocks.remove(block)
            steps.append(stop(block.index))
    is_calling = any(block.kind == "input_json" for block in blocks)
    return [*steps, ended("tool_use" if is_calling else "end_turn")], expected


def cut(random: Random, steps: list[bytes]) -> list[bytes]:
    """The same bytes, cut anywhere."""
    whole = b"".join(steps)
    borders = sorted(random.randrange(len(whole)) for _ in range(random.randint(1, 20)))
    return [
        whole[start:end]
        for start, end in zip([0, *borders], [*borders, len(whole)], strict=True)
        if start < end
    ]


@pytest.mark.requirement("S20", "R10", "R23", "R210")
async def test_blocks_are_stored_in_the_order_of_their_indices(
    blocks_server: JpServer, blocks_user: UserFolders, blocks: BlocksVendor
) -> None:
    random = Random(20)
    disordered, kinds = 0, set[str]()
    for number in range(STREAMS):
        steps, expected = random_stream(random)
        stops = [step for step in steps if b"content_block_stop" in step]
        disordered += stops != [stop(index) for index in range(len(expected))]
        kinds |= {line.split()[0] for line in expected}
        blocks.will_answer(Reply.sse(*cut(random, steps)))
        if any(line.startswith("call") for line in expected) or not has_answer(expected):
            blocks.will_answer(Reply.sse(began(), text(0), piece(0, "text", "Done."), stop(0), ended()))
        result = await blocks_server.client.query("go", f"random-{number}", conversation="new")
        assert result["outcome"] == "completed", (number, result)
        story = blocks_user.story(result["conversation"])
        if has_answer(expected):
            assert story[2 : 2 + len(expected)] == expected, number
        else:
            assert story[2:] == ["message: Done."], "reasoning alone is no answer, and is asked for again"
    assert kinds == {"message:", "reasoning:", "call"}
    assert disordered > STREAMS / 4, "hardly any stream was out of order"


def has_answer(expected: list[str]) -> bool:
    return any(not line.startswith("reasoning") for line in expected)
