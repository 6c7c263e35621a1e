"""Frames are found in any stream, and a bad one costs only itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.server.framing import BadFrame, FrameDecoder, encode_frame

GOOD = encode_frame(b'{"good":1}')
NO_LENGTH = BadFrame("the header has no Content-Length")
NOT_PLAUSIBLE = BadFrame("the Content-Length header is not a plausible number of bytes")


def frames_of(data: bytes, *, max_size: int = 1000, step: int | None = None) -> list[bytes | BadFrame]:
    decoder = FrameDecoder(max_size)
    found: list[bytes | BadFrame] = []
    step = step or max(len(data), 1)
    for start in range(0, len(data), step):
        decoder.feed(data[start : start + step])
        while (frame := decoder.next_frame()) is not None:
            found.append(frame)
    return found


CASES = {
    "one": (GOOD, [b'{"good":1}']),
    "bytes are counted, not characters": (encode_frame("é€😀".encode()), ["é€😀".encode()]),
    "any case, a type, spaces": (
        b"content-LENGTH:   2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}" + GOOD,
        [b"{}", b'{"good":1}'],
    ),
    "lone line feeds": (b"Content-Length: 2\n\n{}" + GOOD, [b"{}", b'{"good":1}']),
    "blank lines between": (b"\r\n\r\n" + GOOD + b"\r\n" + GOOD, [b'{"good":1}', b'{"good":1}']),
    "unknown headers": (b"X-Thing: 1\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
    "empty body": (b"Content-Length: 0\r\n\r\n" + GOOD, [b"", b'{"good":1}']),
    "the last of two lengths": (b"Content-Length: 9\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
    "no length": (b'Content-Type: x\r\n\r\n{"lost":1}' + GOOD, [NO_LENGTH, b'{"good":1}']),
    "no length, body with lines": (b'X: 1\r\n\r\n{\n\n"lost":1\n\n}\n' + GOOD, [NO_LENGTH, b'{"good":1}']),
    "negative": (b"Content-Length: -5\r\n\r\n{}" + GOOD, [NOT_PLAUSIBLE, b'{"good":1}']),
    "a word": (b"Content-Length: many\r\n\r\n{}" + GOOD, [NOT_PLAUSIBLE, b'{"good":1}']),
    "far too many digits": (
        b"Content-Length: " + b"9" * 500 + b"\r\n\r\n" + GOOD,
        [NOT_PLAUSIBLE, b'{"good":1}'],
    ),
    "more than anybody sends": (
        b"Content-Length: 999999999999\r\n\r\n" + GOOD,
        [NOT_PLAUSIBLE, b'{"good":1}'],
    ),
    "garbage, then a frame": (
        b"\x00\xff" * 20_000 + GOOD,
        [BadFrame("a header line is too long"), b'{"good":1}'],
    ),
    "too large": (
        encode_frame(b'{"id":1' + b" " * 2000) + GOOD,
        [
            BadFrame("the message has 2007 bytes; at most 1000 are read", b'{"id":1' + b" " * 1017),
            b'{"good":1}',
        ],
    ),
    "a web page": (
        b"POST /x:y HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        [BadFrame("this port speaks the language server protocol, not HTTP", is_foreign=True), b"{}"],
    ),
}


@pytest.mark.requirement("R325")
@pytest.mark.parametrize("step", [None, 1, 7])
@pytest.mark.parametrize("name", CASES)
def test_cases(name: str, step: int | None) -> None:
    data, expected = CASES[name]
    assert frames_of(data, step=step) == expected


def test_too_large_a_body_is_not_kept() -> None:
    decoder = FrameDecoder(max_size=1000)
    decoder.feed(b"Content-Length: 1000000000\r\n\r\n")
    for _ in range(1000):
        decoder.feed(b"x" * 100_000)
        assert decoder.next_frame() is None
        assert len(decoder._buffer) == 0
    assert not decoder.is_between_frames


def test_an_endless_header_line_is_not_kept() -> None:
    decoder = FrameDecoder()
    for _ in range(100):
        decoder.feed(b"x" * 10_000)
        decoder.next_frame()
        assert len(decoder._buffer) <= 10_100


def test_a_stretch_of_nonsense_is_reported_once() -> None:
    assert frames_of(b"a\r\n\r\nb\r\n\r\nc\r\n\r\n" + GOOD + b"d\r\n\r\n") == [
        NO_LENGTH,
        b'{"good":1}',
        NO_LENGTH,
    ]


@pytest.mark.parametrize(
    ("data", "is_between"),
    [
        (b"", True),
        (GOOD, True),
        (GOOD + b"\r\n", True),
        (GOOD[:-1], False),
        (b"Content-Length: 3\r\n", False),
    ],
)
def test_a_cut_is_seen(data: bytes, is_between: bool) -> None:
    decoder = FrameDecoder()
    decoder.feed(data)
    while decoder.next_frame() is not None:
        pass
    assert decoder.is_between_frames is is_between


@given(bodies=st.lists(st.binary(max_size=300), max_size=8), cuts=st.lists(st.integers(1, 50), min_size=1))
def test_any_chunking_gives_the_same_frames(bodies: list[bytes], cuts: list[int]) -> None:
    data = b"".join(encode_frame(body) for body in bodies)
    decoder, found, position, turn = FrameDecoder(), [], 0, 0
    while position < len(data):
        cut = cuts[turn % len(cuts)]
        decoder.feed(data[position : position + cut])
        position, turn = position + cut, turn + 1
        while (frame := decoder.next_frame()) is not None:
            found.append(frame)
    assert found == bodies


@given(noise=st.binary(max_size=400))
def test_noise_never_costs_more_than_itself(noise: bytes) -> None:
    """Behind any noise that does not itself promise a body, the next frames are found."""
    if b"length" in noise.lower() or b"http" in noise.lower():
        return
    assert frames_of(noise + b"\r\n\r\n" + GOOD + GOOD)[-2:] == [b'{"good":1}'] * 2
