"""Every request is answered, and parameters arrive as they were sent."""

import asyncio
import gc
import logging
import weakref
from typing import Any, cast

import pytest
from lsprotocol import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from jp_lsp.server.framing import MAX_FRAME_SIZE, BadFrame
from jp_lsp.server.phase import Phase
from jp_lsp.server.wire import JpLanguageServer
from jp_lsp.server.wire_error import REQUEST_FAILED, WireError
from tests.support.wire_memory import MemoryClient, error_of

pytestmark = pytest.mark.anyio

ODD = {
    "a-b": 1,
    "class": 2,
    "$ref": "#/x",
    "_x": 3,
    "1": 4,
    "type_name": "t",
    "kind": "k",
    "params": {"method": "m"},
}
NESTED = {"deep": [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}], "jsonrpc": "2.0"}


class Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Place(Wire):
    file_name: str
    line: int = Field(ge=0)


class SearchParams(Wire):
    search_text: str
    places: list[Place] = []


class SearchResult(Wire):
    hit_count: int
    first_hit: Place | None = None


@pytest.fixture
def client() -> MemoryClient:
    client = MemoryClient()
    client.protocol.register_method("jp/echo", None, lambda params: params)
    client.protocol.register_method(
        "jp/search", SearchParams, lambda params: SearchResult(hit_count=len(params.places))
    )
    return client


@pytest.mark.requirement("R343")
@pytest.mark.parametrize(
    ("sent", "request_id", "code", "name"),
    [
        (b"{", None, -32700, "parse_error"),
        (b"", None, -32700, "parse_error"),
        (b"\xff", None, -32700, "parse_error"),
        (b"[]", None, -32600, "invalid_request"),
        (b"[{}]", None, -32600, "invalid_request"),
        (b'"x"', None, -32600, "invalid_request"),
        (b"{}", None, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0"}', None, -32600, "invalid_request"),
        (b'{"id":7,"method":"jp/echo"}', 7, -32600, "invalid_request"),
        (b'{"jsonrpc":"1.0","id":"a","method":"jp/echo"}', "a", -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":7,"method":7}', 7, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":null,"method":"jp/echo"}', None, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":true,"method":"jp/echo"}', None, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"jp/echo"}', None, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":{},"method":"jp/echo"}', None, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":7,"method":"jp/nope"}', 7, -32601, "method_not_found"),
        (b'{"jsonrpc":"2.0","id":7,"method":"$/nope"}', 7, -32601, "method_not_found"),
        (b'{"jsonrpc":"2.0","id":7,"method":"textDocument/hover"}', 7, -32601, "method_not_found"),
        (b'{"jsonrpc":"2.0","id":7,"method":"initialize"}', 7, -32600, "invalid_request"),
        (b'{"jsonrpc":"2.0","id":7,"method":"jp/search","params":[1]}', 7, -32602, "invalid_params"),
        (b'{"jsonrpc":"2.0","id":7,"method":"jp/search"}', 7, -32602, "invalid_params"),
        (b'{"jsonrpc":"2.0","id":7,"method":"workspace/executeCommand"}', 7, -32602, "invalid_params"),
        (
            b'{"jsonrpc":"2.0","id":7,"method":"workspace/executeCommand","params":{"command":"x"}}',
            7,
            -32602,
            "invalid_params",
        ),
    ],
)
async def test_what_cannot_be_served_is_answered(
    client: MemoryClient, sent: bytes, request_id: object, code: int, name: str
) -> None:
    client.initialize()
    client.send_bytes(sent)
    message = client.take_one()
    assert message["id"] == request_id
    error_of(message, code, name)


