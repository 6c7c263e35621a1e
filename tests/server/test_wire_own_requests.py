"""Questions to the client: answered, refused, late, doubled or never."""

import asyncio
import logging
from typing import Any

import pytest
from anyio.lowlevel import checkpoint
from lsprotocol import types

from jp_lsp.server.framing import BadFrame
from jp_lsp.server.wire_error import ClientAnswerError
from tests.support.wire_memory import MemoryClient

pytestmark = pytest.mark.anyio


@pytest.fixture
def client() -> MemoryClient:
    client = MemoryClient()
    client.initialize()
    return client


def answer(client: MemoryClient, request_id: object, **members: object) -> None:
    client.send({"jsonrpc": "2.0", "id": request_id, **members})


async def ask(client: MemoryClient) -> Any:
    return await client.protocol.send_request_raw("jp/prompt", {"message": "Run?"})


async def test_a_question_is_sent_at_once_and_answered_as_plain_json(client: MemoryClient) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {"message": "Run?"})
    sent = client.take_one()
    assert sent == {"jsonrpc": "2.0", "id": pending.id, "method": "jp/prompt", "params": {"message": "Run?"}}
    answer(client, pending.id, result={"a-b": {"jsonrpc": "2.0"}, "class": 1})
    assert await pending == {"a-b": {"jsonrpc": "2.0"}, "class": 1}
    assert await pending == {"a-b": {"jsonrpc": "2.0"}, "class": 1}, "it may be awaited again"


REFUSALS: list[tuple[dict[str, object], object]] = [
    ({"result": None}, None),
    ({}, None),
    ({"result": 1, "error": None}, 1),
    ({"error": {"code": -32800, "message": "no"}}, (-32800, "no", None)),
    ({"error": {"code": 4711, "message": "no", "data": [1]}}, (4711, "no", [1])),
    ({"error": "broken"}, (-32603, "the client gave no reason", None)),
    ({"error": {"code": "x", "message": 5}}, (-32603, "the client gave no reason", None)),
    ({"error": {"code": True}}, (-32603, "the client gave no reason", None)),
]


@pytest.mark.parametrize(("members", "expected"), REFUSALS)
async def test_answers_of_every_kind(
    client: MemoryClient, members: dict[str, object], expected: object
) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {})
    answer(client, pending.id, **members)
    if isinstance(expected, tuple):
        with pytest.raises(ClientAnswerError) as caught:
            await pending
        assert (caught.value.code, caught.value.message, caught.value.data) == expected
    else:
        assert await pending == expected


