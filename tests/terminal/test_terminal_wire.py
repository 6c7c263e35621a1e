"""The client's side of the wire: framing, and who gets which message."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.terminal.connection import Connection, RequestError, RequestId
from jp_lsp.terminal.framing import MessageReader, WireBroken, encode_message


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=5),
    st.lists(st.integers(1, 40), min_size=1),
)
def test_messages_survive_any_cutting(messages: list[dict[str, str]], sizes: list[int]) -> None:
    data = b"".join(map(encode_message, messages))
    reader, read, position = MessageReader(), [], 0
    for index in range(len(data)):
        size = sizes[index % len(sizes)]
        read += reader.feed(data[position : position + size])
        position += size
    assert read == messages


def test_sizes_count_bytes_and_headers_may_be_spelled_in_any_way() -> None:
    assert encode_message({"a": "é"}) == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa9"}'
    data = b'Content-Type: x\r\ncontent-LENGTH:10 \r\n\r\n{"a":"\xc3\xa9"}'
    assert MessageReader().feed(data) == [{"a": "é"}]


def test_half_a_character_pair_does_not_stop_a_query() -> None:
    assert MessageReader().feed(encode_message({"a": "x\ud800"})) == [{"a": "x?"}]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"hello\r\n\r\n", "the server sent 'hello'"),
        (b"Content-Length: -1\r\n\r\n", "the server sent 'Content-Length: -1'"),
        (b"Content-Length: 99999999999\r\n\r\n", "the server sent a message of 99,999,999,999 bytes"),
        (b"x" * 9000, f"the server sent {'x' * 60!r}..."),
        (b"Content-Length: 1\r\n\r\n{", "the server sent '{', which is not JSON"),
        (b"Content-Length: 2\r\n\r\n[]", "the server sent '[]', which is no message"),
        (
            b"Content-Length: 2000\r\n\r\n" + b"[" * 2000,
            f"the server sent {'[' * 60!r}..., which is not JSON",
        ),
    ],
)
def test_what_is_not_the_protocol_ends_it(data: bytes, problem: str) -> None:
    with pytest.raises(WireBroken) as raised:
        MessageReader().feed(data)
    assert str(raised.value) == problem


class Recorder:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_request(self, request_id: RequestId, method: str, params: JsonObject) -> None:
        self.heard.append((request_id, method, params))

    def on_notification(self, method: str, params: JsonObject) -> None:
        self.heard.append((method, params))


def connect() -> tuple[Connection, Recorder, list[Any]]:
    recorder, sent = Recorder(), list[Any]()

    def send(data: bytes) -> None:
        sent.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    return Connection(send, recorder), recorder, sent


@pytest.mark.anyio
async def test_answers_find_their_request() -> None:
    connection, _, sent = connect()
    first, second = connection.request("a", {}), connection.request("b", {"x": 1})
    assert sent == [
        {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "b", "params": {"x": 1}},
    ]
    connection.receive(encode_message({"id": 2, "error": {"code": 7, "message": "No.", "data": {"c": 1}}}))
    connection.receive(encode_message({"id": 1, "result": [1]}))
    connection.receive(encode_message({"id": 1, "result": [2]}))
    connection.receive(encode_message({"id": 99, "result": None}))
    assert await first.answer == [1]
    with pytest.raises(RequestError) as raised:
        await second.answer
    assert (str(raised.value), raised.value.code, raised.value.data) == ("No.", 7, {"c": 1})


@pytest.mark.anyio
async def test_the_servers_own_messages_are_told_in_order() -> None:
    connection, recorder, sent = connect()
    connection.receive(
        encode_message({"method": "n", "params": {"x": 1}})
        + encode_message({"id": "q", "method": "r"})
        + encode_message({"id": 5, "method": "r", "params": [1]})
        + encode_message({"neither": True})
    )
    assert recorder.heard == [("n", {"x": 1}), ("q", "r", {}), (5, "r", {})]

    connection.respond("q", {"y": 1})
    connection.refuse(5, -32601, "No.")
    connection.notify("bye", {})
    assert sent == [
        {"jsonrpc": "2.0", "id": "q", "result": {"y": 1}},
        {"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "No."}},
        {"jsonrpc": "2.0", "method": "bye", "params": {}},
    ]


@pytest.mark.anyio
async def test_the_end_answers_everybody() -> None:
    connection, _, sent = connect()
    waiting = connection.request("a", {})
    forgotten = connection.request("b", {})
    connection.end(WireBroken("gone"))
    late = connection.request("c", {})
    connection.notify("d", {})
    for request in (waiting, late):
        with pytest.raises(WireBroken, match="gone"):
            await request.answer
    assert forgotten.answer.done()
    assert [message["method"] for message in sent] == ["a", "b"]
    del forgotten
    await asyncio.sleep(0)