@pytest.mark.parametrize(
    "sent",
    [
        b'{"jsonrpc":"2.0","method":"jp/nope","params":{}}',
        b'{"jsonrpc":"2.0","method":"$/whatever"}',
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":1}}',
        b'{"jsonrpc":"2.0","method":"jp/search","params":{}}',
        b'{"jsonrpc":"2.0","method":"$/cancelRequest"}',
        b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}',
        b'{"jsonrpc":"2.0","id":"nobody","result":1}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
        b'{"jsonrpc":"2.0","id":3}',
    ],
)
async def test_what_wants_no_answer_gets_none(client: MemoryClient, sent: bytes) -> None:
    client.initialize()
    client.send_bytes(sent)
    assert client.take() == []


@pytest.mark.parametrize("params", [ODD, NESTED, {}, [1, {"a-b": None}], None, {"x": "\ud83d"}])
async def test_parameters_arrive_as_they_were_sent(client: MemoryClient, params: object) -> None:
    client.initialize()
    client.request(1, "jp/echo", params)
    expected = {"x": "\ufffd"} if params == {"x": "\ud83d"} else params
    assert client.take_one()["result"] == expected


async def test_a_model_sees_what_was_sent_and_answers_in_its_own_spelling(client: MemoryClient) -> None:
    client.initialize()
    client.request(
        1, "jp/search", {"searchText": "x", "places": [{"fileName": "a", "line": 1}], "unknown": NESTED}
    )
    assert client.take_one()["result"] == {"hitCount": 1, "firstHit": None}


@pytest.mark.requirement("R343")
async def test_a_refusal_names_each_field_and_quotes_nothing(client: MemoryClient) -> None:
    client.initialize()
    client.request(
        1, "jp/search", {"searchText": ["secret"], "places": [{"fileName": "a", "line": -1}, {"line": 2}]}
    )
    text = error_of(client.take_one(), -32602, "invalid_params")
    assert text == (
        "Invalid params for jp/search: `searchText` must be a string, not an array; "
        "`places[0].line` must be 0 or more, not -1; `places[1].fileName` is missing"
    )


async def test_a_standard_refusal_names_the_field_too(client: MemoryClient) -> None:
    client.server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: None)
    client.initialize()
    client.request(1, "textDocument/hover", {"textDocument": {}, "position": {"line": 0, "character": 0}})
    text = error_of(client.take_one(), -32602, "invalid_params")
    assert text == "Invalid params for textDocument/hover: params.textDocument.uri: required field missing"


async def test_a_model_may_be_loaded_late(client: MemoryClient) -> None:
    loads: list[str] = []

    def load() -> type[SearchParams]:
        loads.append("loaded")
        return SearchParams

    client.protocol.register_method("jp/late", load, lambda params: params.search_text)
    client.initialize()
    assert loads == []
    client.request(1, "jp/late", {"searchText": "found"})
    assert client.take_one()["result"] == "found"


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("is_async", [False, True])
async def test_errors_of_handlers(
    client: MemoryClient, caplog: pytest.LogCaptureFixture, is_async: bool
) -> None:
    def answer(error: Exception) -> Any:
        async def later() -> None:
            await asyncio.sleep(0)
            raise error

        if is_async:
            return later()
        raise error

    ours = WireError(REQUEST_FAILED, "busy", {"code": "conversation_busy"})
    client.protocol.register_method("jp/ours", None, lambda _: answer(ours))
    client.protocol.register_method("jp/bug", None, lambda _: answer(KeyError("inner secret")))
    client.protocol.register_method(
        "jp/bugs", None, lambda _: answer(ExceptionGroup("several", [ValueError("x")]))
    )
    client.initialize()
    for request_id, method in enumerate(["jp/ours", "jp/bug", "jp/bugs"]):
        client.request(request_id, method)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first, second, third = client.take()
    assert first["error"] == {"code": -32803, "message": "busy", "data": {"code": "conversation_busy"}}
    text = error_of(second, -32603, "internal")
    assert "inner secret" not in str(second)
    assert second["error"]["data"]["trace"] in text
    assert second["error"]["data"]["trace"] in caplog.text
    assert "KeyError: 'inner secret'" in caplog.text
    error_of(third, -32603, "internal")