@pytest.mark.requirement("T25")
@pytest.mark.parametrize("members", [{"result": 1}, {"error": {"code": -32800, "message": "late"}}])
async def test_a_late_answer_disturbs_nobody(
    client: MemoryClient, members: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    asking = asyncio.ensure_future(ask(client))
    await checkpoint()
    request_id = client.take_one()["id"]
    asking.cancel()
    await checkpoint()
    await checkpoint()
    assert asking.cancelled()
    answer(client, request_id, **members)
    answer(client, request_id, **members)
    for _ in range(5):
        await checkpoint()
    assert client.take() == []
    assert caplog.text == ""
    client.request(1, "jp/nope")
    assert client.take_one()["error"]["code"] == -32601, "the server lives"


@pytest.mark.requirement("T25")
async def test_a_typed_request_may_be_cancelled_too(
    client: MemoryClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    params = types.ShowMessageRequestParams(types.MessageType.Info, "Run?", [types.MessageActionItem("Yes")])
    asking = asyncio.ensure_future(client.server.window_show_message_request_async(params))
    await checkpoint()
    sent = client.take_one()
    assert sent["params"] == {"type": 3, "message": "Run?", "actions": [{"title": "Yes"}]}
    asking.cancel()
    await checkpoint()
    answer(client, sent["id"], result={"title": "Yes"})
    await checkpoint()
    assert client.take() == []
    assert caplog.text == ""


async def test_typed_requests_give_typed_results(client: MemoryClient) -> None:
    params = types.ShowMessageRequestParams(types.MessageType.Info, "Run?")
    asking = asyncio.ensure_future(client.server.window_show_message_request_async(params))
    await checkpoint()
    answer(client, client.take_one()["id"], result={"title": "Yes"})
    assert await asking == types.MessageActionItem("Yes")


@pytest.mark.parametrize(
    "members", [{"error": {"code": 5, "message": "no"}}, {"result": {"title": []}}, {"result": "text"}]
)
async def test_a_typed_request_that_fails_is_a_client_answer_error(
    client: MemoryClient, members: dict[str, object]
) -> None:
    asking = asyncio.ensure_future(
        client.server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(types.WorkspaceEdit()))
    )
    await checkpoint()
    answer(client, client.take_one()["id"], **members)
    with pytest.raises(ClientAnswerError):
        await asking


async def test_a_refusal_of_the_client_is_never_handed_on_as_our_own_answer(client: MemoryClient) -> None:
    """An editor drops an answer -32800 silently, so its own must not come back to it (hosts 1 c)."""
    client.protocol.register_method("jp/query", None, lambda _params: ask(client))
    client.request(1, "jp/query")
    await checkpoint()
    answer(client, client.take_one()["id"], error={"code": -32800, "message": "dismissed"})
    for _ in range(5):
        await checkpoint()
    assert client.take_one()["error"]["code"] == -32603


async def test_a_question_may_be_withdrawn(client: MemoryClient) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {})
    client.take()
    pending.withdraw()
    assert client.take_one() == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": pending.id}}
    answer(client, pending.id, error={"code": -32800, "message": "cancelled"})
    pending.withdraw()
    assert client.take() == []


async def test_nobody_waits_for_a_client_that_is_gone(client: MemoryClient) -> None:
    raw = asyncio.ensure_future(ask(client))
    params = types.ShowMessageRequestParams(types.MessageType.Info, "Run?")
    typed = asyncio.ensure_future(client.server.window_show_message_request_async(params))
    await checkpoint()
    client.protocol.end_questions()
    for asking in (raw, typed):
        with pytest.raises(ClientAnswerError, match="the client is gone"):
            await asking
    client.writer.is_closed = True
    with pytest.raises(ClientAnswerError, match="the client is gone"):
        await ask(client)


async def test_an_answer_too_large_to_read_ends_the_question(client: MemoryClient) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {})
    client.take()
    start = b'{"jsonrpc":"2.0","id":"%b","result":"xxx' % pending.id.encode()
    client.protocol.receive(BadFrame("the message has 99 bytes; at most 9 are read", start))
    assert client.take() == []
    with pytest.raises(ClientAnswerError, match="the client's answer was not read: the message has 99 bytes"):
        await pending


async def test_ids_of_both_sides_may_be_equal(client: MemoryClient) -> None:
    pending = client.protocol.send_request_raw("jp/prompt", {})
    client.take()
    client.protocol.register_method("jp/echo", None, lambda params: params)
    client.request(pending.id, "jp/echo", {"mine": True})
    assert client.take_one()["result"] == {"mine": True}
    answer(client, pending.id, result="yours")
    assert await pending == "yours"


async def test_progress_of_pygls_and_plain_notifications_go_out(client: MemoryClient) -> None:
    client.server.work_done_progress.begin("t", types.WorkDoneProgressBegin(title="T"))
    client.protocol.notify("$/progress", {"token": "t", "value": {"plain": "\ud800"}})
    client.protocol.notify("x/own")
    assert client.take() == [
        {
            "jsonrpc": "2.0",
            "method": "$/progress",
            "params": {"token": "t", "value": {"kind": "begin", "title": "T"}},
        },
        {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "t", "value": {"plain": "\ufffd"}}},
        {"jsonrpc": "2.0", "method": "x/own"},
    ]
