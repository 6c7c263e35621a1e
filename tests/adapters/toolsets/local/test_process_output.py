"""What is kept, copied and logged of a program's output."""

import io
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.ports.process import Output
from jp_lsp.toolsets.process_output import Copy, Head, LineLog, drain


@given(pieces=st.lists(st.binary(max_size=20)), limit=st.integers(0, 60))
def test_the_head_is_kept_whatever_the_pieces(pieces: Sequence[bytes], limit: int) -> None:
    head = Head(limit)
    for piece in pieces:
        head.take(piece)
    whole = b"".join(pieces)
    assert head.output() == Output(whole[:limit], len(whole))
    assert head.output().omitted == max(0, len(whole) - limit)


def test_a_head_that_nobody_wants_any_more_keeps_counting() -> None:
    head = Head(10)
    head.take(b"12345")
    head.forget()
    head.take(b"678")
    assert head.output() == Output(b"", 8)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (Output(b"", 0), ""),
        (Output("aä😀".encode(), 7), "aä😀"),
        (Output("aä".encode()[:2], 3), "a"),
        (Output("aä".encode()[:2], 2), "a\ufffd"),
        (Output(b"\xff\xfeok", 4), "\ufffd\ufffdok"),
        (Output(b"\xffok", 900), "\ufffdok"),
    ],
)
def test_output_as_text(output: Output, text: str) -> None:
    assert output.text() == text


LINES: list[tuple[list[bytes], list[str]]] = [
    ([b"one\ntwo\n"], ["one", "two"]),
    ([b"on", b"e\r", b"\ntw", b"o"], ["one", "two"]),
    ([b"\n\n  \n"], []),
    ([b"10%\r20%\r"], ["10%", "20%"]),
    ([b"\x1b[31mred\x1b[0m \x1b[2Kdone\x07\n"], ["red done"]),
    ([b"bad \xff\n"], ["bad \ufffd"]),
    ([b"x" * 5000, b"y\n", b"z\n"], ["x" * 2000, "z"]),
]


@pytest.mark.parametrize(("pieces", "lines"), LINES)
def test_lines_are_logged(pieces: list[bytes], lines: list[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log = LineLog("tool t")
    for piece in pieces:
        log.take(piece)
    log.finish()
    assert [record.getMessage() for record in caplog.records] == [f"tool t: {line}" for line in lines]


def test_a_flood_of_lines_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log = LineLog("tool t")
    for number in range(1000):
        log.take(b"%d\n" % number)
    log.finish()
    assert len(caplog.records) == 501
    assert caplog.messages[-2:] == ["tool t: 499", "tool t: (its further lines are not logged)"]


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        ([b"text", b"text"], b"tex"),
        ([b'{"a": ', b"1}"], b'{"a": 1}'),
        ([b"  ", b"\n", b'{"a": 1}'], b"  \n"),
        ([b"  ", b'{"a":', b"1}"], b"  {"),
        ([b"", b"text"], b"tex"),
    ],
)
def test_only_an_object_is_kept_whole(pieces: list[bytes], kept: bytes) -> None:
    """Of text the model is given no more than the begin anyway; an object must be whole to be read."""
    head = Head(8, text_limit=3)
    for piece in pieces:
        head.take(piece)
    assert head.output() == Output(kept, len(b"".join(pieces)))


def test_a_full_disk_ends_the_copy_and_not_the_reading(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    head = Head(100)
    (tmp_path / "output").write_bytes(bytes(5000))
    drain(io.FileIO(tmp_path / "output"), [Copy("/dev/full"), head])
    assert head.output() == Output(bytes(100), 5000)
    assert caplog.messages == [
        "the output could not be written to /dev/full: [Errno 28] No space left on device"
    ]


def test_a_copy_ends_at_its_limit(tmp_path: Path) -> None:
    copy = Copy(str(tmp_path / "copy"), limit=9000)
    for piece in (b"a" * 4096, b"b" * 4096, b"c" * 4096, b"d"):
        copy.take(piece)
    copy.finish()
    assert (tmp_path / "copy").read_bytes() == b"a" * 4096 + b"b" * 4096 + b"c" * 808