@pytest.mark.parametrize(
    "result", [object(), {"a": {1, 2, "x", object}}, WireError(1, "x", cast(Any, {"y": object()}))]
)
async def test_a_result_without_a_json_form_is_still_answered(client: MemoryClient, result: object) -> None:
    def answer(_params: object) -> object:
        if isinstance(result, Exception):
            raise result
        return result

    client.protocol.register_method("jp/odd", None, answer)
    client.initialize()
    client.request(1, "jp/odd")
    error_of(client.take_one(), -32603, "internal")


# Order.


async def test_synchronous_handlers_keep_the_order_of_messages(client: MemoryClient) -> None:
    seen: list[object] = []
    client.protocol.register_method("jp/answer", None, lambda params: seen.append(params))
    client.protocol.register_method("jp/ask", None, lambda params: seen.append(params))
    client.server.feature(types.TEXT_DOCUMENT_DID_OPEN)(lambda params: seen.append(params.text_document.uri))
    client.server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(
        lambda params: seen.append(client.server.workspace.get_text_document("file:///a").source)
    )
    client.initialize()
    client.notify("jp/answer", 1)
    client.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": "file:///a", "languageId": "x", "version": 1, "text": "old"}},
    )
    client.request(1, "jp/ask", 2)
    client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": [{"text": "new"}]},
    )
    client.notify("jp/answer", 3)
    assert seen == [1, "file:///a", 2, "new", 3]


@pytest.mark.requirement("T17")
async def test_an_answer_never_overtakes_what_was_sent_before(client: MemoryClient) -> None:
    async def query(_params: object) -> str:
        for index in range(3):
            client.protocol.notify_raw("$/progress", {"token": "t", "value": index})
            await asyncio.sleep(0)
        return "done"

    client.protocol.register_method("jp/query", None, query)
    client.initialize()
    client.request(1, "jp/query")
    for _ in range(6):
        await asyncio.sleep(0)
    assert [message.get("params", message.get("result")) for message in client.take()] == [
        *({"token": "t", "value": index} for index in range(3)),
        "done",
    ]


async def test_a_handler_may_begin_in_order_and_end_later(client: MemoryClient) -> None:
    """A function that gives a coroutine does its first part where the message stands in the stream."""
    seen: list[str] = []

    def begin(params: str) -> Any:
        seen.append(f"begin {params}")

        async def finish() -> str:
            seen.append(f"finish {params}")
            return params

        return finish()

    client.protocol.register_method("jp/begin", None, begin)
    client.initialize()
    client.request(1, "jp/begin", "a")
    client.request(2, "jp/begin", "b")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert seen == ["begin a", "begin b", "finish a", "finish b"]
    assert [message["result"] for message in client.take()] == ["a", "b"]


# Commands.


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, {}),
        ({"arguments": None}, {}),
        ({"arguments": []}, {}),
        ({"arguments": [ODD]}, ODD),
        ({"arguments": [NESTED]}, NESTED),
        ({"arguments": ["hello"]}, {"text": "hello"}),
        ({"arguments": ["hello"], "workDoneToken": 1}, {"text": "hello", "workDoneToken": 1}),
        ({"arguments": [{"workDoneToken": 2}], "workDoneToken": 1}, {"workDoneToken": 2}),
        ({"arguments": [1]}, None),
        ({"arguments": [{}, {}]}, None),
        ({"arguments": "x"}, None),
        ({"arguments": {}}, None),
    ],
)
async def test_commands_take_the_parameters_of_their_method(
    client: MemoryClient, params: dict[str, object], expected: object
) -> None:
    client.protocol.register_command("jp.query", None, lambda given: given, text_key="text")
    answer = client.initialize()
    assert answer["result"]["capabilities"]["executeCommandProvider"] == {"commands": ["jp.query"]}
    client.request(1, "workspace/executeCommand", {"command": "jp.query", **params})
    if expected is None:
        text = error_of(client.take_one(), -32602, "invalid_params")
        assert text == "Invalid params for jp.query: arguments: takes one, an object, or the text as a string"
    else:
        assert client.take_one()["result"] == expected


