"""JSON is read as it was sent and written whatever it is made of."""

import json
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.server.json_codec import decode_json, encode_json


class Colour(StrEnum):
    RED = "red"


@dataclass
class Point:
    x: int


class Strange:
    pass


def refuse(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError(f"no form for {type(value).__name__}")


ODD_KEYS = {
    "a-b": 1,
    "class": {"jsonrpc": "2.0"},
    "$ref": "#",
    "_x": None,
    "1": [],
    "type_name": "t",
    "kind": "k",
    "": 0,
}


def test_keys_stay_what_they_are() -> None:
    assert decode_json(json.dumps(ODD_KEYS).encode()) == ODD_KEYS


READ = {
    "half a pair is replaced": (rb'["\ud83d!", {"\udc00": "\ud83d\ude00"}]', ["\ufffd!", {"\ufffd": "😀"}]),
    "a number beyond 64 bits": (b"[1e3, 18446744073709551616]", [1000.0, 18446744073709551616]),
}


@pytest.mark.parametrize("name", READ)
def test_reads(name: str) -> None:
    text, expected = READ[name]
    assert decode_json(text) == expected


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\xfe{\x00}\x00", b'"\xc3"', b"[NaN]", b"nul", b"[" * 100_000]
)
def test_refuses(text: bytes) -> None:
    with pytest.raises(ValueError) as caught:
        decode_json(text)
    assert len(str(caught.value)) < 200


WRITTEN = {
    "half a pair": ({"a": "x\ud83dy", "\udc00": 1}, {"a": "x\ufffdy", "\ufffd": 1}),
    "not a number": (
        {"a": "\ud83d", "b": [float("nan"), float("inf"), 1.5]},
        {"a": "\ufffd", "b": [None, None, 1.5]},
    ),
    "a huge number": ([2**70], [2**70]),
    "keys that are no strings": ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
    "an enum and a tuple": (
        (Colour.RED, {"c": Colour.RED, "d": "\ud800"}),
        ["red", {"c": "red", "d": "\ufffd"}],
    ),
    "a mapping of another kind": (MappingProxyType({"a": MappingProxyType({})}), {"a": {}}),
    "deep": (json.loads("[" * 400 + "]" * 400), json.loads("[" * 400 + "]" * 400)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_writes(name: str) -> None:
    value, expected = WRITTEN[name]
    assert json.loads(encode_json(value, refuse)) == expected


def test_says_what_has_no_form() -> None:
    with pytest.raises(TypeError, match="no form for Strange"):
        encode_json({"a": [Strange()]}, refuse)


def test_gives_up_on_a_loop() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested too deeply"):
        encode_json(loop, refuse)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(value=JSON)
def test_what_is_written_is_read_back(value: object) -> None:
    assert json.loads(encode_json(value, refuse)) == value


@given(text=st.binary(max_size=60))
def test_no_bytes_break_the_reader(text: bytes) -> None:
    try:
        value = decode_json(text)
    except ValueError:
        return
    json.loads(encode_json(value, refuse))
