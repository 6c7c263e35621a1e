"""`$/cancelRequest` cancels once, and the request is answered once (query pipeline 4.4)."""

import asyncio
from typing import Any

import pytest
from anyio import CancelScope, create_task_group, sleep_forever
from anyio.lowlevel import checkpoint

from jp_lsp.server.wire_error import REQUEST_CANCELLED, WireError
from tests.support.wire_memory import MemoryClient

pytestmark = pytest.mark.anyio


class Turn:
    """A turn as the server owns it: it outlives the request, and takes a moment to stop."""

    def __init__(self) -> None:
        self.stop_wishes = 0
        self.stopping = asyncio.Event()
        self.may_end = asyncio.Event()

    async def run(self) -> str:
        await self.stopping.wait()
        await self.may_end.wait()
        return "stopped"


@pytest.fixture
def turn() -> Turn:
    return Turn()


@pytest.fixture
def client(turn: Turn) -> MemoryClient:
    client = MemoryClient()

    async def query(_params: object) -> str:
        outcome = asyncio.ensure_future(turn.run())
        try:
            return await asyncio.shield(outcome)
        except asyncio.CancelledError:
            turn.stop_wishes += 1
            turn.stopping.set()
            data = {"outcome": await asyncio.shield(outcome), "partialSaved": True}
            raise WireError(REQUEST_CANCELLED, "stopped", data) from None

    client.protocol.register_method("jp/query", None, query)
    client.protocol.register_command("jp.query", None, query)
    client.initialize()
    return client


async def settle() -> None:
    for _ in range(10):
        await checkpoint()


@pytest.mark.requirement("T23")
@pytest.mark.parametrize("via_command", [False, True])
async def test_a_cancelled_handler_cleans_up_and_tells_what_was_kept(
    client: MemoryClient, turn: Turn, via_command: bool
) -> None:
    if via_command:
        client.request(7, "workspace/executeCommand", {"command": "jp.query"})
    else:
        client.request(7, "jp/query", {})
    await settle()
    client.cancel(7)
    await settle()
    client.cancel(7)
    client.cancel(7)
    await settle()
    assert client.take() == [], "it has not ended yet"
    assert turn.stop_wishes == 1
    turn.may_end.set()
    await settle()
    assert client.take() == [
        {
            "jsonrpc": "2.0",
            "id": 7,
            "error": {
                "code": -32800,
                "message": "stopped",
                "data": {"outcome": "stopped", "partialSaved": True},
            },
        }
    ]
    client.cancel(7)
    await settle()
    assert client.take() == []


@pytest.mark.requirement("T23")
async def test_a_cancel_that_arrives_with_its_request(client: MemoryClient, turn: Turn) -> None:
    """The handler runs up to its first wait all the same, or it could not stop what it began."""
    turn.may_end.set()
    client.request(7, "jp/query", {})
    client.cancel(7)
    await settle()
    message = client.take_one()
    assert (message["id"], message["error"]["code"]) == (7, -32800)
    assert message["error"]["data"]["partialSaved"] is True
    assert turn.stop_wishes == 1


async def test_a_handler_that_still_has_a_result_gives_it(client: MemoryClient) -> None:
    async def stubborn(_params: object) -> str:
        try:
            await sleep_forever()
        except asyncio.CancelledError:
            return "all the same"
        return "never"

    client.protocol.register_method("jp/stubborn", None, stubborn)
    client.request("s", "jp/stubborn")
    await settle()
    client.cancel("s")
    await settle()
    assert client.take_one()["result"] == "all the same"


async def test_a_cancellation_from_inside_does_not_count_as_the_clients(client: MemoryClient) -> None:
    """anyio cancels tasks for its own purposes; a wish of the client at that moment is still heard."""
    reached = asyncio.Event()

    async def scoped(_params: object) -> str:
        with CancelScope() as scope:
            scope.cancel()
            client.cancel("s")
            await checkpoint()
        reached.set()
        await sleep_forever()
        return "never"

    client.protocol.register_method("jp/scoped", None, scoped)
    client.request("s", "jp/scoped")
    await settle()
    assert client.take_one()["error"]["code"] == -32800


async def test_a_task_group_in_a_handler_is_cancelled_whole(client: MemoryClient) -> None:
    ended: list[str] = []

    async def child(name: str) -> None:
        try:
            await sleep_forever()
        finally:
            ended.append(name)

    async def parent(_params: object) -> None:
        async with create_task_group() as group:
            group.start_soon(child, "a")
            group.start_soon(child, "b")

    client.protocol.register_method("jp/parent", None, parent)
    client.request(1, "jp/parent")
    await settle()
    client.cancel(1)
    await settle()
    assert client.take_one()["error"]["code"] == -32800
    assert sorted(ended) == ["a", "b"]


async def test_integer_and_string_ids_are_different(client: MemoryClient, turn: Turn) -> None:
    client.request(7, "jp/query", {})
    client.request("7", "jp/query", {})
    await settle()
    turn.may_end.set()
    client.cancel("7")
    await settle()
    answers = {message["id"]: message for message in client.take()}
    assert answers["7"]["error"]["code"] == -32800
    assert answers[7]["result"] == "stopped", (
        "it was not cancelled; it shares the turn that the other stopped"
    )
    assert turn.stop_wishes == 1


async def test_an_id_in_use_is_not_taken_twice(client: MemoryClient, turn: Turn) -> None:
    client.request(7, "jp/query", {})
    await settle()
    client.request(7, "jp/query", {})
    message = client.take_one()
    assert message["error"]["message"] == "Invalid request: the id is still in use"
    turn.may_end.set()
    client.cancel(7)
    await settle()
    assert client.take_one()["error"]["code"] == -32800
    client.request(7, "jp/query", {})
    await settle()
    assert client.take_one()["result"] == "stopped", "free again"


async def test_a_future_may_be_given_instead_of_a_coroutine(client: MemoryClient) -> None:
    waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    client.protocol.register_method("jp/future", None, lambda _params: waiting)
    client.request(1, "jp/future")
    await settle()
    waiting.set_result("there")
    await settle()
    assert client.take_one()["result"] == "there"


async def test_a_synchronous_handler_that_finds_its_work_cancelled(client: MemoryClient) -> None:
    gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    gone.cancel()
    client.protocol.register_method("jp/gone", None, lambda _params: gone.result())
    client.request(1, "jp/gone")
    assert client.take_one()["error"]["code"] == -32800
    client.notify("jp/gone")
    assert client.take() == []


async def test_our_own_requests_are_not_cancelled_by_the_client(client: MemoryClient) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {})
    client.cancel(pending.id)
    client.take()
    client.send({"jsonrpc": "2.0", "id": pending.id, "result": 1})
    assert await pending == 1


@pytest.mark.requirement("T23")
@pytest.mark.parametrize("steps_before", range(12))
async def test_a_cancel_at_any_moment_is_answered_once(
    client: MemoryClient, turn: Turn, steps_before: int
) -> None:
    """The turn is about to end by itself; the cancel comes before, with or after that."""
    turn.may_end.set()
    client.request(1, "jp/query", {})
    await checkpoint()
    asyncio.get_running_loop().call_later(0, turn.stopping.set)
    for _ in range(steps_before):
        await checkpoint()
    client.cancel(1)
    await settle()
    message: Any = client.take_one()
    assert message["id"] == 1
    assert message.get("result") == "stopped" or message["error"]["code"] == -32800