async def test_commands_of_pygls_still_work(client: MemoryClient) -> None:
    @client.server.command("their.command")
    async def join(_ls: JpLanguageServer, first: int, rest: Any) -> object:
        return [first, rest]

    client.initialize()
    client.request(
        1, "workspace/executeCommand", {"command": "their.command", "arguments": [1, {"a-b": NESTED}]}
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert client.take_one()["result"] == [1, {"a-b": NESTED}]


async def test_names_are_registered_once(client: MemoryClient) -> None:
    with pytest.raises(ValueError, match="'jp/echo' is registered already"):
        client.protocol.register_method("jp/echo", None, print)
    client.protocol.register_command("jp.echo", None, print)
    with pytest.raises(ValueError, match=r"'jp.echo' is registered already"):
        client.protocol.register_command("jp.echo", None, print)


async def test_a_registered_method_goes_before_a_feature_of_pygls(client: MemoryClient) -> None:
    tokens: list[object] = []
    client.protocol.register_method(
        "window/workDoneProgress/cancel", None, lambda params: tokens.append(params["token"])
    )
    client.initialize()
    client.notify("window/workDoneProgress/cancel", {"token": "t"})
    assert tokens == ["t"]


# Frames that are no frames.


@pytest.mark.parametrize(
    ("start", "request_id"),
    [
        (b"", None),
        (b'{"jsonrpc":"2.0","id":7,"method":"jp/query","params":{"id":8,', 7),
        (b'{ "id" : "seven" , "method":"jp/query"', "seven"),
        (b'{"method":"jp/query","jsonrpc":"2.0","id":-3,', -3),
        (b'{"method":"jp/query","params":{"id":8,', None),
        (b'{"id":7.5,"method":"x"', None),
        (b'{"id":"with \\" quote","method":"x"', None),
    ],
)
async def test_a_message_too_large_is_refused_under_its_id(
    client: MemoryClient, start: bytes, request_id: object
) -> None:
    client.initialize()
    client.protocol.receive(
        BadFrame(f"the message has 99999999 bytes; at most {MAX_FRAME_SIZE} are read", start)
    )
    message = client.take_one()
    assert message["id"] == request_id
    assert error_of(message, -32600, "invalid_request") == (
        "Invalid request: the message has 99999999 bytes; at most 67108864 are read"
    )


# Several servers.


@pytest.mark.requirement("R310")
async def test_two_servers_in_one_process_know_nothing_of_each_other() -> None:
    first, second = MemoryClient(), MemoryClient()
    first.protocol.register_method("jp/only", None, lambda _: "first")
    first.protocol.register_command("jp.only", None, lambda _: "first")
    first.initialize()
    answer = second.initialize()
    assert answer["result"]["capabilities"]["executeCommandProvider"] == {"commands": []}
    first.request(1, "jp/only")
    second.request(1, "jp/only")
    assert first.take_one()["result"] == "first"
    error_of(second.take_one(), -32601, "method_not_found")
    first.notify("exit")
    assert second.protocol.phase is Phase.READY
    assert second.lifecycle.events == []


@pytest.mark.requirement("R310")
async def test_a_connection_that_has_ended_is_forgotten() -> None:
    client = MemoryClient()
    client.initialize()
    kept = weakref.ref(client.protocol)
    del client
    gc.collect()
    assert kept() is None


async def test_bodies_are_not_logged(client: MemoryClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="jp_lsp")
    client.initialize(initializationOptions={"apiKey": "very-private"})
    client.request(1, "jp/echo", {"text": "very-private"})
    client.request(2, "jp/search", {"searchText": ["very-private"]})
    client.notify("jp/nope", {"text": "very-private"})
    client.send({"jsonrpc": "2.0", "id": "x", "result": "very-private"})
    assert "very-private" not in caplog.text
