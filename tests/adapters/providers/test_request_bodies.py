"""What is sent to vendors as JSON: written beside the event loop, piece by piece, and the same as in one piece."""

import threading
from collections.abc import Iterator

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.providers.http import ConnectionBrokenError, VendorHttp
from jp_lsp.providers.untrusted import encode_body, encode_json, parse_json

AT_MOST = 10.0
"""Seconds until a test fails whose loop cannot turn."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_a_body_in_pieces_means_the_same(body: dict[str, JsonValue]) -> None:
    assert parse_json(encode_body(body)) == parse_json(encode_json(body)) == body


def test_a_body_may_hold_what_no_json_can() -> None:
    deep: list[JsonValue] = []
    for _ in range(100_000):
        deep = [deep]
    assert encode_body({"a": ["x", "\ud83d", 1]}) == b'{"a":["x","?",1]}'
    assert len(encode_body({"a": ["x", deep]})) < 1000
    assert encode_body({}) == b"{}"


class Held(list[JsonValue]):
    """Items that can be read only once the loop has turned."""

    def __init__(self) -> None:
        super().__init__(["x"])
        self.turned = threading.Event()

    def __iter__(self) -> Iterator[JsonValue]:
        assert self.turned.wait(AT_MOST), "the loop was kept from turning"
        return super().__iter__()


class Nobody:
    """Watches a request that gets no answer."""

    def bytes_received(self) -> None:
        raise AssertionError

    def usage_reported(self, usage: object) -> None:
        raise AssertionError


@pytest.mark.anyio
@pytest.mark.requirement("R126", "S7")
async def test_the_loop_turns_while_a_body_is_written(free_tcp_port: int) -> None:
    messages, http = Held(), VendorHttp("test", f"http://127.0.0.1:{free_tcp_port}")

    async def turn() -> None:
        for _ in range(100):
            await checkpoint()
        messages.turned.set()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(turn)
            with pytest.raises(ConnectionBrokenError):
                await anext(http.stream("/v1", {"messages": messages}, Nobody()))
    finally:
        await http.aclose()
    assert messages.turned.is_set()
